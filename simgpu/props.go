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

// clockInstructionKHz is what AMD's library says of every card.
const clockInstructionKHz = 1_000_000

// props is what hipGetDeviceProperties says of a card.
func (p *product) properties(index int, memory uint64) *hip.DevicePropR0600 {
	const (
		maxInt    = 1<<31 - 1
		registers = 65536
	)
	d := &hip.DevicePropR0600{
		TotalGlobalMem: memory,

		SharedMemPerBlock: uint64(p.arch.LDS()), RegsPerBlock: registers, WarpSize: int32(p.arch.WaveSize()), MemPitch: maxInt,
		MaxThreadsPerBlock: maxThreads, MaxThreadsDim: [3]int32{maxThreads, maxThreads, maxThreads},
		MaxGridSize: [3]int32{maxGridX, maxGridYZ, maxGridYZ}, ClockRate: p.clock * 1000, TotalConstMem: maxInt,
		Major: p.major, Minor: p.minor, TextureAlignment: 256, TexturePitchAlignment: 256,
		DeviceOverlap: 1, MultiProcessorCount: p.multiprocessors(), CanMapHostMemory: 1,

		SurfaceAlignment: 256,

		ConcurrentKernels: 1, ECCEnabled: 1, PciBusID: busID(index), PciDeviceID: 0, PciDomainID: 0,
		AsyncEngineCount: 8, UnifiedAddressing: 1, MemoryClockRate: p.memClock * 1000, MemoryBusWidth: p.busWidth, L2CacheSize: p.l2,
		MaxThreadsPerMultiProcessor: threadsPerUnit, StreamPrioritiesSupported: 1, GlobalL1CacheSupported: 1, LocalL1CacheSupported: 1,
		SharedMemPerMultiprocessor: uint64(p.arch.LDS()), RegsPerMultiprocessor: registers, ManagedMemory: 1,
		HostNativeAtomicSupported: 1, ConcurrentManagedAccess: 1,
		CanUseHostPointerForRegisteredMem: 0, CooperativeLaunch: 1, CooperativeMultiDeviceLaunch: 1, CooperativeMultiDeviceUnmatchedFunc: 1,
		CooperativeMultiDeviceUnmatchedGridDim: 1, CooperativeMultiDeviceUnmatchedBlockDim: 1, CooperativeMultiDeviceUnmatchedSharedMem: 1, SharedMemPerBlockOptin: uint64(p.arch.LDS()),
		MaxBlocksPerMultiProcessor: int32(threadsPerUnit / p.arch.WaveSize()), HostRegisterSupported: 1, MemoryPoolsSupported: 1, MemoryPoolSupportedHandleTypes: uint32(hip.MemHandleTypePosixFileDescriptor), IpcEventSupported: 1,

		MaxSharedMemoryPerMultiProcessor: uint64(p.arch.LDS()), ClockInstructionRate: clockInstructionKHz, IsLargeBar: 1, AsicRevision: int32(p.revision),
		Arch: hip.DeviceArch{Bits: archGlobalInt32Atomics | archGlobalFloatAtomicExch | archSharedInt32Atomics |
			archSharedFloatAtomicExch | archFloatAtomicAdd | archGlobalInt64Atomics | archSharedInt64Atomics | archDoubles |
			archWarpVote | archWarpBallot | archWarpShuffle | archThreadFenceSystem | arch3DGrid},
	}
	if p.images {
		largestImages(d)
	}
	copy(d.Name[:], p.name)
	copy(d.GcnArchName[:], p.target.Short())
	copy(d.Uuid.Bytes[:], serial(p, index))
	return d
}

// largestImages is how large textures and surfaces may be. There are no cubemaps.
func largestImages(d *hip.DevicePropR0600) {
	const size, layers, maxInt = 16384, 2048, 1<<31 - 1
	d.MaxTexture1D, d.MaxTexture1DMipmap, d.MaxTexture1DLinear = size, size, maxInt
	d.MaxTexture2D, d.MaxTexture2DMipmap = [2]int32{size, size}, [2]int32{size, size}
	d.MaxTexture2DLinear, d.MaxTexture2DGather = [3]int32{size, size, maxInt}, [2]int32{size, size}
	d.MaxTexture3D, d.MaxTexture3DAlt = [3]int32{size, size, size / 2}, [3]int32{size, size, size / 2}
	d.MaxTexture1DLayered, d.MaxTexture2DLayered = [2]int32{size, layers}, [3]int32{size, size, layers}
	d.MaxSurface1D, d.MaxSurface2D, d.MaxSurface3D = size, [2]int32{size, size}, [3]int32{size, size, size / 2}
	d.MaxSurface1DLayered, d.MaxSurface2DLayered = [2]int32{size, layers}, [3]int32{size, size, layers}
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
