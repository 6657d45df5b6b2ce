//go:build linux && amd64

package exec

import "github.com/rocwire/rocwire/simgpu/exec/internal/x64"

// Integer operations that kernels have now and then: bit fields, high halves of products of 24 bits, absolute differences, and dot products of words.

// mulHigh24 is the high half of the product of a and b, of 48 bits; low makes Z5 and Z6 what of them is multiplied.
func mulHigh24(multiply x64.VOp, low func(g *nativeGen, a x64.Z, b any)) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		s := &g.a
		low(g, a, b)
		s.VShift(x64.VPSRLQ, 7, x64.Z(5), 0, 32)
		s.VShift(x64.VPSRLQ, 1, x64.Z(6), 0, 32)
		s.V(multiply, 5, 5, x64.Z(6), 0)
		s.V(multiply, 7, 7, x64.Z(1), 0)
		s.VShift(x64.VPSRLQ, 5, x64.Z(5), 0, 32)
		s.V(x64.VPANDQ, 7, 7, g.con64(0xffffffff<<32), 0)
		s.V(x64.VPORD, d, 5, x64.Z(7), k)
	}
}

// packWords is each of a and b brought into the range of a word by limit, a in the low half.
func packWords(limit func(g *nativeGen, z x64.Z, rm any)) step {
	return func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		limit(g, 5, a)
		limit(g, 6, b)
		g.a.V(x64.VPANDD, 5, 5, g.con(0xffff), 0)
		g.a.VShift(x64.VPSLLD, 6, x64.Z(6), 0, 16)
		g.a.V(x64.VPORD, d, 5, x64.Z(6), k)
	}
}

// differWords makes z the absolute differences of the words of x and y, of a byte or two each. t is used.
func (g *nativeGen) differWords(z, x, y, t x64.Z) {
	g.a.V(x64.VPMAXUW, t, x, y, 0)
	g.a.V(x64.VPMINUW, z, x, y, 0)
	g.a.V(x64.VPSUBW, z, t, z, 0)
}

// sumWords makes z the sums of both words of its dwords. t is used.
func (g *nativeGen) sumWords(z, t x64.Z) {
	g.a.VShift(x64.VPSRLD, t, z, 0, 16)
	g.masked(z, z, 0xffff)
	g.a.V(x64.VPADDD, z, z, t, 0)
}

// differBytes makes Z5 the sums of the absolute differences of the bytes of a and b. Z1, Z6 and Z7 are used.
func (g *nativeGen) differBytes(a x64.Z, b any) {
	y := g.inReg(3, b)
	g.wordsOfBytes(5, a, false, false)
	g.wordsOfBytes(6, y, false, false)
	g.differWords(5, 5, 6, 7)
	g.wordsOfBytes(6, a, true, false)
	g.wordsOfBytes(7, y, true, false)
	g.differWords(6, 6, 7, 1)
	g.a.V(x64.VPADDW, 5, 5, x64.Z(6), 0)
	g.sumWords(5, 6)
}

// dotWords is c and the products of the signed words of a and b.
func dotWords(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
	g.a.V(x64.VPMADDWD, 5, a, g.inReg(6, b), 0)
	g.a.V(x64.VPADDD, d, 5, c, k)
}

// dotUnsignedWords is c and the products of the words of a and b.
func dotUnsignedWords(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
	s, y := &g.a, g.inReg(3, b)
	s.VShift(x64.VPSRLD, 5, a, 0, 16)
	s.VShift(x64.VPSRLD, 6, y, 0, 16)
	s.V(x64.VPMULLD, 5, 5, x64.Z(6), 0)
	g.masked(6, a, 0xffff)
	g.masked(7, y, 0xffff)
	s.V(x64.VPMULLD, 6, 6, x64.Z(7), 0)
	s.V(x64.VPADDD, 5, 5, x64.Z(6), 0)
	s.V(x64.VPADDD, d, 5, c, k)
}

var _ = define(func() {
	vec("v_bfm_b32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, _ any) {
		g.masked(5, a, 31)
		g.masked(6, b, 31)
		g.lowBits(7, 5)
		g.a.V(x64.VPSLLVD, d, 7, x64.Z(6), k)
	})
	vec("v_ffbh_i32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, _, _ any) { // of those not like the sign
		g.a.VShift(x64.VPSRAD, 5, a, 0, 31)
		g.a.V(x64.VPXORD, 5, 5, a, 0)
		g.leadingZeros(6, 5)
		g.a.V1(x64.VMOVDQU32, d, x64.Z(6), k)
	})
	vec("v_mul_hi_u32_u24", mulHigh24(x64.VPMULUDQ, (*nativeGen).low24))
	vec("v_mul_hi_i32_i24", mulHigh24(x64.VPMULDQ, (*nativeGen).lowI24))
	vec("v_cvt_pk_u16_u32", packWords(func(g *nativeGen, z x64.Z, rm any) { g.a.V(x64.VPMINUD, z, g.inReg(z, rm), g.con(0xffff), 0) }))
	vec("v_cvt_pk_i16_i32", packWords(func(g *nativeGen, z x64.Z, rm any) {
		g.a.V(x64.VPMINSD, z, g.inReg(z, rm), g.con(0x7fff), 0)
		g.a.V(x64.VPMAXSD, z, z, g.con(^uint32(0x7fff)), 0)
	}))
	vec("v_sad_u32", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		y := g.inReg(3, b)
		g.a.V(x64.VPMAXUD, 5, a, y, 0)
		g.a.V(x64.VPMINUD, 6, a, y, 0)
		g.a.V(x64.VPSUBD, 5, 5, x64.Z(6), 0)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	vec("v_sad_u16", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.differWords(5, a, g.inReg(3, b), 7)
		g.sumWords(5, 6)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	vec("v_sad_u8", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.differBytes(a, b)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	vec("v_sad_hi_u8", func(g *nativeGen, d x64.Z, k x64.K, a x64.Z, b, c any) {
		g.differBytes(a, b)
		g.a.VShift(x64.VPSLLD, 5, x64.Z(5), 0, 16)
		g.a.V(x64.VPADDD, d, 5, c, k)
	})
	for _, name := range []string{"v_dot2_i32_i16", "v_dot2c_i32_i16"} {
		vec(name, dotWords)
	}
	vec("v_dot2_u32_u16", dotUnsignedWords)
})
