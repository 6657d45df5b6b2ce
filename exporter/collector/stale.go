package collector

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

const staleHelp = " could not be read in time and the last known figures are shown: how old they are, else 0."

var (
	metricsStale   = define(gauge, "gpu_metrics_stale_seconds", "If the GPU's sensors"+staleHelp, "gpu")
	eccStale       = define(gauge, "gpu_ecc_stale_seconds", "If the GPU's error counters"+staleHelp, "gpu")
	processesStale = define(gauge, "gpu_processes_stale_seconds", "If the GPU's list of processes"+staleHelp, "gpu")
)

// staleSeconds is how old figures are by now that were marked as old when they were
// read; 0 for those that were not.
func staleSeconds(c *Card, stale smi.Opt[smi.Duration]) float64 {
	s, ok := stale.Get()
	if !ok {
		return 0
	}
	return s.Seconds() + max(c.Age.Seconds(), 0)
}

// current is a part of a card, or nil when it is not known or too old to be shown.
func current[T any](v *View, c *Card, part *T, f *smi.Failure, stale smi.Opt[smi.Duration], what string) (*T, error) {
	gpu := strconv.Itoa(c.Snap.Device.Index)
	if part == nil || f != nil {
		return nil, failed(gpu, what, f)
	}
	if s, ok := stale.Get(); ok && c.Age+time.Duration(s) > v.MaxAge {
		return nil, fmt.Errorf("GPU %s: %s: no answer for too long", gpu, what)
	}
	return part, nil
}

func staleMetrics(m *smi.Metrics) smi.Opt[smi.Duration] {
	if m == nil {
		return smi.Opt[smi.Duration]{}
	}
	return m.Stale
}
