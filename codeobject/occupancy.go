package codeobject

// What a compute unit of CDNA has, and a workgroup processor of RDNA3 with the large register files of gfx1100 and gfx1101,
// which is what AMD's runtime calls a multiprocessor there.
const simds = 4

// simd is what a SIMD has for waves of a size.
type simd struct {
	vgprs, vgprGranule uint64 // vector registers of a lane, architectural and accumulation ones together; what is allocated at a time
	sgprs, sgprGranule uint64 // scalar registers; 0: as many as its waves want
}

// simdOf is the SIMD for waves of so many lanes.
func simdOf(lanes uint64) simd {
	if lanes == 32 {
		return simd{vgprs: 1536, vgprGranule: 24}
	}
	return simd{vgprs: 512, vgprGranule: 8, sgprs: 800, sgprGranule: 16}
}

// ComputeUnit is what a device's compute unit has for the workgroups on it.
type ComputeUnit struct {
	Threads uint64 // at a time
	LDS     uint64 // in bytes
}

// Resident is how many of the kernel's workgroups a compute unit holds at once, by
// the formula of AMD's runtime: it is what occupancy says, and what a cooperative
// launch may ask for on each compute unit. dynamic is LDS in bytes beside the kernel's own.
func (k *Kernel) Resident(cu ComputeUnit, threads uint32, dynamic uint64) uint64 {
	if threads == 0 {
		return 0
	}
	lanes := k.lanes()
	n := k.wavesPerSIMD(cu) * simds / ((uint64(threads) + lanes - 1) / lanes)
	if lds := uint64(k.GroupSize) + dynamic; lds > 0 {
		n = min(n, cu.LDS/lds)
	}
	return n
}

// lanes is how many lanes its waves have.
func (k *Kernel) lanes() uint64 {
	if k.WavefrontSize == 32 {
		return 32
	}
	return 64
}

// wavesPerSIMD is how many of the kernel's waves fit a SIMD.
func (k *Kernel) wavesPerSIMD(cu ComputeUnit) uint64 {
	s := simdOf(k.lanes())
	up := func(n, granule uint64) uint64 { return (n + granule - 1) / granule * granule }
	waves := min(cu.Threads/k.lanes()/simds, s.vgprs/up(uint64(k.Descriptor.VGPRs()), s.vgprGranule))
	if n := uint64(k.SGPRs); n != 0 && s.sgprs != 0 {
		waves = min(waves, s.sgprs/up(n, s.sgprGranule))
	}
	return waves
}
