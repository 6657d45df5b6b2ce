package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Hardware registers of s_getreg and s_setreg.
const (
	hwMode       = 1
	hwStatus     = 2
	hwTrapStatus = 3
	hwID         = 4
	hwGPRAlloc   = 5
	hwLDSAlloc   = 6
	hwSHMemBases = 15
	hwXCC        = 20 // with [gcn.XCCRegisters]
)

// Of RDNA.
const (
	hwScratchLow  = 20 // FLAT_SCRATCH
	hwScratchHigh = 21
	hwID1         = 23
	hwID2         = 24
	hwCycles      = 29
)

// die is how the workgroups of a dispatch are spread: over the accelerator dies
// (XCC) one after the other, then over the compute units of a die and their
// shader engines. It is the simulated products': MI210, MI300X, MI350X and PRO W7900.
type die struct{ xccs, engines, units uint64 }

var dies = [...]die{gcn.GFX90A: {1, 8, 104}, gcn.GFX942: {8, 4, 38}, gcn.GFX950: {8, 4, 32}, gcn.GFX1100: {1, 6, 96}}

// place says where the wave executes.
func (w *wave) place() (xcc, engine, unit, slot uint64) {
	d, groups := dies[w.d.Program.arch.Target()], w.d.groups()
	id := &w.wg.id
	n := uint64(id[0]) + uint64(groups[0])*(uint64(id[1])+uint64(groups[1])*uint64(id[2]))
	xcc, n = n%d.xccs, n/d.xccs
	n, slot = n%d.units, n/d.units
	return xcc, n % d.engines, n / d.engines, slot
}

// readHW reads a hardware register. Counters of what is outstanding (IB_STS) are
// always 0, and so is what belongs to the trap handler.
func (w *wave) readHW(id uint32) uint32 {
	if w.d.Program.arch.Has(gcn.RDNA) {
		switch id {
		case hwScratchLow:
			return uint32(scratchWindow & 0xffffffff)
		case hwScratchHigh:
			return uint32(scratchWindow >> 32)
		case hwID1: // wave, SIMD, workgroup processor, shader engine
			_, engine, unit, slot := w.place()
			return uint32(slot&31) | uint32(w.id&3)<<8 | uint32(unit/2&15)<<10 | uint32(engine)<<18
		case hwID2: // the place of the workgroup
			_, _, _, slot := w.place()
			return uint32(slot&31) << 16
		case hwCycles:
			return uint32(w.cycles() & 0xfffff)
		case hwID:
			return 0
		}
	}
	switch id {
	case hwMode:
		return w.mode
	case hwStatus:
		w.computeZ()
		v := w.S[regSCC] | uint32(w.priority)<<3 | 1<<6 | 1<<16 // TRAP_EN, VALID
		v |= w.S[regEXECZ]<<9 | w.S[regVCCZ]<<10
		if w.wg.count > 1 {
			v |= 1 << 11 // IN_TG
		}
		return v
	case hwTrapStatus:
		return w.traps
	case hwID:
		_, engine, unit, slot := w.place()
		return uint32(w.id>>2&15) | uint32(w.id&3)<<4 | uint32(unit)<<8 | uint32(engine)<<13 | uint32(slot&15)<<16
	case hwGPRAlloc:
		vgprs, sgprs := uint32(len(w.V)+len(w.A)), uint32(112)
		return (vgprs/8-1)<<8 | (sgprs/16-1)<<24
	case hwLDSAlloc:
		return uint32((len(w.wg.lds)+511)/512) << 12
	case hwSHMemBases:
		return uint32(sharedBase>>48)<<16 | uint32(privateBase>>48)
	case hwXCC:
		if w.d.Program.arch.Has(gcn.XCCRegisters) {
			xcc, _, _, _ := w.place()
			return uint32(xcc)
		}
	}
	return 0
}

// hwreg takes apart the immediate of s_getreg: register, first bit, mask of the
// bits from there.
func hwreg(simm uint16) (id, offset, mask uint32) {
	size := uint32(simm>>11) + 1
	return uint32(simm & 63), uint32(simm >> 6 & 31), uint32(uint64(1)<<size - 1)
}

func getreg(b *binder, in *gcn.Inst) (func(*wave), error) {
	d, err := sdst(&in.Dst, 1)
	id, off, mask := hwreg(in.Simm16)
	return func(w *wave) { w.S[d] = w.readHW(id) >> off & mask }, err
}

// Exceptions of TRAPSTS that a kernel may clear and set. Arithmetic sets none.
const trapExceptions = 0x71ff

func setreg(b *binder, in *gcn.Inst) (func(*wave), error) {
	// The register form names its source as Src[0]; so does the literal form.
	s, err := scalar(&in.Src[0])
	id, off, mask := hwreg(in.Simm16)
	mask <<= off
	if b.p.arch.Has(gcn.RDNA) && id == hwMode {
		mask &^= modeWayMask // they are something else there, which makes no difference
	}
	if id == hwMode && mask&modeWayMask != 0 {
		b.changes = true
	}
	return func(w *wave) {
		v := s.get(w) << off & mask
		switch id {
		case hwMode:
			w.setMode(w.mode&^mask | v)
		case hwTrapStatus:
			w.traps = (w.traps&^mask | v) & trapExceptions
		}
	}, err
}

var _ = define(func() {
	on("s_getreg_b32", getreg)
	on("s_setreg_b32", setreg)
	on("s_setreg_imm32_b32", setreg)
	on("s_setprio", func(_ *binder, in *gcn.Inst) (func(*wave), error) {
		p := uint8(in.Simm16 & 3)
		return func(w *wave) { w.priority = p }, nil
	})
	on("v_clrexcp", func(*binder, *gcn.Inst) (func(*wave), error) {
		return func(w *wave) { w.traps = 0 }, nil
	})
})
