//go:build linux && amd64

package exec

import (
	"strings"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Moves of vector registers whose numbers are relative to M0, as compilers index arrays in registers: v_movrels and v_movreld of RDNA, and v_mov between
// s_set_gpr_idx_on and s_set_gpr_idx_off, which has their names here. Nobody knows before which registers they use. So they count as what Go executes does:
// memory holds all registers before, and they are loaded again behind.

// relativeMoves are these instructions, and which of the operands is relative.
var relativeMoves = map[gcn.Op]struct{ src, dst bool }{
	gcn.V_MOVRELS_B32: {src: true}, gcn.V_MOVRELD_B32: {dst: true}, gcn.V_MOVRELSD_B32: {true, true},
}

var waveVectors = int(unsafe.Offsetof(wave{}.V) + unsafe.Sizeof(uintptr(0))) // how many vector registers there are

// nameRelative gives a block's moves with relative registers the names of those. It is false if other instructions have such.
func nameRelative(ins []gcn.Inst) bool {
	on, indexed := false, uint16(0)
	for i := range ins {
		in := &ins[i]
		switch name := in.Op.String(); {
		case name == "s_set_gpr_idx_on":
			on, indexed = true, in.Simm16
			in.Dst = gcn.Operand{Kind: gcn.SGPR, Index: regM0, Width: 1} // it changes bits of that
			in.Src[1] = in.Dst
		case name == "s_set_gpr_idx_off":
			on = false
		case !on:
		case strings.HasPrefix(name, "s_set_gpr_idx"), writesM0(in):
			return false
		case isVALU(in):
			src, dst := indexed&1 != 0 && in.Src[0].Kind == gcn.VGPR, indexed&indexDst != 0
			switch {
			case in.Op != gcn.V_MOV_B32 || !isPlain(in) || in.Dst.Kind != gcn.VGPR:
				return false
			case src && dst:
				in.Op = gcn.V_MOVRELSD_B32
			case src:
				in.Op = gcn.V_MOVRELS_B32
			case dst:
				in.Op = gcn.V_MOVRELD_B32
			}
		}
	}
	return true
}

// canRelative reports whether relative generates an instruction.
func canRelative(in *gcn.Inst) bool {
	r, ok := relativeMoves[in.Op]
	return ok && isPlain(in) && in.Dst.Kind == gcn.VGPR && (in.Src[0].Kind == gcn.VGPR || !r.src && canVector(&in.Src[0]))
}

// relative generates a move with a relative register. One that is not there is left to Go.
func (g *nativeGen) relative(in *gcn.Inst) {
	a, r := &g.a, relativeMoves[in.Op]
	g.readAll(allRegs.has)
	g.forms = nil
	g.storePins(g.pins.dirty)
	g.pins.dirty = 0
	g.between()
	done := a.Label()
	out := g.punt(done)
	at := func(o *gcn.Operand, relative bool, to x64.Reg) func(q int) x64.Mem {
		if !relative {
			return func(q int) x64.Mem { return memoryOf(int(o.Index), q) }
		}
		a.Load(false, to, g.scalarAt(regM0, false))
		if !g.p.arch.Has(gcn.RDNA) {
			a.OpImm(x64.AND, false, to, 0xff)
		}
		a.OpImm(x64.ADD, true, to, int32(o.Index))
		a.Op(x64.CMP, true, to, x64.At(rW, waveVectors))
		a.JumpIf(x64.AE, out)
		a.ShiftImm(x64.SHL, true, to, 8)
		return func(q int) x64.Mem { return x64.AtIndex(rV, to, q*64-vectorsFrom) }
	}
	from, to := at(&in.Src[0], r.src, x64.RCX), at(&in.Dst, r.dst, x64.R9)
	for q := range g.quarterCount() {
		if in.Src[0].Kind == gcn.VGPR {
			g.to(0, from(q))
		} else {
			g.to(0, g.plainSource(&in.Src[0], q))
		}
		if k := g.lanes(q); k != 0 {
			g.to(1, to(q))
			a.V(x64.VPBLENDMD, 0, 1, x64.Z(0), k)
		}
		a.VStore(to(q), 0, 0)
	}
	a.Bind(done)
	g.loadPins(0xff)
	g.ranges, g.held = nil, 0
	g.disown()
}

var _ = define(func() {
	nativeScalar["s_set_gpr_idx_on"] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canScalar(&in.Src[0]) {
			return false
		}
		a := &g.a
		g.scalarTo(x64.RAX, &in.Src[0])
		a.OpImm(x64.AND, false, x64.RAX, 0xff)
		a.OpImm(x64.OR, false, x64.RAX, int32(in.Simm16&15)<<indexModeAt)
		a.Load(false, x64.RCX, g.scalarAt(regM0, false))
		a.OpImm(x64.AND, false, x64.RCX, ^int32(indexModeAll|0xff))
		a.Op(x64.OR, false, x64.RAX, x64.RCX)
		g.setScalar(regM0, false, x64.RAX)
		a.OpImm(x64.OR, false, x64.At(rW, waveMode), modeIndexed)
		return true
	}
	nativeScalar["s_set_gpr_idx_off"] = func(g *nativeGen, in *gcn.Inst) bool {
		g.a.OpImm(x64.AND, false, x64.At(rW, waveMode), ^int32(modeIndexed))
		return true
	}
})
