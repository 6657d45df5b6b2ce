package smiabi

import "github.com/rocwire/rocwire/smi"

// amdsmiGetGPUVRAMInfo is the card's memory: MiB, bits, gigabytes per second.
func amdsmiGetGPUVRAMInfo(c card, info *vramInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	v := i.VRAM
	if v == (smi.VRAMInfo{}) {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*info = vramInfo{
		vramType: vramTypes[v.Type], vramBitWidth: in[uint32](v.BitWidth, 1), vramMaxBandwidth: in[uint64](v.MaxBandwidth, 1e9),
		vramSize: uint64(v.Size.Or(0)) >> 20,
	}
	putText(info.vramVendor[:], v.Vendor)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUVRAMVendor is who made the memory, cut to the buffer.
func amdsmiGetGPUVRAMVendor(c card, brand *byte, size uint32) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if i.VRAM.Vendor == "" {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	putString(brand, uint64(size), i.VRAM.Vendor)
	return AMDSMI_STATUS_SUCCESS
}

// amdsmiGetGPUCacheInfo are the card's caches: sizes in KiB.
func amdsmiGetGPUCacheInfo(c card, info *gpuCacheInfo) status {
	i, st := c.info()
	if st != AMDSMI_STATUS_SUCCESS {
		return st
	}
	if len(i.Caches) == 0 {
		return AMDSMI_STATUS_NOT_SUPPORTED
	}
	*info = gpuCacheInfo{}
	for _, from := range i.Caches[:min(len(i.Caches), len(info.cache))] {
		to := &info.cache[info.numCacheTypes]
		info.numCacheTypes++
		for _, p := range []struct {
			set bool
			bit cachePropertyType
		}{
			{!from.Disabled, AMDSMI_CACHE_PROPERTY_ENABLED}, {from.Data, AMDSMI_CACHE_PROPERTY_DATA_CACHE}, {from.Instruction, AMDSMI_CACHE_PROPERTY_INST_CACHE},
			{from.CPU, AMDSMI_CACHE_PROPERTY_CPU_CACHE}, {from.SIMD, AMDSMI_CACHE_PROPERTY_SIMD_CACHE},
		} {
			if p.set {
				to.cacheProperties |= uint32(p.bit)
			}
		}
		to.cacheLevel = uint32(from.Level)
		to.cacheSize = uint32(min(from.Size.Or(0)>>10, 1<<32-1))
		to.maxNumCuShared, to.numCacheInstance = uint32(max(from.ComputeUnits.Or(0), 0)), uint32(max(from.Count.Or(0), 0))
	}
	return AMDSMI_STATUS_SUCCESS
}
