package smiabi

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// told is what a source, which may be another machine, says of a card.
type told struct {
	Metrics    smi.Metrics
	Info       smi.Info
	ECC        smi.ECC
	Processes  []smi.Process
	XGMI       smi.XGMI
	Partitions smi.Partitions
	Pages      []smi.BadPage
	Topology   smi.Topology
}

// dice fills values with what the fuzzer's bytes choose.
type dice struct{ bytes []byte }

func (d *dice) roll(n int) int {
	if len(d.bytes) == 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % n
}

// words are the values of texts, and in JSON those of what may be missing.
var (
	words = []string{"", "gfx", "mem", "vclk", "dclk", "soc", "hbm3", "hbm255", "xcd7", "hotspot", "vcn", "jpeg", "ppt", "low_utilization", "XGMI", "PCIE", "SPX", "CPX", "NPS4", "up",
		"down", "umc", "enabled", "none", "reserved", "XCC", "auto", strings.Repeat("ä", 300)}
	maybe = []string{"null", "0", "1", "-1", "7", "8", "63", "64", "255", "65535", "4294967295", "18446744073709551615", "-9223372036854775808", "0.5", "1e300", "-1e300", "true", "false",
		`"ffffffff:ff:1f.7"`}
	numbers = []int64{0, 1, -1, 2, 7, 8, 31, 32, 64, 255, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64}
)

func (d *dice) fill(v reflect.Value) {
	if u, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		if u.UnmarshalJSON([]byte(maybe[d.roll(len(maybe))])) != nil {
			_ = u.UnmarshalJSON([]byte("null"))
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				d.fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), d.roll(80), 80))
		for i := range v.Len() {
			d.fill(v.Index(i))
		}
	case reflect.Pointer:
		if d.roll(2) == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			d.fill(v.Elem())
		}
	case reflect.String:
		v.SetString(words[d.roll(len(words))])
	case reflect.Bool:
		v.SetBool(d.roll(2) == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(numbers[d.roll(len(numbers))])
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(numbers[d.roll(len(numbers))]))
	case reflect.Float64:
		v.SetFloat(float64(numbers[d.roll(len(numbers))]))
	}
}

// Whatever a source says, the figures made of it stay within their structs.
func FuzzFigures(f *testing.F) {
	r := rand.New(rand.NewPCG(27, 1))
	for range 4 {
		b := make([]byte, 4096)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var d told
		(&dice{b}).fill(reflect.ValueOf(&d).Elem())
		src := smitest.NewFake(smi.DeviceSnapshot{Info: &d.Info, Metrics: &d.Metrics, ECC: &d.ECC, Processes: d.Processes}, smi.DeviceSnapshot{Info: &smi.Info{}})
		src.SetDetails(smitest.Detail{BadPages: d.Pages, XGMI: &d.XGMI, Partitions: &d.Partitions})
		src.SetTopology(&d.Topology)
		c := opened(t, src).at(0)
		// A struct between two of its kind, which must stay as they are.
		guard(t, func(g *gpuMetrics) { amdsmiGetGPUMetricsInfo(c, g) })
		guard(t, func(g *violationStatus) { amdsmiGetViolationStatus(c, g) })
		guard(t, func(g *powerInfo) { amdsmiGetPowerInfo(c, g) })
		guard(t, func(g *powerCapInfo) { amdsmiGetPowerCapInfo(c, 0, g) })
		guard(t, func(g *pcieInfo) { amdsmiGetPCIeInfo(c, g) })
		guard(t, func(g *pcieBandwidth) { amdsmiGetGPUPCIBandwidth(c, g) })
		guard(t, func(g *acceleratorPartitionProfileConfig) { amdsmiGetGPUAcceleratorPartitionProfileConfig(c, g) })
		guard(t, func(g *acceleratorPartitionProfile) {
			var id uint32
			amdsmiGetGPUAcceleratorPartitionProfile(c, g, &id)
		})
		guard(t, func(g *memoryPartitionConfig) { amdsmiGetGPUMemoryPartitionConfig(c, g) })
		guard(t, func(g *linkMetrics) { amdsmiGetLinkMetrics(c, g) })
		guard(t, func(g *xgmiLinkStatus) { amdsmiGetGPUXGMILinkStatus(c, g) })
		guard(t, func(g *topologyNearest) { amdsmiGetLinkTopologyNearest(c, AMDSMI_LINK_TYPE_XGMI, g) })
		guard(t, func(g *rasFeature) { amdsmiGetGPURASFeatureInfo(c, g) })
		guard(t, func(g *[5]byte) { amdsmiGetGPUMemoryPartition(c, &g[0], 5) })
		guard(t, func(g *[2]procInfo) { n := uint32(2); amdsmiGetGPUProcessList(c, &n, &g[0]) })
		guard(t, func(g *[2]processInfo) { n := uint32(2); amdsmiGetGPUComputeProcessInfo(c.call, &g[0], &n) })
		guard(t, func(g *[2]retiredPageRecord) { n := uint32(2); amdsmiGetGPUBadPageInfo(c, &n, &g[0]) })
		guard(t, func(g *procInfoByPid) {
			n, h := uint32(1), c.handle()
			amdsmiGetGPUProcessListByPid(c.call, &h, 1, g, &n)
		})
		for k := range clockOf {
			guard(t, func(g *clkInfo) { amdsmiGetClockInfo(c, k, g) })
			guard(t, func(g *frequencies) { amdsmiGetClkFreq(c, k, g) })
		}
	})
}

// guard calls fill with a struct that has another on either side.
func guard[T comparable](t *testing.T, fill func(*T)) {
	t.Helper()
	var zero T
	three := new([3]T)
	fill(&three[1])
	if three[0] != zero || three[2] != zero {
		t.Fatalf("%T: written beyond it", zero)
	}
}
