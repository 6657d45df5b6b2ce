package service

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/ebpf"
	"github.com/rocwire/rocwire/exporter/greptime"
	"github.com/rocwire/rocwire/exporter/influx"
	"github.com/rocwire/rocwire/exporter/otlp"
	"github.com/rocwire/rocwire/exporter/page"
	"github.com/rocwire/rocwire/exporter/probe"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/exporter/rows"
	"github.com/rocwire/rocwire/internal/dialing"
)

// Options are what an operator may say. FromEnv comes before AddFlags: variables are
// the flags' defaults.
type Options struct {
	Listen   string // HOST:PORT; "": there are sinks only
	Flag     string // that says where to listen, for messages: "--listen"
	Insecure bool   // Listen may be an address that other machines reach, whoever they are

	WebConfig   string // file with TLS and users, as exporter-toolkit has it; "": neither
	MaxRequests int    // answered at once; more wait a while, and get 503
	MaxConns    int    // open at once; idle ones make room
	// AllowedHosts are further names by which requests may ask for this machine where there is no TLS, with commas between; * is every name.
	AllowedHosts string
	Debug        bool // serve profiles at /debug/pprof/

	Place exporter.Place
	Queue Queue

	Metrics   exporter.Options // those that are flags
	Page      page.Options     // those that are flags
	OTLP      otlp.Options
	Rows      rows.Options
	Greptime  greptime.Options
	Influx    influx.Options
	EBPF      ebpf.Options
	Discovery discovery.Options
	Probe     probe.Options
	Dialing   dialing.Settings // of workers
}

// Queue says where and how long records wait for servers that do not take them.
type Queue struct {
	Dir      string // "": in memory
	MaxBytes int64  // of each sink; 0: push's default
	MaxAge   time.Duration
}

// DefaultMaxRequests is how many requests are answered at once, DefaultMaxConns how many connections there may be.
const (
	DefaultMaxRequests = 40
	DefaultMaxConns    = 128
)

// FromEnv reads the variables of Usage.
func (o *Options) FromEnv(getenv func(string) string) error {
	for name, v := range map[string]*string{
		"ROCWIRE_WEB_CONFIG": &o.WebConfig, "ROCWIRE_WEB_ALLOWED_HOSTS": &o.AllowedHosts, "ROCWIRE_CLUSTER": &o.Place.Cluster, "ROCWIRE_POOL": &o.Place.Pool,
	} {
		*v = getenv(name)
	}
	o.Dialing = dialing.FromEnv(getenv)
	o.Place.Host = first(getenv("ROCWIRE_HOST"), getenv("NODE_NAME"))
	o.Queue.Dir = getenv("ROCWIRE_QUEUE_DIR")
	if o.Queue.Dir == "" {
		// systemd makes these folders and names them, several with colons.
		if state, _, _ := strings.Cut(getenv("STATE_DIRECTORY"), ":"); state != "" {
			o.Queue.Dir = filepath.Join(state, "queue")
		}
	}
	for _, f := range []func(func(string) string) error{
		o.OTLP.FromEnv, o.Rows.FromEnv, o.Greptime.FromEnv, o.Influx.FromEnv, o.EBPF.FromEnv, o.Page.FromEnv,
	} {
		if err := f(getenv); err != nil {
			return err
		}
	}
	return nil
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// AddFlags adds the flags of Usage.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.DurationVar(&o.Metrics.Interval, "interval", time.Second, "")
	o.Metrics.AddFlags(fs)
	fs.StringVar(&o.Place.Host, "host", o.Place.Host, "")
	fs.StringVar(&o.Place.Cluster, "cluster", o.Place.Cluster, "")
	fs.StringVar(&o.Place.Pool, "pool", o.Place.Pool, "")

	fs.StringVar(&o.WebConfig, "web-config", o.WebConfig, "")
	fs.IntVar(&o.MaxRequests, "web-max-requests", DefaultMaxRequests, "")
	fs.IntVar(&o.MaxConns, "web-max-connections", DefaultMaxConns, "")
	fs.StringVar(&o.AllowedHosts, "web-allowed-hosts", o.AllowedHosts, "")
	fs.BoolVar(&o.Debug, "web-debug", false, "")
	o.Page.AddFlags(fs)
	o.Probe.AddFlags(fs)
	discoveryFlags(fs, &o.Discovery)

	fs.StringVar(&o.Queue.Dir, "queue-dir", o.Queue.Dir, "")
	fs.Var((*size)(&o.Queue.MaxBytes), "queue-max-size", "")
	fs.DurationVar(&o.Queue.MaxAge, "queue-max-age", 24*time.Hour, "")
	o.OTLP.AddFlags(fs)
	o.Rows.AddFlags(fs)
	o.Greptime.AddFlags(fs)
	o.Influx.AddFlags(fs)
	o.EBPF.AddFlags(fs)
}

