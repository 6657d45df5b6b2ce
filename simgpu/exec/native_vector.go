//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// step computes an operation on dwords for a quarter: d = f(a, b, c) under k. b
// and c are operands of an instruction. Only its last instruction writes d, which
// may be any of the sources; Z1 and Z5 to Z7 and K5 are free.
type step = func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any)

// vec defines an operation on dwords.
func vec(name string, f step) { vecOrder(name, false, f) }

// vecOrder is vec for operations of which it may be known that they commute.
func vecOrder(name string, commutes bool, f step) {
	taking[name] = true
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		v := vops[name]
		if v == nil || !canOperands(in, v.srcs) || !canFinish(in, v) {
			return false
		}
		if v.slow != nil {
			g.floatKind(v.fl)
		}
		plain, f := plainResult(in, v), f
		if in.Clamp && v.iclamp != nil {
			f = saturating[name]
		}
		order, steady := [3]int{0, 1, 2}, false // the first source is in Z2 for all quarters: nothing else gets there
		if commutes && isPlain(in) && g.strip == nil {
			if steady = g.isRows(&in.Src[0]); !steady && g.isRows(&in.Src[1]) {
				order, steady = [3]int{1, 0, 2}, true
			}
		}
		quiet := v.fl != notFloat && (!plain || !underMask[name])
		_, place0 := g.placed(&in.Src[0], 0)
		_, place1 := g.placed(&in.Src[1], 0)
		for _, q := range g.quartersOf(in) {
			var s [3]any
			for i := range v.srcs {
				if i == 0 && steady && q > 0 {
					s[0] = x64.Z(2)
					continue
				}
				if s[i] = g.source(in, order[i], q); quiet {
					s[i] = g.onlyActive(x64.Z(2+order[i]), s[i], q)
				}
			}
			if _, ok := s[0].(x64.Z); !ok && commutes && !steady {
				if _, ok := s[1].(x64.Z); ok {
					s[0], s[1] = s[1], s[0]
				}
			}
			if commutes && !place0 && !place1 { // it is one instruction: nothing else gets into Z2
				s[0] = g.once(2, q, s[0])
			}
			a := g.inReg(2, s[0])
			if !plain {
				f(g, 0, 0, a, s[1], s[2])
				g.finish(in, v, q)
				continue
			}
			d, k, done := g.target(&in.Dst, 0, q)
			f(g, d, k, a, s[1], s[2])
			done()
		}
		return true
	}
}

// vec64 defines an operation on qwords: sources in Z2, Z3 and Z4, the result in
// Z2. high: the result is its high halves.
func vec64(name string, high bool, f func(g *nativeGen)) {
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		v := vops[name]
		if v == nil || !canOperands(in, v.srcs) || in.Form == gcn.FormDPP || in.Form == gcn.FormSDWA || !canFinish(in, v) ||
			v.fl == notFloat && in.Clamp || in.Omod != 0 && v.fl != isF64 {
			return false
		}
		if v.slow != nil || in.Omod != 0 { // the multiplier is ignored where denormals are kept, see outputMultiplier
			g.floatKind(v.fl)
		}
		for _, q := range g.turns() {
			for half := range 2 {
				for i := range v.srcs {
					g.load64(x64.Z(2+i), &in.Src[i], q, half, true)
					if in.Src[i].Width == 2 {
						g.modify64(in, i, x64.Z(2+i))
					}
				}
				f(g)
				if in.Clamp {
					g.clamp(2, isF64)
				}
				g.a.V1(x64.VMOVDQU32, x64.Z(5+half), x64.Z(2), 0)
			}
			if high {
				g.rejoin(&in.Dst, 0, q, 5, 6, true)
				continue
			}
			g.rejoin(&in.Dst, 0, q, 5, 6, false)
			g.rejoin(&in.Dst, 1, q, 5, 6, true)
		}
		return true
	}
}

