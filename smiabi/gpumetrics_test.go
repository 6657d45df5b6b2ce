package smiabi

import (
	"math"
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// Of a card that knows nothing, everything is "not available" but the header.
func TestGPUMetricsOfNothing(t *testing.T) {
	c := metered(t, &smi.Metrics{})
	var g gpuMetrics
	ok(t, amdsmiGetGPUMetricsInfo(c, &g))
	var want gpuMetrics
	unset(&want)
	want.commonHeader.formatRevision, want.commonHeader.contentRevision = 1, 8
	want.apuMetrics = 0
	if g != want {
		a, b := reflect.ValueOf(g), reflect.ValueOf(want)
		for i := range a.NumField() {
			if !a.Field(i).Equal(b.Field(i)) {
				t.Errorf("%s is %v", a.Type().Field(i).Name, a.Field(i))
			}
		}
	}
	is(t, "part of an undivided card", amdsmiGetGPUPartitionMetricsInfo(c, &g), AMDSMI_STATUS_NOT_SUPPORTED)
}

func TestGPUMetrics(t *testing.T) {
	src := smitest.NewMachine(2, 1)
	m, err := src.Metrics(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	c := opened(t, src).at(1)
	var g gpuMetrics
	ok(t, amdsmiGetGPUMetricsInfo(c, &g))
	whole := func(v float64) uint16 { return uint16(math.Round(v)) }
	is(t, "hot spot", g.temperatureHotspot, whole(float64(m.Temperature(smi.SensorHotspot).Or(0))))
	is(t, "edge", g.temperatureEdge, math.MaxUint16)
	is(t, "hbm0", g.temperatureHbm[0], whole(float64(m.Temperature("hbm0").Or(0))))
	is(t, "hbm7", g.temperatureHbmStacks[7], whole(float64(m.Temperature("hbm7").Or(0))))
	is(t, "hbm8", g.temperatureHbmStacks[8], math.MaxUint16)
	is(t, "gfx", g.averageGFXActivity, whole(100*float64(m.Activity.GFX.Or(0))))
	is(t, "umc", g.averageUmcActivity, whole(100*float64(m.Activity.UMC.Or(0))))
	is(t, "power", g.currentSocketPower, whole(float64(m.Power.Socket.Or(0))))
	is(t, "average power", g.averageSocketPower, whole(float64(m.Power.Average.Or(0))))
	if e := float64(g.energyAccumulator) * energyUnit; math.Abs(e-float64(m.Energy.Or(0))) > energyUnit {
		t.Errorf("energy: %v J, want %v", e, m.Energy)
	}
	is(t, "gfx clock", g.currentGfxclk, whole(float64(m.Clock(smi.ClockGFX).Or(0))/1e6))
	is(t, "mem clock", g.currentUclk, 1300)
	is(t, "soc clock", g.currentSocclk, 1200)
	is(t, "video clocks", g.currentVclk0s, [4]uint16{29, 29, 29, 29})
	is(t, "second video clock", g.currentVclk1, 29)
	is(t, "data clocks", g.currentDclk0s, [4]uint16{22, 22, 22, 22})
	is(t, "locks", g.gfxclkLockStatus, 0)
	for x, e := range m.Activity.Engines[:8] {
		is(t, "a die's activity", g.xcpStats[0].gfxBusyInst[x], uint32(whole(100*float64(e.Busy.Or(0)))))
		is(t, "a die's clock", g.currentGfxclks[x], whole(float64(m.Clocks[x].Current.Or(0))/1e6))
	}
	is(t, "video", g.vcnActivity, [4]uint16{})
	is(t, "voltages", [3]uint16{g.voltageSOC, g.voltageGFX, g.voltageMem}, [3]uint16{793, whole(1000 * float64(m.Voltages.GFX.Or(0))), 1100})
	is(t, "link", [2]uint16{g.pcieLinkWidth, g.pcieLinkSpeed}, [2]uint16{16, 320})
	is(t, "link's bandwidth", g.pcieBandwidthInst, uint64(math.Round(float64(m.PCIe.Bandwidth.Or(0))/1e9)))
	is(t, "replays", g.pcieReplayCountAcc, m.PCIe.Replays.Or(99))
	is(t, "throttle", g.throttleStatus, 0)
	is(t, "power violations", g.pptResidencyAcc, uint64(math.Round(m.Throttle.Violations[1].Total.Or(0).Seconds()*1e3)))
	is(t, "their clock", g.accumulationCounter, uint64(smitest.Then.UnixMilli()))
	is(t, "memory bandwidth", g.vramMaxBandwidth, 5300)
	is(t, "xgmi", [2]uint16{g.xgmiLinkWidth, g.xgmiLinkSpeed}, [2]uint16{16, 32})
	is(t, "xgmi read", g.xgmiReadDataAcc, [8]uint64{2 << 20, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64})
	is(t, "xgmi up", g.xgmiLinkStatus[0], 1)
	is(t, "parts", g.numPartition, 1)
	is(t, "time", g.systemClockCounter, uint64(smitest.Then.UnixNano()))
	var h amdMetricsTableHeader
	ok(t, amdsmiGetGPUMetricsHeaderInfo(c, &h))
	is(t, "header", h, g.commonHeader)
}

// A part of a divided card has metrics of its own; indices beyond the arrays are
// left out.
func TestGPUMetricsOfAPart(t *testing.T) {
	src := smitest.NewMachine(1, 0)
	details := smitest.Details(1)
	details[0].Partitions.Compute = "CPX"
	src.SetDetails(details...)
	cards := smitest.Machine(1, 0)
	m := cards[0].Metrics
	m.Throttle.Status = smi.Some(uint64(1) << 40)
	for _, i := range []int{-1, 3, 8, 1 << 40} {
		m.Clocks = append(m.Clocks, smi.Clock{Domain: smi.ClockGFX, Index: i, Locked: smi.Some(i == 3)})
		m.Activity.Engines = append(m.Activity.Engines, smi.Engine{Kind: smi.EngineJPEG, Index: i, Busy: smi.Some(smi.Ratio(1))})
		m.Throttle.Violations = append(m.Throttle.Violations, smi.Violation{Kind: smi.ViolationLowUse, Index: i, Active: smi.Some(true)})
	}
	m.Temperatures = append(m.Temperatures, smi.Temperature{Sensor: "hbm200", Current: smi.Some(smi.Celsius(1))}, smi.Temperature{Sensor: "xcd1", Current: smi.Some(smi.Celsius(44))})
	src.SetCards(cards...)
	c := opened(t, src).at(0)
	var g gpuMetrics
	ok(t, amdsmiGetGPUPartitionMetricsInfo(c, &g))
	is(t, "parts", g.numPartition, 8)
	is(t, "locked", g.gfxclkLockStatus, 1<<3)
	is(t, "throttled", g.throttleStatus, 1<<8)
	is(t, "jpeg", [2]uint16{g.jpegActivity[3], g.jpegActivity[4]}, [2]uint16{100, math.MaxUint16})
	is(t, "die", g.xcpStats[0].temperatureXCD[1], 44)
	var v violationStatus
	ok(t, amdsmiGetViolationStatus(c, &v))
	is(t, "low use", v.activeLowUtilization[0], [8]uint8{0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff})
}

func TestViolations(t *testing.T) {
	c := opened(t, smitest.NewMachine(1, 0)).at(0)
	m, st := c.metrics()
	ok(t, st)
	var v violationStatus
	ok(t, amdsmiGetViolationStatus(c, &v))
	ms := func(i int) uint64 { return uint64(math.Round(m.Throttle.Violations[i].Total.Or(0).Seconds() * 1e3)) }
	is(t, "prochot", v.accProchotThrm, ms(0))
	is(t, "power", [3]uint64{v.accPptPwr, v.perPptPwr, uint64(v.activePptPwr)}, [3]uint64{ms(1), 0, 0})
	is(t, "hbm", v.accHbmThrm, ms(4))
	is(t, "host limit", v.accGFXClkBelowHostLimit, math.MaxUint64)
	is(t, "host limit now", v.activeGFXClkBelowHostLimit, 0xff)
	is(t, "counter", v.accCounter, uint64(smitest.Then.UnixMilli()))
	is(t, "time", v.referenceTimestamp, uint64(smitest.Then.UnixMicro()))
	is(t, "none known", amdsmiGetViolationStatus(metered(t, &smi.Metrics{}), &v), AMDSMI_STATUS_NOT_SUPPORTED)
	var p devPerfLevel
	ok(t, amdsmiGetGPUPerfLevel(c, &p))
	is(t, "level", p, AMDSMI_DEV_PERF_LEVEL_AUTO)
	ok(t, amdsmiGetGPUPerfLevel(metered(t, &smi.Metrics{PerfLevel: "profile_exit"}), &p))
	is(t, "strange level", p, AMDSMI_DEV_PERF_LEVEL_UNKNOWN)
	is(t, "no level", amdsmiGetGPUPerfLevel(metered(t, &smi.Metrics{}), &p), AMDSMI_STATUS_NOT_SUPPORTED)
}
