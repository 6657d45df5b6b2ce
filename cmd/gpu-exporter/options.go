package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/attribution"
	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/workerlist"
)

const usage = `gpu-exporter serves metrics of GPUs and of who uses them to Prometheus, pushes them
elsewhere, and has a page to look at.

Usage: gpu-exporter [flags]

  --worker HOST:PORT      worker to ask, also unix:PATH or a name in the configuration file (TF_WORKER_HOST, TF_WORKER_PORT, localhost:18515)
  --worker-token-file FILE  token that says to workers who this is (TF_WORKER_TOKEN_FILE)
  --worker-tls-ca FILE    CA that has signed the worker's certificate; TLS then, with this and the following (TF_WORKER_TLS_CA;
                          TF_WORKER_TLS=1: TLS with this machine's CAs). They are of workers that are probed, too
  --worker-tls-cert FILE  certificate to show to the worker, and --worker-tls-key FILE, its private key (TF_WORKER_TLS_CERT, TF_WORKER_TLS_KEY)
  --worker-tls-server-name NAME
                          what the worker's certificate is for, if not its host (TF_WORKER_TLS_SERVER_NAME)
  --local                 ask this machine's own cards instead of a worker
  --smi-backend SOURCE    with --local: amdsmi (AMD's library), sysfs (the kernel's files), or auto (auto)
  --kubelet-socket SOCKET with --local: kubelet to ask which pod a card was given to, such as
                          unix:///var/lib/kubelet/pod-resources/kubelet.sock (that one if it is there), or none
  --proc DIR              with --local: where the host's /proc is, in a container that is not in the host's PID
                          namespace (/proc)
  --listen HOST:PORT      where to serve /, /metrics, /probe, /sd, /-/healthy and /-/ready (127.0.0.1:9400)
  --insecure              let --listen be an address that other machines reach, although nobody is authenticated
  --timeout TIME          how long the worker may take to answer (10s)
  --version               print the version
  --help                  this text
`

const ending = `
The worker need not be there: gpu_exporter_source_up is 0 until it is.

Exit codes: 0 ended by a signal, 1 cannot serve, 2 wrong usage.
`

func help() string { return usage + service.Usage() + ending }

type options struct {
	local, version     bool
	worker             dialing.Worker
	smi, kubelet, proc string
	timeout            time.Duration
	service            service.Options
}

// parse reads arguments and environment. An argument goes before its variable.
func parse(args []string, getenv func(string) string) (o options, err error) {
	fs := flag.NewFlagSet("gpu-exporter", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	env := func(key, def string) string {
		if v := getenv(key); v != "" {
			return v
		}
		return def
	}
	if err := o.service.FromEnv(getenv); err != nil {
		return o, err
	}
	name := fs.String("worker", getenv("TF_WORKER_HOST"), "")
	o.service.Dialing.AddFlags(fs, "worker-tls")
	fs.BoolVar(&o.local, "local", false, "")
	fs.StringVar(&o.smi, "smi-backend", localsmi.Auto, "")
	kubelet := fs.String("kubelet-socket", "", "")
	fs.StringVar(&o.proc, "proc", "", "")
	fs.StringVar(&o.service.Listen, "listen", "127.0.0.1:9400", "")
	fs.BoolVar(&o.service.Insecure, "insecure", false, "")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	fs.BoolVar(&o.version, "version", false, "")
	o.service.Flag = "--listen"
	o.service.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("%q is too much", strings.Join(fs.Args(), " "))
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for _, name := range []string{"smi-backend", "kubelet-socket", "proc"} {
		if given[name] && !o.local {
			return o, fmt.Errorf("--%s is of use with --local only", name)
		}
	}
	if o.local && given["worker"] {
		return o, errors.New("--local and --worker: one of them")
	}
	if o.worker, err = findWorker(*name, env("TF_WORKER_PORT", workerlist.DefaultPort), o.service.Dialing, getenv); err != nil && !o.local {
		return o, fmt.Errorf("--worker: %w", err)
	}
	switch o.smi {
	case localsmi.Auto, localsmi.AMD, localsmi.Sysfs:
	default:
		return o, fmt.Errorf("--smi-backend %q: there are %s, %s and %s", o.smi, localsmi.Auto, localsmi.AMD, localsmi.Sysfs)
	}
	if o.proc != "" && !filepath.IsAbs(o.proc) {
		return o, fmt.Errorf("--proc %q is not an absolute path", o.proc)
	}
	if o.kubelet, err = attribution.ParseKubelet(*kubelet); err != nil {
		return o, fmt.Errorf("--kubelet-socket: %w", err)
	}
	if o.timeout <= 0 {
		return o, fmt.Errorf("--timeout %v is not more than 0", o.timeout)
	}
	if err := o.service.Check(); err != nil {
		return o, err
	}
	if _, err := o.service.CheckWeb(); err != nil {
		return o, err
	}
	return o, nil
}

// findWorker is the one worker to ask.
func findWorker(name, port string, set dialing.Settings, getenv func(string) string) (dialing.Worker, error) {
	list, err := dialing.Workers(name, port, set, getenv)
	if err == nil && list == nil { // nobody has said anything
		list, err = dialing.Workers("localhost", port, set, getenv)
	}
	switch {
	case err != nil:
		return dialing.Worker{}, err
	case len(list) > 1:
		return dialing.Worker{}, fmt.Errorf("%d workers; one is asked, others are probed", len(list))
	}
	return list[0], nil
}
