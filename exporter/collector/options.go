package collector

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/local"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
)

// Options are what collectors are told once; exporter.Options says more of each.
type Options struct {
	Sessions smi.Sessions        // nil: there are none
	Calls    CallSource          // nil: none are measured
	Local    local.Source        // nil: local programs are not watched
	Sinks    func() []push.Stats // nil: there are none

	Host, Cluster, Pool string // as the operator names them
	Version             string // of the program

	MaxSeries    int      // of one metric; default 5000
	MaxProcesses int      // of one card; default 256
	Histograms   string   // default HistogramsBoth
	Allow, Deny  Patterns // metrics that are served
	Compat       string   // CompatDME: serve those names, too
	CompatOwners bool     // with owners' labels
	Health       Thresholds

	Log *slog.Logger
	Now func() time.Time
}

// CallSource tells how long calls took, from memory and at once; rpcstats.Totals does. It
// may implement SlowCallSource, and Err() error: while that is not nil nothing is known.
type CallSource interface {
	Calls() []rpcstats.CallTotal
}

// SlowCallSource is a CallSource that keeps the slowest calls.
type SlowCallSource interface {
	SlowCalls() []rpcstats.SlowCall
}

// Unknown is why a source that is asked from afar knows nothing; nil if it does.
func Unknown(src any) error {
	if s, ok := src.(interface{ Err() error }); ok {
		return s.Err()
	}
	return nil
}

// complete fills in what is not given, and checks the rest.
func (o *Options) complete() error {
	if o.Compat != "" && o.Compat != CompatDME {
		return fmt.Errorf("exporter: no other exporter's names are known as %q (%s are)", o.Compat, CompatDME)
	}
	if err := o.Allow.check(); err != nil {
		return err
	}
	if err := o.Deny.check(); err != nil {
		return err
	}
	if o.Histograms == "" {
		o.Histograms = HistogramsBoth
	}
	if err := checkHistograms(o.Histograms); err != nil {
		return err
	}
	if o.MaxSeries <= 0 {
		o.MaxSeries = 5000
	}
	if o.MaxProcesses <= 0 {
		o.MaxProcesses = 256
	}
	if o.Version == "" {
		o.Version = "unknown"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}
