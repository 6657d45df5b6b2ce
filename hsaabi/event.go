//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec"
)

// events are what the program has called when something happens to a card.
type events struct {
	eventMu  sync.Mutex
	handlers []eventHandler
}

type eventHandler struct{ callback, data unsafe.Pointer }

// hsaAMDRegisterSystemEventHandler has a function called for every event from now on, beside those that were registered before.
func hsaAMDRegisterSystemEventHandler(callback, data unsafe.Pointer) status {
	l := current.Load()
	l.eventMu.Lock()
	defer l.eventMu.Unlock()
	l.handlers = append(l.handlers, eventHandler{callback, data})
	return HSA_STATUS_SUCCESS
}

// tell calls the handlers if a kernel has ended because of an address: the agent's, the page, and what was wrong with it.
func (l *library) tell(c *card, err error) {
	var f *exec.Fault
	if !errors.As(err, &f) || f.Kind != exec.MemoryFault {
		return
	}
	l.eventMu.Lock()
	handlers := l.handlers[:len(l.handlers):len(l.handlers)]
	l.eventMu.Unlock()
	why := uint32(HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT)
	if l.readOnly(c, f.Addr) {
		why = HSA_AMD_MEMORY_FAULT_READ_ONLY
	}
	for _, h := range handlers {
		e := amdEvent{eventType: HSA_AMD_GPU_MEMORY_FAULT_EVENT,
			memoryFault: amdGpuMemoryFaultInfo{agent: c.handle(), virtualAddress: f.Addr &^ (pageSize - 1), faultReasonMask: why}}
		C.rw_hsa_call_event(h.callback, unsafe.Pointer(&e), h.data)
	}
}

// readOnly says whether a card may only read what is mapped at an address.
func (l *library) readOnly(c *card, addr uint64) bool {
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	m := l.mappedAt(addr)
	return m != nil && m.perms[c.handle()] == HSA_ACCESS_PERMISSION_RO
}
