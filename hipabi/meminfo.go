package hipabi

import "C"

import (
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// HiddenMemory names the environment variable that has hipMemGetInfo tell of
// that many MiB less free memory than there is.
const HiddenMemory = "HIP_HIDDEN_FREE_MEM"

var hidden atomic.Uint64 // MiB

// HideMemory takes the value of [HiddenMemory]. What is no number hides nothing.
func HideMemory(value string) {
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		n = 0
	}
	hidden.Store(n)
}

//export rw_hipMemGetInfo
func rw_hipMemGetInfo(thread uint64, free, total unsafe.Pointer) int32 {
	if free == nil && total == nil {
		return int32(hip.Success)
	}
	left, all, err := runtime().MemGetInfo(threadOf(thread))
	if err != hip.Success {
		return int32(err)
	}
	if free != nil {
		*(*uint64)(free) = left - min(left, hidden.Load()<<20)
	}
	if total != nil {
		*(*uint64)(total) = all
	}
	return int32(hip.Success)
}
