package smiabi

import "github.com/rocwire/rocwire/smi"

// amdsmiGetViolationStatus is which limits lowered the clocks: for how many
// milliseconds, for how many percent of the last moments, and whether now. A limit of
// single dies stands at [0][die].
func amdsmiGetViolationStatus(c card, info *violationStatus) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if len(m.Throttle.Violations) == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	unset(info)
	info.referenceTimestamp = uint64(max(m.Time.UnixMicro(), 0))
	info.violationTimestamp = nanoseconds(m)
	for _, v := range m.Throttle.Violations {
		ms, share, now := in[uint64](v.Total, msInNS), in[uint64](v.Ratio, percent), yes(v.Active)
		if v.Total.Ok() {
			info.accCounter = milliseconds(m)
		}
		switch v.Kind {
		case smi.ViolationProcHot:
			info.accProchotThrm, info.perProchotThrm, info.activeProchotThrm = ms, share, now
		case smi.ViolationPower:
			info.accPptPwr, info.perPptPwr, info.activePptPwr = ms, share, now
		case smi.ViolationSocketThermal:
			info.accSocketThrm, info.perSocketThrm, info.activeSocketThrm = ms, share, now
		case smi.ViolationVRThermal:
			info.accVrThrm, info.perVrThrm, info.activeVrThrm = ms, share, now
		case smi.ViolationHBMThermal:
			info.accHbmThrm, info.perHbmThrm, info.activeHbmThrm = ms, share, now
		case smi.ViolationHostLimit:
			info.accGFXClkBelowHostLimit, info.perGFXClkBelowHostLimit, info.activeGFXClkBelowHostLimit = ms, share, now
		default:
			info.die(v.Kind, v.Index, ms, share, now)
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// die sets a limit that single dies have.
func (info *violationStatus) die(kind string, i int, ms, share uint64, now uint8) {
	if i < 0 || i >= AMDSMI_MAX_NUM_XCC {
		return
	}
	switch kind {
	case smi.ViolationHostPower:
		info.accGFXClkBelowHostLimitPwr[0][i], info.perGFXClkBelowHostLimitPwr[0][i], info.activeGFXClkBelowHostLimitPwr[0][i] = ms, share, now
	case smi.ViolationHostThermal:
		info.accGFXClkBelowHostLimitThm[0][i], info.perGFXClkBelowHostLimitThm[0][i], info.activeGFXClkBelowHostLimitThm[0][i] = ms, share, now
	case smi.ViolationHostTotal:
		info.accGFXClkBelowHostLimitTotal[0][i], info.perGFXClkBelowHostLimitTotal[0][i], info.activeGFXClkBelowHostLimitTotal[0][i] = ms, share, now
	case smi.ViolationLowUse:
		info.accLowUtilization[0][i], info.perLowUtilization[0][i], info.activeLowUtilization[0][i] = ms, share, now
	}
}