// packed defines an operation on pairs of f32.
func packed(name string, f step) {
	taking[name] = true
	nativeVector[name] = func(g *nativeGen, in *gcn.Inst) bool {
		n := 2
		if in.Src[2].Kind != gcn.None {
			n = 3
		}
		if !canOperands(in, n) || in.Omod != 0 {
			return false
		}
		g.floatKind(isF32)
		// The low half goes to Z5 if it would overwrite a source of the high one.
		aside := false
		for i := range n {
			o := &in.Src[i]
			aside = aside || o.Kind == in.Dst.Kind && int(o.Index)+int(in.OpSelHi>>i&1) == int(in.Dst.Index)
		}
		for _, q := range g.turns() {
			for half := range 2 {
				sel, neg := in.OpSel, in.Neg
				if half == 1 {
					sel, neg = in.OpSelHi, in.NegHi
				}
				var s [3]any
				for i := range n {
					z := x64.Z(2 + i)
					s[i] = g.half(in, i, q, int(sel>>i&1))
					if neg>>i&1 != 0 {
						g.a.V(x64.VPXORD, z, g.inReg(z, s[i]), g.con(1<<31), 0)
						s[i] = z
					}
				}
				x := g.inReg(2, s[0])
				if in.Clamp || aside {
					d := x64.Z(5 * (1 - half))
					f(g, d, g.lanes(q), x, s[1], s[2])
					if in.Clamp {
						g.clamp(d, isF32)
					}
					if !aside {
						g.store(&in.Dst, half, q, d)
					}
					continue
				}
				d, k, done := g.target(&in.Dst, half, q)
				f(g, d, k, x, s[1], s[2])
				done()
			}
			if aside {
				g.store(&in.Dst, 1, q, 0)
				g.store(&in.Dst, 0, q, 5)
			}
		}
		return true
	}
}

// half is one register of a pair, source i; a constant is the same in both.
func (g *nativeGen) half(in *gcn.Inst, i, q, half int) any {
	o := &in.Src[i]
	if p, ok := g.placed(o, half); ok {
		return g.fromPlace(p, q, [3]x64.Reg{x64.RAX, x64.RCX, x64.R9}[i])
	}
	switch {
	case isVec(o):
		return g.at(o, half, q)
	case o.IsConst():
		return g.con(uint32(o.Value))
	case o.Kind == gcn.SGPR:
		return x64.Bcast{Mem: sreg(int(o.Index) + half)}
	}
	v, _ := constOf(o)
	return g.con(uint32(v >> (32 * half)))
}

// fma is d = a*b + c.
func fma(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
	switch {
	case c == any(d):
		g.a.V(x64.VFMA231PS, d, a, b, k)
	case d == a:
		g.a.V(x64.VFMA213PS, d, g.inReg(6, b), c, k)
	case b == any(d):
		g.a.V(x64.VFMA213PS, d, a, c, k)
	case k != 0 && !hasAVX512: // a mask is an instruction more, once is enough
		g.to(7, c)
		g.a.V(x64.VFMA231PS, 7, a, b, 0)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(7), k)
	default:
		g.toLanes(d, c, k)
		g.a.V(x64.VFMA231PS, d, a, b, k)
	}
}

func simple(o x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) { g.a.V(o, d, a, b, k) }
}

func reversed(o x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) { g.a.V(o, d, g.inReg(5, b), a, k) }
}

func unary(o x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { g.a.V1(o, d, a, k) }
}

// twice is (a x b) y c.
func twice(x, y x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.a.V(x, 5, a, b, 0)
		g.a.V(y, d, 5, c, k)
	}
}

// masked makes z = rm & v.
func (g *nativeGen) masked(z x64.Z, rm any, v uint32) {
	g.a.V(x64.VPANDD, z, g.inReg(z, rm), g.con(v), 0)
}

// shift is a shift of b by a; by rotates nothing but its low five bits.
func shift(o x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		g.masked(5, a, 31)
		g.a.V(o, d, g.inReg(6, b), x64.Z(5), k)
	}
}

// shifted is (a << b) o c.
func shifted(o x64.VOp) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.masked(5, b, 31)
		g.a.V(x64.VPSLLVD, 5, a, x64.Z(5), 0)
		g.a.V(o, d, 5, c, k)
	}
}

