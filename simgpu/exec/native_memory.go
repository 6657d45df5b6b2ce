//go:build linux && amd64

package exec

import (
	"math"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Accesses of device memory by the lanes. Addresses are offsets from its base,
// which is in RDX: those of a quarter's halves in Z2 and Z3. What faults, or is not
// inside of it, is executed again by Go, from registers in memory; so a load writes
// no register there that the address is in before the last access is made.

const rMem = x64.RDX

// access notes which instruction may fault from here on: Go executes it again
// to say what happened. It returns the label to go to to leave it to Go at once.
func (g *nativeGen) access(done x64.Label) (punt x64.Label) {
	punt = g.punt(done)
	g.a.StoreImm(false, x64.At(rW, waveAccess), int32(len(g.r.exits)))
	return punt
}

// count adds the bytes of the active lanes to a counter of the wave.
func (g *nativeGen) count(at, size int) {
	if g.full {
		g.a.OpImm(x64.ADD, true, x64.At(rW, at), int32(size*g.size()))
		return
	}
	g.countLanes(at, uint64(size))
}

func (g *nativeGen) con64(v uint64) x64.Bcast { return x64.Bcast{Mem: g.a.Const64(v)} }

// canAddress reports whether an instruction's address can be computed.
func canAddress(in *gcn.Inst) bool {
	if in.Enc == gcn.MUBUF {
		_, err := sdst(&in.Base, 4)
		return err == nil && !in.LDS && !in.IdxEn && canScalar(&in.SOffset) && (!in.OffEn || in.Addr.Kind == gcn.VGPR)
	}
	if in.LDS || in.Addr.Kind != gcn.VGPR {
		return false
	}
	if in.Base.Kind == gcn.SGPR {
		return in.Base.Index <= 126
	}
	return in.Addr.Index < 255
}

// begin is access for the lanes' accesses. What is not plainly bytes from the
// base on is left to Go: buffers that are swizzled or have lane numbers added. One that is scratch
// is what scratch is for, if it is not nil.
func (g *nativeGen) begin(in *gcn.Inst, done x64.Label, scratch func(bad x64.Label)) (punt x64.Label) {
	a, bad := &g.a, g.access(done)
	if in.Enc == gcn.MUBUF {
		v, special := int(in.Base.Index), bad
		if scratch != nil {
			special = a.Label()
			g.later(func() {
				a.Bind(special)
				a.OpImm(x64.AND, false, x64.RAX, 1<<15)
				a.JumpIf(x64.E, bad)
				scratch(bad)
				a.Jump(done)
			})
		}
		a.Load(false, x64.RAX, sreg(v+1))
		a.OpImm(x64.AND, false, x64.RAX, g.strange())
		a.JumpIf(x64.NE, special)
		a.Load(false, x64.RAX, sreg(v+3))
		a.OpImm(x64.AND, false, x64.RAX, 1<<23)
		a.JumpIf(x64.NE, bad)
	}
	return bad
}

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

// outside makes two masks, from k on, those of the lanes whose n bytes are not in device memory.
func (g *nativeGen) outside(n int, k x64.K) {
	for half := range 2 {
		g.a.VCmp(x64.VPCMPUQ, k+x64.K(half), offset(half), g.con64(g.p.mem.Size-uint64(n)), 0, x64.NLE)
	}
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

// scattered does f for each quarter of an access of n bytes a lane, each lane somewhere. Those that it leads aside are not counted.
func (g *nativeGen) scattered(in *gcn.Inst, n, counter int, f func(q int)) {
	a := &g.a
	if in.Enc != gcn.MUBUF && in.Enc != gcn.FLAT {
		g.quarters(f)
		return
	}
	a.StoreImm(true, x64.At(rW, waveAside), 0)
	g.quarters(f)
	a.Load(true, x64.RCX, x64.At(rW, waveAside))
	a.Imm(x64.RAX, uint64(n))
	a.Mul(true, x64.RAX, x64.RCX)
	a.OpTo(x64.SUB, true, x64.At(rW, counter), x64.RAX)
}

// startAddress loads what is the same for all lanes to Z7.
func (g *nativeGen) startAddress(in *gcn.Inst) {
	imm := uint64(int64(in.Offset)) - g.p.mem.Base
	if in.Base.Kind != gcn.SGPR {
		g.a.V1(x64.VPBCASTQ, 7, g.a.Const64(imm), 0)
		return
	}
	g.a.Imm(x64.RAX, imm)
	g.a.Op(x64.ADD, true, x64.RAX, g.scalarAt(int(in.Base.Index), true))
	g.a.VFromReg(true, 7, x64.RAX)
}

// offset is the register with the offsets of half a quarter's lanes.
func offset(half int) x64.Z { return x64.Z(2 + half) }

// offsets computes the offsets of a quarter's lanes, and goes to bad if those of
// an active lane's n bytes are not inside. What is beyond a buffer goes to what is at aside in the wave instead, unless that is negative. So does what a flat
// address says is in the LDS go there.
func (g *nativeGen) offsets(in *gcn.Inst, q, n, aside int, bad x64.Label) {
	a := &g.a
	if in.Enc == gcn.MUBUF {
		g.bufferOffsets(in, q, n, aside, bad)
		return
	}
	g.startAddress(in)
	for half := range 2 {
		z := offset(half)
		lo := vecAt(&in.Addr, 0, q)
		lo.Disp += int32(32 * half)
		a.V1(x64.VPMOVZXDQ, z, lo, 0)
		if in.Base.Kind != gcn.SGPR {
			hi := vecAt(&in.Addr, 1, q)
			hi.Disp += int32(32 * half)
			a.V1(x64.VPMOVZXDQ, 4, hi, 0)
			a.VShift(x64.VPSLLQ, 4, x64.Z(4), 0, 32)
			a.V(x64.VPORQ, z, z, x64.Z(4), 0)
		}
		a.V(x64.VPADDQ, z, z, x64.Z(7), 0)
	}
	elsewhere, known := bad, a.Label()
	if in.Enc == gcn.FLAT && aside >= 0 {
		elsewhere = a.Label()
		g.later(func() {
			a.Bind(elsewhere)
			g.flatLDS(n, bad)
			a.Jump(known)
		})
	}
	g.outside(n, 5)
	g.unlessAny(q, elsewhere)
	a.Bind(known)
}

// flatLDS leads the lanes that are in K5, of the whole quarter, to the LDS, where that is where their flat addresses are.
func (g *nativeGen) flatLDS(n int, bad x64.Label) {
	a := &g.a
	a.Load(false, x64.RCX, x64.At(rW, waveLen))
	a.OpImm(x64.SUB, false, x64.RCX, int32(n))
	a.JumpIf(x64.B, bad)
	a.VFromReg(true, 5, x64.RCX)
	a.Imm(x64.RAX, g.p.mem.Base-sharedBase)
	a.VFromReg(true, 4, x64.RAX)
	a.KShiftRight(6, 5, 8)
	for half := range 2 {
		a.V(x64.VPADDQ, 7, offset(half), x64.Z(4), 0)
		a.VCmp(x64.VPCMPUQ, 7, 7, x64.Z(5), x64.K(5+half), x64.NLE)
		a.KTestOr(7, 7)
		a.JumpIf(x64.NE, bad)
	}
	a.Op(x64.ADD, true, x64.RAX, x64.At(rW, waveLDS))
	a.Op(x64.SUB, true, x64.RAX, rMem)
	a.VFromReg(true, 4, x64.RAX)
	for half := range 2 {
		a.V(x64.VPADDQ, offset(half), offset(half), x64.Z(4), x64.K(5+half))
	}
	g.countAside()
}

// countAside counts the lanes of K5 as such that accesses lead aside.
func (g *nativeGen) countAside() {
	g.a.KToReg(x64.RAX, 5)
	g.a.Popcnt(false, x64.RAX, x64.RAX)
	g.a.OpTo(x64.ADD, true, x64.At(rW, waveAside), x64.RAX)
}

// unlessAny goes to the label if one of the active lanes is in K5 and K6, the halves of a
// quarter.
func (g *nativeGen) unlessAny(q int, to x64.Label) {
	g.a.K(x64.KUNPCKBW, 5, 6, 5)
	g.active(5, q)
	g.a.KTestOr(5, 5)
	g.a.JumpIf(x64.NE, to)
}

// halves makes K5 and K6 the lanes of a quarter's halves.
func (g *nativeGen) halves(q int) {
	g.copyLanes(5, q)
	g.a.KShiftRight(6, 5, 8)
}

// gather loads the dwords at the offsets plus disp of the active lanes to Z0.
func (g *nativeGen) gather(q, disp int) {
	g.halves(q)
	g.a.GatherQ(0, x64.AtVec(rMem, offset(0), disp), 5)
	g.a.GatherQ(4, x64.AtVec(rMem, offset(1), disp), 6)
	g.a.VImm(x64.VINSERTI64X4, 0, 0, x64.Z(4), 0, 1)
}

// gatherPair loads the qwords at the offsets plus disp of the active lanes to Z5 and Z6. A qword is loaded at
// once: programs count on its halves having been stored together.
func (g *nativeGen) gatherPair(q, disp int) {
	g.halves(q)
	g.a.GatherPair(5, x64.AtVec(rMem, offset(0), disp), 5)
	g.a.GatherPair(6, x64.AtVec(rMem, offset(1), disp), 6)
}

// stores does a store of n bytes a lane: row stores a quarter's to a row from RAX + disp
// on, if not nil, any to the offsets of its lanes. some: row minds which lanes are active. scratch is what it does in scratchAccess.
func (g *nativeGen) stores(in *gcn.Inst, n int, some bool, scratch func(reg int, p scratchPart), row func(q, disp int), any func(q int)) bool {
	a := &g.a
	done := a.Label()
	bad := g.begin(in, done, func(bad x64.Label) { g.scratchBuffer(in, n, bad, scratch) })
	g.accesses(in, n, some, row, func() {
		g.scattered(in, n, waveWrite, func(q int) {
			g.offsets(in, q, n, waveSink, bad)
			any(q)
		})
	})
	g.count(waveWrite, n)
	a.Bind(done)
	return true
}

// overlap reports whether n registers from a on and m from b on have one in common.
func overlap(a *gcn.Operand, n int, b *gcn.Operand, m int) bool {
	return a.Kind == b.Kind && int(a.Index) < int(b.Index)+m && int(b.Index) < int(a.Index)+n
}

// loaded is where a load leaves what it loads: the destination, or the side if
// the address is in one of its registers, which then is in memory.
type loaded struct {
	g     *nativeGen
	in    *gcn.Inst
	n     int
	aside bool
}

func (g *nativeGen) loaded(in *gcn.Inst, n int) loaded {
	return loaded{g, in, n, overlap(&in.Addr, max(1, int(in.Addr.Width)), &in.Dst, n)}
}

func sideAt(reg, q int) x64.Mem { return x64.At(rW, waveOut+reg*4*WaveSize+64*q) }

// put takes register z as quarter q of register reg of the result.
func (l *loaded) put(reg, q int, z x64.Z) {
	if l.aside {
		l.g.a.VStore(sideAt(reg, q), z, 0)
		return
	}
	l.g.store(&l.in.Dst, reg, q, z)
}

// finish moves what was put aside.
func (l *loaded) finish() {
	if !l.aside {
		return
	}
	l.g.quarters(func(q int) {
		for reg := range l.n {
			l.g.to(0, sideAt(reg, q))
			l.g.store(&l.in.Dst, reg, q, 0)
		}
	})
}

// take makes z every second dword of s and t, from the first on.
func (g *nativeGen) take(z, s, t x64.Z, first int) {
	g.a.V1(x64.VMOVDQU32, z, g.lanesOf(func(i int) uint32 { return uint32(2*i + first) }), 0)
	g.a.V(x64.VPERMI2D, z, s, t, 0)
}

// row loads a quarter whose dwords lie in a row from RAX + disp on; of more than
// one dword, all lanes.
func (l *loaded) row(q, disp int) {
	g, a := l.g, &l.g.a
	at := func(reg int) x64.Mem { return x64.AtIndex(rMem, x64.RAX, disp+64*reg) }
	switch l.n {
	case 1:
		if l.aside {
			a.V1(x64.VMOVDQU32, 0, at(0), g.lanes(q))
			l.put(0, q, 0)
			return
		}
		d, k, done := g.target(&l.in.Dst, 0, q)
		a.V1(x64.VMOVDQU32, d, at(0), k)
		done()
	default:
		l.parted(q, at)
	}
}

// parted takes the registers of a quarter from where its lanes' lie one after the other.
func (l *loaded) parted(q int, at func(i int) x64.Mem) {
	l.g.parted(l.n, at, func(reg int, z x64.Z) { l.put(reg, q, z) })
}

// parted has put take the n registers, 2 or 4, of 16 lanes whose dwords lie one after the other.
func (g *nativeGen) parted(n int, at func(i int) x64.Mem, put func(reg int, z x64.Z)) {
	for i := range n {
		g.a.V1(x64.VMOVDQU32, x64.Z(2+i), at(i), 0)
	}
	for i := range 2 {
		if n == 2 {
			g.take(0, 2, 3, i)
			put(i, 0)
			continue
		}
		g.take(6, 2, 3, i) // dwords i and i+2 of each lane
		g.take(7, 4, 5, i)
		for half := range 2 {
			g.take(0, 6, 7, half)
			put(i+2*half, 0)
		}
	}
}

// quadAt is where four lanes of a quarter have their four dwords for eachQuad.
func quadAt(i int) x64.Mem { return x64.At(rW, waveOffs+128+64*i) }

// eachQuad executes f for each active lane of a quarter with the offset R10, and with the place of its four dwords in quadAt. All
// four are loaded or stored at once, as two are (gatherPair).
func (g *nativeGen) eachQuad(q int, f func(place, m x64.Mem)) {
	a := &g.a
	for half := range 2 {
		a.VStore(x64.At(rW, waveOffs+64*half), offset(half), 0)
	}
	g.eachLane(q, func() { // RAX its number
		a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs))
		a.ShiftImm(x64.SHL, false, x64.RAX, 4)
		f(x64.Scaled(rW, x64.RAX, 0, waveOffs+128), x64.AtIndex(rMem, x64.R10, 0))
	})
}

