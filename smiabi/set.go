package smiabi

import (
	"math"

	"github.com/rocwire/rocwire/smi"
)

// amdsmiSetPowerCap sets the power limit, in µW.
func amdsmiSetPowerCap(c card, sensor uint32, limit uint64) status {
	if limit == 0 {
		return AMDSMI_STATUS_INVAL
	}
	if sensor != 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	return c.set(smi.Setting{PowerCap: smi.Some(smi.Watts(float64(limit) * micro))})
}

// amdsmiSetGPUPerfLevel says what the clocks are left to.
func amdsmiSetGPUPerfLevel(c card, level devPerfLevel) status {
	name, ok := perfLevels[level]
	if !ok {
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{PerfLevel: name})
}

// amdsmiSetGPUClkLimit sets one end of a clock's range, in MHz.
func amdsmiSetGPUClkLimit(c card, t clkType, limit clkLimitType, value uint64) status {
	want, ok := clockOf[t]
	if !ok || value == 0 {
		return AMDSMI_STATUS_INVAL
	}
	r := &smi.ClockRange{Domain: want.domain}
	switch limit {
	case AMDSMI_CLK_LIMIT_MIN:
		r.Min = smi.Some(smi.MHz(float64(value)))
	case AMDSMI_CLK_LIMIT_MAX:
		r.Max = smi.Some(smi.MHz(float64(value)))
	default:
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{Clock: r})
}

// amdsmiSetGPUODClkInfo is the same for the compute and memory clocks.
func amdsmiSetGPUODClkInfo(c card, level freqInd, value uint64, t clkType) status {
	if t != AMDSMI_CLK_TYPE_SYS && t != AMDSMI_CLK_TYPE_MEM {
		return AMDSMI_STATUS_INVAL
	}
	return amdsmiSetGPUClkLimit(c, t, clkLimitType(level), value)
}

// amdsmiSetClkFreq allows the levels whose bits are set, in the order that
// amdsmiGetClkFreq tells them, without that of deep sleep: from the lowest of them to the highest.
func amdsmiSetClkFreq(c card, t clkType, bits uint64) status {
	k, st := c.clock(t)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	r := &smi.ClockRange{Domain: k.Domain}
	list, _ := levels(k)
	for i, l := range list {
		if bits&(1<<i) == 0 {
			continue
		}
		if !r.Min.Ok() {
			r.Min = smi.Some(l)
		}
		r.Max = smi.Some(l)
	}
	if !r.Min.Ok() {
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{Clock: r})
}

// amdsmiSetGPUPerfDeterminismMode holds the compute clock at or below value MHz.
func amdsmiSetGPUPerfDeterminismMode(c card, value uint64) status {
	if value == 0 || value > math.MaxUint32 {
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{Determinism: smi.Some(smi.MHz(float64(value)))})
}

// amdsmiSetGPUFanSpeed sets the fans' speed, in parts of AMDSMI_MAX_FAN_SPEED.
func amdsmiSetGPUFanSpeed(c card, sensor uint32, speed uint64) status {
	if speed > AMDSMI_MAX_FAN_SPEED {
		return AMDSMI_STATUS_INVAL
	}
	if _, st := c.fan(sensor); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return c.set(smi.Setting{Fan: smi.Some(smi.Ratio(float64(speed) / AMDSMI_MAX_FAN_SPEED))})
}

// amdsmiResetGPUFan gives the fans back to the card.
func amdsmiResetGPUFan(c card, sensor uint32) status {
	if _, st := c.fan(sensor); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return c.set(smi.Setting{FanAuto: true})
}

// amdsmiSetGPUComputePartition divides the chip.
func amdsmiSetGPUComputePartition(c card, t computePartitionType) status {
	name, ok := partitionTypes[acceleratorPartitionType(t)]
	if !ok {
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{ComputePartition: name})
}

// amdsmiSetGPUAcceleratorPartitionProfile divides the chip by the number of a profile.
func amdsmiSetGPUAcceleratorPartitionProfile(c card, index uint32) status {
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	for i := range p.Profiles {
		if uint64(p.Profiles[i].Index) == uint64(index) {
			return c.set(smi.Setting{ComputePartition: p.Profiles[i].Type})
		}
	}
	return AMDSMI_STATUS_INVAL
}

// amdsmiSetGPUMemoryPartition divides the memory.
func amdsmiSetGPUMemoryPartition(c card, t memoryPartitionType) status {
	name, ok := memoryTypes[t]
	if !ok {
		return AMDSMI_STATUS_INVAL
	}
	return c.set(smi.Setting{MemoryPartition: name})
}

// amdsmiSetGPUMemoryPartitionMode divides the memory, too.
func amdsmiSetGPUMemoryPartitionMode(c card, t memoryPartitionType) status {
	return amdsmiSetGPUMemoryPartition(c, t)
}

// amdsmiResetGPU resets the card: all work on it is lost.
func amdsmiResetGPU(c card) status { return c.set(smi.Setting{Reset: true}) }