// low24 makes Z5 and Z6 the low 24 bits of a and b.
func (g *nativeGen) low24(a x64.Z, b any) {
	g.masked(5, a, 1<<24-1)
	g.masked(6, b, 1<<24-1)
}

// lowI24 does it with signs.
func (g *nativeGen) lowI24(a x64.Z, b any) {
	g.a.VShift(x64.VPSLLD, 5, a, 0, 8)
	g.a.VShift(x64.VPSRAD, 5, x64.Z(5), 0, 8)
	g.a.VShift(x64.VPSLLD, 6, g.inReg(6, b), 0, 8)
	g.a.VShift(x64.VPSRAD, 6, x64.Z(6), 0, 8)
}

// mul24 multiplies the low 24 bits of a and b into Z5.
func (g *nativeGen) mul24(a x64.Z, b any) {
	g.low24(a, b)
	g.a.V(x64.VPMULLD, 5, 5, x64.Z(6), 0)
}

// mulI24 does it with signs.
func (g *nativeGen) mulI24(a x64.Z, b any) {
	g.lowI24(a, b)
	g.a.V(x64.VPMULLD, 5, 5, x64.Z(6), 0)
}

// lowBits makes z, which is not n, as many low bits as n says, up to 31.
func (g *nativeGen) lowBits(z, n x64.Z) {
	g.to(z, g.con(1))
	g.a.V(x64.VPSLLVD, z, z, n, 0)
	g.a.V(x64.VPSUBD, z, z, g.con(1), 0)
}

// leadingZeros makes z, which is not x, the number of zeros above the highest bit of x, all ones if there is none. K5 is used.
func (g *nativeGen) leadingZeros(z, x x64.Z) {
	g.a.V1(x64.VPLZCNTD, z, x, 0)
	g.a.VCmp(x64.VPCMPUD, 5, x, g.con(0), 0, x64.EQ)
	g.a.V1(x64.VPBCASTD, z, g.con(^uint32(0)).Mem, 5)
}

