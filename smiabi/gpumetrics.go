package smiabi

import (
	"math"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// The layout of the metrics table that the figures are arranged as: AMD's v1.8 tells
// violations by die, and later ones add sensors that no source of ours knows.
const (
	metricsFormat  = 1
	metricsContent = 8
)

// amdsmiGetGPUMetricsHeaderInfo says which layout of the table the figures follow.
func amdsmiGetGPUMetricsHeaderInfo(c card, h *amdMetricsTableHeader) status {
	if _, st := c.metrics(); st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*h = amdMetricsTableHeader{structureSize: math.MaxUint16, formatRevision: metricsFormat, contentRevision: metricsContent}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUMetricsInfo is everything the card measures.
func amdsmiGetGPUMetricsInfo(c card, g *gpuMetrics) status {
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	unset(g)
	g.commonHeader.formatRevision, g.commonHeader.contentRevision = metricsFormat, metricsContent
	g.apuMetrics = 0
	g.energyAccumulator = in[uint64](m.Energy, energyUnit)
	g.systemClockCounter = nanoseconds(m)
	g.power(m)
	g.clocks(m)
	g.temperatures(m)
	g.activity(m)
	g.link(m)
	g.throttle(m)
	if i, st := c.info(); st == AMDSMI_STATUS_SUCCESS {
		g.vramMaxBandwidth = in[uint64](i.VRAM.MaxBandwidth, giga)
	}
	if x, st := c.xgmi(); st == AMDSMI_STATUS_SUCCESS {
		g.xgmi(x)
	}
	g.numPartition = c.parts()
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUPartitionMetricsInfo is the same for one part of a card that is
// divided: each part is a card of its own here.
func amdsmiGetGPUPartitionMetricsInfo(c card, g *gpuMetrics) status {
	if n := c.parts(); n < 2 || n == math.MaxUint16 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	return amdsmiGetGPUMetricsInfo(c, g)
}

// parts is how many parts the card is divided into.
func (c card) parts() uint16 {
	p, st := c.partitions()
	if st != AMDSMI_STATUS_SUCCESS {
		return math.MaxUint16
	}
	if f := profileNow(p); f != nil {
		return clamp[uint16](float64(f.Partitions))
	}
	return math.MaxUint16
}

func (g *gpuMetrics) power(m *smi.Metrics) {
	g.averageSocketPower, g.currentSocketPower = in[uint16](m.Power.Average, one), in[uint16](m.Power.Socket, one)
	g.voltageSOC, g.voltageGFX, g.voltageMem = in[uint16](m.Voltages.SOC, milli), in[uint16](m.Voltages.GFX, milli), in[uint16](m.Voltages.Mem, milli)
	if len(m.Fans) > 0 {
		g.currentFanSpeed = in[uint16](m.Fans[0].Speed, one)
	}
}

// at sets an element if there is such an element.
func at[N number](list []N, i int, v N) {
	if i >= 0 && i < len(list) {
		list[i] = v
	}
}

func (g *gpuMetrics) clocks(m *smi.Metrics) {
	var locks uint32
	known := false
	for _, k := range m.Clocks {
		mhz := in[uint16](k.Current, mega)
		first := k.Index == 0
		switch k.Domain {
		case smi.ClockGFX:
			at(g.currentGfxclks[:], k.Index, mhz)
			if first {
				g.currentGfxclk = mhz
			}
			if locked, ok := k.Locked.Get(); ok && k.Index >= 0 && k.Index < 32 {
				known = true
				if locked {
					locks |= 1 << k.Index
				}
			}
		case smi.ClockSOC:
			at(g.currentSocclks[:], k.Index, mhz)
			if first {
				g.currentSocclk = mhz
			}
		case smi.ClockMem:
			if first {
				g.currentUclk = mhz
			}
		case smi.ClockVideo:
			at(g.currentVclk0s[:], k.Index, mhz)
			switch k.Index {
			case 0:
				g.currentVclk0 = mhz
			case 1:
				g.currentVclk1 = mhz
			}
		case smi.ClockData:
			at(g.currentDclk0s[:], k.Index, mhz)
			switch k.Index {
			case 0:
				g.currentDclk0 = mhz
			case 1:
				g.currentDclk1 = mhz
			}
		}
	}
	if known {
		g.gfxclkLockStatus = locks
	}
}

func (g *gpuMetrics) temperatures(m *smi.Metrics) {
	for _, t := range m.Temperatures {
		v := in[uint16](t.Current, one)
		switch t.Sensor {
		case smi.SensorEdge:
			g.temperatureEdge = v
		case smi.SensorHotspot:
			g.temperatureHotspot = v
		case smi.SensorMem:
			g.temperatureMem = v
		case smi.SensorVRGFX:
			g.temperatureVrgfx = v
		case smi.SensorVRSOC:
			g.temperatureVrsoc = v
		case smi.SensorVRMem:
			g.temperatureVrmem = v
		}
		if i, ok := numbered(t.Sensor, "hbm"); ok {
			at(g.temperatureHbm[:], i, v)
			at(g.temperatureHbmStacks[:], i, v)
		}
		if i, ok := numbered(t.Sensor, "xcd"); ok {
			at(g.xcpStats[0].temperatureXCD[:], i, v)
		}
	}
}

// numbered is which one of several a sensor's name means: "hbm3" is 3 of "hbm".
func numbered(sensor, kind string) (int, bool) {
	digits, ok := strings.CutPrefix(sensor, kind)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 8)
	return int(n), err == nil
}

func (g *gpuMetrics) activity(m *smi.Metrics) {
	a := &m.Activity
	g.averageGFXActivity, g.averageUmcActivity, g.averageMmActivity = in[uint16](a.GFX, percent), in[uint16](a.UMC, percent), in[uint16](a.MM, percent)
	for _, e := range a.Engines {
		switch e.Kind {
		case smi.EngineGFX:
			at(g.xcpStats[0].gfxBusyInst[:], e.Index, in[uint32](e.Busy, percent))
		case smi.EngineVCN:
			at(g.vcnActivity[:], e.Index, in[uint16](e.Busy, percent))
			at(g.xcpStats[0].vcnBusy[:], e.Index, in[uint16](e.Busy, percent))
		case smi.EngineJPEG:
			at(g.jpegActivity[:], e.Index, in[uint16](e.Busy, percent))
			at(g.xcpStats[0].jpegBusy[:], e.Index, in[uint16](e.Busy, percent))
		}
	}
}

// link is the PCIe link: its rate in 0.1 GT/s, its bandwidth in GB/s.
func (g *gpuMetrics) link(m *smi.Metrics) {
	p := &m.PCIe
	g.pcieLinkWidth, g.pcieLinkSpeed = in[uint16](p.Width, one), in[uint16](p.Speed, giga/10)
	g.pcieBandwidthInst = in[uint64](p.Bandwidth, giga)
	g.pcieL0ToRecovCountAcc = p.Recoveries.Or(math.MaxUint64)
	g.pcieReplayCountAcc, g.pcieReplayRoverCountAcc = p.Replays.Or(math.MaxUint64), p.ReplayRollovers.Or(math.MaxUint64)
	g.pcieNakSentCountAcc, g.pcieNakRcvdCountAcc = p.NAKsSent.Or(math.MaxUint64), p.NAKsReceived.Or(math.MaxUint64)
}

// xgmi is the links to other cards: the rate of a lane in Gbit/s, counters in KiB.
func (g *gpuMetrics) xgmi(x *smi.XGMI) {
	g.xgmiLinkWidth = in[uint16](x.Lanes, one)
	for i, l := range x.Links {
		if i == 0 {
			g.xgmiLinkSpeed = in[uint16](l.Rate, giga)
		}
		at(g.xgmiReadDataAcc[:], i, in[uint64](l.Read, kibi))
		at(g.xgmiWriteDataAcc[:], i, in[uint64](l.Written, kibi))
		switch l.State {
		case smi.LinkUp:
			at(g.xgmiLinkStatus[:], i, 1)
		case smi.LinkDown:
			at(g.xgmiLinkStatus[:], i, 0)
		}
	}
}

// throttle is what keeps the card from running faster. Residencies count
// milliseconds, as the counter that they are divided by does.
func (g *gpuMetrics) throttle(m *smi.Metrics) {
	if s, ok := m.Throttle.Status.Get(); ok {
		g.indepThrottleStatus = s
		g.throttleStatus = uint32(s | s>>32) // whose bits depend on the chip: 0 or not is what programs look at
	}
	x := &g.xcpStats[0]
	for _, v := range m.Throttle.Violations {
		ms := in[uint64](v.Total, msInNS)
		if v.Total.Ok() {
			g.accumulationCounter = milliseconds(m)
		}
		switch v.Kind {
		case smi.ViolationProcHot:
			g.prochotResidencyAcc = ms
		case smi.ViolationPower:
			g.pptResidencyAcc = ms
		case smi.ViolationSocketThermal:
			g.socketThmResidencyAcc = ms
		case smi.ViolationVRThermal:
			g.vrThmResidencyAcc = ms
		case smi.ViolationHBMThermal:
			g.hbmThmResidencyAcc = ms
		case smi.ViolationHostLimit:
			at(x.gfxBelowHostLimitAcc[:], v.Index, ms)
		case smi.ViolationHostPower:
			at(x.gfxBelowHostLimitPptAcc[:], v.Index, ms)
		case smi.ViolationHostThermal:
			at(x.gfxBelowHostLimitThmAcc[:], v.Index, ms)
		case smi.ViolationHostTotal:
			at(x.gfxBelowHostLimitTotalAcc[:], v.Index, ms)
		case smi.ViolationLowUse:
			at(x.gfxLowUtilizationAcc[:], v.Index, ms)
		}
	}
}

// milliseconds is the clock that residencies are compared with.
func milliseconds(m *smi.Metrics) uint64 { return uint64(max(m.Time.UnixMilli(), 0)) }
