package smiabi

import (
	"math"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// is says so when two values differ.
func is[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// metered is the library over one card with these metrics.
func metered(t *testing.T, m *smi.Metrics) card {
	t.Helper()
	d := smi.Device{Name: "card"}
	return opened(t, smitest.NewFake(smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d}, Metrics: m})).at(0)
}

func TestFigures(t *testing.T) {
	is(t, "rounded", in[uint16](smi.Some(smi.Watts(411.6)), one), 412)
	is(t, "not available", in[uint16](smi.Opt[smi.Watts]{}, one), math.MaxUint16)
	is(t, "too great", in[uint8](smi.Some(1000), one), 254)
	is(t, "far too great", in[uint64](smi.Some(1e300), one), math.MaxUint64-1)
	is(t, "negative", in[uint32](smi.Some(smi.Celsius(-3)), one), 0)
	is(t, "no number", clamp[uint32](math.NaN()), 0)
	is(t, "yes", yes(smi.Some(true)), 1)
	is(t, "no", yes(smi.Some(false)), 0)
	is(t, "unknown", yes(smi.Opt[bool]{}), 0xff)
	is(t, "an address", packed(smi.BDF{Domain: 1, Bus: 0xc1, Device: 2, Function: 3}), 1<<16|0xc1<<8|2<<3|3)
	var c clkInfo
	unset(&c)
	is(t, "everything unset", c.reserved[3], math.MaxUint32)
}

func TestActivity(t *testing.T) {
	m := &smi.Metrics{Activity: smi.Activity{GFX: smi.Some(smi.Ratio(0.755)), Engines: []smi.Engine{
		{Kind: smi.EngineVCN, Busy: smi.Some(smi.Ratio(0.5))}, {Kind: smi.EngineVCN, Index: 1, Busy: smi.Some(smi.Ratio(0.1))}, {Kind: smi.EngineVCN, Index: 2},
	}}}
	c := metered(t, m)
	var u engineUsage
	ok(t, amdsmiGetGPUActivity(c, &u))
	is(t, "activity", u, engineUsage{gfxActivity: 76, umcActivity: 0xffff, mmActivity: 0xffff})
	var busy uint32
	ok(t, amdsmiGetGPUBusyPercent(c, &busy))
	is(t, "busy", busy, 76)
	ok(t, amdsmiGetVCNBusyPercent(c, &busy))
	is(t, "video busy", busy, 30)
	none := metered(t, &smi.Metrics{})
	is(t, "busy, not available", amdsmiGetGPUBusyPercent(none, &busy), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "video busy, not available", amdsmiGetVCNBusyPercent(none, &busy), AMDSMI_STATUS_NOT_SUPPORTED)
}