// Usage is the help for the flags of AddFlags.
func Usage() string {
	return layout(`
Metrics:
  --interval TIME  how often the GPUs are asked [1s]
` + exporter.Usage() + `  --host NAME  what the host of the GPUs is called [NODE_NAME, or ROCWIRE_HOST; its host name]
  --cluster NAME  what the cluster is called [ROCWIRE_CLUSTER]
  --pool NAME  what the pool of hosts is called [ROCWIRE_POOL]

Web server:
  --web-config FILE  TLS and users, in the form of Prometheus' exporters; other machines may connect without --insecure
                     if it demands authentication over TLS [ROCWIRE_WEB_CONFIG]
  --web-max-requests N  requests answered at once, others wait a while [40]
  --web-max-connections N  connections at once; an idle one makes room for another [128]
  --web-allowed-hosts NAMES  further names by which this machine may be asked for, with commas between, or * for every name; those that
                     it has anyway are its addresses, localhost, its own host name and names without a dot or in a cluster; with TLS
                     every name is [ROCWIRE_WEB_ALLOWED_HOSTS]
  --web-debug  serve profiles at /debug/pprof/, on loopback only
` + page.Usage() + `
Other workers:
` + probe.Usage() + discoveryUsage() + `
Sinks:
  --queue-dir DIR  where figures wait for a server that is down, each sink's in a folder of its own; without one they
                   wait in memory, and the end of the process loses them [ROCWIRE_QUEUE_DIR, or queue in
                   STATE_DIRECTORY]
  --queue-max-size SIZE  how much may wait for each sink, such as 1G; the oldest goes first [256M, 16M in memory]
  --queue-max-age TIME  how long it may wait [24h]
` + otlp.Usage() + rows.Usage() + greptime.Usage() + influx.Usage() + `
Local programs:
` + ebpf.Usage())
}

// Sends reports whether there are sinks.
func (o *Options) Sends() bool { return o.OTLP.Enabled() || o.Greptime.Enabled() || o.Influx.Enabled() }

// TracesEnabled reports whether spans are sent anywhere.
func (o *Options) TracesEnabled() bool {
	traces := otlp.Options{Traces: o.OTLP.Traces}
	return traces.Enabled()
}

// Check tells what is wrong with the options: all that can be known before anything is
// opened.
func (o *Options) Check() error {
	if _, port, err := net.SplitHostPort(o.Listen); !(o.Listen == "" && o.Sends()) && (err != nil || port == "") {
		return fmt.Errorf("%s %q is not HOST:PORT", o.Flag, o.Listen)
	}
	switch {
	case o.Metrics.Interval < 100*time.Millisecond:
		return fmt.Errorf("--interval %v is less than 100ms", o.Metrics.Interval)
	case o.Metrics.SlowInterval < time.Second:
		return fmt.Errorf("--slow-interval %v is less than 1s", o.Metrics.SlowInterval)
	case o.Metrics.MaxProcesses <= 0:
		return fmt.Errorf("--max-processes %d is not more than 0", o.Metrics.MaxProcesses)
	case o.Metrics.MaxSeries <= 0:
		return fmt.Errorf("--max-series %d is not more than 0", o.Metrics.MaxSeries)
	case o.MaxRequests <= 0:
		return fmt.Errorf("--web-max-requests %d is not more than 0", o.MaxRequests)
	case o.MaxConns <= 0:
		return fmt.Errorf("--web-max-connections %d is not more than 0", o.MaxConns)
	case o.Queue.MaxAge <= 0:
		return fmt.Errorf("--queue-max-age %v is not more than 0", o.Queue.MaxAge)
	case o.Queue.Dir != "" && !filepath.IsAbs(o.Queue.Dir):
		return fmt.Errorf("--queue-dir %q is not an absolute path", o.Queue.Dir)
	}
	m, values := &o.Metrics, Values(nil)
	for name, v := range map[string]string{"events": m.Events, "histograms": m.Histograms, "metrics-compat": m.Compat} {
		if v != "" && !slices.Contains(values[name], v) { // "" is the default
			return fmt.Errorf("--%s %q: there are %s", name, v, strings.Join(values[name], ", "))
		}
	}
	return errors.Join(o.OTLP.Check(), o.Rows.Check())
}

// push is what all queues have in common.
func (q *Queue) push() push.Options {
	return push.Options{Dir: q.Dir, MaxBytes: q.MaxBytes, MaxAge: q.MaxAge}
}
