package model

import (
	"math"
	"testing"

	"github.com/rocwire/rocwire/simgpu/card"
)

var test = Card{
	IdlePower: 100, MaxPower: 500,
	GFXIdle: 100e6, GFXMax: 2000e6, MemIdle: 900e6, MemMax: 1300e6, SOCIdle: 30e6, SOCMax: 1200e6,
	Ambient: 25, EdgeRise: 0.08, HotspotRise: 0.12, MemRise: 0.1, EdgeTau: 20, HotspotTau: 5, MemTau: 30,
}

func work(class card.Class, n, lanes, bytes uint64) card.Work {
	var w card.Work
	w.Instructions[class], w.Lanes[class], w.ReadBytes = n, n*lanes, bytes
	return w
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

func TestRead(t *testing.T) {
	tests := []struct {
		name string
		in   Interval
		want Reading
	}{
		{"no time", Interval{}, Reading{0, 0, 100, 100e6, 900e6, 30e6}},
		{"idle", Interval{Seconds: 1}, Reading{0, 0, 100, 100e6, 900e6, 30e6}},
		{"matrix all the time", Interval{Seconds: 2, Busy: 2, Work: work(card.MFMA, 1000, 64, 64000)},
			Reading{1, 1, 500, 1500e6, 1300e6, 1200e6}},
		{"half the time", Interval{Seconds: 2, Busy: 1, Work: work(card.MFMA, 1000, 64, 64000)},
			Reading{0.5, 0.5, 300, 1050e6, 1100e6, 615e6}},
		{"vector arithmetic", Interval{Seconds: 1, Busy: 1, Work: work(card.VALU, 1000, 64, 0)},
			Reading{1, 0, 100 + 400*0.75*0.75, 2000e6, 1300e6, 1200e6}},
		{"half its lanes", Interval{Seconds: 1, Busy: 1, Work: work(card.VALU, 1000, 32, 0)},
			Reading{1, 0, 100 + 400*0.75*0.7*0.75, 2000e6, 1300e6, 1200e6}},
		{"running, nothing reported", Interval{Seconds: 1, Busy: 1}, Reading{1, 0, 300, 2000e6, 1300e6, 1200e6}},
		{"copies", Interval{Seconds: 1, CopyBusy: 0.5}, Reading{0, 0.5, 140, 100e6, 1100e6, 615e6}},
		{"more busy than time", Interval{Seconds: 1, Busy: 9, CopyBusy: 9, Work: work(card.MFMA, 1, 64, 64)},
			Reading{1, 1, 500, 1500e6, 1300e6, 1200e6}},
	}
	for _, tt := range tests {
		got := test.Read(tt.in)
		for _, f := range []struct {
			name string
			a, b float64
		}{
			{"GFX", got.GFX, tt.want.GFX}, {"UMC", got.UMC, tt.want.UMC}, {"Power", got.Power, tt.want.Power},
			{"GFXClock", got.GFXClock, tt.want.GFXClock}, {"MemClock", got.MemClock, tt.want.MemClock}, {"SOCClock", got.SOCClock, tt.want.SOCClock},
		} {
			if !near(f.a, f.b) {
				t.Errorf("%s: %s = %v, want %v", tt.name, f.name, f.a, f.b)
			}
		}
	}
}

// TestOrder: hungrier instructions draw more.
func TestOrder(t *testing.T) {
	last := 0.0
	for _, c := range []card.Class{card.Branch, card.SALU, card.SMEM, card.LDS, card.VMEM, card.VALU, card.MFMA} {
		p := test.Read(Interval{Seconds: 1, Busy: 1, Work: work(c, 100, 64, 0)}).Power
		if p <= last || p > test.MaxPower {
			t.Errorf("class %d draws %v W, the one before %v W", c, p, last)
		}
		last = p
	}
}

func TestStep(t *testing.T) {
	s := test.Start()
	idle := s
	if !near(s.Edge, 33) || !near(s.Hotspot, 37) || !near(s.Mem, 35) || s.Energy != 0 {
		t.Errorf("start %+v", s)
	}
	s = test.Step(s, Interval{Seconds: 10})
	if s.Energy != 1000 || !near(s.Edge, idle.Edge) {
		t.Errorf("after ten idle seconds %+v", s)
	}
	full := Interval{Seconds: 5, Busy: 5, Work: work(card.MFMA, 1, 64, 64)}
	s = test.Step(s, full)
	if s.Energy != 3500 {
		t.Errorf("energy %v", s.Energy)
	}
	if want := 85 - (85-37)/math.E; !near(s.Hotspot, want) { // one time constant
		t.Errorf("hotspot %v, want %v", s.Hotspot, want)
	}
	// The result does not depend on how often one looks.
	a, b := test.Start(), test.Start()
	a = test.Step(a, full)
	small := full
	small.Seconds, small.Busy = 0.5, 0.5
	for range 10 {
		b = test.Step(b, small)
	}
	if !near(a.Energy, b.Energy) || !near(a.Edge, b.Edge) || !near(a.Mem, b.Mem) {
		t.Errorf("one step %+v, ten steps %+v", a, b)
	}
	// It gets no warmer than the steady state, and cools down again.
	full.Seconds, full.Busy = 1e6, 1e6
	s = test.Step(s, full)
	if !near(s.Edge, 25+0.08*500) {
		t.Errorf("steady state %v", s.Edge)
	}
	s = test.Step(s, Interval{Seconds: 1e6})
	if !near(s.Edge, idle.Edge) {
		t.Errorf("cooled to %v", s.Edge)
	}
}