var _ = define(func() {
	packed("v_pk_add_f32", simple(x64.VADDPS))
	packed("v_pk_mul_f32", simple(x64.VMULPS))
	packed("v_pk_fma_f32", fma)
	vec("v_mov_b32", unary(x64.VMOVDQU32))
	vec("v_accvgpr_read_b32", unary(x64.VMOVDQU32))
	vec("v_accvgpr_write_b32", unary(x64.VMOVDQU32))
	vec("v_accvgpr_mov_b32", unary(x64.VMOVDQU32))
	vec("v_not_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { g.a.V(x64.VPXORD, d, a, g.con(^uint32(0)), k) })
	for name, o := range map[string]x64.VOp{
		"v_add_u32": x64.VPADDD, "v_and_b32": x64.VPANDD, "v_or_b32": x64.VPORD, "v_xor_b32": x64.VPXORD, "v_add_i32": x64.VPADDD,
		"v_min_u32": x64.VPMINUD, "v_max_u32": x64.VPMAXUD, "v_min_i32": x64.VPMINSD, "v_max_i32": x64.VPMAXSD, "v_mul_lo_u32": x64.VPMULLD,
		"v_add_f32": x64.VADDPS, "v_mul_f32": x64.VMULPS,
	} {
		vecOrder(name, true, simple(o))
	}
	vec("v_sub_u32", simple(x64.VPSUBD))
	vec("v_sub_i32", simple(x64.VPSUBD))
	vec("v_sub_f32", simple(x64.VSUBPS))
	vec("v_subrev_u32", reversed(x64.VPSUBD))
	vec("v_subrev_f32", reversed(x64.VSUBPS))
	vec("v_xnor_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		g.a.V(x64.VPXORD, 5, a, b, 0)
		g.a.V(x64.VPXORD, d, 5, g.con(^uint32(0)), k)
	})
	for name, o := range map[string]struct {
		op x64.VOp
		by x64.VShift
	}{"v_lshlrev_b32": {x64.VPSLLVD, x64.VPSLLD}, "v_lshrrev_b32": {x64.VPSRLVD, x64.VPSRLD}, "v_ashrrev_i32": {x64.VPSRAVD, x64.VPSRAD}} {
		vec(name, shift(o.op))
		nativeVector[name] = or(shiftBy(o.by), nativeVector[name])
	}
	move := func(g *nativeGen, d x64.Z, k x64.K) { g.a.V1(x64.VMOVDQU32, d, x64.Z(5), k) }
	vec("v_mul_u32_u24", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		g.mul24(a, b)
		move(g, d, k)
	})
	vec("v_mad_u32_u24", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.mul24(a, b)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	vec("v_mul_i32_i24", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		g.mulI24(a, b)
		move(g, d, k)
	})
	vec("v_mad_i32_i24", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.mulI24(a, b)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	for name, o := range map[string][2]x64.VOp{
		"v_add3_u32": {x64.VPADDD, x64.VPADDD}, "v_and_or_b32": {x64.VPANDD, x64.VPORD}, "v_or3_b32": {x64.VPORD, x64.VPORD},
		"v_xad_u32": {x64.VPXORD, x64.VPADDD}, "v_min3_u32": {x64.VPMINUD, x64.VPMINUD}, "v_max3_u32": {x64.VPMAXUD, x64.VPMAXUD},
		"v_min3_i32": {x64.VPMINSD, x64.VPMINSD}, "v_max3_i32": {x64.VPMAXSD, x64.VPMAXSD},
	} {
		vec(name, twice(o[0], o[1]))
	}
	for name, o := range map[string][2]x64.VOp{"v_med3_u32": {x64.VPMINUD, x64.VPMAXUD}, "v_med3_i32": {x64.VPMINSD, x64.VPMAXSD}} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) { // max(min(a, b), min(max(a, b), c))
			g.a.V(o[1], 6, a, b, 0)
			g.a.V(o[0], 5, a, b, 0)
			g.a.V(o[0], 6, 6, c, 0)
			g.a.V(o[1], d, 5, x64.Z(6), k)
		})
	}
	vec("v_lshl_add_u32", shifted(x64.VPADDD))
	vec("v_lshl_or_b32", shifted(x64.VPORD))
	vec("v_add_lshl_u32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.a.V(x64.VPADDD, 5, a, b, 0)
		g.masked(6, c, 31)
		g.a.V(x64.VPSLLVD, d, 5, x64.Z(6), k)
	})
	vec("v_bfi_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) { // a ? b : c
		g.a.V1(x64.VMOVDQU32, 5, a, 0)
		g.a.VImm(x64.VPTERNLOGD, 5, g.inReg(6, b), c, 0, 0xca)
		move(g, d, k)
	})
	// The lower half of a and b, together, shifted by what is in Z7.
	align := func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b any) {
		g.a.V(x64.VPSRLVD, 5, g.inReg(5, b), x64.Z(7), 0)
		g.to(6, g.con(32))
		g.a.V(x64.VPSUBD, 6, 6, x64.Z(7), 0)
		g.a.V(x64.VPSLLVD, 6, a, x64.Z(6), 0)
		g.a.V(x64.VPORD, d, 6, x64.Z(5), k)
	}
	vec("v_alignbit_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.masked(7, c, 31)
		align(g, d, k, a, b)
	})
	vec("v_alignbyte_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.masked(7, c, 3)
		g.a.VShift(x64.VPSLLD, 7, x64.Z(7), 0, 3)
		align(g, d, k, a, b)
	})
	vec("v_bfe_u32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.masked(6, c, 31)
		g.lowBits(7, 6)
		g.masked(5, b, 31)
		g.a.V(x64.VPSRLVD, 5, a, x64.Z(5), 0)
		g.a.V(x64.VPANDD, d, 5, x64.Z(7), k)
	})
	vec("v_bfe_i32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		// rest = 32 - (b & 31); u = min(n, rest); r = (x << (rest-u)) >> (32-u), 0 if n is 0
		g.masked(6, c, 31)
		g.a.VCmp(x64.VPCMPUD, 5, 6, g.con(0), 0, x64.NEQ)
		g.masked(5, b, 31)
		g.to(7, g.con(32))
		g.a.V(x64.VPSUBD, 5, 7, x64.Z(5), 0)
		g.a.V(x64.VPMINUD, 6, 5, x64.Z(6), 0)
		g.a.V(x64.VPSUBD, 5, 5, x64.Z(6), 0)
		g.a.V(x64.VPSLLVD, 5, a, x64.Z(5), 0)
		g.a.V(x64.VPSUBD, 7, 7, x64.Z(6), 0)
		g.a.V(x64.VPSRAVD, 5, 5, x64.Z(7), 0)
		g.a.V1Zero(x64.VMOVDQU32, 5, x64.Z(5), 5)
		move(g, d, k)
	})
	vec("v_ffbh_u32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) {
		g.leadingZeros(5, a)
		move(g, d, k)
	})
	vec("v_cvt_f32_i32", unary(x64.VCVTDQ2PS))
	vec("v_cvt_f32_u32", unary(x64.VCVTUD2PS))
	for i, name := range []string{"v_cvt_f32_ubyte0", "v_cvt_f32_ubyte1", "v_cvt_f32_ubyte2", "v_cvt_f32_ubyte3"} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) {
			g.a.VShift(x64.VPSLLD, 5, a, 0, byte(24-8*i))
			g.a.VShift(x64.VPSRLD, 5, x64.Z(5), 0, 24)
			g.a.V1(x64.VCVTDQ2PS, d, x64.Z(5), k)
		})
	}
	for _, name := range []string{"v_fma_f32", "v_fmac_f32", "v_fmamk_f32", "v_fmaak_f32"} {
		vecOrder(name, true, fma)
	}
	for name, imm := range map[string]byte{"v_floor_f32": 1, "v_ceil_f32": 2, "v_trunc_f32": 3, "v_rndne_f32": 0} {
		vec(name, func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { g.a.VImm(x64.VRNDSCALEPS, d, 0, a, k, imm) })
	}

	vec64("v_mul_hi_u32", true, func(g *nativeGen) { g.a.V(x64.VPMULUDQ, 2, 2, x64.Z(3), 0) })
	vec64("v_mul_hi_i32", true, func(g *nativeGen) { g.a.V(x64.VPMULDQ, 2, 2, x64.Z(3), 0) })
	and64 := func(g *nativeGen, z x64.Z, v uint64) { g.a.V(x64.VPANDQ, z, z, g.con64(v), 0) }
	for name, o := range map[string]x64.VOp{"v_lshlrev_b64": x64.VPSLLVQ, "v_lshrrev_b64": x64.VPSRLVQ, "v_ashrrev_i64": x64.VPSRAVQ} {
		vec64(name, false, func(g *nativeGen) {
			and64(g, 2, 63)
			g.a.V(o, 2, 3, x64.Z(2), 0)
		})
	}
	vec64("v_lshl_add_u64", false, func(g *nativeGen) {
		and64(g, 3, 7)
		g.a.V(x64.VPSLLVQ, 2, 2, x64.Z(3), 0)
		g.a.V(x64.VPADDQ, 2, 2, x64.Z(4), 0)
	})
	nativeVector["v_lshlrev_b64"] = or(shiftLeftPair, nativeVector["v_lshlrev_b64"])
	nativeVector["v_lshl_add_u64"] = or(shiftAddPair, nativeVector["v_lshl_add_u64"])
	vec64("v_mov_b64", false, func(*nativeGen) {})
	vec64("v_add_f64", false, func(g *nativeGen) { g.a.V(x64.VADDPD, 2, 2, x64.Z(3), 0) })
	vec64("v_mul_f64", false, func(g *nativeGen) { g.a.V(x64.VMULPD, 2, 2, x64.Z(3), 0) })
	for _, name := range []string{"v_fma_f64", "v_fmac_f64"} {
		vec64(name, false, func(g *nativeGen) { g.a.V(x64.VFMA213PD, 2, 3, x64.Z(4), 0) })
	}
})
