//go:build linux && amd64

package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// emitter translates one instruction. It emits nothing if it cannot.
type emitter = func(g *nativeGen, in *gcn.Inst) bool

// nativeScalar, nativeVector and nativeMemory hold what can be translated, by
// mnemonic without encoding suffix.
var (
	nativeScalar = map[string]emitter{}
	nativeVector = map[string]emitter{}
	nativeMemory = map[string]emitter{}
)

// canScalar reports whether a scalar source can be read.
func canScalar(o *gcn.Operand) bool {
	if o.Width == 2 {
		_, err := scalar64(o)
		return err == nil
	}
	_, err := scalar(o)
	return err == nil
}

// scalarTo loads a scalar source, zero extended to 64 bits.
func (g *nativeGen) scalarTo(r x64.Reg, o *gcn.Operand) {
	if o.Width == 2 {
		s, _ := scalar64(o)
		switch {
		case s.mask == 0:
			g.a.Imm(r, s.val)
		default:
			w := s.mask>>32 != 0
			g.a.Load(w, r, g.scalarAt(int(s.reg), w))
		}
		return
	}
	s, _ := scalar(o)
	if s.mask == 0 {
		g.a.Imm(r, uint64(s.val))
		return
	}
	g.a.Load(false, r, g.scalarAt(int(s.reg), false))
}

// setSCC stores a condition of the flags in SCC, which takes R10.
func (g *nativeGen) setSCC(c x64.Cond) {
	if g.wantsSCC() {
		g.a.Set(c, x64.R10) // it leaves the flags
		g.a.Store(false, sreg(regSCC), x64.R10)
	}
}

// nonzero sets SCC if r is not zero.
func (g *nativeGen) nonzero(w bool, r x64.Reg) {
	if g.wantsSCC() {
		g.a.Op(x64.OR, w, r, r)
		g.setSCC(x64.NE)
	}
}

// wantsSCC reports whether anybody may read the SCC of the current instruction.
func (g *nativeGen) wantsSCC() bool {
	if g.nb == nil || endsLive {
		return true
	}
	b := g.nb.b
	for i := g.idx + 1; i < len(b.ops); i++ {
		in := &g.nb.ins[i]
		if !g.nb.can[i] || in.Info.Flags&gcn.ReadsSCC != 0 {
			return true
		}
		for _, o := range []*gcn.Operand{&in.Src[0], &in.Src[1], &in.Src[2], &in.Base, &in.SOffset, &in.Addr, &in.Data, &in.Data1} {
			if o.Kind == gcn.Special {
				return true
			}
		}
		if in.Info.Flags&gcn.WritesSCC != 0 {
			return false
		}
	}
	return len(b.at) == len(b.ops) || g.nb.ins[len(b.ops)].Op.String() != "s_endpgm"
}

// nativeOp defines an operation of one or two sources: RAX = RAX op RCX. The
// emitter sets SCC itself, before or after.
func nativeOp(name string, n int, f func(g *nativeGen)) {
	nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
		w := int(max(in.Dst.Width, 1))
		if _, err := sdst(&in.Dst, w); err != nil || !canScalar(&in.Src[0]) || n == 2 && !canScalar(&in.Src[1]) {
			return false
		}
		g.scalarTo(x64.RAX, &in.Src[0])
		if n == 2 {
			g.scalarTo(x64.RCX, &in.Src[1])
		}
		f(g)
		g.setScalar(int(in.Dst.Index), w == 2, x64.RAX)
		return true
	}
}

// scalarCompare defines s_cmp_… and s_cmpk_….
func scalarCompare(name string, c x64.Cond) {
	signed := name[len(name)-3] == 'i'
	nativeScalar["s_cmp_"+name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canScalar(&in.Src[0]) || !canScalar(&in.Src[1]) {
			return false
		}
		g.scalarTo(x64.RAX, &in.Src[0])
		g.scalarTo(x64.RCX, &in.Src[1])
		g.a.Op(x64.CMP, name[len(name)-2:] == "64", x64.RAX, x64.RCX)
		g.setSCC(c)
		return true
	}
	if name[len(name)-2:] == "64" {
		return
	}
	nativeScalar["s_cmpk_"+name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canScalar(&in.Src[0]) {
			return false
		}
		k := int32(in.Simm16)
		if signed {
			k = int32(int16(in.Simm16))
		}
		g.scalarTo(x64.RAX, &in.Src[0])
		g.a.OpImm(x64.CMP, false, x64.RAX, k)
		g.setSCC(c)
		return true
	}
}

