package smiabi

import "github.com/rocwire/rocwire/smi"

// perfLevels are the performance levels, by AMD SMI's number.
var perfLevels = map[devPerfLevel]string{
	AMDSMI_DEV_PERF_LEVEL_AUTO:            smi.PerfAuto,
	AMDSMI_DEV_PERF_LEVEL_LOW:             smi.PerfLow,
	AMDSMI_DEV_PERF_LEVEL_HIGH:            smi.PerfHigh,
	AMDSMI_DEV_PERF_LEVEL_MANUAL:          smi.PerfManual,
	AMDSMI_DEV_PERF_LEVEL_STABLE_STD:      smi.PerfStandard,
	AMDSMI_DEV_PERF_LEVEL_STABLE_PEAK:     smi.PerfPeak,
	AMDSMI_DEV_PERF_LEVEL_STABLE_MIN_MCLK: smi.PerfMinMem,
	AMDSMI_DEV_PERF_LEVEL_STABLE_MIN_SCLK: smi.PerfMinGFX,
	AMDSMI_DEV_PERF_LEVEL_DETERMINISM:     smi.PerfDeterminism,
}

// amdsmiGetGPUPerfLevel is what the clocks are left to.
func amdsmiGetGPUPerfLevel(c card, perf *devPerfLevel) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if m.PerfLevel == "" {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*perf = AMDSMI_DEV_PERF_LEVEL_UNKNOWN
	for n, l := range perfLevels {
		if l == m.PerfLevel {
			*perf = n
		}
	}
	return AMDSMI_STATUS_SUCCESS
}
