package smiabi

import (
	"unsafe"

	"github.com/rocwire/rocwire/smi"
)

// fan is one of the card's fans; AMDSMI_STATUS_NOT_SUPPORTED if it has not that many.
func (c card) fan(sensor uint32) (smi.Fan, status) {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return smi.Fan{}, st
	}
	for _, f := range m.Fans {
		if f.Index == int(sensor) {
			return f, AMDSMI_STATUS_SUCCESS
		}
	}
	return smi.Fan{}, AMDSMI_STATUS_NOT_SUPPORTED
}

// amdsmiGetGPUFanRpms is a fan's speed in turns per minute.
func amdsmiGetGPUFanRpms(c card, sensor uint32, speed *int64) status {
	f, st := c.fan(sensor)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put((*uint64)(unsafe.Pointer(speed)), f.Speed, one)
}

// amdsmiGetGPUFanSpeed is a fan's speed in parts of AMDSMI_MAX_FAN_SPEED.
func amdsmiGetGPUFanSpeed(c card, sensor uint32, speed *int64) status {
	f, st := c.fan(sensor)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put((*uint64)(unsafe.Pointer(speed)), duty(f), 1.0/AMDSMI_MAX_FAN_SPEED)
}

// duty is a fan's speed as a share of its highest.
func duty(f smi.Fan) smi.Opt[smi.Ratio] {
	now, ok1 := f.Speed.Get()
	top, ok2 := f.Max.Get()
	if f.Duty.Ok() || !ok1 || !ok2 || top <= 0 {
		return f.Duty
	}
	return smi.Some(smi.Ratio(now / top))
}

// amdsmiGetGPUFanSpeedMax is the highest figure of amdsmiGetGPUFanSpeed.
func amdsmiGetGPUFanSpeedMax(c card, sensor uint32, most *uint64) status {
	if _, st := c.fan(sensor); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*most = AMDSMI_MAX_FAN_SPEED
	return AMDSMI_STATUS_SUCCESS
}
