package exec

import (
	"math/bits"
	"strings"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Buffer instructions: addresses from a 128-bit resource descriptor (V#) in
// four SGPRs, with bounds. On gfx90a this is also the way to scratch.
//
// What is beyond the bounds reads 0 and is not written. Loads and stores of
// several dwords are looked at dword by dword, atomics and formats as a whole.

// resource is a V#, taken apart.
type resource struct {
	base    uint64 // 48 bits
	stride  uint64
	records uint64
	swizzle bool
	addTid  bool
	index   uint64 // elements of the same place kept together when swizzled
	element uint64 // bytes that stay together then
	raw     bool   // records are bytes, whatever the stride: RDNA says so
}

// swizzleElement is how many bytes stay together in a swizzled buffer of CDNA. Targets
// before these had a field for it, and RDNA has.
const swizzleElement = 4

// resource reads the V# in four registers. Accesses that have a format use its
// data format; for the others that field holds more of a scratch buffer's stride.
func (w *wave) resource(r uint8, format bool) resource {
	w0, w1, w2, w3 := w.S[r], w.S[r+1], w.S[r+2], w.S[r+3]
	v := resource{
		base:    uint64(w0) | uint64(w1&0xffff)<<32,
		stride:  uint64(w1 >> 16 & 0x3fff),
		records: uint64(w2),
		swizzle: w1>>31 != 0,
		addTid:  w3>>23&1 != 0,
		index:   8 << (w3 >> 21 & 3),
	}
	v.element = swizzleElement
	if w.d.Program.arch.Has(gcn.RDNA) {
		v.swizzle = w1>>30 != 0
		if v.swizzle {
			v.element = 2 << (w1 >> 30)
		}
		v.raw = w3>>28&3 == 3
		return v
	}
	if v.addTid && !format {
		v.stride |= uint64(w3>>15&15) << 14
	}
	return v
}

// bufferAddress binds the operands of the address.
type bufferAddress struct {
	v       uint8 // V#
	soffset sref
	vaddr   vdst
	offen   bool
	idxen   bool
	format  bool
	imm     uint64
}

func (b *binder) bufferAddress(in *gcn.Inst) (a bufferAddress, err error) {
	if a.v, err = sdst(&in.Base, 4); err != nil {
		return
	}
	if a.soffset, err = scalar(&in.SOffset); err != nil {
		return
	}
	a.format = strings.Contains(in.Op.String(), "_format_")
	a.offen, a.idxen, a.imm = in.OffEn, in.IdxEn, uint64(uint32(in.Offset))
	if a.offen || a.idxen {
		a.vaddr, err = b.dest(&in.Addr)
	}
	return
}

// bufferLanes are the active lanes of an access that are inside the buffer.
type bufferLanes struct {
	whole   uint64
	part    uint64 // raw buffers: those of which only the first dwords are
	end     uint64 // of a raw buffer, as w.offs count
	scratch bool   // the buffer is the wave's scratch: w.offs are offsets in the lanes' segments
}

// resolve computes the lanes' addresses into w.offs, for accesses of size bytes.
//
// What is inside depends on how the buffer is accessed, as AMD's CDNA documents
// have it: one with lane numbers added and no index has no bounds; with an
// index and a stride num_records counts structures, and only the index is
// compared; otherwise it counts bytes, from which the scalar offset is taken
// first. (LLVM says of raw buffers that the scalar offset is not checked. Tensile's
// kernels for MI200 rely on it: theirs reach behind the last row otherwise.)
func (a *bufferAddress) resolve(w *wave, size uint64) (l bufferLanes) {
	r := w.resource(a.v, a.format)
	soff := uint64(a.soffset.get(w))
	if r.base&scratchWindow != 0 {
		return bufferLanes{whole: w.exec, scratch: a.resolveScratch(w, &r, soff)}
	}
	var v *Vec
	if a.offen || a.idxen {
		v = a.vaddr.get(w)
	}
	private := r.addTid && !a.idxen
	structured := a.idxen && r.stride != 0 && !r.raw
	start := r.base + soff - w.mem.Base
	records := r.records
	if !structured {
		records -= min(soff, records)
	}
	l.end = start + records
	for i := range w.offs {
		off, idx := a.imm, uint64(0)
		switch {
		case a.idxen && a.offen:
			idx = uint64(v[i])
			off += uint64(upper(v)[i])
		case a.idxen:
			idx = uint64(v[i])
		case a.offen:
			off += uint64(v[i])
		}
		if r.addTid {
			idx += uint64(i)
		}
		switch {
		case private, structured && idx < records, !structured && off+size <= records:
			l.whole |= 1 << i
		case !structured && !r.swizzle && off+4 <= records:
			l.part |= 1 << i
		}
		if r.swizzle {
			hi, lo := idx/r.index, idx%r.index
			off = (hi*r.stride+off&^(r.element-1))*r.index + lo*r.element + off%r.element
		} else {
			off += idx * r.stride
		}
		w.offs[i] = start + off
	}
	l.whole &= w.exec
	l.part &= w.exec
	w.inMemory(l.whole, size)
	return l
}

// inMemory stops the wave if one of the lanes' n bytes are not memory.
func (w *wave) inMemory(lanes, n uint64) {
	limit, out := w.mem.Size-n, uint64(0)
	for i, off := range w.offs {
		out |= (off | (limit - off)) >> 63 << i
	}
	if out = w.foreign(out&lanes, n); out != 0 {
		w.outside(out)
	}
}

// dwords calls f for each lane of which only the first dwords are inside, with
// their number.
func (l *bufferLanes) dwords(w *wave, size uint64, f func(lane, n int)) {
	for m := l.part; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		n := min((l.end-w.offs[i])/4, size/4)
		w.inMemory(1<<i, n*4)
		f(i, int(n))
	}
}

// resolveScratch handles the V# that kernels get for their scratch. The scalar
// offset is one of the wave, in the interleaved layout; the others are the
// lane's.
func (a *bufferAddress) resolveScratch(w *wave, r *resource, soff uint64) bool {
	wave := r.base - scratchWindow + soff
	if wave%(4*WaveSize) != 0 {
		panic(&Fault{Kind: ScratchFault, Addr: wave, Lane: -1, Detail: "the wave's offset is not a multiple of 256"})
	}
	start := wave/WaveSize + a.imm
	var v *Vec
	if a.offen {
		v = a.vaddr.get(w)
		if a.idxen {
			v = upper(v)
		}
	}
	for i := range w.offs {
		w.offs[i] = start
		if v != nil {
			// Lane offsets may be negative relative to a stack pointer.
			w.offs[i] = uint64(uint32(start) + v[i])
		}
	}
	return true
}

func bufferLoad(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a := b.loads(a)
		addr, err := b.bufferAddress(in)
		if err != nil {
			return nil, err
		}
		if in.LDS {
			at := uint64(in.Offset)
			return func(w *wave) {
				w.bufferRead(a, &addr, &w.out[0])
				w.toLDS(a, &w.out[0], at)
			}, nil
		}
		d, err := b.dest(&in.Dst)
		return func(w *wave) { w.bufferRead(a, &addr, d.get(w)) }, err
	}
}

