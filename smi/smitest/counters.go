package smitest

import (
	"context"
	"fmt"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

// falls collects running totals and notices one that falls.
type falls struct {
	t    *testing.T
	last map[string]float64
}

func watch[T ~uint64 | ~int64 | ~float64](f *falls, name string, v smi.Opt[T]) {
	now, ok := v.Get()
	if !ok {
		return
	}
	if last, seen := f.last[name]; seen && float64(now) < last {
		f.t.Errorf("%s fell from %v to %v", name, last, now)
	}
	f.last[name] = float64(now)
}

func testCounters(t *testing.T, src smi.Source) {
	each(t, src, func(ctx context.Context, d smi.Device) {
		f := &falls{t: t, last: map[string]float64{}}
		for range 5 {
			if m, err := src.Metrics(ctx, d.Index); err == nil {
				watch(f, "energy", m.Energy)
				watch(f, "PCIe replays", m.PCIe.Replays)
				watch(f, "PCIe replay rollovers", m.PCIe.ReplayRollovers)
				watch(f, "PCIe recoveries", m.PCIe.Recoveries)
				watch(f, "PCIe NAKs sent", m.PCIe.NAKsSent)
				watch(f, "PCIe NAKs received", m.PCIe.NAKsReceived)
				for _, v := range m.Throttle.Violations {
					watch(f, fmt.Sprintf("violation %s %d", v.Kind, v.Index), v.Total)
				}
			}
			if e, err := src.ECC(ctx, d.Index); err == nil {
				watch(f, "correctable errors", e.Correctable)
				watch(f, "uncorrectable errors", e.Uncorrectable)
				watch(f, "deferred errors", e.Deferred)
				for _, b := range e.Blocks {
					watch(f, "correctable errors of "+b.Block, b.Correctable)
					watch(f, "uncorrectable errors of "+b.Block, b.Uncorrectable)
					watch(f, "deferred errors of "+b.Block, b.Deferred)
				}
			}
			if x, err := src.XGMI(ctx, d.Index); err == nil {
				for i, l := range x.Links {
					watch(f, fmt.Sprintf("bytes read over link %d", i), l.Read)
					watch(f, fmt.Sprintf("bytes written over link %d", i), l.Written)
				}
			}
			if ps, err := src.Processes(ctx, d.Index); err == nil {
				for _, p := range ps {
					watch(f, fmt.Sprintf("busy time of process %d", p.PID), p.Busy)
					watch(f, fmt.Sprintf("copy time of process %d", p.PID), p.SDMA)
					watch(f, fmt.Sprintf("evicted time of process %d", p.PID), p.Evicted)
				}
			}
		}
	})
}