var _ = define(func() {
	flags := func(op x64.Op, c x64.Cond) func(g *nativeGen) {
		return func(g *nativeGen) {
			g.a.Op(op, false, x64.RAX, x64.RCX)
			g.setSCC(c)
		}
	}
	nativeOp("s_add_u32", 2, flags(x64.ADD, x64.B))
	nativeOp("s_sub_u32", 2, flags(x64.SUB, x64.B))
	nativeOp("s_add_i32", 2, flags(x64.ADD, x64.O))
	nativeOp("s_sub_i32", 2, flags(x64.SUB, x64.O))
	carry := func(op x64.Op) func(g *nativeGen) {
		return func(g *nativeGen) {
			// The carry flag is SCC: 0 - SCC borrows if SCC is set.
			g.a.Imm(x64.R10, 0)
			g.a.Op(x64.CMP, false, x64.R10, sreg(regSCC))
			g.a.Op(op, false, x64.RAX, x64.RCX)
			g.setSCC(x64.B)
		}
	}
	nativeOp("s_addc_u32", 2, carry(x64.ADC))
	nativeOp("s_subb_u32", 2, carry(x64.SBB))
	choose := func(c x64.Cond) func(g *nativeGen) {
		return func(g *nativeGen) {
			g.a.Op(x64.CMP, false, x64.RAX, x64.RCX)
			g.setSCC(c)
			not := c ^ 1
			g.a.Cmov(not, false, x64.RAX, x64.RCX)
		}
	}
	nativeOp("s_min_i32", 2, choose(x64.L))
	nativeOp("s_min_u32", 2, choose(x64.B))
	nativeOp("s_max_i32", 2, choose(x64.G))
	nativeOp("s_max_u32", 2, choose(x64.A))
	for _, w := range []bool{false, true} {
		name := map[bool]string{false: "b32", true: "b64"}[w]
		nativeOp("s_cselect_"+name, 2, func(g *nativeGen) {
			g.a.OpImm(x64.CMP, false, sreg(regSCC), 0)
			g.a.Cmov(x64.E, true, x64.RAX, x64.RCX)
		})
		nativeOp("s_mov_"+name, 1, func(*nativeGen) {})
		nativeOp("s_not_"+name, 1, func(g *nativeGen) { g.a.Not(w, x64.RAX); g.nonzero(w, x64.RAX) })
		for op, f := range nativeLogic {
			nativeOp("s_"+op+"_"+name, 2, func(g *nativeGen) { f(g, w); g.nonzero(w, x64.RAX) })
		}
		nativeOp("s_lshl_"+name, 2, func(g *nativeGen) { g.a.ShiftCL(x64.SHL, w, x64.RAX); g.nonzero(w, x64.RAX) })
		nativeOp("s_lshr_"+name, 2, func(g *nativeGen) { g.a.ShiftCL(x64.SHR, w, x64.RAX); g.nonzero(w, x64.RAX) })
		nativeOp("s_ff1_i32_"+name, 1, func(g *nativeGen) { g.firstOr(w, false) })
		nativeOp("s_flbit_i32_"+name, 1, func(g *nativeGen) { g.firstOr(w, true) })
		nativeOp("s_bcnt1_i32_"+name, 1, func(g *nativeGen) {
			g.a.Popcnt(w, x64.RAX, x64.RAX)
			g.nonzero(false, x64.RAX)
		})
		for _, bit := range []string{"0", "1"} {
			nativeScalar["s_bitcmp"+bit+"_"+name] = func(g *nativeGen, in *gcn.Inst) bool {
				if !canScalar(&in.Src[0]) || !canScalar(&in.Src[1]) {
					return false
				}
				g.scalarTo(x64.RAX, &in.Src[0])
				g.scalarTo(x64.RCX, &in.Src[1])
				g.a.BitTest(w, x64.RAX, x64.RCX)
				g.setSCC(map[string]x64.Cond{"0": x64.AE, "1": x64.B}[bit])
				return true
			}
		}
	}
	nativeOp("s_ashr_i32", 2, func(g *nativeGen) { g.a.ShiftCL(x64.SAR, false, x64.RAX); g.nonzero(false, x64.RAX) })
	nativeOp("s_ashr_i64", 2, func(g *nativeGen) { g.a.ShiftCL(x64.SAR, true, x64.RAX); g.nonzero(true, x64.RAX) })
	nativeOp("s_mul_i32", 2, func(g *nativeGen) { g.a.Mul(false, x64.RAX, x64.RCX) })
	nativeOp("s_mul_hi_u32", 2, func(g *nativeGen) {
		g.a.Mul(true, x64.RAX, x64.RCX)
		g.a.ShiftImm(x64.SHR, true, x64.RAX, 32)
	})
	nativeOp("s_mul_hi_i32", 2, func(g *nativeGen) {
		g.a.SignExtend(x64.RAX)
		g.a.SignExtend(x64.RCX)
		g.a.Mul(true, x64.RAX, x64.RCX)
		g.a.ShiftImm(x64.SHR, true, x64.RAX, 32)
	})
	extend := func(n byte) func(g *nativeGen) {
		return func(g *nativeGen) {
			g.a.ShiftImm(x64.SHL, false, x64.RAX, 32-n)
			g.a.ShiftImm(x64.SAR, false, x64.RAX, 32-n)
		}
	}
	nativeOp("s_sext_i32_i8", 1, extend(8))
	nativeOp("s_sext_i32_i16", 1, extend(16))
	pack := func(first, second func(g *nativeGen)) func(g *nativeGen) {
		return func(g *nativeGen) {
			first(g)
			second(g)
			g.a.Op(x64.OR, false, x64.RAX, x64.RCX)
		}
	}
	low := func(g *nativeGen) { g.a.OpImm(x64.AND, false, x64.RAX, 0xffff) }
	high := func(g *nativeGen) { g.a.OpImm(x64.AND, false, x64.RCX, -0x10000) }
	nativeOp("s_pack_ll_b32_b16", 2, pack(low, func(g *nativeGen) { g.a.ShiftImm(x64.SHL, false, x64.RCX, 16) }))
	nativeOp("s_pack_lh_b32_b16", 2, pack(low, high))
	nativeOp("s_pack_hh_b32_b16", 2, pack(func(g *nativeGen) { g.a.ShiftImm(x64.SHR, false, x64.RAX, 16) }, high))
	for name, w := range map[string]bool{"s_bfm_b32": false, "s_bfm_b64": true} {
		nativeOp(name, 2, func(g *nativeGen) {
			g.a.Load(true, x64.R10, x64.RCX)
			g.a.Load(true, x64.RCX, x64.RAX)
			g.a.Imm(x64.RAX, 1)
			g.a.ShiftCL(x64.SHL, w, x64.RAX)
			g.a.OpImm(x64.SUB, w, x64.RAX, 1)
			g.a.Load(true, x64.RCX, x64.R10)
			g.a.ShiftCL(x64.SHL, w, x64.RAX)
		})
	}
	nativeOp("s_absdiff_i32", 2, func(g *nativeGen) {
		g.a.Op(x64.SUB, false, x64.RAX, x64.RCX)
		g.a.Imm(x64.RCX, 0)
		g.a.Op(x64.SUB, false, x64.RCX, x64.RAX)
		g.a.OpImm(x64.CMP, false, x64.RAX, 0)
		g.a.Cmov(x64.L, false, x64.RAX, x64.RCX)
		g.nonzero(false, x64.RAX)
	})
	for n := byte(1); n <= 4; n++ {
		nativeOp("s_lshl"+string('0'+rune(n))+"_add_u32", 2, func(g *nativeGen) {
			g.a.ShiftImm(x64.SHL, true, x64.RAX, n)
			g.a.Op(x64.ADD, true, x64.RAX, x64.RCX)
			g.a.Load(true, x64.RCX, x64.RAX)
			g.a.ShiftImm(x64.SHR, true, x64.RCX, 32)
			g.nonzero(false, x64.RCX)
		})
	}
	// The field of s_bfe is known when its offset and width are a constant.
	for _, name := range []string{"s_bfe_u32", "s_bfe_u64", "s_bfe_i32", "s_bfe_i64"} {
		nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
			w, signed := name[len(name)-2:] == "64", name[len(name)-3] == 'i'
			bits := uint32(32)
			if w {
				bits = 64
			}
			if _, err := sdst(&in.Dst, int(max(in.Dst.Width, 1))); err != nil || !canScalar(&in.Src[0]) || !in.Src[1].IsConst() {
				return false
			}
			b := uint32(in.Src[1].Value)
			off, n := b&(bits-1), b>>16&0x7f
			if n == 0 {
				return false
			}
			g.scalarTo(x64.RAX, &in.Src[0])
			switch {
			case signed: // the field to the top, and back
				n = min(n, bits-off)
				g.a.ShiftImm(x64.SHL, w, x64.RAX, byte(bits-off-n))
				g.a.ShiftImm(x64.SAR, w, x64.RAX, byte(bits-n))
			default:
				g.a.ShiftImm(x64.SHR, w, x64.RAX, byte(off))
			}
			if n < bits && !signed {
				g.a.Imm(x64.RCX, 1<<n-1)
				g.a.Op(x64.AND, w, x64.RAX, x64.RCX)
			}
			g.nonzero(w, x64.RAX)
			g.setScalar(int(in.Dst.Index), w, x64.RAX)
			return true
		}
	}

	for name, c := range map[string]x64.Cond{
		"eq_i32": x64.E, "lg_i32": x64.NE, "gt_i32": x64.G, "ge_i32": x64.GE, "lt_i32": x64.L, "le_i32": x64.LE,
		"eq_u32": x64.E, "lg_u32": x64.NE, "gt_u32": x64.A, "ge_u32": x64.AE, "lt_u32": x64.B, "le_u32": x64.BE,
		"eq_u64": x64.E, "lg_u64": x64.NE,
	} {
		scalarCompare(name, c)
	}

	sopk := func(name string, f func(g *nativeGen, k int32)) {
		nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
			d, err := sdst(&in.Dst, 1)
			if err != nil {
				return false
			}
			g.a.Load(false, x64.RAX, g.scalarAt(int(d), false))
			f(g, int32(int16(in.Simm16)))
			g.setScalar(int(d), false, x64.RAX)
			return true
		}
	}
	sopk("s_movk_i32", func(g *nativeGen, k int32) { g.a.Imm(x64.RAX, uint64(uint32(k))) })
	sopk("s_addk_i32", func(g *nativeGen, k int32) {
		g.a.OpImm(x64.ADD, false, x64.RAX, k)
		g.setSCC(x64.O)
	})
	sopk("s_mulk_i32", func(g *nativeGen, k int32) {
		g.a.Imm(x64.RCX, uint64(uint32(k)))
		g.a.Mul(false, x64.RAX, x64.RCX)
	})

	nativeScalar["s_getpc_b64"] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 2)
		if err != nil {
			return false
		}
		g.a.Imm(x64.RAX, g.blk.pcOf(g.idx)+uint64(in.Len))
		g.setScalar(int(d), true, x64.RAX)
		return true
	}

	nothing := func(*nativeGen, *gcn.Inst) bool { return true }
	for _, name := range []string{"s_nop", "s_waitcnt"} {
		nativeScalar[name] = nothing
	}
	for _, name := range []string{"buffer_wbl2", "buffer_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol", "s_dcache_inv", "s_dcache_wb"} {
		nativeMemory[name] = nothing
	}
	for _, name := range hints {
		switch {
		case name[:2] == "v_":
			nativeVector[name] = nothing
		case strings.HasSuffix(name, "_inv"):
			nativeMemory[name] = nothing
		default:
			nativeScalar[name] = nothing
		}
	}
	nativeScalar["s_setprio"] = func(g *nativeGen, in *gcn.Inst) bool {
		g.a.Imm(x64.RAX, uint64(in.Simm16&3))
		g.a.StoreSmall(1, x64.At(rW, wavePriority), x64.RAX)
		return true
	}
	for _, name := range []string{"s_cmov_b32", "s_cmov_b64"} {
		wide := name == "s_cmov_b64"
		nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
			d, err := sdst(&in.Dst, 1+btoi(wide))
			if err != nil || !canScalar(&in.Src[0]) {
				return false
			}
			g.scalarTo(x64.RAX, &in.Src[0])
			g.a.Load(wide, x64.RCX, g.scalarAt(int(d), wide))
			g.a.OpImm(x64.CMP, false, sreg(regSCC), 0)
			g.a.Cmov(x64.E, true, x64.RAX, x64.RCX)
			g.setScalar(int(d), wide, x64.RAX)
			return true
		}
	}

	for op, f := range nativeLogic {
		changeExec("s_"+op+"_saveexec_b64", true, true, f)
	}
	changeExec("s_andn1_saveexec_b64", true, true, andn1)
	changeExec("s_orn1_saveexec_b64", true, true, orn1)
	for _, op := range []string{"and", "or", "xor", "nand", "nor", "xnor"} {
		changeExec("s_"+op+"_saveexec_b32", false, true, nativeLogic[op])
	}
	changeExec("s_and_not0_saveexec_b32", false, true, andn1)
	changeExec("s_or_not0_saveexec_b32", false, true, orn1)
	changeExec("s_and_not1_saveexec_b32", false, true, nativeLogic["andn2"])
	changeExec("s_or_not1_saveexec_b32", false, true, nativeLogic["orn2"])
	changeExec("s_and_not0_wrexec_b32", false, false, andn1)
	changeExec("s_and_not1_wrexec_b32", false, false, nativeLogic["andn2"])
	changeExec("s_andn1_wrexec_b64", true, false, andn1)
	changeExec("s_andn2_wrexec_b64", true, false, nativeLogic["andn2"])
})