// vectorLoad is a load of n dwords a lane.
func vectorLoad(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !canAddress(in) || !isVec(&in.Dst) {
			return false
		}
		a, l := &g.a, g.loaded(in, n)
		done := a.Label()
		var scratch func(bad x64.Label)
		if canScratch(in, &in.Dst, n) {
			scratch = func(bad x64.Label) { g.scratchBuffer(in, 4*n, bad, g.scratchLoad(in)) }
		}
		bad := g.begin(in, done, scratch)
		row := l.row
		if n == 3 {
			row = nil
		}
		g.accesses(in, 4*n, n == 1, row, func() {
			g.scattered(in, 4*n, waveRead, func(q int) {
				g.offsets(in, q, 4*n, waveZeros, bad)
				if n == 4 {
					g.eachQuad(q, func(place, m x64.Mem) {
						a.VLoad16(5, m)
						a.VStore16(place, 5)
					})
					l.parted(q, quadAt)
					return
				}
				for j := 0; j+1 < n; j += 2 {
					g.gatherPair(q, 4*j)
					for i := range 2 {
						g.take(0, 5, 6, i)
						l.put(j+i, q, 0)
					}
				}
				if n%2 != 0 {
					g.gather(q, 4*(n-1))
					l.put(n-1, q, 0)
				}
			})
		})
		l.finish()
		g.count(waveRead, 4*n)
		a.Bind(done)
		return true
	}
}

