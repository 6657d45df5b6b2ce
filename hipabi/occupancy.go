package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
)

const maxOccupancy = 1 << 16

// blocksPerCU is how many workgroups of a size in threads, with dynamic bytes
// of LDS, one compute unit holds at once.
func (f *function) blocksPerCU(d *device, threads uint32, dynamic uint64) uint64 {
	p := &d.prop
	cu := codeobject.ComputeUnit{Threads: uint64(p.MaxThreadsPerMultiProcessor), LDS: max(p.MaxSharedMemoryPerMultiProcessor, p.SharedMemPerBlock)}
	return min(f.kernel.Resident(cu, threads, dynamic), maxOccupancy)
}

// bestBlock is the workgroup size of at most limit threads (0: any) that keeps
// most threads resident, the larger of equals, with the workgroups that fill
// the device: none, of the largest size, if not one fits.
func (f *function) bestBlock(d *device, dynamic uint64, limit int32) (threads uint32, blocks uint64) {
	most, _ := f.limits(d)
	if limit > 0 {
		most = min(most, uint64(limit))
	}
	warp := uint32(max(d.prop.WarpSize, 1))
	threads = uint32(most)
	var resident uint64
	for n := uint32(most); n > 0; n = (n - 1) / warp * warp {
		b := f.blocksPerCU(d, n, dynamic)
		if r := b * uint64(n); r > resident {
			threads, blocks, resident = n, b, r
		}
	}
	return threads, blocks * uint64(d.prop.MultiProcessorCount)
}

// activeBlocks answers the …MaxActiveBlocksPerMultiprocessor functions.
func activeBlocks(f *function, d *device, out unsafe.Pointer, threads int32, dynamic uint64) hip.Error {
	if threads <= 0 {
		*(*int32)(out) = 0
		return hip.ErrorInvalidValue
	}
	most, _ := f.limits(d)
	n := uint64(0)
	if uint64(threads) <= most {
		n = f.blocksPerCU(d, uint32(threads), dynamic)
	}
	*(*int32)(out) = int32(n)
	return hip.Success
}

// potentialBlock answers the …MaxPotentialBlockSize functions.
func potentialBlock(f *function, d *device, grid, block unsafe.Pointer, dynamic uint64, limit int32) hip.Error {
	threads, blocks := f.bestBlock(d, dynamic, limit)
	*(*int32)(grid), *(*int32)(block) = int32(blocks), int32(threads)
	return hip.Success
}

//export rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor
func rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(thread uint64, out unsafe.Pointer, h uint64, threads int32, dynamic uint64) int32 {
	return rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(thread, out, h, threads, dynamic, 0)
}

//export rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func rw_hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(thread uint64, out unsafe.Pointer, h uint64, threads int32, dynamic uint64, flags uint32) int32 {
	if out == nil || flags > 1 {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := functionOn(h)
	if err != hip.Success {
		return int32(err)
	}
	return int32(activeBlocks(f, d, out, threads, dynamic))
}

//export rw_hipOccupancyMaxActiveBlocksPerMultiprocessor
func rw_hipOccupancyMaxActiveBlocksPerMultiprocessor(thread uint64, out unsafe.Pointer, fn uintptr, threads int32, dynamic uint64) int32 {
	return rw_hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(thread, out, fn, threads, dynamic, 0)
}

//export rw_hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func rw_hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(thread uint64, out unsafe.Pointer, fn uintptr, threads int32, dynamic uint64, flags uint32) int32 {
	if out == nil || flags > 1 {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := kernelOf(threadOf(thread), fn)
	if err != hip.Success {
		return int32(err)
	}
	return int32(activeBlocks(f, d, out, threads, dynamic))
}

//export rw_hipModuleOccupancyMaxPotentialBlockSize
func rw_hipModuleOccupancyMaxPotentialBlockSize(thread uint64, grid, block unsafe.Pointer, h uint64, dynamic uint64, limit int32) int32 {
	return rw_hipModuleOccupancyMaxPotentialBlockSizeWithFlags(thread, grid, block, h, dynamic, limit, 0)
}

//export rw_hipModuleOccupancyMaxPotentialBlockSizeWithFlags
func rw_hipModuleOccupancyMaxPotentialBlockSizeWithFlags(thread uint64, grid, block unsafe.Pointer, h uint64, dynamic uint64, limit int32, flags uint32) int32 {
	if grid == nil || block == nil || flags > 1 {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := functionOn(h)
	if err != hip.Success {
		return int32(err)
	}
	return int32(potentialBlock(f, d, grid, block, dynamic, limit))
}

//export rw_hipOccupancyMaxPotentialBlockSize
func rw_hipOccupancyMaxPotentialBlockSize(thread uint64, grid, block unsafe.Pointer, fn uintptr, dynamic uint64, limit int32) int32 {
	if grid == nil || block == nil {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := kernelOf(threadOf(thread), fn)
	if err != hip.Success {
		return int32(err)
	}
	return int32(potentialBlock(f, d, grid, block, dynamic, limit))
}
