//go:build linux && amd64

package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Atomics: lane by lane, after all addresses, and pages of device memory, were looked at, for Go must not do again
// what was done. Device memory is other cores', too. The LDS is only reached by who executes the workgroup.

// nativeAtomic is an atomic operation on dwords, or qwords if it is wide.
type nativeAtomic struct {
	wide bool
	cmp  bool // the data is put there if the compared value is there
	// plain is the instruction that does it if the result is not wanted; nil: there is none.
	plain *x64.Op
	// direct does it in device memory, with the data in R9, and leaves there what was in memory. It may be nil.
	direct func(g *nativeGen, m x64.Mem)
	// change makes R9, the data, what is to be in place of RAX, which stays.
	change func(g *nativeGen)
}

// size is the bytes of an operand.
func (o *nativeAtomic) size() int { return 4 << btoi(o.wide) }

// Where a quarter's operands are as its lanes need them, and what was in memory.
const (
	atomicData = iota
	atomicCompared
	atomicOld
)

// stage is where that is: 16 qwords, or dwords.
func atomicStage(which int) int { return waveOut + 128*which }

// stagedAt is what the lane numbered r of a quarter has there.
func (o *nativeAtomic) stagedAt(which int, r x64.Reg) x64.Mem {
	return x64.Scaled(rW, r, byte(2+btoi(o.wide)), atomicStage(which))
}

// operands are the registers of the data and of the compared value: of device memory, one behind the other.
func (o *nativeAtomic) operands(in *gcn.Inst) []gcn.Operand {
	if !o.cmp {
		return []gcn.Operand{in.Data}
	}
	switch {
	case in.Enc == gcn.DS && in.Arch.Has(gcn.RDNA):
		return []gcn.Operand{in.Data, in.Data1}
	case in.Enc == gcn.DS:
		return []gcn.Operand{in.Data1, in.Data}
	}
	compared := in.Data
	compared.Index += 1 << btoi(o.wide)
	return []gcn.Operand{in.Data, compared}
}

// stage stores the operands of a quarter.
func (o *nativeAtomic) stage(g *nativeGen, in *gcn.Inst, q int) {
	a := &g.a
	for which, of := range o.operands(in) {
		if !o.wide {
			a.VStore(x64.At(rW, atomicStage(which)), g.inReg(0, g.at(&of, 0, q)), 0)
			continue
		}
		for half := range 2 {
			g.mingle(0, g.inReg(5, g.at(&of, 0, q)), g.at(&of, 1, q), half)
			a.VStore(x64.At(rW, atomicStage(which)+64*half), 0, 0)
		}
	}
}

// result stores what was in memory to the destination.
func (o *nativeAtomic) result(g *nativeGen, in *gcn.Inst, q int) {
	a := &g.a
	a.V1(x64.VMOVDQU32, 5, x64.At(rW, atomicStage(atomicOld)), 0)
	if !o.wide {
		g.store(&in.Dst, 0, q, 5)
		return
	}
	a.V1(x64.VMOVDQU32, 6, x64.At(rW, atomicStage(atomicOld)+64), 0)
	for i := range 2 {
		g.take(0, 5, 6, i)
		g.store(&in.Dst, i, q, 0)
	}
}