// small is a load of a byte or a short.
type small struct {
	bytes  int
	signed bool
	low    bool // the upper half is zero
	high   bool // to the upper half
	d16    bool // the other half stays where the target leaves it
}

func (s small) load(g *nativeGen, in *gcn.Inst) bool {
	if !canAddress(in) || !isVec(&in.Dst) || g.p.mem.Base%4 != 0 || g.p.mem.Size%4 != 0 {
		return false
	}
	a, l := &g.a, g.loaded(in, 1)
	done := a.Label()
	bad := g.begin(in, done, func(bad x64.Label) { g.scratchBuffer(in, s.bytes, bad, s.scratchLoad(g, in)) })
	widen := map[int][2]x64.VOp{1: {x64.VPMOVZXBD, x64.VPMOVSXBD}, 2: {x64.VPMOVZXWD, x64.VPMOVSXWD}}[s.bytes][btoi(s.signed)]
	g.accesses(in, s.bytes, true, func(q, disp int) {
		a.V1(widen, 0, x64.AtIndex(rMem, x64.RAX, disp), g.lanes(q))
		s.place(g)
		s.keep(g, &in.Dst, q)
		l.put(0, q, 0)
	}, func() {
		g.scattered(in, s.bytes, waveRead, func(q int) {
			g.offsets(in, q, s.bytes, waveZeros, bad)
			a.VNarrow(5, offset(0))
			a.VNarrow(6, offset(1))
			a.VImm(x64.VINSERTI64X4, 5, 5, x64.Z(6), 0, 1)
			for half := range 2 {
				s.dwordOf(g, offset(half), true)
			}
			g.gather(q, 0)
			g.to(4, x64.Z(5))
			s.dwordOf(g, 4, false)
			s.bits(g, 5, 4)
			s.extract(g)
			s.keep(g, &in.Dst, q)
			l.put(0, q, 0)
		})
	})
	l.finish()
	g.count(waveRead, s.bytes)
	a.Bind(done)
	return true
}

