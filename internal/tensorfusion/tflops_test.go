package tensorfusion

import (
	"math"
	"testing"

	"github.com/rocwire/rocwire/smi"
)

func TestTFLOPS(t *testing.T) {
	for _, c := range []struct {
		id     uint32
		target string
		units  uint64
		mhz    float64
		want   float64
		how    string
	}{
		{0x74a1, "gfx942", 304, 2100, 1307.4, "published"},
		{0x740f, "gfx90a:sramecc+:xnack-", 104, 1700, 181.0, "published"},
		{1, "gfx942:sramecc+", 304, 2100, 1307.4, "computed"},
		{1, "gfx90a", 104, 1700, 181.0, "computed"},
		{1, "gfx908", 120, 1502, 184.6, "computed"},
		{1, "gfx950", 256, 2400, 2516.6, "computed"},
		{1, "gfx1100", 96, 2495, 122.6, "computed"},
		{1, "gfx1201", 64, 2970, 194.6, "computed"},
		{1, "gfx1030", 80, 2250, 46.1, "computed"},
		{1, "gfx803", 64, 1000, 8.2, "computed"},
		{1, "gfx942", 0, 2100, 0, "unknown"},
		{1, "gfx942", 304, 0, 0, "unknown"},
	} {
		in := &smi.Info{Device: smi.Device{Target: c.target}, ASIC: smi.ASIC{DeviceID: smi.Some(c.id)}}
		if c.mhz > 0 {
			in.ASIC.MaxClockGFX = smi.Some(smi.MHz(c.mhz))
		}
		if v, how := TFLOPS(in, c.units); math.Abs(v-c.want) > 0.1 || how != c.how {
			t.Errorf("%+v: %v %s", c, v, how)
		}
	}
	// The table agrees with what is computed from units and clocks of the data sheets.
	for id, sheet := range map[uint32]struct {
		target string
		units  float64
		mhz    float64
	}{
		0x738c: {"gfx908", 120, 1502}, 0x7408: {"gfx90a", 110, 1700}, 0x740c: {"gfx90a", 104, 1700}, 0x74a0: {"gfx942", 228, 2100},
		0x75a0: {"gfx950", 256, 2200}, 0x75a3: {"gfx950", 256, 2400},
	} {
		in := &smi.Info{Device: smi.Device{Target: sheet.target}, ASIC: smi.ASIC{MaxClockGFX: smi.Some(smi.MHz(sheet.mhz))}}
		if v, _ := TFLOPS(in, uint64(sheet.units)); math.Abs(v/products[id].tflops-1) > 0.01 {
			t.Errorf("%#x: %v is published, %v computed", id, products[id].tflops, v)
		}
	}
}

// One product is one model, whatever driver and library call it; a simulated card is none.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		id         uint32
		name, want string
	}{
		{0x74a1, "AMD Instinct MI300X", "AMD Instinct MI300X"},
		{0x74a1, "AMD Instinct MI300X OAM", "AMD Instinct MI300X"},
		{0x74b5, "AMD Instinct MI300X VF", "AMD Instinct MI300X"},
		{0x74a1, "AMD gfx942 (device 0x74a1)", "AMD Instinct MI300X"},
		{0x75a3, "", "AMD Instinct MI355X"},
		{0x74a1, "AMD Instinct MI300X (simulated)", "AMD Instinct MI300X (simulated)"},
		{1, "AMD Radeon RX 7900 XTX", "AMD Radeon RX 7900 XTX"},
		{1, "", "AMD GPU"},
	} {
		in := &smi.Info{Device: smi.Device{Name: c.name}, ASIC: smi.ASIC{DeviceID: smi.Some(c.id)}}
		if got := Model(in); got != c.want {
			t.Errorf("%#x %q: %q, want %q", c.id, c.name, got, c.want)
		}
	}
}
