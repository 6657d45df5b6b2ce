//go:build linux

package hsaabi

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// locked is memory of the program's that kernels reach: at its own address.
type locked struct {
	lockMu sync.Mutex
	locks  map[uint64]*lock // by address
}

type lock struct {
	size uint64
	uses int
	svm  bool // kernels reach it already
}

// hsaAMDMemoryLock lets kernels use memory that the program allocated elsewhere.
func hsaAMDMemoryLock(host unsafe.Pointer, size uint64, agents *uint64, n int32, out *unsafe.Pointer) status {
	*out = nil
	l := current.Load()
	if size == 0 || n < 0 || n > 0 && agents == nil || n == 0 && agents != nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	for _, h := range unsafe.Slice(agents, n) {
		if _, st := l.card(h); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	l.lockMu.Lock()
	defer l.lockMu.Unlock()
	at := address(host)
	if k := l.locks[at]; k != nil && size <= k.size {
		k.uses++
		*out = host
		return HSA_STATUS_SUCCESS
	}
	svm := l.reached(at, size)
	if !svm {
		if e := l.sim.HostRegister(hip.Thread{}, hip.Ptr(at), size, 0); e != hip.Success {
			return statusOf(e)
		}
	}
	if l.locks == nil {
		l.locks = map[uint64]*lock{}
	}
	l.locks[at] = &lock{size, 1, svm}
	*out = host
	return HSA_STATUS_SUCCESS
}

// hsaAMDMemoryLockToPool is the same for a pool of the processor's.
func hsaAMDMemoryLockToPool(host unsafe.Pointer, size uint64, agents *uint64, n int32, h uint64, flags uint32, out *unsafe.Pointer) status {
	p := current.Load().pool(h)
	switch {
	case p == nil:
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	case p.card != nil:
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	case flags != 0:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return hsaAMDMemoryLock(host, size, agents, n, out)
}

// hsaAMDMemoryUnlock ends what hsa_amd_memory_lock began as often.
func hsaAMDMemoryUnlock(host unsafe.Pointer) status {
	l := current.Load()
	l.lockMu.Lock()
	defer l.lockMu.Unlock()
	k := l.locks[address(host)]
	if k == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if k.uses--; k.uses > 0 {
		return HSA_STATUS_SUCCESS
	}
	delete(l.locks, address(host))
	if k.svm {
		return HSA_STATUS_SUCCESS
	}
	return statusOf(l.sim.HostUnregisterNow(hip.Thread{}, hip.Ptr(address(host))))
}

// lockAt is the locked memory that an address is in.
func (l *library) lockAt(addr uint64) (base, size uint64, ok bool) {
	l.lockMu.Lock()
	defer l.lockMu.Unlock()
	for at, k := range l.locks {
		if addr-at < k.size {
			return at, k.size, true
		}
	}
	return 0, 0, false
}
