package model

import (
	"math"
	"testing"

	"github.com/rocwire/rocwire/simgpu/card"
)

var test = Card{
	WaveSize:  64,
	IdlePower: 100, MaxPower: 500,
	GFXIdle: 100e6, GFXMax: 2000e6, MemIdle: 900e6, MemMax: 1300e6, SOCIdle: 30e6, SOCMax: 1200e6,
	Ambient: 25, EdgeRise: 0.08, HotspotRise: 0.12, MemRise: 0.1, EdgeTau: 20, HotspotTau: 5, MemTau: 30,
}

func work(class card.Class, n, lanes, bytes uint64) card.Work {
	var w card.Work
	w.Instructions[class], w.Lanes[class], w.ReadBytes = n, n*lanes, bytes
	return w
}

// A card whose waves have half the lanes shows the same when all of them work.
func TestNarrowWaves(t *testing.T) {
	narrow := test
	narrow.WaveSize = 32
	for _, class := range []card.Class{card.VALU, card.MFMA} {
		want := test.Read(Interval{Seconds: 1, Busy: 1, Work: work(class, 1000, 64, 32000)}, 0, nil)
		got := narrow.Read(Interval{Seconds: 1, Busy: 1, Work: work(class, 1000, 32, 16000)}, 0, nil)
		if got != want {
			t.Errorf("class %d: %+v, want %+v", class, got, want)
		}
	}
}

type figures struct{ GFX, UMC, Power, GFXClock, MemClock, SOCClock float64 }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