// dwordOf makes the offsets in z, where parts lie, those of dwords that have them: the aligned ones, but for a short at an odd offset the dword that
// begins a byte before it. That has something of no aligned dword in which nothing of the short is. The offsets are qwords if wide. Z6 is used.
func (s small) dwordOf(g *nativeGen, z x64.Z, wide bool) {
	shift, or, and, aligned := x64.VPSLLD, x64.VPORD, x64.VPANDD, g.con(^uint32(3))
	if wide {
		shift, or, and, aligned = x64.VPSLLQ, x64.VPORQ, x64.VPANDQ, g.con64(^uint64(3))
	}
	if s.bytes == 1 {
		g.a.V(and, z, z, aligned, 0)
		return
	}
	g.a.VShift(shift, 6, z, 0, 1) // bit 1 stays where bit 0 is set
	g.a.V(or, 6, 6, aligned, 0)
	g.a.V(and, z, z, x64.Z(6), 0)
}

// bits makes z, the offsets of parts, at which bits of the dwords at those in from they begin.
func (s small) bits(g *nativeGen, z, from x64.Z) {
	g.a.V(x64.VPSUBD, z, z, from, 0)
	g.a.VShift(x64.VPSLLD, z, z, 0, 3)
}

// extract takes what is at bit Z5 of the dwords in Z0, as the register will have it.
func (s small) extract(g *nativeGen) {
	s.shift(g, 5)
	s.place(g)
}

