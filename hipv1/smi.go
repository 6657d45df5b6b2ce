package hipv1

// SMIInitRequest is the request of OpSMIInit.
type SMIInitRequest struct {
	InitFlags uint64
}

// SMIProcessorCountReply is the reply to OpSMIGetProcessorCount.
type SMIProcessorCountReply struct {
	ProcessorCount uint32
}

// SMIProcessorRequest is the request of OpSMIGetGPUMetrics, OpSMIGetPowerInfo, OpSMIGetGPUActivity,
// OpSMIGetVRAMUsage and OpSMIGetASICInfo.
type SMIProcessorRequest struct {
	ProcessorIndex uint32
}

// SMIGPUMetricsReply is the reply to OpSMIGetGPUMetrics.
type SMIGPUMetricsReply struct {
	TemperatureEdge    int32
	TemperatureHotspot int32
	TemperatureMem     int32
	AverageSocketPower uint32
	GfxActivity        uint32
	UMCActivity        uint32
	MmActivity         uint32
	CurrentGfxclk      uint32
	CurrentUclk        uint32
	CurrentSocclk      uint32
	VRAMTotal          uint64
	VRAMUsed           uint64
	FanSpeedRpm        uint32
	PCIeBandwidth      uint32
	ThrottleStatus     uint32
	_                  uint32
}

// SMIPowerInfoReply is the reply to OpSMIGetPowerInfo.
type SMIPowerInfoReply struct {
	CurrentSocketPower uint32
	AverageSocketPower uint32
	GfxVoltage         uint32
	SOCVoltage         uint32
	MemVoltage         uint32
	PowerLimit         uint32
}

// SMIClockInfoRequest is the request of OpSMIGetClockInfo.
type SMIClockInfoRequest struct {
	ProcessorIndex uint32
	ClockType      uint32
}

// SMIClockInfoReply is the reply to OpSMIGetClockInfo.
type SMIClockInfoReply struct {
	CurrentClk   uint32
	MinClk       uint32
	MaxClk       uint32
	ClkLocked    uint8
	ClkDeepSleep uint8
	_            uint16
}

// SMITempMetricRequest is the request of OpSMIGetTempMetric.
type SMITempMetricRequest struct {
	ProcessorIndex uint32
	SensorType     uint32
}

// SMITempMetricReply is the reply to OpSMIGetTempMetric.
type SMITempMetricReply struct {
	Temperature int32
}

// SMIGPUActivityReply is the reply to OpSMIGetGPUActivity.
type SMIGPUActivityReply struct {
	GfxActivity uint32
	UMCActivity uint32
	MmActivity  uint32
	_           uint32
}

// SMIVRAMUsageReply is the reply to OpSMIGetVRAMUsage.
type SMIVRAMUsageReply struct {
	VRAMTotal uint64
	VRAMUsed  uint64
}

// SMIASICInfoReply is the reply to OpSMIGetASICInfo.
type SMIASICInfoReply struct {
	MarketName      [256]byte
	VendorID        uint32
	DeviceID        uint32
	RevID           uint32
	NumComputeUnits uint32
	ASICSerial      [64]byte
}
