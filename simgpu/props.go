package simgpu

import (
	"fmt"
	"hash/fnv"
	"os"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Bits of hipDeviceArch_t, in the order of its fields.
const (
	archGlobalInt32Atomics = 1 << iota
	archGlobalFloatAtomicExch
	archSharedInt32Atomics
	archSharedFloatAtomicExch
	archFloatAtomicAdd
	archGlobalInt64Atomics
	archSharedInt64Atomics
	archDoubles
	archWarpVote
	archWarpBallot
	archWarpShuffle
	archFunnelShift
	archThreadFenceSystem
	archSyncThreadsExt
	archSurfaceFuncs
	arch3DGrid
	archDynamicParallelism
)

// props is what hipGetDeviceProperties says of a card.
func (p *product) properties(index int, memory uint64) *hip.DevicePropR0600 {
	const (
		maxInt    = 1<<31 - 1
		texture   = 16384
		registers = 65536
	)
	d := &hip.DevicePropR0600{
		TotalGlobalMem: memory,

		SharedMemPerBlock: ldsBytes, RegsPerBlock: registers, WarpSize: waveSize, MemPitch: maxInt,
		MaxThreadsPerBlock: maxThreads, MaxThreadsDim: [3]int32{maxThreads, maxThreads, maxThreads},
		MaxGridSize: [3]int32{maxGridX, maxGridYZ, maxGridYZ}, ClockRate: p.clock * 1000, TotalConstMem: maxInt,
		Major: p.major, Minor: p.minor, TextureAlignment: 256, TexturePitchAlignment: 256,
		DeviceOverlap: 1, MultiProcessorCount: p.computeUnits, CanMapHostMemory: 1,

		MaxTexture1D: texture, MaxTexture1DMipmap: texture, MaxTexture1DLinear: maxInt,
		MaxTexture2D: [2]int32{texture, texture}, MaxTexture2DMipmap: [2]int32{texture, texture},
		MaxTexture2DLinear: [3]int32{texture, texture, maxInt}, MaxTexture2DGather: [2]int32{texture, texture},
		MaxTexture3D: [3]int32{texture, texture, texture / 2}, MaxTexture3DAlt: [3]int32{texture, texture, texture / 2},
		MaxTextureCubemap: texture, MaxTexture1DLayered: [2]int32{texture, 2048},
		MaxTexture2DLayered: [3]int32{texture, texture, 2048}, MaxTextureCubemapLayered: [2]int32{texture, 2048},
		MaxSurface1D: texture, MaxSurface2D: [2]int32{texture, texture}, MaxSurface3D: [3]int32{texture, texture, texture / 2},
		MaxSurface1DLayered: [2]int32{texture, 2048}, MaxSurface2DLayered: [3]int32{texture, texture, 2048},
		MaxSurfaceCubemap: texture, MaxSurfaceCubemapLayered: [2]int32{texture, 2048}, SurfaceAlignment: 256,

		ConcurrentKernels: 1, ECCEnabled: 1, PciBusID: busID(index), PciDeviceID: 0, PciDomainID: 0,
		AsyncEngineCount: 8, UnifiedAddressing: 1, MemoryClockRate: p.memClock * 1000, MemoryBusWidth: p.busWidth, L2CacheSize: p.l2,
		MaxThreadsPerMultiProcessor: threadsPerUnit, StreamPrioritiesSupported: 1, GlobalL1CacheSupported: 1, LocalL1CacheSupported: 1,
		SharedMemPerMultiprocessor: ldsBytes, RegsPerMultiprocessor: registers, ManagedMemory: 1,
		HostNativeAtomicSupported: 1, SingleToDoublePrecisionPerfRatio: 1, ConcurrentManagedAccess: 1, ComputePreemptionSupported: 1,
		CanUseHostPointerForRegisteredMem: 0, CooperativeLaunch: 1, CooperativeMultiDeviceLaunch: 1, CooperativeMultiDeviceUnmatchedFunc: 1,
		CooperativeMultiDeviceUnmatchedGridDim: 1, CooperativeMultiDeviceUnmatchedBlockDim: 1, CooperativeMultiDeviceUnmatchedSharedMem: 1, SharedMemPerBlockOptin: ldsBytes, DirectManagedMemAccessFromHost: 1,
		MaxBlocksPerMultiProcessor: wavesPerUnit, HostRegisterSupported: 1, MemoryPoolsSupported: 1, MemoryPoolSupportedHandleTypes: uint32(hip.MemHandleTypePosixFileDescriptor), IpcEventSupported: 1, UnifiedFunctionPointers: 1,

		MaxSharedMemoryPerMultiProcessor: ldsBytes, ClockInstructionRate: wallClockKHz, IsLargeBar: 1, AsicRevision: int32(p.revision),
		Arch: hip.DeviceArch{Bits: archGlobalInt32Atomics | archGlobalFloatAtomicExch | archSharedInt32Atomics |
			archSharedFloatAtomicExch | archFloatAtomicAdd | archGlobalInt64Atomics | archSharedInt64Atomics | archDoubles |
			archWarpVote | archWarpBallot | archWarpShuffle | archThreadFenceSystem | arch3DGrid},
	}
	copy(d.Name[:], p.name)
	copy(d.GcnArchName[:], p.target.Short())
	copy(d.Uuid.Bytes[:], serial(p, index))
	return d
}

// busID is the PCI bus a card seems to sit on.
func busID(index int) int32 { return int32(0x10 + index) }

// UUID is what lists of visible devices call a card; "" for an architecture that
// is not simulated.
func UUID(arch string, index int) string {
	if arch == "" {
		arch = DefaultArch
	}
	p := products[arch]
	if p == nil {
		return ""
	}
	return "GPU-" + serial(p, index)
}

// serial is 16 hexadecimal digits that differ between machines, kinds of cards
// and cards, and stay the same.
func serial(p *product, index int) string {
	return fmt.Sprintf("%016x", identity(p, "card", index))
}

// identity is a number that differs between machines, kinds of cards, what it is
// for, and indices, and stays the same.
func identity(p *product, what string, index int) uint64 {
	h := fnv.New64a()
	h.Write(machineID())
	fmt.Fprintf(h, "/%s/%s/%d", p.target.Processor, what, index)
	return h.Sum64()
}

// machineID differs between machines.
var machineID = sync.OnceValue(func() []byte {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		host, _ := os.Hostname()
		id = []byte(host)
	}
	return id
})
