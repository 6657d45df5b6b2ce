package smiabi

import "github.com/rocwire/rocwire/smi"

// memoryUse is how full a kind of memory is.
func (c card) memoryUse(kind memoryType) (smi.MemoryUse, status) {
	if kind > AMDSMI_MEM_TYPE_LAST {
		return smi.MemoryUse{}, AMDSMI_STATUS_INVAL
	}
	m, st := c.metrics()
	if st != AMDSMI_STATUS_SUCCESS {
		return smi.MemoryUse{}, st
	}
	switch kind {
	case AMDSMI_MEM_TYPE_VRAM:
		return m.VRAM, AMDSMI_STATUS_SUCCESS
	case AMDSMI_MEM_TYPE_VIS_VRAM:
		return m.VisibleVRAM, AMDSMI_STATUS_SUCCESS
	case AMDSMI_MEM_TYPE_GTT:
		return m.GTT, AMDSMI_STATUS_SUCCESS
	}
	return smi.MemoryUse{}, AMDSMI_STATUS_NOT_SUPPORTED
}

// amdsmiGetGPUMemoryTotal is a memory's size in bytes.
func amdsmiGetGPUMemoryTotal(c card, kind memoryType, total *uint64) status {
	u, st := c.memoryUse(kind)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(total, u.Total, one)
}

// amdsmiGetGPUMemoryUsage is how many bytes of a memory are taken.
func amdsmiGetGPUMemoryUsage(c card, kind memoryType, used *uint64) status {
	u, st := c.memoryUse(kind)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	return put(used, u.Used, one)
}

// amdsmiGetGPUVRAMUsage is both for the card's own memory, in MiB.
func amdsmiGetGPUVRAMUsage(c card, info *vramUsage) status {
	u, st := c.memoryUse(AMDSMI_MEM_TYPE_VRAM)
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if !u.Total.Ok() && !u.Used.Ok() {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*info = vramUsage{vramTotal: in[uint32](u.Total, mebi), vramUsed: in[uint32](u.Used, mebi)}
	return AMDSMI_STATUS_SUCCESS
}
