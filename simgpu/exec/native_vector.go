//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Vector instructions, 16 lanes (a quarter) at a time. Z0 and Z1 are what the
// last step of an instruction uses; sources are loaded to Z2 and up.

// vecAt is where a quarter of vector register o lies, plus n bytes.
func vecAt(o *gcn.Operand, reg, q int) x64.Mem {
	base := rV
	if o.Kind == gcn.AccVGPR {
		base = rA
	}
	return x64.At(base, (int(o.Index)+reg)*4*WaveSize+q*64)
}

func isVec(o *gcn.Operand) bool { return o.Kind == gcn.VGPR || o.Kind == gcn.AccVGPR }

// canVector reports whether o can be the source of a vector instruction.
func canVector(o *gcn.Operand) bool {
	switch o.Kind {
	case gcn.VGPR, gcn.AccVGPR, gcn.Inline, gcn.Literal, gcn.None:
		return true
	case gcn.SGPR:
		return int(o.Index)+int(max(o.Width, 1)) <= 128
	case gcn.Special:
		_, ok := aperture(o.Index)
		return ok || o.Index == regSCC && o.Width != 2
	}
	return false
}

// constOf is the value of a constant source.
func constOf(o *gcn.Operand) (uint64, bool) {
	switch o.Kind {
	case gcn.Inline, gcn.Literal:
		return o.Value, true
	case gcn.None:
		return 0, true
	case gcn.Special:
		return aperture(o.Index)
	}
	return 0, false
}

// src is the operand of an instruction on dwords for source o.
func (g *nativeGen) src(o *gcn.Operand, q int) any {
	if isVec(o) {
		return vecAt(o, 0, q)
	}
	if v, ok := constOf(o); ok {
		return x64.Bcast{Mem: g.a.Const32(uint32(v))}
	}
	return x64.Bcast{Mem: sreg(int(o.Index))}
}

// load loads a quarter of source o.
func (g *nativeGen) load(z x64.Z, o *gcn.Operand, q int) {
	switch s := g.src(o, q).(type) {
	case x64.Bcast:
		g.a.V1(x64.VPBCASTD, z, s.Mem, 0)
	default:
		g.a.V1(x64.VMOVDQU32, z, s, 0)
	}
}

// load64 loads 8 lanes of source o, half a quarter, as qwords; a source of one
// dword is zero extended.
func (g *nativeGen) load64(z x64.Z, o *gcn.Operand, q, half int) {
	a := &g.a
	switch {
	case isVec(o):
		lo := vecAt(o, 0, q)
		lo.Disp += int32(32 * half)
		a.V1(x64.VPMOVZXDQ, z, lo, 0)
		if o.Width == 2 {
			hi := vecAt(o, 1, q)
			hi.Disp += int32(32 * half)
			a.V1(x64.VPMOVZXDQ, z+1, hi, 0)
			a.VShift(x64.VPSLLQ, z+1, z+1, 0, 32)
			a.V(x64.VPORQ, z, z, z+1, 0)
		}
	default:
		if v, ok := constOf(o); ok {
			if o.Width != 2 {
				v = uint64(uint32(v))
			}
			a.V1(x64.VPBCASTQ, z, a.Const64(v), 0)
			return
		}
		if o.Width == 2 {
			a.V1(x64.VPBCASTQ, z, sreg(int(o.Index)), 0)
			return
		}
		a.Load(false, x64.RAX, sreg(int(o.Index)))
		a.VFromReg(true, z, x64.RAX)
	}
}

// store writes the active lanes of z to a quarter of register reg of o. It
// stores all lanes, for a load behind a store of some would have to wait.
func (g *nativeGen) store(o *gcn.Operand, reg, q int, z x64.Z) {
	at := vecAt(o, reg, q)
	if !g.full {
		g.keep(1, at)
		g.a.V(x64.VPBLENDMD, z, 1, z, g.lanes(q))
	}
	g.a.VStore(at, z, 0)
}

// keep loads to z what the lanes that are not active have to keep.
func (g *nativeGen) keep(z x64.Z, at x64.Mem) {
	if !g.full {
		g.a.V1(x64.VMOVDQU32, z, at, 0)
	}
}

