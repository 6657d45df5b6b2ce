package smiabi

import (
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func TestSettings(t *testing.T) {
	cards := smitest.Machine(2, 0)
	cards[1].Metrics.Fans = []smi.Fan{{Duty: smi.Some(smi.Ratio(0.5))}}
	src := smitest.NewMachine(2, 0)
	src.SetCards(cards...)
	c := opened(t, src).at(1)
	const ok, inval, no = AMDSMI_STATUS_SUCCESS, AMDSMI_STATUS_INVAL, AMDSMI_STATUS_NOT_SUPPORTED
	clock := func(domain string, least, most smi.Opt[smi.Hertz]) smi.Setting {
		return smi.Setting{Clock: &smi.ClockRange{Domain: domain, Min: least, Max: most}}
	}
	mhz := func(v float64) smi.Opt[smi.Hertz] { return smi.Some(smi.MHz(v)) }
	none := smi.Opt[smi.Hertz]{}
	tests := []struct {
		what string
		call func() status
		st   status
		want smi.Setting
	}{
		{"cap", func() status { return amdsmiSetPowerCap(c, 0, 500e6) }, ok, smi.Setting{PowerCap: smi.Some(smi.Watts(500))}},
		{"cap out of range", func() status { return amdsmiSetPowerCap(c, 0, 5000e6) }, inval, smi.Setting{}},
		{"cap of 0", func() status { return amdsmiSetPowerCap(c, 0, 0) }, inval, smi.Setting{}},
		{"second cap", func() status { return amdsmiSetPowerCap(c, 1, 500e6) }, no, smi.Setting{}},
		{"level", func() status { return amdsmiSetGPUPerfLevel(c, AMDSMI_DEV_PERF_LEVEL_HIGH) }, ok, smi.Setting{PerfLevel: "high"}},
		{"no level", func() status { return amdsmiSetGPUPerfLevel(c, AMDSMI_DEV_PERF_LEVEL_UNKNOWN) }, inval, smi.Setting{}},
		{"highest clock", func() status { return amdsmiSetGPUClkLimit(c, AMDSMI_CLK_TYPE_SYS, AMDSMI_CLK_LIMIT_MAX, 1500) }, ok, clock(smi.ClockGFX, none, mhz(1500))},
		{"lowest clock", func() status { return amdsmiSetGPUClkLimit(c, AMDSMI_CLK_TYPE_MEM, AMDSMI_CLK_LIMIT_MIN, 900) }, ok, clock(smi.ClockMem, mhz(900), none)},
		{"no clock", func() status { return amdsmiSetGPUClkLimit(c, 77, AMDSMI_CLK_LIMIT_MIN, 900) }, inval, smi.Setting{}},
		{"no limit", func() status { return amdsmiSetGPUClkLimit(c, AMDSMI_CLK_TYPE_MEM, 7, 900) }, inval, smi.Setting{}},
		{"od clock", func() status { return amdsmiSetGPUODClkInfo(c, AMDSMI_FREQ_IND_MAX, 1600, AMDSMI_CLK_TYPE_SYS) }, ok, clock(smi.ClockGFX, none, mhz(1600))},
		{"no od clock", func() status { return amdsmiSetGPUODClkInfo(c, AMDSMI_FREQ_IND_MAX, 1600, AMDSMI_CLK_TYPE_SOC) }, inval, smi.Setting{}},
		{"levels of a clock", func() status { return amdsmiSetClkFreq(c, AMDSMI_CLK_TYPE_MEM, 0b11) }, ok, clock(smi.ClockMem, mhz(900), mhz(1300))},
		{"one level", func() status { return amdsmiSetClkFreq(c, AMDSMI_CLK_TYPE_MEM, 0b10) }, ok, clock(smi.ClockMem, mhz(1300), mhz(1300))},
		{"no such level", func() status { return amdsmiSetClkFreq(c, AMDSMI_CLK_TYPE_MEM, 0b1000) }, inval, smi.Setting{}},
		{"determinism", func() status { return amdsmiSetGPUPerfDeterminismMode(c, 1900) }, ok, smi.Setting{Determinism: mhz(1900)}},
		{"determinism at 0", func() status { return amdsmiSetGPUPerfDeterminismMode(c, 0) }, inval, smi.Setting{}},
		{"fan", func() status { return amdsmiSetGPUFanSpeed(c, 0, 255) }, ok, smi.Setting{Fan: smi.Some(smi.Ratio(1))}},
		{"too fast a fan", func() status { return amdsmiSetGPUFanSpeed(c, 0, 256) }, inval, smi.Setting{}},
		{"no fan", func() status { return amdsmiSetGPUFanSpeed(c, 1, 25) }, no, smi.Setting{}},
		{"fan by itself", func() status { return amdsmiResetGPUFan(c, 0) }, ok, smi.Setting{FanAuto: true}},
		{"no fan", func() status { return amdsmiResetGPUFan(c, 1) }, no, smi.Setting{}},
		{"chip", func() status { return amdsmiSetGPUComputePartition(c, AMDSMI_COMPUTE_PARTITION_CPX) }, ok, smi.Setting{ComputePartition: "CPX"}},
		{"no way", func() status { return amdsmiSetGPUComputePartition(c, AMDSMI_COMPUTE_PARTITION_INVALID) }, inval, smi.Setting{}},
		{"chip by profile", func() status { return amdsmiSetGPUAcceleratorPartitionProfile(c, 2) }, ok, smi.Setting{ComputePartition: "QPX"}},
		{"no profile", func() status { return amdsmiSetGPUAcceleratorPartitionProfile(c, 4) }, inval, smi.Setting{}},
		{"memory", func() status { return amdsmiSetGPUMemoryPartition(c, AMDSMI_MEMORY_PARTITION_NPS4) }, ok, smi.Setting{MemoryPartition: "NPS4"}},
		{"memory mode", func() status { return amdsmiSetGPUMemoryPartitionMode(c, AMDSMI_MEMORY_PARTITION_NPS2) }, ok, smi.Setting{MemoryPartition: "NPS2"}},
		{"no way", func() status { return amdsmiSetGPUMemoryPartitionMode(c, 3) }, inval, smi.Setting{}},
		{"reset", func() status { return amdsmiResetGPU(c) }, ok, smi.Setting{Reset: true}},
	}
	for _, k := range tests {
		before := len(src.Changes())
		is(t, k.what, k.call(), k.st)
		changes := src.Changes()[before:]
		switch {
		case k.st != ok && len(changes) != 0:
			t.Errorf("%s: changed %+v", k.what, changes)
		case k.st == ok && (len(changes) != 1 || changes[0].Index != 1 || !reflect.DeepEqual(changes[0].Setting, k.want)):
			t.Errorf("%s: changed %+v, want %+v", k.what, changes, k.want)
		}
	}
	src.Refuse(smi.ErrNoPermission)
	for _, k := range tests {
		if k.st == ok {
			is(t, k.what+", refused", k.call(), AMDSMI_STATUS_NO_PERM)
		}
	}
}

// What was known of a card is asked for anew after it was changed.
func TestSettingForgets(t *testing.T) {
	cards := smitest.Machine(1, 0)
	src := smitest.NewMachine(1, 0)
	c := opened(t, src).at(0)
	var k powerCapInfo
	ok(t, amdsmiGetPowerCapInfo(c, 0, &k))
	cards[0].Metrics.Power.Cap = smi.Some(smi.Watts(300))
	src.SetCards(cards...)
	ok(t, amdsmiSetPowerCap(c, 0, 300e6))
	ok(t, amdsmiGetPowerCapInfo(c, 0, &k))
	is(t, "cap", k.powerCap, 300e6)
}
