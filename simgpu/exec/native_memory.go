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
