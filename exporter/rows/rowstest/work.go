// Package rowstest has what tests of sinks of rows have in common: readings of a made-up
// host under work, and the rows that must arrive of them.
package rowstest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// Step is the time between two readings of a Work.
const Step = 15 * time.Second

// Work is a host with two cards, some processes that come and go, and calls.
type Work struct {
	now    time.Time
	rnd    *rand.Rand
	steps  int
	totals *rpcstats.Totals
}

// NewWork returns one that begins now, and is the same every time but for that.
func NewWork() *Work {
	return &Work{now: time.Now(), rnd: rand.New(rand.NewPCG(4, 2)), totals: rpcstats.NewTotals(rpcstats.Names{})}
}

// Next is the reading a Step later.
func (w *Work) Next() exporter.Reading {
	w.steps++
	w.now = w.now.Add(Step)
	calls := w.rnd.IntN(400)
	if w.steps == 1 {
		calls = 0 // how long the first interval is depends on when a process began
	}
	for range calls {
		op := []string{"hipMalloc", "hipMemcpy", "hipLaunchKernel", "hipFree"}[w.rnd.IntN(4)]
		code := []string{"hipSuccess", "hipSuccess", "hipErrorOutOfMemory"}[w.rnd.IntN(3)]
		w.totals.Observe(op, []string{"client", "worker"}[w.rnd.IntN(2)], code, w.rnd.ExpFloat64()*1e-3)
	}
	r := exporter.Reading{Time: w.now, Calls: w.totals.Calls()}
	for i := range 2 {
		r.Cards = append(r.Cards, w.card(i))
	}
	return r
}

func (w *Work) card(i int) exporter.Card {
	d := smi.Device{Index: i, UUID: fmt.Sprintf("12ff74a1-0000-1000-8012-%012d", i), Name: "AMD Instinct MI300X", Target: "gfx942"}
	c := exporter.Card{Fresh: true, DeviceSnapshot: smi.DeviceSnapshot{
		Device: d,
		Info:   &smi.Info{Device: d, ASIC: smi.ASIC{DeviceID: smi.Some(uint32(0x74a1)), ComputeUnits: smi.Some(304)}},
		Metrics: &smi.Metrics{
			Activity: smi.Activity{GFX: smi.Some(smi.Ratio(w.rnd.Float64()))},
			VRAM:     smi.MemoryUse{Total: smi.Some(smi.Bytes(192 << 30)), Used: smi.Some(smi.Bytes(w.rnd.Uint64N(192 << 30)))},
			Power:    smi.Power{Socket: smi.Some(smi.Watts(100 + 600*w.rnd.Float64()))},
		},
	}}
	for k := range 4 + w.steps%3 {
		pid := uint32(1000*i + 100*(w.steps/40) + k)
		p := smi.Process{Device: i, PID: pid, Name: "python3", VRAM: smi.Some(smi.Bytes(w.rnd.Uint64N(1 << 30))),
			Busy: smi.Some(smi.Duration(time.Duration(w.steps) * time.Duration(k+1) * time.Second))}
		if k%2 == 0 {
			p.Session = fmt.Sprintf("session-%d", pid)
			p.Client = &smi.Client{Host: "client host, with=all \"kinds\" of\\signs\\", PID: pid, Executable: "/opt/ünï code", Pod: "pod\n" + fmt.Sprint(pid)}
		} else {
			p.Container = &smi.Container{PodUID: fmt.Sprintf("uid-%d", pid%3), Pod: "trainer", Namespace: "default"}
		}
		c.Processes = append(c.Processes, p)
	}
	return c
}
