package probe

import (
	"errors"
	"flag"
	"strings"
	"time"

	"github.com/rocwire/rocwire/discovery"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smiremote"
)

// Options say which workers may be asked, and how.
type Options struct {
	// Allow are patterns of workers that may be asked besides those of Listed: see
	// AddFlags.
	Allow []string
	// Listed are the workers that are configured or discovered; nil: none are. Each of
	// them has its place.
	Listed Listed
	// MaxTargets is how many others, those of Allow, are read at the same time; the one
	// that was not asked for longest gives way to another. Default 256.
	MaxTargets int
	// Idle is after how long a worker that nobody asks for is not read any more;
	// default 5 m.
	Idle time.Duration
	// Exporter is how each worker is exported; Source, Sessions, Calls, Sinks, Local,
	// More and Runtime are not used. Interval is how often a worker is read, default 5 s.
	Exporter exporter.Options
	// Client is how a worker is reached; Address is not used.
	Client smiremote.Options

	parsed []pattern
}

// Listed are workers that the operator has named; a *discovery.Discovery is that.
type Listed interface {
	Targets() []discovery.Target // not to be changed
	Has(address string) bool     // at once
}

// AddFlags adds the flags of o.
func (o *Options) AddFlags(fs *flag.FlagSet) {
	fs.Func("probe-allow", "workers that may be asked", func(s string) error {
		for p := range strings.SplitSeq(s, ",") {
			if _, err := parsePattern(p); err != nil {
				return err
			}
			o.Allow = append(o.Allow, p)
		}
		return nil
	})
	fs.DurationVar(&o.Exporter.Interval, "probe-interval", 5*time.Second, "how often a probed worker is read")
	fs.IntVar(&o.MaxTargets, "probe-max-targets", 256, "workers of --probe-allow read at the same time")
	fs.DurationVar(&o.Idle, "probe-idle", 5*time.Minute, "after how long an unused worker is let go")
}

// Usage is the help for the flags of AddFlags.
func Usage() string {
	return strings.TrimPrefix(`
  --probe-allow WORKERS  workers that /probe?target=HOST:PORT may ask besides the
                      discovered ones: HOST[:PORT], with * in names; 10.0.0.0/8;
                      ports as 18515-18520; several with commas     [none]
  --probe-interval TIME  how often a probed worker is read           [5s]
  --probe-max-targets N  workers of --probe-allow read at the same time; the one
                      unused for longest gives way. Those of --discover-file and
                      --discover-url are read besides, all of them   [256]
  --probe-idle TIME   after how long an unused worker is let go      [5m]
`, "\n")
}

// has reports whether a worker is listed.
func (o *Options) has(address string) bool { return o.Listed != nil && o.Listed.Has(address) }

// check fills in what is not set.
func (o *Options) check() error {
	if o.MaxTargets <= 0 {
		o.MaxTargets = 256
	}
	if o.Idle <= 0 {
		o.Idle = 5 * time.Minute
	}
	if o.Exporter.Interval <= 0 {
		o.Exporter.Interval = 5 * time.Second
	}
	if o.Exporter.Timeout <= 0 {
		o.Exporter.Timeout = 10 * time.Second
	}
	if o.Client.Address != "" {
		return errors.New("probe: the address of a worker comes with each request")
	}
	for _, s := range o.Allow {
		p, err := parsePattern(s)
		if err != nil {
			return err
		}
		o.parsed = append(o.parsed, p)
	}
	return nil
}
