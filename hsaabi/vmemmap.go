//go:build linux

package hsaabi

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// rangeOf are the reserved addresses that all of n bytes lie in, nil for none. vmemMu is held.
func (v *virtual) rangeOf(addr, n uint64) *addresses {
	for _, r := range v.ranges {
		if addr-r.base < r.size && n <= r.size-(addr-r.base) {
			return r
		}
	}
	return nil
}

// mappedAt is the mapping that an address lies in, nil for none. vmemMu is held.
func (v *virtual) mappedAt(addr uint64) *mapping {
	if m := v.mapped[addr]; m != nil {
		return m
	}
	for _, m := range v.mapped {
		if addr-m.base < m.size {
			return m
		}
	}
	return nil
}

// hsaAMDVmemMap puts memory, from its beginning, at reserved addresses. As in AMD's library an offset changes nothing. No agent may use it yet.
func hsaAMDVmemMap(va unsafe.Pointer, size, _, h, _ uint64) status {
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	addr, p := address(va), l.physical[h]
	r := l.rangeOf(addr, size)
	if size == 0 || r == nil || p == nil || size > p.size || addr%pageSize != 0 || size%pageSize != 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if e := l.sim.MemMap(hip.Thread{}, hip.Ptr(addr), size, 0, p.is, 0); e != hip.Success { // over another
		return statusOf(e)
	}
	if l.mapped == nil {
		l.mapped = map[uint64]*mapping{}
	}
	l.mapped[addr] = &mapping{extent: extent{addr, size}, in: r, of: p, perms: map[uint64]uint32{}}
	r.maps++
	p.maps++
	return HSA_STATUS_SUCCESS
}

// hsaAMDVmemUnmap ends one mapping, without a wait for anything that executes, as hsaAMDMemoryPoolFree.
func hsaAMDVmemUnmap(va unsafe.Pointer, size uint64) status {
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	m, st := exactly(l.mapped, va, size)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if e := l.sim.MemUnmapNow(hip.Thread{}, hip.Ptr(m.base), size); e != hip.Success {
		return statusOf(e)
	}
	delete(l.mapped, m.base)
	m.in.maps--
	m.of.maps--
	return l.dropPhysical(m.of)
}

// hsaAMDVmemSetAccess says what agents may do with one or more mappings, which lie there without a gap. WO is as good as RW here.
func hsaAMDVmemSetAccess(va unsafe.Pointer, size uint64, desc *amdMemoryAccessDesc, n uint64) status {
	l := current.Load()
	if size == 0 || n == 0 || n > 1<<16 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	list := unsafe.Slice(desc, n)
	for i := range list {
		if _, st := l.agent(list[i].agentHandle); st != HSA_STATUS_SUCCESS {
			return st
		}
		if list[i].permissions > HSA_ACCESS_PERMISSION_RW {
			return HSA_STATUS_ERROR_INVALID_ARGUMENT
		}
	}
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	addr := address(va)
	if l.rangeOf(addr, size) == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	var maps []*mapping
	for at := addr; at-addr < size; {
		m := l.mapped[at]
		if m == nil {
			return HSA_STATUS_ERROR_INVALID_ALLOCATION
		}
		maps = append(maps, m)
		at += m.size
	}
	return l.allow(maps, list)
}

// allow gives agents their access to mappings. vmemMu is held.
func (l *library) allow(maps []*mapping, list []amdMemoryAccessDesc) status {
	for _, m := range maps {
		for _, d := range list {
			flags := hip.MemAccessFlags(d.permissions)
			if flags == HSA_ACCESS_PERMISSION_WO {
				flags = hip.MemAccessFlagsProtReadWrite
			}
			var e hip.Error
			if c, _ := l.card(d.agentHandle); c != nil {
				e = l.sim.MemSetAccess(c.thread(), hip.Ptr(m.base), m.size, []hip.MemAccessDesc{{
					Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: c.index}, Flags: flags,
				}})
			} else {
				e = l.sim.AllowHost(hip.Ptr(m.base), m.size, flags)
			}
			if e != hip.Success {
				return statusOf(e)
			}
			m.perms[d.agentHandle] = d.permissions
		}
	}
	return HSA_STATUS_SUCCESS
}

// allowAround gives agents all access to the mapping at an address and to those that follow it without a gap; false if there is none.
func (l *library) allowAround(addr uint64, agents []uint64) (status, bool) {
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	m := l.mappedAt(addr)
	if m == nil {
		return 0, false
	}
	var maps []*mapping
	for ; m != nil; m = l.mapped[m.base+m.size] {
		maps = append(maps, m)
	}
	var list []amdMemoryAccessDesc
	for _, h := range agents {
		list = append(list, amdMemoryAccessDesc{permissions: HSA_ACCESS_PERMISSION_RW, agentHandle: h})
	}
	return l.allow(maps, list), true
}

// hsaAMDVmemGetAccess is what a card may do with what is mapped at an address.
func hsaAMDVmemGetAccess(va unsafe.Pointer, perms *uint32, h uint64) status {
	*perms = HSA_ACCESS_PERMISSION_NONE
	l := current.Load()
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	m := l.mappedAt(address(va))
	if m == nil {
		return HSA_STATUS_ERROR_INVALID_ALLOCATION
	}
	if _, st := l.card(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	*perms = m.perms[h]
	return HSA_STATUS_SUCCESS
}

// virtualInfo is what hsa_amd_pointer_info tells of reserved addresses and what is mapped there; false if the address is not one.
func (l *library) virtualInfo(addr uint64) (info amdPointerInfo, agents []uint64, ok bool) {
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	if m := l.mappedAt(addr); m != nil {
		for h, p := range m.perms {
			if p != HSA_ACCESS_PERMISSION_NONE {
				agents = append(agents, h)
			}
		}
		slices.SortFunc(agents, cmp.Compare)
		return amdPointerInfo{type_: HSA_EXT_POINTER_TYPE_HSA, agentBaseAddress: uintptr(m.base), hostBaseAddress: uintptr(m.base), sizeInBytes: m.size,
			agentOwner: m.of.pool.owner, globalFlags: m.of.pool.flags}, agents, true
	}
	if r := l.rangeOf(addr, 1); r != nil {
		return amdPointerInfo{type_: HSA_EXT_POINTER_TYPE_RESERVED_ADDR, agentBaseAddress: uintptr(r.base), hostBaseAddress: uintptr(r.base), sizeInBytes: r.size}, nil, true
	}
	return info, nil, false
}

// who may copy or fill what lies at addresses: a card that was given access where something is mapped, or any.
func (l *library) who(addrs ...uint64) hip.Thread {
	l.vmemMu.Lock()
	defer l.vmemMu.Unlock()
	for _, a := range addrs {
		if len(l.mapped) == 0 {
			break
		}
		if m := l.mappedAt(a); m != nil {
			for _, c := range l.cards {
				if m.perms[c.handle()] != HSA_ACCESS_PERMISSION_NONE {
					return c.thread()
				}
			}
		}
	}
	return hip.Thread{}
}
