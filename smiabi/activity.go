package smiabi

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// amdsmiGetGPUActivity is how busy the engines are, in percent. Not available is
// 0xffff there, in members of 32 bits.
func amdsmiGetGPUActivity(c card, info *engineUsage) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	short := func(o smi.Opt[smi.Ratio]) uint32 {
		if !o.Ok() {
			return math.MaxUint16
		}
		return in[uint32](o, percent)
	}
	*info = engineUsage{gfxActivity: short(m.Activity.GFX), umcActivity: short(m.Activity.UMC), mmActivity: short(m.Activity.MM)}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUBusyPercent is how busy the compute engine is.
func amdsmiGetGPUBusyPercent(c card, busy *uint32) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(busy, m.Activity.GFX, percent)
}

// amdsmiGetVCNBusyPercent is how busy the video engines are: the mean of those that
// the card tells apart, else its own figure.
func amdsmiGetVCNBusyPercent(c card, busy *uint32) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	var sum smi.Ratio
	var n int
	for _, e := range m.Activity.Engines {
		if b, ok := e.Busy.Get(); ok && e.Kind == smi.EngineVCN {
			sum += b
			n++
		}
	}
	if n > 0 {
		return put(busy, smi.Some(sum/smi.Ratio(n)), percent)
	}
	return put(busy, m.Activity.MM, percent)
}
