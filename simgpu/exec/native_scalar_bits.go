//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Bits of scalar registers: counted, looked for and set.

// setBit defines s_bitset0_… and s_bitset1_…: bit S of D is set, or not.
func setBit(name string, wide, one bool) {
	nativeScalar[name] = func(g *nativeGen, in *gcn.Inst) bool {
		d, err := sdst(&in.Dst, 1+btoi(wide))
		if err != nil || !canScalar(&in.Src[0]) {
			return false
		}
		a := &g.a
		g.scalarTo(x64.RCX, &in.Src[0])
		a.Imm(x64.RAX, 1)
		a.ShiftCL(x64.SHL, wide, x64.RAX)
		a.Load(wide, x64.RCX, g.scalarAt(int(d), wide))
		if one {
			a.Op(x64.OR, wide, x64.RAX, x64.RCX)
		} else {
			andn1(g, wide)
		}
		g.setScalar(int(d), wide, x64.RAX)
		return true
	}
}

// likeSign makes RAX the bits of RAX that are not like its sign.
func (g *nativeGen) likeSign(w bool) {
	bits := byte(31)
	if w {
		bits = 63
	}
	g.a.Load(w, x64.RCX, x64.RAX)
	g.a.ShiftImm(x64.SAR, w, x64.RCX, bits)
	g.a.Op(x64.XOR, w, x64.RAX, x64.RCX)
}

var _ = define(func() {
	for name, w := range map[string]bool{"b32": false, "b64": true} {
		setBit("s_bitset0_"+name, w, false)
		setBit("s_bitset1_"+name, w, true)
		nativeOp("s_bcnt0_i32_"+name, 1, func(g *nativeGen) {
			g.a.Not(w, x64.RAX)
			g.a.Popcnt(w, x64.RAX, x64.RAX)
			g.nonzero(false, x64.RAX)
		})
		nativeOp("s_ff0_i32_"+name, 1, func(g *nativeGen) {
			g.a.Not(w, x64.RAX)
			g.firstOr(w, false)
		})
	}
	for name, w := range map[string]bool{"s_flbit_i32": false, "s_flbit_i32_i64": true} {
		nativeOp(name, 1, func(g *nativeGen) {
			g.likeSign(w)
			g.firstOr(w, true)
		})
	}
})
