package smiabi

import (
	"math"
	"unsafe"
)

// amdsmiGetGPUDeviceBDF is the card's PCI address.
func amdsmiGetGPUDeviceBDF(c card, address *bdf) status {
	b, ok := c.device().BDF.Get()
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*address = bdfOf(b)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUBDFID is the card's PCI address as a number: the domain in the upper
// half, which part of a partitioned card it is in bits 28 to 31.
func amdsmiGetGPUBDFID(c card, id *uint64) status {
	b, ok := c.device().BDF.Get()
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*id = uint64(b.Domain)<<32 | uint64(b.Bus)<<8 | uint64(b.Device&31)<<3 | uint64(b.Function&7)
	if i, st := c.info(); st == AMDSMI_STATUS_SUCCESS {
		*id |= uint64(i.IDs.Partition.Or(0)&15) << 28
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUDeviceUUID is the card's UUID. The buffer must hold
// AMDSMI_GPU_UUID_SIZE; the length becomes the text's.
func amdsmiGetGPUDeviceUUID(c card, size *uint32, uuid *byte) status {
	if *size < AMDSMI_GPU_UUID_SIZE {
		return AMDSMI_STATUS_INVAL
	}
	id := c.device().UUID
	if id == "" {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	putString(uuid, uint64(*size), id)
	*size = min(uint32(len(id)), *size-1)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUEnumerationInfo is what other software knows the card by.
func amdsmiGetGPUEnumerationInfo(c card, info *enumerationInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = enumerationInfo{
		drmRender: i.IDs.DRMRender.Or(math.MaxUint32), drmCard: i.IDs.DRMCard.Or(math.MaxUint32), hsaID: i.IDs.KFDNode.Or(math.MaxUint32),
		hipID: i.IDs.HIP.Or(math.MaxUint32), oamID: i.ASIC.OAM.Or(math.MaxUint32), physicalAccID: math.MaxUint32,
	}
	putText(info.hipUUID[:], i.IDs.HIPUUID)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUKFDInfo is what the compute driver knows the card by.
func amdsmiGetGPUKFDInfo(c card, info *kfdInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	*info = kfdInfo{
		kfdID: i.IDs.KFD.Or(math.MaxUint64), nodeID: i.IDs.KFDNode.Or(math.MaxUint32), currentPartitionID: i.IDs.Partition.Or(math.MaxUint32),
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUTopoNUMAAffinity is the host's memory node next to the card.
func amdsmiGetGPUTopoNUMAAffinity(c card, node *int32) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	n, ok := i.NUMA.Node.Get()
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*node = int32(max(min(n, math.MaxInt32), -1))
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiTopoGetNUMANodeNumber is the host's memory node next to the card. A host without such nodes has all at node 0.
func amdsmiTopoGetNUMANodeNumber(c card, node *uint32) status {
	var n int32
	st := amdsmiGetGPUTopoNUMAAffinity(c, &n)
	if st == AMDSMI_STATUS_SUCCESS {
		*node = uint32(max(n, 0))
	}
	return st
}

// amdsmiGetCPUAffinityWithScope sets the bits of the CPUs of the card's memory node.
// Which of them share a socket is not known.
func amdsmiGetCPUAffinityWithScope(c card, words uint32, set *uint64, scope affinityScope) status {
	if scope > AMDSMI_AFFINITY_SCOPE_SOCKET || words == 0 {
		return AMDSMI_STATUS_INVAL
	}
	if scope != AMDSMI_AFFINITY_SCOPE_NODE {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	cpus, ok := ranges(i.NUMA.CPUs)
	if !ok {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	bits := unsafe.Slice(set, words)
	clear(bits)
	for _, r := range cpus {
		for n := r[0]; n <= r[1] && n/64 < uint64(words); n++ {
			bits[n/64] |= 1 << (n % 64)
		}
	}
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUVirtualizationMode says how the machine has the card.
func amdsmiGetGPUVirtualizationMode(c card, mode *virtualizationMode) status {
	i, st := c.info()
	if st == AMDSMI_STATUS_SUCCESS {
		*mode = virtualization(virtualizations[i.Virtualization], inVM())
	}
	return st
}
