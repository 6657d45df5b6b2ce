package smiabi

import (
	"math"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// clockOf is the domain that AMD SMI's clock types mean, and which clock of it.
var clockOf = map[clkType]struct {
	domain string
	index  int
}{
	AMDSMI_CLK_TYPE_SYS:   {smi.ClockGFX, 0},
	AMDSMI_CLK_TYPE_DF:    {smi.ClockDF, 0},
	AMDSMI_CLK_TYPE_DCEF:  {smi.ClockDCEF, 0},
	AMDSMI_CLK_TYPE_SOC:   {smi.ClockSOC, 0},
	AMDSMI_CLK_TYPE_MEM:   {smi.ClockMem, 0},
	AMDSMI_CLK_TYPE_PCIE:  {smi.ClockPCIe, 0},
	AMDSMI_CLK_TYPE_VCLK0: {smi.ClockVideo, 0},
	AMDSMI_CLK_TYPE_VCLK1: {smi.ClockVideo, 1},
	AMDSMI_CLK_TYPE_DCLK0: {smi.ClockData, 0},
	AMDSMI_CLK_TYPE_DCLK1: {smi.ClockData, 1},
}

// clock is the card's clock of a type; AMDSMI_STATUS_NOT_SUPPORTED if it has none.
func (c card) clock(t clkType) (smi.Clock, status) {
	want, ok := clockOf[t]
	if !ok {
		return smi.Clock{}, AMDSMI_STATUS_INVAL
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return smi.Clock{}, st
	}
	for _, k := range m.Clocks {
		if k.Domain == want.domain && k.Index == want.index {
			return k, AMDSMI_STATUS_SUCCESS
		}
	}
	return smi.Clock{}, AMDSMI_STATUS_NOT_SUPPORTED
}

// amdsmiGetClockInfo is a clock's frequency and range in MHz.
func amdsmiGetClockInfo(c card, t clkType, info *clkInfo) status {
	k, st := c.clock(t)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = clkInfo{
		clk: in[uint32](k.Current, mega), minClk: in[uint32](k.Min, mega), maxClk: in[uint32](k.Max, mega),
		clkLocked: yes(k.Locked), clkDeepSleep: yes(k.DeepSleep),
	}
	return AMDSMI_STATUS_SUCCESS
}

// levels are the frequencies that a clock is shown with, ascending: its range and
// where in it it is now, as the kernel's pp_dpm files show clocks without fixed steps.
// A clock below its range, in deep sleep, has no level of its own among them: none can be
// set. now is which one is nearest, -1 if the clock stands still.
func levels(k smi.Clock) (list []smi.Hertz, now int) {
	least, most := k.Min.Or(0), k.Max.Or(smi.Hertz(math.Inf(1)))
	for _, o := range []smi.Opt[smi.Hertz]{k.Min, k.Current, k.Max} {
		if v, ok := o.Get(); ok && v >= least && v <= most {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	now = -1
	if c, ok := k.Current.Get(); ok {
		for i, l := range list {
			if now < 0 || math.Abs(float64(l-c)) < math.Abs(float64(list[now]-c)) {
				now = i
			}
		}
	}
	return list, now
}

// amdsmiGetClkFreq is a clock's levels in Hz, and which one is in force. In deep sleep
// that is one more, before the others: amdgpu shows it as "S" in pp_dpm_sclk, and AMD's
// rocm-smi takes it from there.
func amdsmiGetClkFreq(c card, t clkType, f *frequencies) status {
	k, st := c.clock(t)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	list, now := levels(k)
	if len(list) == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	speed, known := k.Current.Get()
	asleep := known && speed < k.Min.Or(0)
	if asleep {
		list, now = slices.Insert(list, 0, speed), 0
	}
	*f = frequencies{hasDeepSleep: asleep, numSupported: uint32(len(list)), current: uint32(now)} // -1 is "none" there, too
	for i, l := range list {
		f.frequency[i] = clamp[uint64](float64(l))
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUXCDCounter is how many dies compute: each has a clock of its own.
func amdsmiGetGPUXCDCounter(c card, count *uint16) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	n := 0
	for _, k := range m.Clocks {
		if k.Domain == smi.ClockGFX {
			n++
		}
	}
	if n == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*count = uint16(min(n, math.MaxUint16))
	return AMDSMI_STATUS_SUCCESS
}
