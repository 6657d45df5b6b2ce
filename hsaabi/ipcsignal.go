//go:build linux

package hsaabi

/*
#include "signal_shared.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// sharedSignals are the signals that other processes have, too, by their handles.
type sharedSignals struct {
	sharedMu sync.Mutex
	tokens   map[uint64]sharedSignal
}

type sharedSignal struct {
	token    hip.ShareToken
	attached bool // another process has made it
}

// signalMark is what says in the memory that a signal begins it.
const signalMark = 0x6c616e6769737772 // "rwsignal"

// newSharedSignal makes a signal that other processes may attach: a page of the first card's memory.
func (l *library) newSharedSignal(value int64, out *uint64) status {
	if len(l.cards) == 0 {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	p, e := l.sim.Malloc(l.cards[0].thread(), pageSize)
	if e != hip.Success {
		return statusOf(e)
	}
	token, e := l.sim.Share(p)
	if e != hip.Success {
		_ = l.sim.FreeNow(hip.Thread{}, p)
		return statusOf(e)
	}
	s := (*C.struct_rw_signal)(pointer(uint64(p)))
	*s = C.struct_rw_signal{}
	s.s.value, s.s.kind, s.mark = C.int64_t(value), AMD_SIGNAL_KIND_USER, signalMark
	return l.enter(s, sharedSignal{token: token}, out)
}

// enter makes a handle of shared memory; if there are too many, the memory is given back.
func (l *library) enter(s *C.struct_rw_signal, how sharedSignal, out *uint64) status {
	h := address(unsafe.Pointer(s))
	l.sharedMu.Lock()
	if l.tokens == nil {
		l.tokens = map[uint64]sharedSignal{}
	}
	l.tokens[h] = how
	l.sharedMu.Unlock()
	if !C.rw_hsa_share(s) {
		l.unshare(h)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	*out = h
	return HSA_STATUS_SUCCESS
}

// unshare gives the memory of a signal back, of which nobody here knows any more.
func (l *library) unshare(h uint64) {
	l.sharedMu.Lock()
	k := l.tokens[h]
	delete(l.tokens, h)
	l.sharedMu.Unlock()
	if k.attached {
		_ = l.sim.Detach(hip.Ptr(h))
	} else {
		_ = l.sim.FreeNow(hip.Thread{}, hip.Ptr(h))
	}
}

//export rw_hsa_unshare
func rw_hsa_unshare(h uint64) {
	if l := current.Load(); l != nil {
		l.unshare(h)
	}
}

// hsaAMDIPCSignalCreate is what another process attaches a signal by that was made for it.
func hsaAMDIPCSignalCreate(h uint64, out *amdIPCMemory) status {
	*out = amdIPCMemory{}
	l := current.Load()
	if signal(h) == nil {
		return HSA_STATUS_ERROR_INVALID_SIGNAL
	}
	l.sharedMu.Lock()
	defer l.sharedMu.Unlock()
	k, ok := l.tokens[h]
	if !ok {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	*tokenOf(out) = k.token
	return HSA_STATUS_SUCCESS
}

// hsaAMDIPCSignalAttach is that signal here, under a handle of its own, which is destroyed like any other.
func hsaAMDIPCSignalAttach(h *amdIPCMemory, out *uint64) status {
	*out = 0
	l := current.Load()
	if len(l.cards) == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	p, _, _, e := l.sim.Attach(hip.Thread{}, *tokenOf(h))
	if e != hip.Success {
		return statusOf(e)
	}
	s := (*C.struct_rw_signal)(pointer(uint64(p)))
	if s.mark != signalMark { // memory that somebody shares
		_ = l.sim.Detach(p)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return l.enter(s, sharedSignal{*tokenOf(h), true}, out)
}
