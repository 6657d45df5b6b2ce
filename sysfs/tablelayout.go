package sysfs

// Numbers of kgd_pp_interface.h.
const (
	numHBM       = 4  // NUM_HBM_INSTANCES
	numXGMILinks = 8  // NUM_XGMI_LINKS
	maxGFXClks   = 8  // MAX_GFX_CLKS
	maxClks      = 4  // MAX_CLKS
	numVCN       = 4  // NUM_VCN
	numJPEG      = 32 // NUM_JPEG_ENG
	numJPEG1     = 40 // NUM_JPEG_ENG_V1
	maxXCC       = 8  // MAX_XCC
	numXCP       = 8  // NUM_XCP
)

// layout is where the fields of one version of the table stand.
type layout struct {
	format, content uint8
	size            int
	at              [fieldCount]place
}

// member is one member of a structure, or several alike beside each other.
type member struct {
	f     field
	width int
	count int
	parts []member // of a structure inside, repeated count times
}

// v is one value of width bytes, a is a row of them; skip is what is not used.
func v(width int, fs ...field) []member {
	ms := make([]member, len(fs))
	for i, f := range fs {
		ms[i] = member{f: f, width: width, count: 1}
	}
	return ms
}

func a(width, n int, f field) []member { return []member{{f: f, width: width, count: n}} }

func skip(width, n int) []member { return a(width, n, none) }

func join(parts ...[]member) (all []member) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// build lays the members out as C does: each at a multiple of its own size, the
// whole a multiple of the largest.
func build(format, content uint8, ms []member) layout {
	l := layout{format: format, content: content}
	l.size = l.place(ms, headerSize, place{parts: 1})
	return l
}