// shift takes what is at the bits of a register instead, zero or sign extended; place puts it into its half.
func (s small) shift(g *nativeGen, by x64.Z) {
	width := byte(32 - 8*s.bytes)
	g.a.V(x64.VPSRLVD, 0, 0, by, 0)
	g.a.VShift(x64.VPSLLD, 0, x64.Z(0), 0, width)
	if s.signed {
		g.a.VShift(x64.VPSRAD, 0, x64.Z(0), 0, width)
	} else {
		g.a.VShift(x64.VPSRLD, 0, x64.Z(0), 0, width)
	}
}

func (s small) place(g *nativeGen) {
	switch {
	case s.high:
		g.a.VShift(x64.VPSLLD, 0, x64.Z(0), 0, 16)
	case s.low:
		g.a.V(x64.VPANDD, 0, 0, g.con(0xffff), 0)
	}
}

// keep adds to Z0 the half of the destination that the target leaves as it is. Z1 is used.
func (s small) keep(g *nativeGen, dst *gcn.Operand, q int) {
	if !s.d16 || !g.p.arch.Has(gcn.KeepsHalf) {
		return
	}
	other := uint32(0xffff0000)
	if s.high {
		other = 0xffff
	}
	g.masked(1, g.at(dst, 0, q), other)
	g.a.V(x64.VPORD, 0, 0, x64.Z(1), 0)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// vectorStore is a store of n dwords a lane.
func vectorStore(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !canAddress(in) || !isVec(&in.Data) {
			return false
		}
		a := &g.a
		data := func(q int) func(i int) any { return func(i int) any { return g.at(&in.Data, i, q) } }
		var row func(q, disp int)
		switch n {
		case 1:
			row = func(q, disp int) {
				a.VStore(x64.AtIndex(rMem, x64.RAX, disp), g.inReg(0, g.at(&in.Data, 0, q)), g.lanes(q))
			}
		case 2, 4:
			row = func(q, disp int) {
				g.mingled(n, data(q), func(i int) x64.Mem { return x64.AtIndex(rMem, x64.RAX, disp+64*i) })
			}
		}
		return g.stores(in, 4*n, n == 1, g.scratchStore(in), row, func(q int) {
			if n == 4 {
				g.mingled(4, data(q), quadAt)
				g.eachQuad(q, func(place, m x64.Mem) {
					a.VLoad16(5, place)
					a.VStore16(m, 5)
				})
				return
			}
			for j := 0; j+1 < n; j += 2 { // a qword at once, as loads do
				g.halves(q)
				for half := range 2 {
					g.mingle(0, g.inReg(5, g.at(&in.Data, j, q)), g.at(&in.Data, j+1, q), half)
					a.ScatterPair(x64.AtVec(rMem, offset(half), 4*j), 0, x64.K(5+half))
				}
			}
			if n%2 != 0 {
				g.halves(q)
				a.V1(x64.VMOVDQU32, 0, vecAt(&in.Data, n-1, q), 0)
				a.VUpper(4, 0)
				a.ScatterQ(x64.AtVec(rMem, offset(0), 4*(n-1)), 0, 5)
				a.ScatterQ(x64.AtVec(rMem, offset(1), 4*(n-1)), 4, 6)
			}
		})
	}
}

