package smiabi

import (
	"math"
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// long is in for a member of 64 bits whose "not available" is that of 32 bits.
func long[F figure](o smi.Opt[F], unit float64) uint64 { return uint64(in[uint32](o, unit)) }

// amdsmiGetPowerInfo is what the card draws in W, its voltages in mV, and the limit
// in µW.
func amdsmiGetPowerInfo(c card, info *powerInfo) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = powerInfo{
		socketPower:        long(m.Power.Draw(), one),
		currentSocketPower: in[uint32](m.Power.Socket, one),
		averageSocketPower: in[uint32](m.Power.Average, one),
		gfxVoltage:         long(m.Voltages.GFX, milli),
		socVoltage:         long(m.Voltages.SOC, milli),
		memVoltage:         long(m.Voltages.Mem, milli),
		powerLimit:         in[uint32](m.Power.Cap, micro),
		ubbPower:           math.MaxUint32,
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetPowerCapInfo is the limit in force and the range it may be set in, in µW.
// The interface has no "not available" here: a bound that is not known is 0.
func amdsmiGetPowerCapInfo(c card, sensor uint32, info *powerCapInfo) status {
	m, st := c.capped(sensor)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	uw := func(o smi.Opt[smi.Watts]) uint64 { return in[uint64](smi.Some(o.Or(0)), micro) }
	*info = powerCapInfo{
		powerCap: uw(m.Power.Cap), defaultPowerCap: uw(m.Power.DefaultCap), minPowerCap: uw(m.Power.MinCap), maxPowerCap: uw(m.Power.MaxCap),
	}
	return AMDSMI_STATUS_SUCCESS
}

// capped are the metrics of a card whose power limit is known. It has one such limit.
func (c card) capped(sensor uint32) (*smi.Metrics, status) {
	m, st := c.metrics()
	if st == AMDSMI_STATUS_SUCCESS && (sensor != 0 || !m.Power.Cap.Ok()) {
		st = AMDSMI_STATUS_NOT_SUPPORTED
	}
	return m, st
}

// amdsmiGetSupportedPowerCap lists the card's power limits.
func amdsmiGetSupportedPowerCap(c card, count *uint32, sensors *uint32, types *powerCapType) status {
	if _, st := c.capped(0); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*count = 1
	if sensors != nil {
		*sensors = 0
	}
	if types != nil {
		*types = AMDSMI_POWER_CAP_TYPE_PPT0
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiIsGPUPowerManagementEnabled says whether the card manages its power.
func amdsmiIsGPUPowerManagementEnabled(c card, enabled *bool) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	on, ok := m.Power.Managed.Get()
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*enabled = on
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetEnergyCount is the energy used, in steps of resolution µJ, and when that
// was, in ns.
func amdsmiGetEnergyCount(c card, accumulator *uint64, resolution *float32, timestamp *uint64) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if st := put(accumulator, m.Energy, energyUnit); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*resolution = energyUnit / micro
	*timestamp = nanoseconds(m)
	return AMDSMI_STATUS_SUCCESS
}

// nanoseconds is when m was read.
func nanoseconds(m *smi.Metrics) uint64 {
	if m.Time.IsZero() {
		return math.MaxUint64
	}
	return uint64(max(m.Time.UnixNano(), 0))
}

// amdsmiGetGPUVoltMetric is the voltage of the compute engine in mV; other rails
// and limits are not known.
func amdsmiGetGPUVoltMetric(c card, sensor voltageType, metric voltageMetric, voltage *int64) status {
	if sensor > AMDSMI_VOLT_TYPE_LAST || metric > AMDSMI_VOLT_LAST {
		return AMDSMI_STATUS_INVAL
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if sensor != AMDSMI_VOLT_TYPE_VDDGFX || metric != AMDSMI_VOLT_CURRENT {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	return put((*uint64)(unsafe.Pointer(voltage)), m.Voltages.GFX, milli)
}
