//go:build linux && amd64

package exec

import (
	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Loads and stores of bytes and shorts in device memory.

// The instructions, by the ends of their names.
var (
	smallLoads = map[string]small{
		"ubyte": {bytes: 1}, "sbyte": {bytes: 1, signed: true}, "ushort": {bytes: 2}, "sshort": {bytes: 2, signed: true},
		"ubyte_d16": {bytes: 1, d16: true}, "ubyte_d16_hi": {bytes: 1, high: true, d16: true}, "sbyte_d16": {bytes: 1, signed: true, low: true, d16: true},
		"sbyte_d16_hi": {bytes: 1, signed: true, high: true, d16: true}, "short_d16": {bytes: 2, d16: true}, "short_d16_hi": {bytes: 2, high: true, d16: true},
	}
	smallStores = map[string]int{"byte": 1, "short": 2}
)

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