// mingled stores n registers, 2 or 4, of 16 lanes so that the lanes' dwords lie one after the other.
func (g *nativeGen) mingled(n int, data func(i int) any, at func(i int) x64.Mem) {
	for half := range 2 { // of the lanes
		if n == 2 {
			g.mingle(0, g.inReg(5, data(0)), data(1), half)
			g.a.VStore(at(half), 0, 0)
			continue
		}
		g.mingle(5, g.inReg(0, data(0)), data(2), half)
		g.mingle(6, g.inReg(0, data(1)), data(3), half)
		for i := range 2 {
			g.mingle(0, 5, x64.Z(6), i)
			g.a.VStore(at(2*half+i), 0, 0)
		}
	}
}

// mingle makes z the dwords of half of s and t in turn.
func (g *nativeGen) mingle(z, s x64.Z, t any, half int) {
	g.a.V1(x64.VMOVDQU32, z, g.lanesOf(func(i int) uint32 { return uint32(8*half + i/2 + i%2*16) }), 0)
	g.a.V(x64.VPERMI2D, z, s, t, 0)
}

// smallStore is a store of a byte or a short, from the upper half if high.
func smallStore(bytes int, high bool) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if !canAddress(in) || !isVec(&in.Data) {
			return false
		}
		a := &g.a
		data := func(q int) {
			g.to(6, g.at(&in.Data, 0, q))
			if high {
				a.VShift(x64.VPSRLD, 6, x64.Z(6), 0, 16)
			}
		}
		return g.stores(in, bytes, true, g.scratchSmallStore(in, high), func(q, disp int) {
			data(q)
			a.VStoreNarrow(bytes, x64.AtIndex(rMem, x64.RAX, disp), 6, g.lanes(q))
		}, func(q int) {
			data(q)
			for half := range 2 {
				a.VStore(x64.At(rW, waveOffs+64*half), offset(half), 0)
			}
			a.VStore(sideAt(0, 0), 6, 0)
			g.eachLane(q, func() { // RAX its number
				a.Load(true, x64.R10, x64.Scaled(rW, x64.RAX, 3, waveOffs))
				a.Load(false, x64.R9, x64.Scaled(rW, x64.RAX, 2, waveOut))
				a.StoreSmall(bytes, x64.AtIndex(rMem, x64.R10, 0), x64.R9)
			})
		})
	}
}

// eachLane executes f for each active lane of a quarter, its number there in
// RAX. RCX and R9 are used.
func (g *nativeGen) eachLane(q int, f func()) {
	a := &g.a
	if g.full {
		a.Imm(x64.RCX, 0xffff)
	} else {
		a.KToReg(x64.RCX, g.lanes(q))
	}
	top := a.Label()
	a.Bind(top)
	a.Tzcnt(false, x64.RAX, x64.RCX)
	f()
	a.Load(false, x64.R9, x64.RCX)
	a.OpImm(x64.SUB, false, x64.R9, 1)
	a.Op(x64.AND, false, x64.RCX, x64.R9)
	a.JumpIf(x64.NE, top)
}

// compareWith compares r with a number. RCX is used.
func (g *nativeGen) compareWith(r x64.Reg, v uint64) {
	if v <= math.MaxInt32 {
		g.a.OpImm(x64.CMP, true, r, int32(v))
		return
	}
	g.a.Imm(x64.RCX, v)
	g.a.Op(x64.CMP, true, r, x64.RCX)
}

