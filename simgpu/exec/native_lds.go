//go:build linux && amd64

package exec

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Reads and writes of dwords in the LDS. An address that is not inside of it is
// left to Go.

// steps are the offsets of dwords that lie one after the other.
func (g *nativeGen) steps() x64.Mem {
	var b []byte
	for i := range 16 {
		b = binary.LittleEndian.AppendUint32(b, uint32(4*i))
	}
	return g.a.Const(b)
}

// ldsLimit computes the highest address of a dword into all lanes of Z5, or goes
// to bad if there is none.
func (g *nativeGen) ldsLimit(bad x64.Label) {
	a := &g.a
	a.Load(false, x64.RAX, x64.At(rW, waveLen))
	a.OpImm(x64.SUB, false, x64.RAX, 4)
	a.JumpIf(x64.B, bad)
	a.VFromReg(false, 5, x64.RAX)
}

// ldsAddress loads the addresses of quarter q to Z2.
func (g *nativeGen) ldsAddress(o *gcn.Operand, q, imm int) {
	g.a.V1(x64.VMOVDQU32, 2, vecAt(o, 0, q), 0)
	if imm != 0 {
		g.a.V(x64.VPADDD, 2, 2, g.con(uint32(imm)), 0)
	}
}

// ldsCheck goes to bad if an active lane's address is beyond the limit.
func (g *nativeGen) ldsCheck(o *gcn.Operand, q, imm int, bad x64.Label) {
	a := &g.a
	g.ldsAddress(o, q, imm)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(5), g.lanes(q), x64.NLE)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, bad)
}

// inOrder makes the lowest lane's address RAX, and goes to no if the active
// lanes' addresses are not consecutive from it on.
func (g *nativeGen) inOrder(q int, no x64.Label) {
	a := &g.a
	a.VToReg(false, x64.RAX, 2)
	a.VFromReg(false, 3, x64.RAX)
	a.SignExtend(x64.RAX) // an inactive lowest lane may be before the LDS
	a.V(x64.VPADDD, 3, 3, g.steps(), 0)
	a.VCmp(x64.VPCMPUD, 5, 2, x64.Z(3), g.lanes(q), x64.NEQ)
	a.KTestOr(5, 5)
	a.JumpIf(x64.NE, no)
}

// fetch loads the dwords at Z2 of the active lanes to z, whose other lanes stay.
func (g *nativeGen) fetch(z x64.Z, q int) {
	a := &g.a
	other, done := a.Label(), a.Label()
	g.inOrder(q, other)
	a.V1(x64.VMOVDQU32, z, x64.AtIndex(rLDS, x64.RAX, 0), g.lanes(q))
	a.Jump(done)
	a.Bind(other)
	g.copyLanes(5, q)
	a.Gather(z, x64.AtVec(rLDS, 2, 0), 5)
	a.Bind(done)
}

// put writes the active lanes of z to Z2.
func (g *nativeGen) put(z x64.Z, q int) {
	a := &g.a
	other, done := a.Label(), a.Label()
	g.inOrder(q, other)
	a.VStore(x64.AtIndex(rLDS, x64.RAX, 0), z, g.lanes(q))
	a.Jump(done)
	a.Bind(other)
	g.copyLanes(5, q)
	a.Scatter(x64.AtVec(rLDS, 2, 0), z, 5)
	a.Bind(done)
}

// quarters calls f for each quarter, skipping those without an active lane.
func (g *nativeGen) quarters(f func(q int)) {
	for q := range 4 {
		if g.full {
			f(q)
			continue
		}
		skip := g.a.Label()
		g.a.KTestOr(g.lanes(q), g.lanes(q))
		g.a.JumpIf(x64.E, skip)
		f(q)
		g.a.Bind(skip)
	}
}

// ldsPass is one access of an instruction: at offset imm, f with the addresses
// in Z2.
type ldsPass struct {
	imm int
	f   func(q int)
}

// ldsAccess does the accesses one after the other. All addresses are checked
// before the first access, so that Go can execute the whole instruction instead.
func (g *nativeGen) ldsAccess(addr, dst *gcn.Operand, passes ...ldsPass) {
	atOnce := len(passes) == 1 && (dst.Kind != addr.Kind || dst.Index != addr.Index)
	done := g.a.Label()
	bad := g.punt(done)
	g.ldsLimit(bad)
	g.quarters(func(q int) {
		for _, p := range passes {
			g.ldsCheck(addr, q, p.imm, bad)
		}
		if atOnce { // the addresses are there, and Go could do it all over again
			passes[0].f(q)
		}
	})
	if !atOnce {
		for _, p := range passes {
			g.quarters(func(q int) {
				g.ldsAddress(addr, q, p.imm)
				p.f(q)
			})
		}
	}
	g.a.Bind(done)
}

// ldsRead defines a read of n dwords at each of the offsets, all of them to
// consecutive registers.
func ldsRead(name string, n int, imms func(in *gcn.Inst) []int) {
	nativeMemory[name] = func(g *nativeGen, in *gcn.Inst) bool {
		at := imms(in)
		if in.GDS || !isVec(&in.Addr) || !isVec(&in.Dst) {
			return false
		}
		if total := n * len(at); total > 1 && overlap(&in.Addr, 1, &in.Dst, total) {
			return false // the first read would overwrite the address of the second
		}
		var passes []ldsPass
		for i, imm := range at {
			for j := range n {
				passes = append(passes, ldsPass{imm + 4*j, func(q int) {
					at := vecAt(&in.Dst, i*n+j, q)
					g.keep(0, at)
					g.fetch(0, q)
					g.a.VStore(at, 0, 0)
				}})
			}
		}
		g.ldsAccess(&in.Addr, &in.Dst, passes...)
		return true
	}
}

// ldsWrite defines a write of n dwords at each of the offsets, the second from
// Data1.
func ldsWrite(name string, n int, imms func(in *gcn.Inst) []int) {
	nativeMemory[name] = func(g *nativeGen, in *gcn.Inst) bool {
		at := imms(in)
		data := []*gcn.Operand{&in.Data, &in.Data1}[:len(at)]
		if in.GDS || !isVec(&in.Addr) {
			return false
		}
		var passes []ldsPass
		for i, imm := range at {
			if !isVec(data[i]) {
				return false
			}
			for j := range n {
				passes = append(passes, ldsPass{imm + 4*j, func(q int) {
					g.a.V1(x64.VMOVDQU32, 0, vecAt(data[i], j, q), 0)
					g.put(0, q)
				}})
			}
		}
		g.ldsAccess(&in.Addr, &gcn.Operand{}, passes...)
		return true
	}
}

var _ = define(func() {
	one := func(in *gcn.Inst) []int { return []int{int(uint16(in.Offset))} }
	for suffix, n := range map[string]int{"b32": 1, "b64": 2, "b96": 3, "b128": 4} {
		ldsRead("ds_read_"+suffix, n, one)
		ldsWrite("ds_write_"+suffix, n, one)
	}
	for suffix, n := range map[string]int{"b32": 1, "b64": 2} {
		for st, scale := range map[string]int{"": 4 * n, "st64": 256 * n} {
			two := func(in *gcn.Inst) []int { return []int{int(in.Offset0) * scale, int(in.Offset1) * scale} }
			ldsRead("ds_read2"+st+"_"+suffix, n, two)
			ldsWrite("ds_write2"+st+"_"+suffix, n, two)
		}
	}
})