// wide stores two vectors of qwords, the halves of a quarter, to a register
// pair; high stores only their high halves, to one register.
func (g *nativeGen) wide(o *gcn.Operand, q int, lo, hi x64.Z, high bool) {
	a := &g.a
	join := func(reg int) {
		a.VNarrow(0, lo)
		a.VNarrow(1, hi)
		a.VImm(x64.VINSERTI64X4, 0, 0, x64.Z(1), 0, 1)
		g.store(o, reg, q, 0)
	}
	if !high {
		join(0)
	}
	a.VShift(x64.VPSRLQ, lo, lo, 0, 32)
	a.VShift(x64.VPSRLQ, hi, hi, 0, 32)
	if high {
		join(0)
	} else {
		join(1)
	}
}

// canOperands reports whether all n sources and the destination are possible.
func canOperands(in *gcn.Inst, n int) bool {
	if !isVec(&in.Dst) {
		return false
	}
	for i := range n {
		if !canVector(&in.Src[i]) {
			return false
		}
	}
	return true
}

// floatKind notes that MODE matters.
func (g *nativeGen) floatKind(fl floats) {
	g.r.f32 = g.r.f32 || fl == isF32
	g.r.f64 = g.r.f64 || fl == isF64
}

// vec defines an operation on dwords. The emitter leaves the result in Z0; a is
// source 0 in Z2, b and c are operands, c loaded to Z4 if it is needed there.
func vec(name string, n int, fl floats, f func(g *nativeGen, b, c any)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, n) {
			return false
		}
		g.floatKind(fl)
		for q := range 4 {
			g.load(2, &in.Src[0], q)
			var b, c any
			if n > 1 {
				b = g.src(&in.Src[1], q)
			}
			if n > 2 {
				c = g.src(&in.Src[2], q)
			}
			f(g, b, c)
			g.store(&in.Dst, 0, q, 0)
		}
		return true
	}
}

// to loads an operand to a register.
func (g *nativeGen) to(z x64.Z, rm any) {
	if b, ok := rm.(x64.Bcast); ok {
		g.a.V1(x64.VPBCASTD, z, b.Mem, 0)
		return
	}
	g.a.V1(x64.VMOVDQU32, z, rm, 0)
}

func (g *nativeGen) con(v uint32) x64.Bcast { return x64.Bcast{Mem: g.a.Const32(v)} }

// vec64 defines an operation on qwords: sources in Z2, Z4 and Z6, the result in
// Z2. high: the result is its high halves.
func vec64(name string, n int, fl floats, high bool, f func(g *nativeGen)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, n) {
			return false
		}
		g.floatKind(fl)
		for q := range 4 {
			for half := range 2 {
				for i := range n {
					g.load64(x64.Z(2+2*i), &in.Src[i], q, half)
				}
				f(g)
				g.a.V1(x64.VMOVDQU32, x64.Z(8+half), x64.Z(2), 0)
			}
			g.wide(&in.Dst, q, 8, 9, high)
		}
		return true
	}
}

// packed defines an operation on pairs of f32. The emitter computes Z0 from Z2,
// Z3 and Z4.
func packed(name string, n int, f func(g *nativeGen)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		if !canOperands(in, n) || in.Clamp || in.Omod != 0 {
			return false
		}
		g.floatKind(isF32)
		for q := range 4 {
			for half := range 2 {
				sel, neg := in.OpSel, in.Neg
				if half == 1 {
					sel, neg = in.OpSelHi, in.NegHi
				}
				for i := range n {
					g.loadHalf(x64.Z(2+i), &in.Src[i], q, int(sel>>i&1))
					if neg>>i&1 != 0 {
						g.a.V(x64.VPXORD, x64.Z(2+i), x64.Z(2+i), g.con(1<<31), 0)
					}
				}
				f(g)
				g.a.V1(x64.VMOVDQU32, x64.Z(8+half), x64.Z(0), 0)
			}
			g.store(&in.Dst, 0, q, 8)
			g.store(&in.Dst, 1, q, 9)
		}
		return true
	}
}