func scalarLoad(n int) emitter {
	return func(g *nativeGen, in *gcn.Inst) bool {
		if _, err := sdst(&in.Dst, n); err != nil || !isPair(&in.Base) {
			return false
		}
		has := in.SOffset.Kind != gcn.None && in.SOffset.Kind != gcn.Off
		if has && !canScalar(&in.SOffset) {
			return false
		}
		a := &g.a
		done := a.Label()
		bad := g.access(done)
		a.Load(true, x64.RAX, g.scalarAt(int(in.Base.Index), true))
		a.OpImm(x64.AND, true, x64.RAX, ^3)
		if has {
			a.Imm(x64.RCX, uint64(int64(in.Offset)))
			g.scalarTo(x64.R9, &in.SOffset)
			a.Op(x64.ADD, true, x64.RCX, x64.R9)
			a.OpImm(x64.AND, true, x64.RCX, ^3)
			a.Op(x64.ADD, true, x64.RAX, x64.RCX)
		} else if offset := in.Offset &^ 3; offset != 0 {
			a.OpImm(x64.ADD, true, x64.RAX, offset)
		}
		a.Op(x64.SUB, true, x64.RAX, rMem)
		g.compareWith(x64.RAX, g.p.mem.Size-4*uint64(n))
		a.JumpIf(x64.A, bad)
		if n == 1 {
			a.Load(false, x64.RCX, x64.AtIndex(rMem, x64.RAX, 0))
			g.setScalar(int(in.Dst.Index), false, x64.RCX)
		} else {
			if n > 2 { // The last first: if its page is not there, nothing has been written.
				a.Load(true, x64.RCX, x64.AtIndex(rMem, x64.RAX, 4*n-8))
			}
			for j := 0; j < n; j += 2 {
				a.Load(true, x64.RCX, x64.AtIndex(rMem, x64.RAX, 4*j))
				a.Store(true, sreg(int(in.Dst.Index)+j), x64.RCX)
			}
			g.scalarsWritten(int(in.Dst.Index), n)
		}
		a.OpImm(x64.ADD, true, x64.At(rW, waveRead), int32(4*n))
		a.Bind(done)
		return true
	}
}

// Where things of memory accesses lie in a wave.
var (
	waveOut   = int(unsafe.Offsetof(wave{}.out))
	waveOffs  = int(unsafe.Offsetof(wave{}.offs))
	waveAside = int(unsafe.Offsetof(wave{}.aside))
	waveZeros = int(unsafe.Offsetof(wave{}.zeros))
	waveSink  = int(unsafe.Offsetof(wave{}.sink))
)

// Loads and stores of bytes and shorts.
var (
	smallLoads = map[string]small{
		"ubyte": {bytes: 1}, "sbyte": {bytes: 1, signed: true}, "ushort": {bytes: 2}, "sshort": {bytes: 2, signed: true},
		"ubyte_d16": {bytes: 1, d16: true}, "ubyte_d16_hi": {bytes: 1, high: true, d16: true}, "sbyte_d16": {bytes: 1, signed: true, low: true, d16: true},
		"sbyte_d16_hi": {bytes: 1, signed: true, high: true, d16: true}, "short_d16": {bytes: 2, d16: true}, "short_d16_hi": {bytes: 2, high: true, d16: true},
	}
	smallStores = map[string]int{"byte": 1, "short": 2}
)

var _ = define(func() {
	for _, kind := range []string{"flat", "global", "buffer"} {
		for suffix, n := range map[string]int{"": 1, "x2": 2, "x3": 3, "x4": 4} {
			nativeMemory[kind+"_load_dword"+suffix] = vectorLoad(n)
			writeWhole[kind+"_load_dword"+suffix] = true
			nativeMemory[kind+"_store_dword"+suffix] = vectorStore(n)
		}
		for suffix, s := range smallLoads {
			nativeMemory[kind+"_load_"+suffix] = s.load
		}
		for suffix, bytes := range smallStores {
			nativeMemory[kind+"_store_"+suffix] = smallStore(bytes, false)
			nativeMemory[kind+"_store_"+suffix+"_d16_hi"] = smallStore(bytes, true)
		}
	}
	for suffix, n := range map[string]int{"": 1, "x2": 2, "x4": 4, "x8": 8, "x16": 16} {
		nativeMemory["s_load_dword"+suffix] = scalarLoad(n)
	}
})