// nativeLogic are the bitwise operations: RAX = RAX op RCX.
var nativeLogic = map[string]func(g *nativeGen, w bool){
	"and":   func(g *nativeGen, w bool) { g.a.Op(x64.AND, w, x64.RAX, x64.RCX) },
	"or":    func(g *nativeGen, w bool) { g.a.Op(x64.OR, w, x64.RAX, x64.RCX) },
	"xor":   func(g *nativeGen, w bool) { g.a.Op(x64.XOR, w, x64.RAX, x64.RCX) },
	"andn2": func(g *nativeGen, w bool) { g.a.Not(w, x64.RCX); g.a.Op(x64.AND, w, x64.RAX, x64.RCX) },
	"orn2":  func(g *nativeGen, w bool) { g.a.Not(w, x64.RCX); g.a.Op(x64.OR, w, x64.RAX, x64.RCX) },
	"nand":  func(g *nativeGen, w bool) { g.a.Op(x64.AND, w, x64.RAX, x64.RCX); g.a.Not(w, x64.RAX) },
	"nor":   func(g *nativeGen, w bool) { g.a.Op(x64.OR, w, x64.RAX, x64.RCX); g.a.Not(w, x64.RAX) },
	"xnor":  func(g *nativeGen, w bool) { g.a.Op(x64.XOR, w, x64.RAX, x64.RCX); g.a.Not(w, x64.RAX) },
}