func TestClocks(t *testing.T) {
	c := metered(t, &smi.Metrics{Clocks: []smi.Clock{
		{Domain: smi.ClockGFX, Current: smi.Some(smi.MHz(1987)), Min: smi.Some(smi.MHz(500)), Max: smi.Some(smi.MHz(2100)), Locked: smi.Some(true)},
		{Domain: smi.ClockGFX, Index: 1, Current: smi.Some(smi.MHz(1000))},
		{Domain: smi.ClockMem, Current: smi.Some(smi.MHz(1300)), Max: smi.Some(smi.MHz(1300)), DeepSleep: smi.Some(false)},
		{Domain: smi.ClockVideo, Index: 1, Max: smi.Some(smi.MHz(100))},
		{Domain: smi.ClockSOC},
		{Domain: smi.ClockDF, Current: smi.Some(smi.MHz(132)), Min: smi.Some(smi.MHz(500)), Max: smi.Some(smi.MHz(2100)), DeepSleep: smi.Some(true)},
	}})
	var i clkInfo
	ok(t, amdsmiGetClockInfo(c, AMDSMI_CLK_TYPE_GFX, &i))
	is(t, "gfx", i, clkInfo{clk: 1987, minClk: 500, maxClk: 2100, clkLocked: 1, clkDeepSleep: 0xff})
	ok(t, amdsmiGetClockInfo(c, AMDSMI_CLK_TYPE_VCLK1, &i))
	is(t, "vclk1", i, clkInfo{clk: math.MaxUint32, minClk: math.MaxUint32, maxClk: 100, clkLocked: 0xff, clkDeepSleep: 0xff})
	is(t, "vclk0", amdsmiGetClockInfo(c, AMDSMI_CLK_TYPE_VCLK0, &i), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no clock", amdsmiGetClockInfo(c, 99, &i), AMDSMI_STATUS_INVAL)

	var f frequencies
	ok(t, amdsmiGetClkFreq(c, AMDSMI_CLK_TYPE_GFX, &f))
	is(t, "levels of gfx", f, frequencies{numSupported: 3, current: 1, frequency: [33]uint64{500e6, 1987e6, 2100e6}})
	ok(t, amdsmiGetClkFreq(c, AMDSMI_CLK_TYPE_MEM, &f))
	is(t, "levels of mem", f, frequencies{numSupported: 1, frequency: [33]uint64{1300e6}})
	ok(t, amdsmiGetClkFreq(c, AMDSMI_CLK_TYPE_DF, &f))
	is(t, "levels of a clock in deep sleep", f, frequencies{hasDeepSleep: true, numSupported: 3, frequency: [33]uint64{132e6, 500e6, 2100e6}})
	ok(t, amdsmiGetClkFreq(c, AMDSMI_CLK_TYPE_VCLK1, &f))
	is(t, "level of a clock that stands still", f, frequencies{numSupported: 1, current: math.MaxUint32, frequency: [33]uint64{100e6}})
	is(t, "levels of soc", amdsmiGetClkFreq(c, AMDSMI_CLK_TYPE_SOC, &f), AMDSMI_STATUS_NOT_SUPPORTED)

	var dies uint16
	ok(t, amdsmiGetGPUXCDCounter(c, &dies))
	is(t, "dies", dies, 2)
}

func TestTemperatures(t *testing.T) {
	c := metered(t, &smi.Metrics{Temperatures: []smi.Temperature{
		{Sensor: smi.SensorHotspot, Current: smi.Some(smi.Celsius(61.5)), Limit: smi.Some(smi.Celsius(100)), Shutdown: smi.Some(smi.Celsius(110))},
		{Sensor: "hbm3", Current: smi.Some(smi.Celsius(-4.2))},
	}})
	var v int64
	for _, k := range []struct {
		typ    temperatureType
		metric temperatureMetric
		want   int64
		st     status
	}{
		{AMDSMI_TEMPERATURE_TYPE_JUNCTION, AMDSMI_TEMP_CURRENT, 62, 0},
		{AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_CRITICAL, 100, 0},
		{AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_EMERGENCY, 110, 0},
		{AMDSMI_TEMPERATURE_TYPE_HBM_3, AMDSMI_TEMP_CURRENT, -4, 0},
		{AMDSMI_TEMPERATURE_TYPE_HBM_3, AMDSMI_TEMP_CRITICAL, 0, AMDSMI_STATUS_NOT_SUPPORTED},
		{AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_LOWEST, 0, AMDSMI_STATUS_NOT_SUPPORTED},
		{AMDSMI_TEMPERATURE_TYPE_EDGE, AMDSMI_TEMP_CURRENT, 0, AMDSMI_STATUS_NOT_SUPPORTED},
		{AMDSMI_TEMPERATURE_TYPE_BASEBOARD_IBC, AMDSMI_TEMP_CURRENT, 0, AMDSMI_STATUS_NOT_SUPPORTED},
		{AMDSMI_TEMPERATURE_TYPE__MAX + 1, AMDSMI_TEMP_CURRENT, 0, AMDSMI_STATUS_INVAL},
		{AMDSMI_TEMPERATURE_TYPE_HOTSPOT, AMDSMI_TEMP_LAST + 1, 0, AMDSMI_STATUS_INVAL},
	} {
		v = 0
		is(t, "status", amdsmiGetTempMetric(c, k.typ, k.metric, &v), k.st)
		is(t, "temperature", v, k.want)
	}
}

func TestPower(t *testing.T) {
	then := time.Unix(1000, 5)
	c := metered(t, &smi.Metrics{
		Time: then, Energy: smi.Some(smi.Joules(2)), Voltages: smi.Voltages{GFX: smi.Some(smi.Volts(0.806))},
		Power: smi.Power{Average: smi.Some(smi.Watts(98.6)), Cap: smi.Some(smi.Watts(750)), MaxCap: smi.Some(smi.Watts(800)), Managed: smi.Some(true)},
	})
	none := metered(t, &smi.Metrics{})
	const na = math.MaxUint32
	var p powerInfo
	ok(t, amdsmiGetPowerInfo(c, &p))
	is(t, "power", p, powerInfo{
		socketPower: 99, currentSocketPower: na, averageSocketPower: 99, gfxVoltage: 806, socVoltage: na, memVoltage: na, powerLimit: 750e6, ubbPower: na,
	})
	var k powerCapInfo
	ok(t, amdsmiGetPowerCapInfo(c, 0, &k))
	is(t, "cap", k, powerCapInfo{powerCap: 750e6, maxPowerCap: 800e6})
	is(t, "second cap", amdsmiGetPowerCapInfo(c, 1, &k), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no cap", amdsmiGetPowerCapInfo(none, 0, &k), AMDSMI_STATUS_NOT_SUPPORTED)
	n, sensor, typ := uint32(0), uint32(9), powerCapType(9)
	ok(t, amdsmiGetSupportedPowerCap(c, &n, &sensor, &typ))
	is(t, "caps", [3]uint32{n, sensor, uint32(typ)}, [3]uint32{1, 0, 0})
	ok(t, amdsmiGetSupportedPowerCap(c, &n, nil, nil))
	var on bool
	ok(t, amdsmiIsGPUPowerManagementEnabled(c, &on))
	is(t, "managed", on, true)
	is(t, "managed, not known", amdsmiIsGPUPowerManagementEnabled(none, &on), AMDSMI_STATUS_NOT_SUPPORTED)
	var energy, at uint64
	var step float32
	ok(t, amdsmiGetEnergyCount(c, &energy, &step, &at))
	is(t, "energy in µJ", float64(energy)*float64(step), 2e6)
	is(t, "its time", at, uint64(then.UnixNano()))
	is(t, "no energy", amdsmiGetEnergyCount(none, &energy, &step, &at), AMDSMI_STATUS_NOT_SUPPORTED)
	var mv int64
	ok(t, amdsmiGetGPUVoltMetric(c, AMDSMI_VOLT_TYPE_VDDGFX, AMDSMI_VOLT_CURRENT, &mv))
	is(t, "voltage", mv, 806)
	is(t, "highest voltage", amdsmiGetGPUVoltMetric(c, AMDSMI_VOLT_TYPE_VDDGFX, AMDSMI_VOLT_MAX, &mv), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no voltage", amdsmiGetGPUVoltMetric(none, AMDSMI_VOLT_TYPE_VDDGFX, AMDSMI_VOLT_CURRENT, &mv), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no rail", amdsmiGetGPUVoltMetric(c, AMDSMI_VOLT_TYPE_INVALID, AMDSMI_VOLT_CURRENT, &mv), AMDSMI_STATUS_INVAL)
}

func TestFans(t *testing.T) {
	c := metered(t, &smi.Metrics{Fans: []smi.Fan{
		{Speed: smi.Some(smi.RPM(1500)), Max: smi.Some(smi.RPM(3000))}, {Index: 2, Duty: smi.Some(smi.Ratio(1))},
	}})
	var v int64
	var most uint64
	ok(t, amdsmiGetGPUFanRpms(c, 0, &v))
	is(t, "turns", v, 1500)
	ok(t, amdsmiGetGPUFanSpeed(c, 0, &v))
	is(t, "speed", v, 128)
	ok(t, amdsmiGetGPUFanSpeed(c, 2, &v))
	is(t, "full speed", v, 255)
	ok(t, amdsmiGetGPUFanSpeedMax(c, 2, &most))
	is(t, "highest speed", most, 255)
	is(t, "turns, not known", amdsmiGetGPUFanRpms(c, 2, &v), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no fan", amdsmiGetGPUFanSpeed(c, 1, &v), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "no fan", amdsmiGetGPUFanSpeedMax(c, 1, &most), AMDSMI_STATUS_NOT_SUPPORTED)
}

func TestMemoryUse(t *testing.T) {
	c := metered(t, &smi.Metrics{VRAM: smi.MemoryUse{Total: smi.Some(smi.MiB(512)), Used: smi.Some(smi.Bytes(3<<20 + 1))}})
	var v uint64
	ok(t, amdsmiGetGPUMemoryTotal(c, AMDSMI_MEM_TYPE_VRAM, &v))
	is(t, "total", v, 512<<20)
	ok(t, amdsmiGetGPUMemoryUsage(c, AMDSMI_MEM_TYPE_VRAM, &v))
	is(t, "used", v, 3<<20+1)
	is(t, "gtt", amdsmiGetGPUMemoryTotal(c, AMDSMI_MEM_TYPE_GTT, &v), AMDSMI_STATUS_NOT_SUPPORTED)
	is(t, "visible, not known", amdsmiGetGPUMemoryUsage(c, AMDSMI_MEM_TYPE_VIS_VRAM, &v), AMDSMI_STATUS_NOT_SUPPORTED)
	some := metered(t, &smi.Metrics{VisibleVRAM: smi.MemoryUse{Total: smi.Some(smi.MiB(256)), Used: smi.Some(smi.MiB(7))}})
	ok(t, amdsmiGetGPUMemoryTotal(some, AMDSMI_MEM_TYPE_VIS_VRAM, &v))
	is(t, "visible", v, 256<<20)
	ok(t, amdsmiGetGPUMemoryUsage(some, AMDSMI_MEM_TYPE_VIS_VRAM, &v))
	is(t, "visible used", v, 7<<20)
	is(t, "no memory", amdsmiGetGPUMemoryUsage(c, 3, &v), AMDSMI_STATUS_INVAL)
	var u vramUsage
	ok(t, amdsmiGetGPUVRAMUsage(c, &u))
	is(t, "usage", u, vramUsage{vramTotal: 512, vramUsed: 3})
}

func TestPCIe(t *testing.T) {
	d := smi.Device{}
	src := smitest.NewFake(smi.DeviceSnapshot{
		Device: d,
		Info:   &smi.Info{PCIe: smi.PCIeInfo{MaxWidth: smi.Some(16), MaxSpeed: smi.Some(smi.TransfersPerSecond(32e9)), Generation: smi.Some(5), Slot: smi.SlotOAM}},
		Metrics: &smi.Metrics{PCIe: smi.PCIe{
			Width: smi.Some(8), Speed: smi.Some(smi.TransfersPerSecond(16e9)), Bandwidth: smi.Some(smi.BytesPerSecond(1e9)), Replays: smi.Some(uint64(3)),
			NAKsSent: smi.Some(uint64(4)), Sent: smi.Some(smi.BytesPerSecond(5)), Received: smi.Some(smi.BytesPerSecond(6)),
		}},
	}, smi.DeviceSnapshot{Info: &smi.Info{}, Metrics: &smi.Metrics{}})
	l := opened(t, src)
	c, none := l.at(0), l.at(1)
	var i pcieInfo
	ok(t, amdsmiGetPCIeInfo(c, &i))
	is(t, "static", i.pcieStatic, pcieInfoPCIeStatic{maxPCIeWidth: 16, maxPCIeSpeed: 32000, pcieInterfaceVersion: 5, maxPCIeInterfaceVersion: 5, slotType: AMDSMI_CARD_FORM_FACTOR_OAM})
	is(t, "metric", i.pcieMetric, pcieInfoPCIeMetric{
		pcieWidth: 8, pcieSpeed: 16000, pcieBandwidth: 8000, pcieReplayCount: 3, pcieL0ToRecoveryCount: math.MaxUint64,
		pcieReplayRollOverCount: math.MaxUint64, pcieNakSentCount: 4, pcieNakReceivedCount: math.MaxUint64, pcieLcPerfOtherEndRecoveryCount: math.MaxUint32,
	})
	ok(t, amdsmiGetPCIeInfo(none, &i))
	is(t, "unknown slot", i.pcieStatic.slotType, AMDSMI_CARD_FORM_FACTOR_UNKNOWN)
	is(t, "unknown width", i.pcieMetric.pcieWidth, math.MaxUint16)
	var b pcieBandwidth
	ok(t, amdsmiGetGPUPCIBandwidth(c, &b))
	want := pcieBandwidth{transferRate: frequencies{numSupported: 2, frequency: [33]uint64{16e9, 32e9}}, lanes: [33]uint32{8, 16}}
	is(t, "rates", b, want)
	is(t, "rates, not known", amdsmiGetGPUPCIBandwidth(none, &b), AMDSMI_STATUS_NOT_SUPPORTED)
	var sent, received, packet uint64
	ok(t, amdsmiGetGPUPCIThroughput(c, &sent, &received, &packet))
	is(t, "throughput", [3]uint64{sent, received, packet}, [3]uint64{5, 6, 1})
	ok(t, amdsmiGetGPUPCIThroughput(c, nil, nil, nil))
	is(t, "throughput, not known", amdsmiGetGPUPCIThroughput(none, nil, nil, nil), AMDSMI_STATUS_NOT_SUPPORTED)
	ok(t, amdsmiGetGPUPCIReplayCounter(c, &sent))
	is(t, "replays", sent, 3)
}