func TestRead(t *testing.T) {
	tests := []struct {
		name string
		in   Interval
		want figures
	}{
		{"no time", Interval{}, figures{0, 0, 100, 100e6, 900e6, 30e6}},
		{"idle", Interval{Seconds: 1}, figures{0, 0, 100, 100e6, 900e6, 30e6}},
		{"matrix all the time", Interval{Seconds: 2, Busy: 2, Work: work(card.MFMA, 1000, 64, 64000)},
			figures{1, 1, 500, 1500e6, 1300e6, 1200e6}},
		{"half the time", Interval{Seconds: 2, Busy: 1, Work: work(card.MFMA, 1000, 64, 64000)},
			figures{0.5, 0.5, 300, 1050e6, 1100e6, 615e6}},
		{"vector arithmetic", Interval{Seconds: 1, Busy: 1, Work: work(card.VALU, 1000, 64, 0)},
			figures{1, 0, 100 + 400*0.75*0.75, 2000e6, 1300e6, 1200e6}},
		{"half its lanes", Interval{Seconds: 1, Busy: 1, Work: work(card.VALU, 1000, 32, 0)},
			figures{1, 0, 100 + 400*0.75*0.7*0.75, 2000e6, 1300e6, 1200e6}},
		{"running, nothing reported", Interval{Seconds: 1, Busy: 1}, figures{1, 0, 300, 2000e6, 1300e6, 1200e6}},
		{"copies", Interval{Seconds: 1, CopyBusy: 0.5}, figures{0, 0.5, 140, 100e6, 1100e6, 615e6}},
		{"more busy than time", Interval{Seconds: 1, Busy: 9, CopyBusy: 9, Work: work(card.MFMA, 1, 64, 64)},
			figures{1, 1, 500, 1500e6, 1300e6, 1200e6}},
	}
	for _, tt := range tests {
		got := test.Read(tt.in, 0, nil)
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
		p := test.Read(Interval{Seconds: 1, Busy: 1, Work: work(c, 100, 64, 0)}, 0, nil).Power
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
	s = test.Step(s, Interval{Seconds: 10}, nil)
	if s.Energy != 1000 || !near(s.Edge, idle.Edge) {
		t.Errorf("after ten idle seconds %+v", s)
	}
	full := Interval{Seconds: 5, Busy: 5, Work: work(card.MFMA, 1, 64, 64)}
	s = test.Step(s, full, nil)
	if s.Energy != 3500 {
		t.Errorf("energy %v", s.Energy)
	}
	if want := 85 - (85-37)/math.E; !near(s.Hotspot, want) { // one time constant
		t.Errorf("hotspot %v, want %v", s.Hotspot, want)
	}
	// The result does not depend on how often one looks.
	a, b := test.Start(), test.Start()
	a = test.Step(a, full, nil)
	small := full
	small.Seconds, small.Busy = 0.5, 0.5
	for range 10 {
		b = test.Step(b, small, nil)
	}
	if !near(a.Energy, b.Energy) || !near(a.Edge, b.Edge) || !near(a.Mem, b.Mem) {
		t.Errorf("one step %+v, ten steps %+v", a, b)
	}
	// It gets no warmer than the steady state, and cools down again.
	full.Seconds, full.Busy = 1e6, 1e6
	s = test.Step(s, full, nil)
	if !near(s.Edge, 25+0.08*500) {
		t.Errorf("steady state %v", s.Edge)
	}
	s = test.Step(s, Interval{Seconds: 1e6}, nil)
	if !near(s.Edge, idle.Edge) {
		t.Errorf("cooled to %v", s.Edge)
	}
}

func full(seconds float64) Interval {
	return Interval{Seconds: seconds, Busy: seconds, Work: work(card.MFMA, 1000, 64, 64000)}
}

// TestPowerCap: power never exceeds the cap, and clock and speed fall with it.
func TestPowerCap(t *testing.T) {
	last := test.Read(full(1), 0, nil)
	for cap := 450.0; cap >= 150; cap -= 50 {
		r := test.Read(full(1), 0, &Limits{PowerCap: cap})
		if !near(r.Power, cap) || r.GFXClock >= last.GFXClock || r.Speed >= last.Speed || r.PowerLimited != 1 || r.GFX != 1 {
			t.Errorf("cap %v W: %+v after %+v", cap, r, last)
		}
		last = r
	}
	// Work that needs less does not notice.
	light := Interval{Seconds: 1, Busy: 1, Work: work(card.Branch, 100, 64, 0)}
	if a, b := test.Read(light, 0, nil), test.Read(light, 0, &Limits{PowerCap: 400}); a != b {
		t.Errorf("light work under a cap: %+v, without %+v", b, a)
	}
	if r := test.Read(Interval{Seconds: 1}, 0, &Limits{PowerCap: 60}); r.Power != 60 {
		t.Errorf("idle under a cap below idle power: %v W", r.Power)
	}
}

func TestClockRange(t *testing.T) {
	r := test.Read(full(1), 0, &Limits{GFX: Range{High: 750e6}})
	if !near(r.GFXClock, 750e6) || !near(r.Speed, 0.5) || !near(r.Power, 100+400*0.25) || r.PowerLimited == 0 {
		t.Errorf("half the clock: %+v", r) // a quarter of the power
	}
	r = test.Read(Interval{Seconds: 1}, 0, &Limits{GFX: Range{Low: 2000e6}, Mem: Range{Low: 1300e6}, SOC: Range{High: 10e6}})
	if !near(r.GFXClock, 2000e6) || r.Power <= test.IdlePower || !near(r.MemClock, 1300e6) || !near(r.SOCClock, 30e6) {
		t.Errorf("held at the highest clock: %+v", r)
	}
	r = test.Read(full(1), 0, &Limits{GFX: Range{High: 100e6}, Mem: Range{High: 900e6}})
	if !near(r.GFXClock, 100e6) || !near(r.MemClock, 900e6) || !near(r.Speed, 100.0/1500) {
		t.Errorf("held at the lowest clock: %+v", r)
	}
}

// TestHeat: above its limit the hot spot takes the clock away.
func TestHeat(t *testing.T) {
	c := test
	c.HotspotLimit, c.HotspotOff = 100, 120
	last := c.Read(full(1), 100, nil)
	if last.HeatLimited != 0 || last.Speed != 1 {
		t.Errorf("at the limit: %+v", last)
	}
	for _, h := range []float64{101, 110, 119, 120, 200} {
		r := c.Read(full(1), h, nil)
		if r.HeatLimited != 1 || r.Speed > last.Speed || r.Power > last.Power || r.GFXClock < c.GFXIdle {
			t.Errorf("at %v °C: %+v after %+v", h, r, last)
		}
		last = r
	}
	if !near(last.GFXClock, c.GFXIdle) {
		t.Errorf("beyond: %+v", last)
	}
	l := &Limits{Heat: 110}
	s := c.Step(c.Start(), full(2), l)
	s = c.Step(s, full(2), l)
	if s.Hotspot != 110 || s.HeatLimited != 2 || s.PowerLimited != 4 {
		t.Errorf("held from outside: %+v", s)
	}
	s = c.Step(s, Interval{Seconds: 5}, &Limits{})
	if !near(s.Hotspot, 37+(110-37)/math.E) {
		t.Errorf("cooling down: %v", s.Hotspot)
	}
}

func TestStalled(t *testing.T) {
	in := Interval{Seconds: 1, Busy: 1, Stalled: true}
	r := test.Read(in, 0, nil)
	if r.GFX != 1 || r.UMC != 0 || !near(r.Power, 100+400*stalled) {
		t.Errorf("%+v", r)
	}
}

func TestUnitsAndVolts(t *testing.T) {
	c := test
	c.GFXVoltsMin, c.GFXVoltsMax = 0.7, 1.1
	if r := c.Read(Interval{Seconds: 2, Busy: 1, UnitTime: 40}, 0, nil); !near(r.Units, 40) {
		t.Errorf("%v units", r.Units)
	}
	if r := c.Read(Interval{Seconds: 1}, 0, nil); !near(r.GFXVolts, 0.7) {
		t.Errorf("idle at %v V", r.GFXVolts)
	}
	light := Interval{Seconds: 1, Busy: 1, Work: work(card.Branch, 100, 64, 0)}
	if r := c.Read(light, 0, nil); !near(r.GFXVolts, 1.1) {
		t.Errorf("busy at %v V", r.GFXVolts)
	}
}
