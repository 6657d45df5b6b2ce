package exporter

import "github.com/rocwire/rocwire/smi"

type number interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

// gaugeOpt emits a figure if it is available.
func gaugeOpt[T number](e *emitter, m *metric, v smi.Opt[T], labels ...string) {
	if n, ok := v.Get(); ok {
		e.gauge(m, float64(n), labels...)
	}
}

// counterOpt emits a running total if it is available.
func counterOpt[T number](e *emitter, m *metric, v smi.Opt[T], labels ...string) {
	if n, ok := v.Get(); ok {
		e.counter(m, float64(n), labels...)
	}
}

// secondsOpt emits a running total of time if it is available.
func secondsOpt(e *emitter, m *metric, v smi.Opt[smi.Duration], labels ...string) {
	if d, ok := v.Get(); ok {
		e.counter(m, d.Seconds(), labels...)
	}
}
