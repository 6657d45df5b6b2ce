package sysfs

// field is a value or a row of values of a gpu_metrics table. The names are those
// of the kernel's structures.
type field uint8

// Fields that this package uses; the tables have more.
const (
	none field = iota

	temperatureEdge
	temperatureHotspot
	temperatureMem
	temperatureVRGFX
	temperatureVRSOC
	temperatureVRMem
	temperatureHBM
	temperatureXCD
	temperatureGFX // of an APU
	temperatureSOC

	averageGFXActivity
	averageUMCActivity
	averageMMActivity
	vcnActivity
	jpegActivity

	averageSocketPower
	currSocketPower
	energyAccumulator

	averageGFXClk
	averageSOCClk
	averageUClk
	averageFClk
	averageVClk
	currentGFXClk
	currentSOCClk
	currentUClk
	currentFClk
	currentVClk0
	currentDClk0
	currentVClk1
	currentDClk1
	gfxClkLockStatus

	indepThrottleStatus
	currentFanSpeed

	pcieLinkWidth
	pcieLinkSpeed
	pcieBandwidthInst
	pcieL0ToRecovery
	pcieReplay
	pcieReplayRollover
	pcieNAKSent
	pcieNAKReceived

	voltageSOC
	voltageGFX
	voltageMem

	xgmiLinkWidth
	xgmiLinkSpeed
	xgmiReadData
	xgmiWriteData
	xgmiLinkStatus
	memMaxBandwidth

	accumulationCounter
	prochotResidency
	pptResidency
	socketThermalResidency
	vrThermalResidency
	hbmThermalResidency

	numPartition
	gfxBusyInst // from here on: of partitions
	jpegBusy
	vcnBusy
	gfxBelowHostLimit
	gfxBelowHostLimitPPT
	gfxBelowHostLimitThermal
	gfxLowUtilization
	gfxBelowHostLimitTotal

	fieldCount
)
