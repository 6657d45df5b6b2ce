package main

// The layouts as a Go host has them.

const (
	maxDevices   = 64
	maxProcesses = 1024
)

type basicInfo struct {
	UUID                    [64]byte
	Vendor                  [32]byte
	Model                   [128]byte
	DriverVersion           [80]byte
	FirmwareVersion         [64]byte
	DeviceNode              [64]byte
	Index, NUMANode         int32
	TotalMemoryBytes, Units uint64
	MaxTflops               float64
	PCIeGen, PCIeWidth      uint32
}

type property struct {
	Key   [64]byte
	Value [256]byte
}

type deviceInfo struct {
	Basic         basicInfo
	Properties    [64]property
	PropertyCount uintptr
	Capabilities  [6]bool
	MaxPartitions uint32
	MaxWorkers    uint32
}

type topoNode struct {
	PeerUUID             [64]byte
	PeerIndex            int32
	TopoLevel            int32
	BandwidthBytesPerSec int64
}

type topologyInfo struct {
	DeviceUUID            [64]byte
	DeviceIndex, NUMANode int32
	Peers                 [maxDevices]topoNode
	PeerCount             uintptr
}

type topology struct {
	Devices     [maxDevices]topologyInfo
	DeviceCount uintptr
}

type extraMetric struct {
	Key   [64]byte
	Value float64
}

type deviceMetrics struct {
	DeviceUUID                    [64]byte
	PowerUsageWatts, TemperatureC float64
	PCIeRx, PCIeTx                uint64
	UtilizationPercent            uint32
	MemoryUsedBytes               uint64
	ExtraMetrics                  [64]extraMetric
	ExtraMetricsCount             uintptr
}

type processInformation struct {
	ProcessID                       [32]byte
	DeviceUUID                      [64]byte
	ComputePercent                  float64
	ActiveSMs, TotalSMs             uint64
	MemoryUsedBytes, MemoryReserved uint64
	MemoryPercent                   float64
}

type mountPath struct{ Host, Guest [512]byte }