// loadHalf loads one register of a pair; a constant is the same in both.
func (g *nativeGen) loadHalf(z x64.Z, o *gcn.Operand, q, half int) {
	switch {
	case isVec(o):
		g.a.V1(x64.VMOVDQU32, z, vecAt(o, half, q), 0)
	case o.IsConst():
		g.a.V1(x64.VPBCASTD, z, g.a.Const32(uint32(o.Value)), 0)
	case o.Kind == gcn.SGPR:
		g.a.V1(x64.VPBCASTD, z, sreg(int(o.Index)+half), 0)
	default:
		v, _ := constOf(o)
		g.a.V1(x64.VPBCASTD, z, g.a.Const32(uint32(v>>(32*half))), 0)
	}
}

var _ = define(func() {
	packed("v_pk_add_f32", 2, func(g *nativeGen) { g.a.V(x64.VADDPS, 0, 2, x64.Z(3), 0) })
	packed("v_pk_mul_f32", 2, func(g *nativeGen) { g.a.V(x64.VMULPS, 0, 2, x64.Z(3), 0) })
	packed("v_pk_fma_f32", 3, func(g *nativeGen) {
		g.a.V(x64.VFMA213PS, 2, 3, x64.Z(4), 0)
		g.a.V1(x64.VMOVDQU32, 0, x64.Z(2), 0)
	})
	simple := func(o x64.VOp) func(g *nativeGen, b, c any) {
		return func(g *nativeGen, b, _ any) { g.a.V(o, 0, 2, b, 0) }
	}
	reversed := func(o x64.VOp) func(g *nativeGen, b, c any) {
		return func(g *nativeGen, b, _ any) {
			g.to(3, b)
			g.a.V(o, 0, 3, x64.Z(2), 0)
		}
	}
	one := func(o x64.VOp) func(g *nativeGen, b, c any) {
		return func(g *nativeGen, _, _ any) { g.a.V1(o, 0, x64.Z(2), 0) }
	}
	vec("v_mov_b32", 1, notFloat, one(x64.VMOVDQU32))
	vec("v_accvgpr_read_b32", 1, notFloat, one(x64.VMOVDQU32))
	vec("v_accvgpr_write_b32", 1, notFloat, one(x64.VMOVDQU32))
	vec("v_not_b32", 1, notFloat, func(g *nativeGen, _, _ any) { g.a.V(x64.VPXORD, 0, 2, g.con(^uint32(0)), 0) })
	for name, o := range map[string]x64.VOp{
		"v_add_u32": x64.VPADDD, "v_sub_u32": x64.VPSUBD, "v_and_b32": x64.VPANDD, "v_or_b32": x64.VPORD, "v_xor_b32": x64.VPXORD,
		"v_add_i32": x64.VPADDD, "v_sub_i32": x64.VPSUBD,
		"v_min_u32": x64.VPMINUD, "v_max_u32": x64.VPMAXUD, "v_min_i32": x64.VPMINSD, "v_max_i32": x64.VPMAXSD, "v_mul_lo_u32": x64.VPMULLD,
	} {
		vec(name, 2, notFloat, simple(o))
	}
	vec("v_subrev_u32", 2, notFloat, reversed(x64.VPSUBD))
	vec("v_xnor_b32", 2, notFloat, func(g *nativeGen, b, _ any) {
		g.a.V(x64.VPXORD, 0, 2, b, 0)
		g.a.V(x64.VPXORD, 0, 0, g.con(^uint32(0)), 0)
	})
	for name, o := range map[string]x64.VOp{"v_lshlrev_b32": x64.VPSLLVD, "v_lshrrev_b32": x64.VPSRLVD, "v_ashrrev_i32": x64.VPSRAVD} {
		vec(name, 2, notFloat, func(g *nativeGen, b, _ any) {
			g.a.V(x64.VPANDD, 2, 2, g.con(31), 0)
			g.to(3, b)
			g.a.V(o, 0, 3, x64.Z(2), 0)
		})
	}
	vec("v_mul_u32_u24", 2, notFloat, func(g *nativeGen, b, _ any) { g.mul24(b) })
	vec("v_mad_u32_u24", 3, notFloat, func(g *nativeGen, b, c any) {
		g.mul24(b)
		g.a.V(x64.VPADDD, 0, 0, c, 0)
	})
	three := func(x, y x64.VOp) func(g *nativeGen, b, c any) {
		return func(g *nativeGen, b, c any) {
			g.a.V(x, 0, 2, b, 0)
			g.a.V(y, 0, 0, c, 0)
		}
	}
	vec("v_add3_u32", 3, notFloat, three(x64.VPADDD, x64.VPADDD))
	vec("v_and_or_b32", 3, notFloat, three(x64.VPANDD, x64.VPORD))
	vec("v_or3_b32", 3, notFloat, three(x64.VPORD, x64.VPORD))
	vec("v_xad_u32", 3, notFloat, three(x64.VPXORD, x64.VPADDD))
	vec("v_min3_u32", 3, notFloat, three(x64.VPMINUD, x64.VPMINUD))
	vec("v_max3_u32", 3, notFloat, three(x64.VPMAXUD, x64.VPMAXUD))
	vec("v_min3_i32", 3, notFloat, three(x64.VPMINSD, x64.VPMINSD))
	vec("v_max3_i32", 3, notFloat, three(x64.VPMAXSD, x64.VPMAXSD))
	shifted := func(o x64.VOp) func(g *nativeGen, b, c any) {
		return func(g *nativeGen, b, c any) {
			g.to(3, b)
			g.a.V(x64.VPANDD, 3, 3, g.con(31), 0)
			g.a.V(x64.VPSLLVD, 0, 2, x64.Z(3), 0)
			g.a.V(o, 0, 0, c, 0)
		}
	}
	vec("v_lshl_add_u32", 3, notFloat, shifted(x64.VPADDD))
	vec("v_lshl_or_b32", 3, notFloat, shifted(x64.VPORD))
	vec("v_add_lshl_u32", 3, notFloat, func(g *nativeGen, b, c any) {
		g.a.V(x64.VPADDD, 0, 2, b, 0)
		g.to(3, c)
		g.a.V(x64.VPANDD, 3, 3, g.con(31), 0)
		g.a.V(x64.VPSLLVD, 0, 0, x64.Z(3), 0)
	})
	vec("v_bfi_b32", 3, notFloat, func(g *nativeGen, b, c any) { // a ? b : c
		g.to(3, b)
		g.a.VImm(x64.VPTERNLOGD, 2, 3, c, 0, 0xca)
		g.a.V1(x64.VMOVDQU32, 0, x64.Z(2), 0)
	})
	vec("v_alignbit_b32", 3, notFloat, func(g *nativeGen, b, c any) {
		g.to(3, b)
		g.to(4, c)
		g.a.V(x64.VPANDD, 4, 4, g.con(31), 0)
		g.a.V(x64.VPSRLVD, 3, 3, x64.Z(4), 0)
		g.to(5, g.con(32))
		g.a.V(x64.VPSUBD, 5, 5, x64.Z(4), 0)
		g.a.V(x64.VPSLLVD, 2, 2, x64.Z(5), 0)
		g.a.V(x64.VPORD, 0, 2, x64.Z(3), 0)
	})
	vec("v_bfe_u32", 3, notFloat, func(g *nativeGen, b, c any) {
		g.to(3, b)
		g.a.V(x64.VPANDD, 3, 3, g.con(31), 0)
		g.a.V(x64.VPSRLVD, 2, 2, x64.Z(3), 0)
		g.to(4, c)
		g.a.V(x64.VPANDD, 4, 4, g.con(31), 0)
		g.to(5, g.con(1))
		g.a.V(x64.VPSLLVD, 5, 5, x64.Z(4), 0)
		g.a.V(x64.VPSUBD, 5, 5, g.con(1), 0)
		g.a.V(x64.VPANDD, 0, 2, x64.Z(5), 0)
	})
	vec("v_bfe_i32", 3, notFloat, func(g *nativeGen, b, c any) {
		// rest = 32 - (b & 31); u = min(n, rest); r = (x << (rest-u)) >> (32-u), 0 if n is 0
		g.to(3, b)
		g.a.V(x64.VPANDD, 3, 3, g.con(31), 0)
		g.to(5, g.con(32))
		g.a.V(x64.VPSUBD, 3, 5, x64.Z(3), 0)
		g.to(4, c)
		g.a.V(x64.VPANDD, 4, 4, g.con(31), 0)
		g.a.V(x64.VPMINUD, 6, 3, x64.Z(4), 0)
		g.a.V(x64.VPSUBD, 3, 3, x64.Z(6), 0)
		g.a.V(x64.VPSLLVD, 2, 2, x64.Z(3), 0)
		g.a.V(x64.VPSUBD, 5, 5, x64.Z(6), 0)
		g.a.V(x64.VPSRAVD, 0, 2, x64.Z(5), 0)
		g.a.VCmp(x64.VPCMPUD, 5, 4, g.con(0), 0, x64.NEQ)
		g.a.V1Zero(x64.VMOVDQU32, 0, x64.Z(0), 5)
	})
	vec("v_ffbh_u32", 1, notFloat, func(g *nativeGen, _, _ any) {
		g.a.V1(x64.VPLZCNTD, 0, x64.Z(2), 0)
		g.a.VCmp(x64.VPCMPUD, 5, 2, g.con(0), 0, x64.EQ)
		g.a.V1(x64.VPBCASTD, 0, g.con(^uint32(0)).Mem, 5)
	})
	vec("v_cvt_f32_i32", 1, isF32, one(x64.VCVTDQ2PS))
	vec("v_cvt_f32_u32", 1, isF32, one(x64.VCVTUD2PS))
	vec("v_add_f32", 2, isF32, simple(x64.VADDPS))
	vec("v_mul_f32", 2, isF32, simple(x64.VMULPS))
	vec("v_sub_f32", 2, isF32, simple(x64.VSUBPS))
	vec("v_subrev_f32", 2, isF32, reversed(x64.VSUBPS))
	for _, name := range []string{"v_fma_f32", "v_fmac_f32", "v_fmamk_f32", "v_fmaak_f32"} {
		vec(name, 3, isF32, func(g *nativeGen, b, c any) {
			g.to(3, b)
			g.a.V(x64.VFMA213PS, 2, 3, c, 0)
			g.a.V1(x64.VMOVDQU32, 0, x64.Z(2), 0)
		})
	}
	for name, imm := range map[string]byte{"v_floor_f32": 1, "v_ceil_f32": 2, "v_trunc_f32": 3, "v_rndne_f32": 0} {
		vec(name, 1, isF32, func(g *nativeGen, _, _ any) { g.a.VImm(x64.VRNDSCALEPS, 0, 0, x64.Z(2), 0, imm) })
	}

	vec64("v_mul_hi_u32", 2, notFloat, true, func(g *nativeGen) { g.a.V(x64.VPMULUDQ, 2, 2, x64.Z(4), 0) })
	and64 := func(g *nativeGen, z x64.Z, v uint64) {
		g.a.V(x64.VPANDQ, z, z, x64.Bcast{Mem: g.a.Const64(v)}, 0)
	}
	for name, o := range map[string]x64.VOp{"v_lshlrev_b64": x64.VPSLLVQ, "v_lshrrev_b64": x64.VPSRLVQ, "v_ashrrev_i64": x64.VPSRAVQ} {
		vec64(name, 2, notFloat, false, func(g *nativeGen) {
			and64(g, 2, 63)
			g.a.V(o, 2, 4, x64.Z(2), 0)
		})
	}
	vec64("v_lshl_add_u64", 3, notFloat, false, func(g *nativeGen) {
		and64(g, 4, 7)
		g.a.V(x64.VPSLLVQ, 2, 2, x64.Z(4), 0)
		g.a.V(x64.VPADDQ, 2, 2, x64.Z(6), 0)
	})
	vec64("v_mov_b64", 1, notFloat, false, func(*nativeGen) {})
	vec64("v_add_f64", 2, isF64, false, func(g *nativeGen) { g.a.V(x64.VADDPD, 2, 2, x64.Z(4), 0) })
	vec64("v_mul_f64", 2, isF64, false, func(g *nativeGen) { g.a.V(x64.VMULPD, 2, 2, x64.Z(4), 0) })
	for _, name := range []string{"v_fma_f64", "v_fmac_f64"} {
		vec64(name, 3, isF64, false, func(g *nativeGen) { g.a.V(x64.VFMA213PD, 2, 4, x64.Z(6), 0) })
	}
})

// mul24 multiplies the low 24 bits of Z2 and b into Z0.
func (g *nativeGen) mul24(b any) {
	g.a.V(x64.VPANDD, 2, 2, g.con(1<<24-1), 0)
	g.to(3, b)
	g.a.V(x64.VPANDD, 3, 3, g.con(1<<24-1), 0)
	g.a.V(x64.VPMULLD, 0, 2, x64.Z(3), 0)
}
