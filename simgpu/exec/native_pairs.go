//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Shifts by a constant and sums of register pairs, as addresses are computed: dword by
// dword, as the registers lie. Making qwords of them takes longer.

// dword is a half of a 64-bit source.
func (g *nativeGen) dword(o *gcn.Operand, q, half int) any {
	if isVec(o) {
		return g.at(o, half, q)
	}
	if v, ok := constOf(o); ok {
		return g.con(uint32(v >> (32 * half)))
	}
	return x64.Bcast{Mem: sreg(int(o.Index) + half)}
}

// isWhole reports whether o can be taken dword by dword.
func isWhole(o *gcn.Operand) bool {
	_, con := constOf(o)
	return con || (isVec(o) || isPair(o)) && o.Width == 2
}

// shiftPair makes Z5 and Z6 the halves of o shifted left by n bits, fewer than 64. Z7
// is used.
func (g *nativeGen) shiftPair(o *gcn.Operand, q int, n byte) {
	a, lo, hi := &g.a, g.dword(o, q, 0), g.dword(o, q, 1)
	switch {
	case n == 0:
		g.to(5, lo)
		g.to(6, hi)
	case n >= 32:
		a.V(x64.VPXORD, 5, 5, x64.Z(5), 0)
		a.VShift(x64.VPSLLD, 6, lo, 0, n-32)
	default:
		a.VShift(x64.VPSLLD, 5, lo, 0, n)
		a.VShift(x64.VPSLLD, 6, hi, 0, n)
		a.VShift(x64.VPSRLD, 7, lo, 0, 32-n)
		a.V(x64.VPORD, 6, 6, x64.Z(7), 0)
	}
}

// storePair stores Z5 and Z6 to a register pair.
func (g *nativeGen) storePair(o *gcn.Operand, q int) {
	g.store(o, 0, q, 5)
	g.store(o, 1, q, 6)
}

// madPairs is v_mad_u64_u32 or v_mad_i64_i32 where nobody wants the carries: even lanes, then odd ones, as the multiplication has them. Z1 to Z7 are used.
func (g *nativeGen) madPairs(in *gcn.Inst, signed bool) {
	a, mul := &g.a, x64.VPMULUDQ
	if signed {
		mul = x64.VPMULDQ
	}
	const x, y, odd, even, t = x64.Z(2), x64.Z(3), x64.Z(5), x64.Z(6), x64.Z(7)
	for _, q := range g.turns() {
		r, s := g.inReg(x, g.plainSource(&in.Src[0], q)), g.inReg(y, g.plainSource(&in.Src[1], q))
		a.V(mul, even, r, s, 0)
		a.VShift(x64.VPSRLQ, odd, r, 0, 32)
		a.VShift(x64.VPSRLQ, t, s, 0, 32)
		a.V(mul, odd, odd, t, 0)
		if v, ok := constOf(&in.Src[2]); ok {
			if v != 0 {
				a.V(x64.VPADDQ, even, even, g.con64(v), 0)
				a.V(x64.VPADDQ, odd, odd, g.con64(v), 0)
			}
		} else {
			lo, hi := g.inReg(x, g.dword(&in.Src[2], q, 0)), g.inReg(y, g.dword(&in.Src[2], q, 1))
			a.V(x64.VPANDQ, t, lo, g.con64(1<<32-1), 0)
			a.V(x64.VPADDQ, even, even, t, 0)
			a.VShift(x64.VPSLLQ, t, hi, 0, 32)
			a.V(x64.VPADDQ, even, even, t, 0)
			a.VShift(x64.VPSRLQ, t, lo, 0, 32)
			a.V(x64.VPADDQ, odd, odd, t, 0)
			a.V(x64.VPANDQ, t, hi, g.con64(^uint64(1<<32-1)), 0)
			a.V(x64.VPADDQ, odd, odd, t, 0)
		}
		a.V(x64.VPANDQ, 4, even, g.con64(1<<32-1), 0)
		a.VShift(x64.VPSLLQ, t, odd, 0, 32)
		a.V(x64.VPORQ, 4, 4, t, 0)
		a.VShift(x64.VPSRLQ, even, even, 0, 32)
		a.V(x64.VPANDQ, odd, odd, g.con64(^uint64(1<<32-1)), 0)
		a.V(x64.VPORQ, even, even, odd, 0)
		g.store(&in.Dst, 0, q, 4)
		g.store(&in.Dst, 1, q, even)
	}
}

// constantShift is the shift in source i, if it is a constant.
func constantShift(in *gcn.Inst, i int, mask uint64) (n byte, ok bool) {
	v, ok := constOf(&in.Src[i])
	return byte(v & mask), ok
}

// or is what first can translate, and second otherwise.
func or(first, second emitter) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool { return first(g, in) || second(g, in) }
}

func shiftLeftPair(g *nativeGen, in *gcn.Inst) bool {
	n, ok := constantShift(in, 0, 63)
	if !ok || !isPlain(in) || !isVec(&in.Dst) || !isWhole(&in.Src[1]) {
		return false
	}
	for _, q := range g.turns() {
		g.shiftPair(&in.Src[1], q, n)
		g.storePair(&in.Dst, q)
	}
	return true
}

func shiftAddPair(g *nativeGen, in *gcn.Inst) bool {
	n, ok := constantShift(in, 1, 7)
	if !ok || !isPlain(in) || !isVec(&in.Dst) || !isWhole(&in.Src[0]) || !isWhole(&in.Src[2]) {
		return false
	}
	a := &g.a
	for _, q := range g.turns() {
		lo, hi := g.dword(&in.Src[2], q, 0), g.dword(&in.Src[2], q, 1)
		if n == 0 && isVec(&in.Src[2]) { // it is plainly a sum
			z := g.inReg(7, lo)
			a.V(x64.VPADDD, 5, z, g.dword(&in.Src[0], q, 0), 0)
			a.VCmp(x64.VPCMPUD, 5, 5, z, 0, x64.LT)
			a.V(x64.VPADDD, 6, g.inReg(6, hi), g.dword(&in.Src[0], q, 1), 0)
			a.V(x64.VPADDD, 6, 6, g.con(1), 5)
			g.storePair(&in.Dst, q)
			continue
		}
		g.shiftPair(&in.Src[0], q, n)
		a.V(x64.VPADDD, 5, 5, lo, 0)
		a.VCmp(x64.VPCMPUD, 5, 5, lo, 0, x64.LT)
		a.V(x64.VPADDD, 6, 6, hi, 0)
		a.V(x64.VPADDD, 6, 6, g.con(1), 5)
		g.storePair(&in.Dst, q)
	}
	return true
}

// shiftBy is a shift of dwords by a constant.
func shiftBy(o x64.VShift) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		n, ok := constantShift(in, 0, 31)
		if !ok || !isPlain(in) || !canOperands(in, 2) {
			return false
		}
		for _, q := range g.turns() {
			x := g.source(in, 1, q)
			d, k, done := g.target(&in.Dst, 0, q)
			g.a.VShift(o, d, x, k, n)
			done()
		}
		return true
	}
}
