//go:build linux

package hsaabi

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// locked is memory of the program's that kernels reach: at its own address.
// What is locked may overlap, and be locked several times.
type locked struct {
	lockMu sync.Mutex
	locks  map[uint64][]lock // by address
}

// lock is one call of hsa_amd_memory_lock.
type lock struct {
	size  uint64
	reach *pinned // nil if kernels reach it already
}

// pinned is what kernels reach for some locks: all from the first byte of them to
// the last, as long as there is one.
type pinned struct {
	base, size uint64
	uses       int
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
	k := lock{size: size}
	if !l.reached(at, size) {
		var st status
		if k.reach, st = l.reachFor(at, size); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	if l.locks == nil {
		l.locks = map[uint64][]lock{}
	}
	l.locks[at] = append(l.locks[at], k)
	*out = host
	return HSA_STATUS_SUCCESS
}

// reachFor lets kernels reach memory, together with what is locked that overlaps
// it. lockMu is held.
func (l *library) reachFor(at, size uint64) (*pinned, status) {
	from, to := at, at+size
	var over []*pinned
	for _, list := range l.locks {
		for _, k := range list {
			if g := k.reach; g != nil && g.base < at+size && at < g.base+g.size && !slices.Contains(over, g) {
				over = append(over, g)
				from, to = min(from, g.base), max(to, g.base+g.size)
			}
		}
	}
	if len(over) == 1 && over[0].base == from && over[0].size == to-from {
		over[0].uses++
		return over[0], HSA_STATUS_SUCCESS
	}
	if e := l.sim.HostRegister(hip.Thread{}, hip.Ptr(from), to-from, 0); e != hip.Success { // it ends those that overlap
		return nil, statusOf(e)
	}
	all := &pinned{from, to - from, 1}
	for _, g := range over {
		all.uses += g.uses
	}
	for _, list := range l.locks {
		for i := range list {
			if slices.Contains(over, list[i].reach) {
				list[i].reach = all
			}
		}
	}
	return all, HSA_STATUS_SUCCESS
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
	at := address(host)
	list := l.locks[at]
	if len(list) == 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	g := list[len(list)-1].reach
	if l.locks[at] = list[:len(list)-1]; len(list) == 1 {
		delete(l.locks, at)
	}
	if g == nil {
		return HSA_STATUS_SUCCESS
	}
	if g.uses--; g.uses > 0 {
		return HSA_STATUS_SUCCESS
	}
	return statusOf(l.sim.HostUnregisterNow(hip.Thread{}, hip.Ptr(g.base)))
}

// lockAt is the locked memory that an address is in: the largest, if it is in several.
func (l *library) lockAt(addr uint64) (base, size uint64, ok bool) {
	l.lockMu.Lock()
	defer l.lockMu.Unlock()
	for at, list := range l.locks {
		for _, k := range list {
			if addr-at < k.size && (k.size > size || k.size == size && at < base) {
				base, size, ok = at, k.size, true
			}
		}
	}
	return base, size, ok
}