func (l *layout) place(ms []member, offset int, in place) (size int) {
	largest := 2
	for _, m := range ms {
		align := m.width
		if m.parts != nil {
			align = 8
		}
		largest = max(largest, align)
		offset = roundUp(offset, align)
		if m.parts != nil {
			one := (&layout{}).place(m.parts, 0, place{})
			l.place(m.parts, offset, place{stride: one, parts: m.count})
			offset += m.count * one
			continue
		}
		if m.f != none {
			l.at[m.f] = place{offset: offset, width: m.width, count: m.count, stride: in.stride, parts: in.parts}
		}
		offset += m.width * m.count
	}
	return roundUp(offset, largest)
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// layouts are the known versions. Version 1.6 had another form in the first kernels
// with it; its size tells them apart.
var layouts = []layout{
	build(1, 0, join(skip(8, 1), v1Head, v(2, averageSocketPower), skip(4, 1), v1Clocks, v(2, currentFanSpeed), v(1, pcieLinkWidth, pcieLinkSpeed))),
	build(1, 1, v1_1),
	build(1, 2, join(v1_1, skip(8, 1))),
	build(1, 3, join(v1_1, skip(8, 1), v(2, voltageSOC, voltageGFX, voltageMem), skip(2, 1), v(8, indepThrottleStatus))),

	build(1, 4, join(v1_4Head, a(2, numVCN, vcnActivity), v(8, energyAccumulator), skip(8, 1), v1_4Links, xgmiData, skip(8, 1), v1_4Clocks, skip(2, 1))),
	build(1, 5, join(v1_4Head, a(2, numVCN, vcnActivity), a(2, numJPEG, jpegActivity), v(8, energyAccumulator), skip(8, 1), v1_4Links, naks, xgmiData, skip(8, 1), v1_4Clocks, skip(2, 1))),
	build(1, 6, join(v1_4Head, a(2, numVCN, vcnActivity), a(2, numJPEG, jpegActivity), v(8, energyAccumulator), skip(8, 1), residencies, v1_4Links, naks, xgmiData, skip(8, 1), v1_4Clocks, skip(2, 1))),
	build(1, 6, join(v1_4Head, v(8, energyAccumulator), skip(8, 1), residencies, v1_6Links, naks, xgmiData, skip(8, 1), v1_4Clocks, v(2, numPartition), xcp(xcp1_0), skip(4, 1))),
	build(1, 7, join(v1_7Head, xcp(xcp1_1), skip(4, 1))),
	build(1, 8, join(v1_7Head, xcp(xcp1_2), skip(4, 1))),

	build(2, 0, join(skip(8, 1), v2Head, v2Body, skip(2, 1))),
	build(2, 1, v2_1),
	build(2, 2, join(v2_1, v(8, indepThrottleStatus))),
	build(2, 3, join(v2_1, v(8, indepThrottleStatus), skip(2, 12))),
	build(2, 4, join(v2_1, v(8, indepThrottleStatus), skip(2, 12), skip(2, 1), v(2, voltageSOC, voltageGFX), skip(2, 3))),

	build(3, 0, v3_0),
}

// Versions 1.0 to 1.3: cards up to MI200 and all RDNA.
var (
	v1Head = join(
		v(2, temperatureEdge, temperatureHotspot, temperatureMem, temperatureVRGFX, temperatureVRSOC, temperatureVRMem),
		v(2, averageGFXActivity, averageUMCActivity, averageMMActivity))
	v1Clocks = join(
		v(2, averageGFXClk, averageSOCClk, averageUClk), skip(2, 4), // average video clocks
		v(2, currentGFXClk, currentSOCClk, currentUClk, currentVClk0, currentDClk0, currentVClk1, currentDClk1),
		skip(4, 1)) // throttle_status: of each chip its own
	v1_1 = join(v1Head, v(2, averageSocketPower), v(8, energyAccumulator), skip(8, 1), v1Clocks,
		v(2, currentFanSpeed, pcieLinkWidth, pcieLinkSpeed), skip(2, 1),
		skip(4, 2), a(2, numHBM, temperatureHBM))
)

// Versions 1.4 to 1.8: MI300 and later.
var (
	v1_4Head  = v(2, temperatureHotspot, temperatureMem, temperatureVRSOC, currSocketPower, averageGFXActivity, averageUMCActivity)
	v1_6Links = join(v(4, gfxClkLockStatus),
		v(2, pcieLinkWidth, pcieLinkSpeed, xgmiLinkWidth, xgmiLinkSpeed),
		skip(4, 2), // activity, accumulated
		skip(8, 1), // PCIe bandwidth, accumulated
		v(8, pcieBandwidthInst, pcieL0ToRecovery, pcieReplay, pcieReplayRollover))
	v1_4Links = join(skip(4, 1), v1_6Links) // throttle_status: of each chip its own
	naks      = v(4, pcieNAKSent, pcieNAKReceived)
	xgmiData  = join(a(8, numXGMILinks, xgmiReadData), a(8, numXGMILinks, xgmiWriteData))

	v1_4Clocks = join(a(2, maxGFXClks, currentGFXClk), a(2, maxClks, currentSOCClk),
		a(2, maxClks, currentVClk0), a(2, maxClks, currentDClk0), v(2, currentUClk))
	residencies = v(4, accumulationCounter, prochotResidency, pptResidency,
		socketThermalResidency, vrThermalResidency, hbmThermalResidency)
	v1_7Head = join(v1_4Head, v(8, memMaxBandwidth, energyAccumulator), skip(8, 1), residencies, v1_6Links, naks,
		xgmiData, a(2, numXGMILinks, xgmiLinkStatus), skip(2, 1), skip(8, 1), v1_4Clocks, v(2, numPartition))
)

// Structures amdgpu_xcp_metrics of one partition.
var (
	xcp1_0 = join(a(4, maxXCC, gfxBusyInst), a(2, numJPEG, jpegBusy), a(2, numVCN, vcnBusy), skip(8, maxXCC))
	xcp1_1 = join(xcp1_0, a(8, maxXCC, gfxBelowHostLimit))
	xcp1_2 = join(a(4, maxXCC, gfxBusyInst), a(2, numJPEG1, jpegBusy), a(2, numVCN, vcnBusy), skip(8, maxXCC),
		a(8, maxXCC, gfxBelowHostLimitPPT), a(8, maxXCC, gfxBelowHostLimitThermal),
		a(8, maxXCC, gfxLowUtilization), a(8, maxXCC, gfxBelowHostLimitTotal))
)

func xcp(ms []member) []member { return []member{{count: numXCP, parts: ms}} }

// Versions 2.x: APUs with up to 8 cores.
var (
	v2Head = join(v(2, temperatureGFX, temperatureSOC), skip(2, 8), skip(2, 2), v(2, averageGFXActivity, averageMMActivity))
	v2Body = join(
		v(2, averageSocketPower), skip(2, 3), skip(2, 8), // power of the parts
		v(2, averageGFXClk, averageSOCClk, averageUClk, averageFClk, averageVClk), skip(2, 1),
		v(2, currentGFXClk, currentSOCClk, currentUClk, currentFClk, currentVClk0, currentDClk0), skip(2, 8), skip(2, 2),
		skip(4, 1), // throttle_status: of each chip its own
		skip(2, 1)) // fan_pwm
	v2_1 = join(v2Head, skip(8, 1), v2Body, skip(2, 3))
)

// Version 3.0: APUs with up to 16 cores. It has no current clocks of the GPU.
var v3_0 = join(
	v(2, temperatureGFX, temperatureSOC), skip(2, 16), skip(2, 1),
	v(2, averageGFXActivity, averageMMActivity), skip(2, 8), skip(2, 16), skip(2, 4),
	skip(8, 1),
	v(4, averageSocketPower), skip(2, 1), skip(4, 4), skip(2, 16), skip(2, 3),
	v(2, averageGFXClk, averageSOCClk), skip(2, 2), v(2, averageFClk, averageVClk, averageUClk), skip(2, 1),
	skip(2, 16), skip(2, 2),
	skip(4, 7), skip(4, 1))
