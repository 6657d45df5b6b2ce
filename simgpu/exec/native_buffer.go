//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Addresses of buffer accesses. What is beyond a buffer is led aside, loads to zeros and stores to where nobody looks.

// strange are the bits of a descriptor's second word that say that it is swizzled, or of scratch.
func (g *nativeGen) strange() int32 {
	if g.p.arch.Has(gcn.RDNA) {
		return -1<<30 | 1<<15
	}
	return -1<<31 | 1<<15
}

// bufferStart makes RCX the start of the addresses of a buffer access, as an offset.
func (g *nativeGen) bufferStart(in *gcn.Inst) {
	a, v := &g.a, int(in.Base.Index)
	a.Load(false, x64.RCX, sreg(v+1))
	a.OpImm(x64.AND, false, x64.RCX, 0xffff)
	a.ShiftImm(x64.SHL, true, x64.RCX, 32)
	a.Load(false, x64.RAX, sreg(v))
	a.Op(x64.OR, true, x64.RCX, x64.RAX)
	g.scalarTo(x64.RAX, &in.SOffset)
	a.Op(x64.ADD, true, x64.RCX, x64.RAX)
	a.Imm(x64.RAX, uint64(uint32(in.Offset))-g.p.mem.Base)
	a.Op(x64.ADD, true, x64.RCX, x64.RAX)
}

// bufferLimit makes RCX how large the offset of a lane's n bytes may be, or goes to
// bad if there is none.
func (g *nativeGen) bufferLimit(in *gcn.Inst, n int, bad x64.Label) {
	g.bufferRest(in, n)
	g.a.JumpIf(x64.L, bad)
}

// bufferRest makes RCX how large the offset of a lane's n bytes may be, a negative number if there is none, which the flags say, too.
func (g *nativeGen) bufferRest(in *gcn.Inst, n int) {
	a := &g.a
	a.Load(false, x64.RCX, sreg(int(in.Base.Index)+2))
	a.OpImm(x64.SUB, true, x64.RCX, in.Offset+int32(n))
	g.scalarTo(x64.RAX, &in.SOffset)
	a.Op(x64.SUB, true, x64.RCX, x64.RAX)
}

// bufferOffsets is offsets for buffers. What is beyond the buffer goes to what is at aside in the wave instead.
func (g *nativeGen) bufferOffsets(in *gcn.Inst, q, n, aside int, bad x64.Label) {
	a, beyond, known := &g.a, bad, g.a.Label()
	g.bufferStart(in)
	a.VFromReg(true, 7, x64.RCX)
	g.bufferRest(in, n)
	a.VFromReg(true, 6, x64.RCX)
	for half := range 2 {
		z := offset(half)
		if in.OffEn {
			at := vecAt(&in.Addr, 0, q)
			at.Disp += int32(32 * half)
			a.V1(x64.VPMOVZXDQ, z, at, 0)
		} else {
			a.V(x64.VPXORD, z, z, z, 0)
		}
		a.VCmp(x64.VPCMPQ, x64.K(5+half), z, x64.Z(6), 0, x64.NLE)
		a.V(x64.VPADDQ, z, z, x64.Z(7), 0)
	}
	if aside >= 0 {
		beyond = a.Label()
		g.later(func() {
			a.Bind(beyond)
			g.bufferBeyond(q, n, aside, bad)
			a.Jump(known)
		})
	}
	g.unlessAny(q, beyond)
	g.outside(n, 5)
	g.unlessAny(q, bad)
	a.Bind(known)
}

// bufferBeyond leads those active lanes that are in K5, of the whole quarter, to aside: they are beyond a buffer that begins at Z7, where offsets may be up to
// Z6. Those of which some dwords are not are left to Go.
func (g *nativeGen) bufferBeyond(q, n, aside int, bad x64.Label) {
	a := &g.a
	if n > 4 {
		a.V(x64.VPADDQ, 6, 6, g.con64(uint64(n-4)), 0)
		for half := range 2 {
			a.V(x64.VPSUBQ, 4, offset(half), x64.Z(7), 0)
			a.VCmp(x64.VPCMPQ, x64.K(6+half), 4, x64.Z(6), 0, x64.LEQ)
		}
		a.K(x64.KUNPCKBW, 6, 7, 6)
		a.K(x64.KAND, 6, 6, 5)
		a.KTestOr(6, 6)
		a.JumpIf(x64.NE, bad)
	}
	g.outside(n, 6)
	a.K(x64.KUNPCKBW, 6, 7, 6)
	a.K(x64.KANDN, 6, 5, 6)
	g.active(6, q)
	a.KTestOr(6, 6)
	a.JumpIf(x64.NE, bad)
	a.Load(true, x64.RAX, rW)
	a.OpImm(x64.ADD, true, x64.RAX, int32(aside))
	a.Op(x64.SUB, true, x64.RAX, rMem)
	a.VFromReg(true, 4, x64.RAX)
	a.KShiftRight(6, 5, 8)
	for half := range 2 {
		a.V1(x64.VMOVDQU64, offset(half), x64.Z(4), x64.K(5+half))
	}
	g.countAside()
}