// andn1 and orn1 negate the other operand.
func andn1(g *nativeGen, w bool) {
	g.a.Not(w, x64.RAX)
	g.a.Op(x64.AND, w, x64.RAX, x64.RCX)
}

func orn1(g *nativeGen, w bool) {
	g.a.Not(w, x64.RAX)
	g.a.Op(x64.OR, w, x64.RAX, x64.RCX)
}

// changeExec defines D = EXEC; EXEC = f(S, EXEC), or, if it does not save, D = EXEC = f(S, EXEC); SCC = EXEC != 0.
func changeExec(name string, wide, saves bool, f func(g *nativeGen, w bool)) {
	nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 1+btoi(wide))
		if err != nil || !canScalar(&in.Src[0]) || d == regEXEC || d == regEXEC-1 || d == regEXEC+1 {
			return false
		}
		g.scalarTo(x64.RAX, &in.Src[0])
		g.a.Load(wide, x64.RCX, g.scalarAt(regEXEC, wide))
		if saves {
			g.setScalar(int(d), wide, x64.RCX)
		}
		f(g, wide)
		g.setScalar(regEXEC, wide, x64.RAX)
		if !saves {
			g.setScalar(int(d), wide, x64.RAX)
		}
		g.nonzero(wide, x64.RAX)
		return true
	}
}

// firstOr counts the zeros below the lowest, or above the highest bit set; all
// ones if there is none.
func (g *nativeGen) firstOr(w, above bool) {
	g.a.Load(true, x64.RCX, x64.RAX)
	if above {
		g.a.Lzcnt(w, x64.RAX, x64.RAX)
	} else {
		g.a.Tzcnt(w, x64.RAX, x64.RAX)
	}
	g.a.Imm(x64.R10, 0xffffffff)
	g.a.Op(x64.OR, w, x64.RCX, x64.RCX)
	g.a.Cmov(x64.E, false, x64.RAX, x64.R10)
}
