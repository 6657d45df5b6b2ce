package simgpu

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

func TestSetPowerCap(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	free := b.run(2*time.Second, 1, card.MFMA)
	b.set(smi.Setting{PowerCap: smi.Some(smi.Watts(400))})
	capped := b.run(2*time.Second, 1, card.MFMA)
	p := capped.Power
	if p.Cap.Or(0) != 400 || p.DefaultCap.Or(0) != 750 || p.Socket.Or(999) > 400 || p.Average.Or(999) > 400.001 || free.Power.Socket.Or(0) <= 400 {
		t.Errorf("%+v, without the cap %+v", p, free.Power)
	}
	if capped.Clock(smi.ClockGFX).Or(0) >= free.Clock(smi.ClockGFX).Or(0) || b.told[0].Slower == 0 {
		t.Errorf("the clock is %v, was %v; slower by %d", capped.Clock(smi.ClockGFX), free.Clock(smi.ClockGFX), b.told[0].Slower)
	}
	if v := violation(t, capped, smi.ViolationPower); v.Active != smi.Some(true) || v.Ratio.Or(0) < 0.99 {
		t.Errorf("violation %+v", v)
	}
	for _, w := range []smi.Watts{199, 751, 0, -1, smi.Watts(math.NaN()), smi.Watts(math.Inf(1))} {
		if err := b.Set(context.Background(), 0, smi.Setting{PowerCap: smi.Some(w)}); !errors.Is(err, smi.ErrInvalid) {
			t.Errorf("%v W: %v", w, err)
		}
	}
	b.set(smi.Setting{PowerCap: smi.Some(smi.Watts(750))})
	if m := b.run(2*time.Second, 1, card.MFMA); m.Power.Socket != free.Power.Socket || b.told[0].Slower != 0 {
		t.Errorf("without the cap again %v, slower by %d", m.Power.Socket, b.told[0].Slower)
	}
}

// TestPerformanceLevels: each level holds the clocks where it says, busy and idle.
func TestPerformanceLevels(t *testing.T) {
	p := products["gfx90a"].physical
	for _, tt := range []struct {
		level                          string
		idleGFX, busyGFX, idleM, busyM float64
	}{
		{smi.PerfAuto, p.GFXIdle, p.GFXMax, p.MemIdle, p.MemMax},
		{smi.PerfLow, p.GFXMin, p.GFXMin, p.MemIdle, p.MemIdle},
		{smi.PerfHigh, p.GFXMax, p.GFXMax, p.MemMax, p.MemMax},
		{smi.PerfPeak, p.GFXMax, p.GFXMax, p.MemMax, p.MemMax},
		{smi.PerfStandard, 1100e6, 1100e6, p.MemIdle, p.MemMax},
		{smi.PerfMinGFX, p.GFXMin, p.GFXMin, p.MemIdle, p.MemMax},
		{smi.PerfMinMem, p.GFXIdle, p.GFXMax, p.MemIdle, p.MemIdle},
		{smi.PerfDeterminism, p.GFXIdle, p.GFXMax, p.MemIdle, p.MemMax},
	} {
		b := newBench(t, "gfx90a", 1)
		b.set(smi.Setting{PerfLevel: tt.level})
		idle := b.run(2*time.Second, 0, 0)
		busy := b.run(2*time.Second, 1, card.LDS)
		got := [4]float64{
			float64(idle.Clock(smi.ClockGFX).Or(0)), float64(busy.Clock(smi.ClockGFX).Or(0)),
			float64(idle.Clock(smi.ClockMem).Or(0)), float64(busy.Clock(smi.ClockMem).Or(0)),
		}
		for i, want := range []float64{tt.idleGFX, tt.busyGFX, tt.idleM, tt.busyM} {
			if math.Abs(got[i]-want) > 1 {
				t.Errorf("%s: idle and busy GFX, idle and busy memory %.0f, want [%d] %.0f", tt.level, got, i, want)
			}
		}
		if idle.PerfLevel != tt.level {
			t.Errorf("level %q, was set to %q", idle.PerfLevel, tt.level)
		}
	}
	b := newBench(t, "gfx90a", 1)
	if err := b.Set(context.Background(), 0, smi.Setting{PerfLevel: "loud"}); !errors.Is(err, smi.ErrInvalid) {
		t.Errorf("an unknown level: %v", err)
	}
}