// lane does it for the lane numbered RAX of a quarter, at m. The address there is in R10, RCX is eachLane's.
func (o *nativeAtomic) lane(g *nativeGen, m x64.Mem, returns, lds bool) {
	a := &g.a
	old, number := x64.RAX, x64.R9
	data := func(r x64.Reg) { a.Load(o.wide, x64.R9, o.stagedAt(atomicData, r)) }
	switch {
	case o.plain != nil && !returns:
		data(x64.RAX)
		if lds {
			a.OpTo(*o.plain, o.wide, m, x64.R9)
		} else {
			a.Locked(*o.plain, o.wide, m, x64.R9)
		}
	case o.cmp:
		data(x64.RAX)
		a.Load(o.wide, x64.RAX, o.stagedAt(atomicCompared, x64.RAX))
		a.CompareExchange(!lds, o.wide, m, x64.R9)
	case lds:
		data(x64.RAX)
		a.Load(o.wide, x64.RAX, m)
		o.change(g)
		a.Store(o.wide, m, x64.R9)
	case o.direct != nil:
		data(x64.RAX)
		o.direct(g, m)
		old, number = x64.R9, x64.RAX
	default:
		again := a.Label()
		a.Load(o.wide, x64.RAX, m)
		a.Bind(again)
		a.Tzcnt(false, x64.R9, x64.RCX)
		data(x64.R9)
		o.change(g)
		a.CompareExchange(true, o.wide, m, x64.R9)
		a.JumpIf(x64.NE, again)
	}
	if returns {
		a.Tzcnt(false, number, x64.RCX)
		a.Store(o.wide, o.stagedAt(atomicOld, number), old)
	}
}

// lanes does it for all lanes, whose addresses are noted.
func (o *nativeAtomic) lanes(g *nativeGen, in *gcn.Inst, lds bool) {
	a, returns := &g.a, in.Returns()
	g.quarters(func(q int) {
		o.stage(g, in, q)
		g.eachLane(q, func() {
			m := x64.AtIndex(rMem, x64.R10, 0)
			if lds {
				m = x64.AtIndex(rLDS, x64.R10, 0)
				a.Load(false, x64.R10, x64.Scaled(rW, x64.RAX, 2, waveOffs+64*q))
			} else {
				a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
			}
			o.lane(g, m, returns, lds)
		})
		if returns {
			o.result(g, in, q)
		}
	})
}

func (o *nativeAtomic) onMemory(g *nativeGen, in *gcn.Inst) bool {
	size := o.size()
	if !canAddress(in) || !isVec(&in.Data) || in.Returns() && !isVec(&in.Dst) || g.p.mem.Base%uint64(size) != 0 {
		return false
	}
	a, done := &g.a, g.a.Label()
	bad := g.begin(in, done, nil)
	g.quarters(func(q int) {
		g.offsets(in, q, size, -1, bad)
		for half := range 2 {
			a.VStore(x64.At(rW, waveOffs+128*q+64*half), offset(half), 0)
			a.V(x64.VPANDQ, 4, offset(half), g.con64(uint64(size-1)), 0)
			a.VCmp(x64.VPCMPUQ, x64.K(5+half), 4, g.con64(0), 0, x64.NEQ)
		}
		g.unlessAny(q, bad)
		g.probe(q)
	})
	o.lanes(g, in, false)
	g.count(waveAtomics, 1)
	a.Bind(done)
	return true
}

func (o *nativeAtomic) onLDS(g *nativeGen, in *gcn.Inst) bool {
	if in.GDS || !isVec(&in.Addr) || !isVec(&in.Data) || o.cmp && !isVec(&in.Data1) || in.Returns() && !isVec(&in.Dst) {
		return false
	}
	done := g.a.Label()
	g.ldsAddresses(in, o.size(), o.size(), g.punt(done))
	o.lanes(g, in, true)
	g.a.Bind(done)
	return true
}

// probe writes what is there at the offsets of a quarter, which are noted, to find out whether the pages are there: once if all are in one.
func (g *nativeGen) probe(q int) {
	a, each, done := &g.a, g.a.Label(), g.a.Label()
	write := func() {
		a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
		a.Imm(x64.R9, 0)
		a.Locked(x64.OR, false, x64.AtIndex(rMem, x64.R10, 0), x64.R9)
	}
	a.Imm(x64.RAX, 0)
	if !g.full { // the first one
		a.KToReg(x64.RCX, g.lanes(q))
		a.Tzcnt(false, x64.RAX, x64.RCX)
	}
	a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs+128*q))
	a.VFromReg(true, 4, x64.R10)
	for half := range 2 {
		a.V(x64.VPXORQ, 5, 4, offset(half), 0)
		a.VCmp(x64.VPCMPUQ, x64.K(5+half), 5, g.con64(4095), 0, x64.NLE)
	}
	g.unlessAny(q, each)
	write()
	g.later(func() {
		a.Bind(each)
		g.eachLane(q, write)
		a.Jump(done)
	})
	a.Bind(done)
}