// bufferRead loads what is inside; the rest is 0, dword by dword.
func (w *wave) bufferRead(a *access, addr *bufferAddress, d *Vec) {
	l := addr.resolve(w, a.size)
	if l.scratch {
		w.scratchRead(a, d, l.whole)
		return
	}
	var part [][16]byte
	l.dwords(w, a.size, func(i, n int) {
		var buf [16]byte
		for k := range n {
			*(*uint32)(unsafe.Pointer(&buf[4*k])) = *mem32(w.mem.base, w.offs[i]+uint64(4*k))
		}
		part = append(part, buf)
	})
	if l.whole != 0 {
		a.load(w.mem.base, &w.offs, d, l.whole)
	}
	if out := w.exec &^ l.whole; out != 0 {
		w.offs = [64]uint64{}
		var zero [16]byte
		a.load(pointer(&zero), &w.offs, d, out&^l.part)
		for k, m := 0, l.part; m != 0; m &= m - 1 {
			a.load(pointer(&part[k]), &w.offs, d, m&-m)
			k++
		}
	}
	w.stats.ReadBytes += a.size * uint64(bits.OnesCount64(l.whole))
}

func bufferStore(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.bufferAddress(in)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		return func(w *wave) { w.bufferWrite(a, &addr, s.get(w)) }, err
	}
}

// bufferWrite stores what is inside.
func (w *wave) bufferWrite(a *access, addr *bufferAddress, s *Vec) {
	l := addr.resolve(w, a.size)
	if l.scratch {
		w.scratchWrite(a, s, l.whole)
		return
	}
	l.dwords(w, a.size, func(i, n int) {
		w.writable(1<<i, uint64(4*n))
		for k, r := 0, s; k < n; k, r = k+1, upper(r) {
			*mem32(w.mem.base, w.offs[i]+uint64(4*k)) = r[i]
		}
	})
	if l.whole != 0 {
		w.writable(l.whole, a.size)
		a.store(w.mem.base, &w.offs, s, l.whole)
	}
	w.stats.WriteBytes += a.size * uint64(bits.OnesCount64(l.whole))
}

func (op *atomicOp) buffer(b *binder, in *gcn.Inst) (func(*wave), error) {
	addr, err := b.bufferAddress(in)
	if err != nil {
		return nil, err
	}
	s, err := b.dest(&in.Data)
	if err != nil {
		return nil, err
	}
	var d vdst
	returns := in.Returns()
	if returns {
		if d, err = b.dest(&in.Dst); err != nil {
			return nil, err
		}
	}
	return func(w *wave) {
		src := s.get(w)
		l := addr.resolve(w, op.size) // wholly inside or not at all
		w.out[0], w.out[1] = Vec{}, Vec{}
		if l.scratch {
			op.onScratch(w, src, l.whole)
		} else {
			op.onGlobal(w, src, l.whole)
		}
		if returns {
			w.commit(d, op.regs(), w.exec)
		}
	}, nil
}

var _ = define(func() {
	for name, a := range loads {
		on("buffer_load_"+name, bufferLoad(a))
	}
	for name, a := range stores {
		on("buffer_store_"+name, bufferStore(a))
	}
	// buffer_store_lds_dword: a dword of each lane from the LDS to the buffer.
	// Lanes whose place is not in the LDS do nothing.
	on("buffer_store_lds_dword", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.bufferAddress(in)
		at := uint64(in.Offset)
		return func(w *wave) {
			w.ldsPlaces(at, 4)
			all := w.exec
			w.exec = w.ldsInside(all, 4)
			w.ldsRead(loads["dword"], &w.out[0], w.exec)
			w.bufferWrite(stores["dword"], &addr, &w.out[0])
			w.exec = all
		}, err
	})
})