func TestSetClocks(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	ctx := context.Background()
	free := b.run(2*time.Second, 1, card.LDS)
	b.set(smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some(smi.MHz(1050))}})
	b.set(smi.Setting{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: smi.Some(smi.MHz(700))}})
	m := b.run(2*time.Second, 1, card.LDS)
	if c := m.Clocks[0]; c.Current.Or(0) != smi.MHz(1050) || c.Min.Or(0) != smi.MHz(700) || c.Max.Or(0) != smi.MHz(1050) || m.PerfLevel != smi.PerfManual {
		t.Errorf("clock %+v, level %q", c, m.PerfLevel)
	}
	if b.told[0].Slower != 500 || m.Power.Socket.Or(999) >= free.Power.Socket.Or(0) {
		t.Errorf("slower by %d, %v W", b.told[0].Slower, m.Power.Socket)
	}
	if m = b.run(2*time.Second, 0, 0); m.Clock(smi.ClockGFX).Or(0) != smi.MHz(700) {
		t.Errorf("idle at %v", m.Clock(smi.ClockGFX))
	}
	b.set(smi.Setting{Determinism: smi.Some(smi.MHz(900))})
	if m = b.run(2*time.Second, 1, card.LDS); m.Clock(smi.ClockGFX).Or(0) != smi.MHz(900) || m.PerfLevel != smi.PerfDeterminism {
		t.Errorf("determinism at %v, %q", m.Clock(smi.ClockGFX), m.PerfLevel)
	}
	b.set(smi.Setting{PerfLevel: smi.PerfAuto})
	if m = b.run(2*time.Second, 1, card.LDS); m.Clock(smi.ClockGFX) != free.Clock(smi.ClockGFX) {
		t.Errorf("auto again: %v, before %v", m.Clock(smi.ClockGFX), free.Clock(smi.ClockGFX))
	}
	for want, list := range map[smi.Code][]smi.Setting{
		smi.ErrInvalid: {
			{}, {PerfLevel: smi.PerfLow, Reset: true}, {Determinism: smi.Some(smi.MHz(9000))}, {Determinism: smi.Some(smi.Hertz(math.NaN()))},
			{Clock: &smi.ClockRange{Domain: "heart", Max: smi.Some(smi.MHz(1000))}},
			{Clock: &smi.ClockRange{Domain: smi.ClockGFX}},
			{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Max: smi.Some(smi.MHz(2101))}},
			{Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: smi.Some(smi.MHz(2000)), Max: smi.Some(smi.MHz(1000))}},
			{Clock: &smi.ClockRange{Domain: smi.ClockMem, Min: smi.Some(smi.Hertz(math.Inf(-1)))}},
			{ComputePartition: "XPX"}, {MemoryPartition: "SPX"},
		},
		smi.ErrNotSupported: {
			{Fan: smi.Some(smi.Ratio(0.5))}, {FanAuto: true}, {Clock: &smi.ClockRange{Domain: smi.ClockSOC, Max: smi.Some(smi.MHz(1000))}},
			{ComputePartition: "CPX"}, {MemoryPartition: "NPS4"},
		},
	} {
		for _, s := range list {
			if err := b.Set(ctx, 0, s); !errors.Is(err, want) {
				t.Errorf("%+v: %v, want %v", s, err, want)
			}
		}
	}
	b.set(smi.Setting{ComputePartition: "SPX"})
	b.set(smi.Setting{MemoryPartition: "NPS1"})
	b.read[0].Sessions = []card.Use{{PID: 1, Used: 5}}
	b.run(sampleEvery, 0, 0)
	if err := b.Set(ctx, 0, smi.Setting{ComputePartition: "CPX"}); !errors.Is(err, smi.ErrBusy) {
		t.Errorf("dividing a card in use: %v", err)
	}
	mi210 := newBench(t, "gfx90a", 1)
	if err := mi210.Set(ctx, 0, smi.Setting{ComputePartition: "SPX"}); !errors.Is(err, smi.ErrNotSupported) {
		t.Errorf("dividing an MI210: %v", err)
	}
	if err := b.Set(ctx, 7, smi.Setting{Reset: true}); !errors.Is(err, smi.ErrNotFound) {
		t.Errorf("a card that is none: %v", err)
	}
}