var _ = define(func() {
	on := func(o *nativeAtomic, memory, lds string) {
		if memory != "" {
			for _, kind := range []string{"flat", "global", "buffer"} {
				nativeMemory[kind+"_atomic_"+memory] = o.onMemory
			}
		}
		if i := strings.LastIndex(lds, "_") + 1; !strings.Contains(lds, "_rtn_") {
			nativeMemory["ds_"+lds] = o.onLDS
			lds = lds[:i] + "rtn_" + lds[i:]
		}
		nativeMemory["ds_"+lds] = o.onLDS
	}
	for _, wide := range []bool{false, true} {
		suffix, bits := strings.Repeat("_x2", btoi(wide)), map[bool]string{false: "32", true: "64"}[wide]
		op := func(op x64.Op) *x64.Op { return &op }
		negate := func(g *nativeGen) {
			g.a.Not(wide, x64.R9)
			g.a.OpImm(x64.ADD, wide, x64.R9, 1)
		}
		add := func(g *nativeGen) { g.a.Op(x64.ADD, wide, x64.R9, x64.RAX) }
		on(&nativeAtomic{wide: wide, plain: op(x64.ADD), direct: func(g *nativeGen, m x64.Mem) { g.a.ExchangeAdd(wide, m, x64.R9) }, change: add}, "add"+suffix, "add_u"+bits)
		on(&nativeAtomic{wide: wide, plain: op(x64.SUB), direct: func(g *nativeGen, m x64.Mem) {
			negate(g)
			g.a.ExchangeAdd(wide, m, x64.R9)
		}, change: func(g *nativeGen) {
			negate(g)
			add(g)
		}}, "sub"+suffix, "sub_u"+bits)
		on(&nativeAtomic{wide: wide, change: func(g *nativeGen) { g.a.Op(x64.SUB, wide, x64.R9, x64.RAX) }}, "", "rsub_u"+bits)
		on(&nativeAtomic{wide: wide, direct: func(g *nativeGen, m x64.Mem) { g.a.Exchange(wide, m, x64.R9) }, change: func(*nativeGen) {}}, "swap"+suffix, "wrxchg_rtn_b"+bits)
		on(&nativeAtomic{wide: wide, cmp: true}, "cmpswap"+suffix, "cmpst_b"+bits)
		on(&nativeAtomic{wide: wide, cmp: true}, "", "cmpstore_b"+bits) // of RDNA
		for name, o := range map[string]x64.Op{"and": x64.AND, "or": x64.OR, "xor": x64.XOR} {
			on(&nativeAtomic{wide: wide, plain: op(o), change: func(g *nativeGen) { g.a.Op(o, wide, x64.R9, x64.RAX) }}, name+suffix, name+"_b"+bits)
		}
		for name, stays := range map[string]x64.Cond{"min_i": x64.L, "max_i": x64.G, "min_u": x64.B, "max_u": x64.A} {
			on(&nativeAtomic{wide: wide, change: func(g *nativeGen) {
				g.a.Op(x64.CMP, wide, x64.RAX, x64.R9)
				g.a.Cmov(stays, wide, x64.R9, x64.RAX)
			}}, map[byte]string{'i': "s", 'u': "u"}[name[4]]+name[:3]+suffix, name+bits)
		}
		on(&nativeAtomic{wide: wide, change: func(g *nativeGen) { // 0 if it is not less than the data, or one more
			g.a.Op(x64.CMP, wide, x64.RAX, x64.R9)
			g.a.Op(x64.SBB, wide, x64.R9, x64.R9)
			g.a.Not(wide, x64.R9)
			g.a.Op(x64.OR, wide, x64.R9, x64.RAX)
			g.a.OpImm(x64.ADD, wide, x64.R9, 1)
		}}, "inc"+suffix, "inc_u"+bits)
		on(&nativeAtomic{wide: wide, change: func(g *nativeGen) { // one less, or the data if that is less
			g.a.OpImm(x64.SUB, wide, x64.RAX, 1)
			g.a.Op(x64.CMP, wide, x64.RAX, x64.R9)
			g.a.Cmov(x64.B, wide, x64.R9, x64.RAX)
			g.a.OpImm(x64.ADD, wide, x64.RAX, 1)
		}}, "dec"+suffix, "dec_u"+bits)
		// Sums of floats do not depend on MODE.
		sum := map[bool]string{false: "add_f32", true: "add_f64"}[wide]
		on(&nativeAtomic{wide: wide, change: func(g *nativeGen) {
			both(g, wide)
			g.a.V(map[bool]x64.VOp{false: x64.VADDPS, true: x64.VADDPD}[wide], 5, 5, x64.Z(6), 0)
			g.a.VToReg(wide, x64.R9, 5)
		}}, sum, sum)
	}
	onMemory := func(name string, o *nativeAtomic) {
		for _, kind := range []string{"flat", "global", "buffer"} {
			if mnemonic := kind + "_atomic_" + name; mnemonic != "buffer_atomic_pk_add_bf16" { // gfx950 alone has it
				nativeMemory[mnemonic] = o.onMemory
			}
		}
	}
	for name, which := range map[string]byte{"min_f64": smaller, "max_f64": larger} {
		onMemory(name, &nativeAtomic{wide: true, change: func(g *nativeGen) {
			both(g, true)
			g.choose64(7, 5, 6, which)
			g.a.V(x64.VADDPD, 7, 7, g.con64(1<<63), 0) // -0, which quiets a NaN
			g.a.VToReg(true, x64.R9, 7)
		}})
	}
	onMemory("pk_add_f16", &nativeAtomic{change: func(g *nativeGen) {
		both(g, false)
		for _, z := range []x64.Z{5, 6} {
			g.a.V1(x64.VCVTPH2PS, z, z, 0)
		}
		g.a.V(x64.VADDPS, 5, 5, x64.Z(6), 0)
		g.a.VToHalf(5, 5, 0)
		g.a.VToReg(false, x64.R9, 5)
	}})
	onMemory("pk_add_bf16", &nativeAtomic{change: func(g *nativeGen) {
		a := &g.a
		both(g, false)
		for _, z := range []x64.Z{5, 6} {
			a.V1(x64.VPMOVZXWD, z, z, 0)
			a.VShift(x64.VPSLLD, z, z, 0, 16)
		}
		a.V(x64.VADDPS, 5, 5, x64.Z(6), 0)
		a.VCmp(x64.VCMPPS, 5, 5, x64.Z(5), 0, x64.FUN)
		a.V(x64.VPORD, 6, 5, g.con(0x40<<16), 0) // a NaN, quiet
		a.VShift(x64.VPSRLD, 7, x64.Z(5), 0, 16) // to the nearest even
		a.V(x64.VPANDD, 7, 7, g.con(1), 0)
		a.V(x64.VPADDD, 5, 5, x64.Z(7), 0)
		a.V(x64.VPADDD, 5, 5, g.con(0x7fff), 0)
		a.V1(x64.VMOVDQU32, 5, x64.Z(6), 5)
		a.VShift(x64.VPSRLD, 5, x64.Z(5), 0, 16)
		a.VNarrowWords(5, 5)
		a.VToReg(false, x64.R9, 5)
	}})
})

// both brings the old value and the data to Z5 and Z6.
func both(g *nativeGen, wide bool) {
	g.a.VFromReg(wide, 5, x64.RAX)
	g.a.VFromReg(wide, 6, x64.R9)
}
