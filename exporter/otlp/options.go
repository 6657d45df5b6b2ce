package otlp

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/push"
)

// Options say what is sent, and where. The zero value sends nothing.
type Options struct {
	Metrics, Traces Signal

	Interval time.Duration // between two readings of the metrics, at least 1 s. Default 60 s
	// MaxAge is how old figures may be to be sent. Default 30 s, as exporter.Options.
	MaxAge time.Duration
	// MaxSeries bounds the series of one metric. Default 20000.
	MaxSeries int
	// ExplicitBuckets sends latencies as histograms with fixed bounds, every power of two
	// from 1 µs to 16 s, for receivers that cannot read exponential ones.
	ExplicitBuckets bool

	// Spans wait for BatchDelay until they are sent, or until there are BatchSpans; when
	// MaxSpans wait, more are dropped and counted. Defaults 5 s, 512, 16384: a session hands
	// over those of some seconds at once.
	BatchDelay time.Duration
	BatchSpans int
	MaxSpans   int

	Service    string      // service.name. Default: rocwire
	Version    string      // service.version
	Instance   string      // what tells this program from others of its name on its host, such as where it listens
	InstanceID string      // service.instance.id. Default: a UUID made of the host, Service and Instance
	Attributes []Attribute // of the resource; they go before all others
	Place      exporter.Place

	Queue push.Options // where requests wait; Name, Send and Timeout are set here
	Log   *slog.Logger // default: discard

	kube kube // what the environment says about the pod
}

// Attribute is one attribute of the resource.
type Attribute struct{ Key, Value string }

// Protocols of OTLP.
const (
	HTTP = "http/protobuf"
	GRPC = "grpc"
)

// Signal is where metrics or traces go.
type Signal struct {
	// Endpoint is a URL with scheme http or https; for GRPC host:port is enough. "": the
	// signal is off.
	Endpoint string
	// Exact says that Endpoint has the signal's own path, otherwise /v1/metrics or
	// /v1/traces is added to it. It changes nothing for GRPC, which has no paths.
	Exact    bool
	Off      bool   // not sent, although there is an endpoint
	Protocol string // HTTP (the default) or GRPC
	Headers  []Attribute
	Plain    bool          // GRPC without TLS when Endpoint has no scheme
	NoGzip   bool          // requests are not compressed
	Timeout  time.Duration // of one request. Default 10 s
	CA       string        // file with the certificates that the receiver's is checked with. Default: the system's
	Cert     string        // files with a certificate and its key, to show to the receiver
	Key      string
}

// ErrOptions is what wrong settings fail with.
var ErrOptions = errors.New("OTLP")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrOptions, fmt.Errorf(format, args...))
}

const (
	defaultInterval = time.Minute
	minInterval     = time.Second
	defaultTimeout  = 10 * time.Second
	defaultSeries   = 20000
	defaultService  = "rocwire"
)

func (s *Signal) on() bool { return s.Endpoint != "" && !s.Off }

// Enabled reports whether anything is sent.
func (o *Options) Enabled() bool { return o.Metrics.on() || o.Traces.on() }

// Check tells what is wrong with the options.
func (o *Options) Check() error {
	if o.Interval != 0 && o.Interval < minInterval {
		return wrong("an interval of %v is less than %v", o.Interval, minInterval)
	}
	for _, s := range []struct {
		sig  *Signal
		path string
	}{{&o.Metrics, metricsPath}, {&o.Traces, tracesPath}} {
		if !s.sig.on() {
			continue
		}
		if _, err := s.sig.target(s.path); err != nil {
			return err
		}
		if _, err := s.sig.tls(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) setDefaults() {
	setDefault(&o.Interval, defaultInterval)
	setDefault(&o.MaxAge, 30*time.Second)
	setDefault(&o.MaxSeries, defaultSeries)
	setDefault(&o.BatchDelay, 5*time.Second)
	setDefault(&o.BatchSpans, 512)
	setDefault(&o.MaxSpans, 16384)
	setDefault(&o.Metrics.Timeout, defaultTimeout)
	setDefault(&o.Traces.Timeout, defaultTimeout)
	if o.Service == "" {
		o.Service = defaultService
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func setDefault[T ~int | ~int64](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}
