//go:build linux

package hsaabi

/*
#include "signal.h"
*/
import "C"

import (
	"slices"
	"unsafe"
)

// newSignal makes a signal; nil if there is no memory.
func (l *library) newSignal(value int64, kind int64) *C.struct_rw_signal {
	s := C.rw_hsa_signal_new(C.int64_t(value), C.amd_signal_kind64_t(kind))
	if s == nil && len(l.cards) > 0 && l.moreSignals() == nil {
		s = C.rw_hsa_signal_new(C.int64_t(value), C.amd_signal_kind64_t(kind))
	}
	return s
}

// hsaSignalCreate makes a signal. Who consumes it is a hint.
func hsaSignalCreate(value int64, n uint32, consumers *uint64, out *uint64) status {
	return hsaAMDSignalCreate(value, n, consumers, 0, out)
}

// hsaAMDSignalCreate is the same with attributes: whether it is for other processes, too, and whether only the card waits for it, a hint.
func hsaAMDSignalCreate(value int64, n uint32, consumers *uint64, attributes uint64, out *uint64) status {
	l := current.Load()
	if n > 0 && consumers == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	agents := unsafe.Slice(consumers, n)
	if l.known(agents) != HSA_STATUS_SUCCESS {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	for i, h := range agents {
		if slices.Contains(agents[:i], h) {
			return HSA_STATUS_ERROR_INVALID_ARGUMENT
		}
	}
	if attributes&HSA_AMD_SIGNAL_IPC != 0 {
		return l.newSharedSignal(value, out)
	}
	s := l.newSignal(value, AMD_SIGNAL_KIND_USER)
	if s == nil {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	*out = address(unsafe.Pointer(s))
	return HSA_STATUS_SUCCESS
}

// signal is the signal of a handle; nil if it is none.
func signal(h uint64) *C.struct_rw_signal {
	return C.rw_hsa_signal(C.hsa_signal_t{handle: C.uint64_t(h)})
}

// hsaSignalDestroy ends a signal; who waits for it goes on.
func hsaSignalDestroy(h uint64) status {
	if h == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	s := signal(h)
	if s == nil || s.s.kind != AMD_SIGNAL_KIND_USER {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	C.rw_hsa_signal_end(s)
	return HSA_STATUS_SUCCESS
}

// hsaAMDSignalValuePointer is where the value is, for device code.
func hsaAMDSignalValuePointer(h uint64, out *unsafe.Pointer) status {
	s := signal(h)
	if s == nil {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	*out = unsafe.Pointer(&s.s.value)
	return HSA_STATUS_SUCCESS
}
