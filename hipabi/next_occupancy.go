package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// ldsGranule is what local memory is given out in.
const ldsGranule = 512

// rw_hipOccupancyAvailableDynamicSMemPerBlock is how much dynamic local memory each
// of so many workgroups may have that are to be on a compute unit at once; more
// than threads allow count as those.
//
//export rw_hipOccupancyAvailableDynamicSMemPerBlock
func rw_hipOccupancyAvailableDynamicSMemPerBlock(thread uint64, out unsafe.Pointer, fn uintptr, blocks, threads int32) int32 {
	if out == nil || blocks <= 0 || threads <= 0 {
		return int32(hip.ErrorInvalidValue)
	}
	f, d, err := kernelOf(threadOf(thread), fn)
	if err != hip.Success {
		return int32(hip.ErrorInvalidDeviceFunction)
	}
	p := &d.prop
	if threads > p.MaxThreadsPerMultiProcessor {
		return int32(hip.ErrorInvalidValue)
	}
	_, most := f.limits(d)
	all := max(p.MaxSharedMemoryPerMultiProcessor, p.SharedMemPerBlock)
	n := uint64(min(blocks, p.MaxThreadsPerMultiProcessor/threads))
	own := n * uint64(f.kernel.GroupSize)
	if own >= all {
		*(*uint64)(out) = 0
		return int32(hip.Success)
	}
	*(*uint64)(out) = min((all-own)/n, most) &^ (ldsGranule - 1)
	return int32(hip.Success)
}
