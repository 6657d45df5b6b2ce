package collector

import (
	"fmt"

	"github.com/rocwire/rocwire/smi"
)

type numeric interface {
	~int | ~int64 | ~uint32 | ~uint64 | ~float64
}

// gaugeOpt emits a figure if it is available.
func gaugeOpt[T numeric](e *emitter, m *metric, v smi.Opt[T], labels ...string) {
	if n, ok := v.Get(); ok {
		e.gauge(m, float64(n), labels...)
	}
}

// putOpt is gaugeOpt with labels made ready.
func putOpt[T numeric](e *emitter, m *metric, v smi.Opt[T], l *labels) {
	if n, ok := v.Get(); ok {
		e.put(m, float64(n), l)
	}
}

// putSeconds emits a running total of time if it is available.
func putSeconds(e *emitter, m *metric, v smi.Opt[smi.Duration], l *labels) {
	if d, ok := v.Get(); ok {
		e.put(m, d.Seconds(), l)
	}
}

// counterOpt emits a running total if it is available.
func counterOpt[T numeric](e *emitter, m *metric, v smi.Opt[T], labels ...string) {
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

// boolOpt emits 1 or 0 if the answer is available.
func boolOpt(e *emitter, m *metric, v smi.Opt[bool], labels ...string) {
	if b, ok := v.Get(); ok {
		e.gauge(m, truth(b), labels...)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// putScaled emits a figure in another unit if it is available.
func putScaled[T numeric](e *emitter, m *metric, v smi.Opt[T], scale float64, l *labels) {
	if n, ok := v.Get(); ok {
		e.put(m, float64(n)*scale, l)
	}
}

// number is a number as a label; empty when it is not available.
func number[T ~int | ~uint32 | ~uint64](v smi.Opt[T]) string {
	if n, ok := v.Get(); ok {
		return fmt.Sprint(n)
	}
	return ""
}

// first is the first value that is available.
func first[T any](vs ...smi.Opt[T]) smi.Opt[T] {
	for _, v := range vs {
		if v.Ok() {
			return v
		}
	}
	return smi.Opt[T]{}
}
