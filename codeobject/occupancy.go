package codeobject

// What gfx90a and gfx942 have in a compute unit.
const (
	simds       = 4
	laneVGPRs   = 512 // vector registers of a SIMD's lane, architectural and accumulation ones together
	simdSGPRs   = 800 // scalar registers of a SIMD
	sgprGranule = 16
	waveLanes   = 64
)

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
	n := k.wavesPerSIMD(cu) * simds / ((uint64(threads) + waveLanes - 1) / waveLanes)
	if lds := uint64(k.GroupSize) + dynamic; lds > 0 {
		n = min(n, cu.LDS/lds)
	}
	return n
}

// wavesPerSIMD is how many of the kernel's waves fit a SIMD.
func (k *Kernel) wavesPerSIMD(cu ComputeUnit) uint64 {
	waves := min(cu.Threads/waveLanes/simds, laneVGPRs/uint64(k.Descriptor.VGPRs())) // what is allocated, in granules
	if s := uint64(k.SGPRs); s != 0 {
		waves = min(waves, simdSGPRs/((s+sgprGranule-1)/sgprGranule*sgprGranule))
	}
	return waves
}
