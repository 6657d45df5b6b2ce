//go:build linux

package hsaabi

/*
#include "call.h"
*/
import "C"

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Handles of pools, which are regions as well, in the order of the list.
const poolBase = 0x706f0000

// pool is one kind of an agent's memory.
type pool struct {
	owner   uint64 // agent
	card    *card  // whose memory it is; nil: the machine's
	segment uint32 // HSA_AMD_SEGMENT_…
	flags   uint32 // HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_…
	size    uint64
	width   uint32 // of the bus, bits
	clock   uint32 // MHz
}

// fragment is what allocations of a card's are best multiples of.
const fragment = 2 << 20

// poolsOf are the pools of the processor and of all cards. Grains differ in name only: memory of the simulated cards is coherent.
func poolsOf(cards []*card) (list []*pool) {
	machine := machineMemory()
	for _, flags := range []uint32{
		HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
		HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
		HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
		HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
	} {
		list = append(list, &pool{owner: agentBase, flags: flags, size: machine})
	}
	for _, c := range cards {
		for _, flags := range []uint32{HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED,
			HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED} {
			list = append(list, &pool{owner: c.handle(), card: c, flags: flags, size: c.props.TotalGlobalMem,
				width: uint32(c.props.MemoryBusWidth), clock: uint32(c.props.MemoryClockRate / 1000)})
		}
		list = append(list, &pool{owner: c.handle(), card: c, segment: HSA_AMD_SEGMENT_GROUP, size: c.props.SharedMemPerBlock})
	}
	return list
}

func machineMemory() uint64 {
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	return si.Totalram * uint64(si.Unit)
}

func (p *pool) global() bool { return p.segment == HSA_AMD_SEGMENT_GLOBAL }

// granule is what sizes and addresses are multiples of.
func (p *pool) granule() uint64 {
	if p.global() {
		return pageSize
	}
	return 0
}

// most is the size of the largest allocation.
func (p *pool) most() uint64 {
	if p.global() {
		return p.size
	}
	return 0
}

func (l *library) pool(h uint64) *pool {
	if i := h - poolBase; i < uint64(len(l.pools)) {
		return l.pools[i]
	}
	return nil
}

// handleOf is the handle of a pool.
func (l *library) handleOf(p *pool) uint64 { return poolBase + uint64(slices.Index(l.pools, p)) }

// poolOf is the pool that a card's memory is of, unless something else is asked for.
func (l *library) poolOf(c *card) *pool {
	return l.pools[slices.IndexFunc(l.pools, func(p *pool) bool { return p.card == c })]
}

// each calls back for each pool of an agent.
func (l *library) each(h uint64, callback, data unsafe.Pointer) status {
	if _, st := l.agent(h); st != HSA_STATUS_SUCCESS {
		return st
	}
	for i, p := range l.pools {
		if p.owner != h {
			continue
		}
		if st := status(C.rw_hsa_call(callback, C.uint64_t(poolBase+i), data)); st != HSA_STATUS_SUCCESS {
			return st
		}
	}
	return HSA_STATUS_SUCCESS
}

// hsaAMDAgentIterateMemoryPools calls back for each pool.
func hsaAMDAgentIterateMemoryPools(h uint64, callback, data unsafe.Pointer) status {
	return current.Load().each(h, callback, data)
}

// hsaAgentIterateRegions calls back for each region.
func hsaAgentIterateRegions(h uint64, callback, data unsafe.Pointer) status {
	return current.Load().each(h, callback, data)
}

// hsaAMDMemoryPoolGetInfo is what is known of a pool.
func hsaAMDMemoryPoolGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	p := current.Load().pool(h)
	if p == nil {
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	}
	switch attribute {
	case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
		return put(value, p.card == nil)
	case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
		return put(value, p.most())
	case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
		switch {
		case !p.global():
			return HSA_STATUS_ERROR_INVALID_ARGUMENT
		case p.card != nil:
			return put[uint32](value, HSA_AMD_MEMORY_POOL_LOCATION_GPU)
		}
		return put[uint32](value, HSA_AMD_MEMORY_POOL_LOCATION_CPU)
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
		if p.card != nil && p.global() {
			return put[uint64](value, fragment)
		}
		return put(value, p.granule())
	}
	return p.info(attribute, value)
}

// info is what pools and regions have in common.
func (p *pool) info(attribute uint32, value unsafe.Pointer) status {
	switch attribute {
	case HSA_REGION_INFO_SEGMENT:
		return put(value, p.segment)
	case HSA_REGION_INFO_GLOBAL_FLAGS:
		return put(value, p.flags)
	case HSA_REGION_INFO_SIZE:
		return put(value, p.size)
	case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
		return put(value, p.global())
	case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE, HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
		return put(value, p.granule())
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// hsaRegionGetInfo is what is known of a region.
func hsaRegionGetInfo(h uint64, attribute uint32, value unsafe.Pointer) status {
	p := current.Load().pool(h)
	if p == nil {
		return HSA_STATUS_ERROR_INVALID_REGION
	}
	switch attribute {
	case HSA_REGION_INFO_ALLOC_MAX_SIZE:
		return put(value, p.most())
	case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
		return put(value, p.card == nil)
	case HSA_AMD_REGION_INFO_BASE:
		return put[uint64](value, 0)
	case HSA_AMD_REGION_INFO_BUS_WIDTH:
		return put(value, p.width)
	case HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY:
		return put(value, p.clock)
	}
	return p.info(attribute, value)
}

// hsaAMDAgentMemoryPoolGetInfo is how an agent reaches a pool.
func hsaAMDAgentMemoryPoolGetInfo(agent, h uint64, attribute uint32, value unsafe.Pointer) status {
	l := current.Load()
	if _, st := l.agent(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	p := l.pool(h)
	if p == nil {
		return HSA_STATUS_ERROR_INVALID_MEMORY_POOL
	}
	access, hops := l.access(agent, p)
	switch attribute {
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
		return put(value, access)
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
		return put(value, hops)
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
		info := amdMemoryPoolLinkInfo{}
		if hops > 0 {
			info.linkType = HSA_AMD_LINK_INFO_TYPE_PCIE
			info.atomicSupport32bit, info.atomicSupport64bit, info.coherentSupport = true, true, true
		}
		return put(value, info)
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// access is whether an agent may reach a pool, and over how many links. Memory of a card is everybody's that asks, the processor among them.
func (l *library) access(agent uint64, p *pool) (access, hops uint32) {
	switch {
	case p.owner == agent:
		return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 0
	case !p.global():
		return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED, 0
	case p.card == nil && p.flags&HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED == 0:
		return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT, 1
	}
	return HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT, 1
}