// TestDeterministic: the same work, settings and clock give the same figures to the
// last bit, and events with the same times.
func TestDeterministic(t *testing.T) {
	scenario := func() string {
		b := newBench(t, "gfx942", 2)
		var all []any
		keep := func(v any) { all = append(all, v) }
		keep(b.run(time.Second, 0.3, card.VALU))
		b.read[0].Sessions = []card.Use{{PID: 1 << 30, Used: 4096, Host: 1}}
		b.read[0].Used = 4096
		b.set(smi.Setting{PowerCap: smi.Some(smi.Watts(300))})
		keep(b.run(1500*time.Millisecond, 1, card.MFMA))
		b.inject(smi.Fault{Kind: smi.FaultThermal, Temperature: smi.Some(smi.Celsius(110))})
		b.inject(smi.Fault{Kind: smi.FaultECC, Error: "uncorrectable", Count: 2})
		keep(b.run(700*time.Millisecond, 1, card.MFMA))
		b.inject(smi.Fault{Kind: smi.FaultLink})
		b.inject(smi.Fault{Kind: smi.FaultThermal, Clear: true})
		b.read[1].FromPeer[0] = 12345
		keep(b.run(3*time.Second, 0.5, card.VMEM))
		snap, err := smi.TakeSnapshot(context.Background(), b.Source)
		if err != nil {
			t.Fatal(err)
		}
		snap.Time = time.Time{}
		keep(snap)
		pages, _ := b.BadPages(context.Background(), 0)
		x, _ := b.XGMI(context.Background(), 0)
		keep(pages)
		keep(x)
		list, err := b.heard.Next(context.Background(), 100)
		if err != nil {
			t.Fatal(err)
		}
		keep(list)
		j, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(j)
	}
	if a, b := scenario(), scenario(); a != b {
		t.Errorf("the same scenario twice:\n%s\n%s", a, b)
	}
}

// TestIdleSettles: whatever happened, an idle card comes to rest at idle figures.
func TestIdleSettles(t *testing.T) {
	for arch := range products {
		b := newBench(t, arch, 1)
		idle := b.run(5*time.Minute, 0, 0)
		b.run(time.Minute, 1, card.MFMA)
		again := b.run(10*time.Minute, 0, 0)
		if idle.Power.Socket != again.Power.Socket || math.Abs(float64(idle.Power.Average.Or(0)-again.Power.Average.Or(0))) > 1e-6 || idle.Clock(smi.ClockGFX) != again.Clock(smi.ClockGFX) || again.Activity.GFX.Or(1) != 0 {
			t.Errorf("%s: %+v, before the work %+v", arch, again.Power, idle.Power)
		}
		for i := range idle.Temperatures {
			if a, b := float64(idle.Temperatures[i].Current.Or(0)), float64(again.Temperatures[i].Current.Or(0)); math.Abs(a-b) > 0.01 {
				t.Errorf("%s: %s %v °C, before the work %v °C", arch, idle.Temperatures[i].Sensor, b, a)
			}
		}
	}
}

// TestEnergyIsTheIntegral: energy grows by average power times time.
func TestEnergyIsTheIntegral(t *testing.T) {
	b := newBench(t, "gfx942", 1)
	var sum float64
	start := float64(b.metrics(0).Energy.Or(0))
	for i := range 100 {
		m := b.run(sampleEvery, float64(i%10)/10, card.VALU)
		sum += float64(m.Power.Socket.Or(0)) * sampleEvery.Seconds()
	}
	if got := float64(b.metrics(0).Energy.Or(0)) - start; math.Abs(got-sum) > 1e-6*sum {
		t.Errorf("%v J, the sum of power is %v J", got, sum)
	}
}
