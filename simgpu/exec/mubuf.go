package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Buffer instructions: addresses from a 128-bit resource descriptor (V#) in
// four SGPRs, with bounds. On gfx90a this is also the way to scratch.

// resource is a V#, taken apart.
type resource struct {
	base    uint64 // 48 bits
	stride  uint64
	records uint64
	swizzle bool
	addTid  bool
	element uint64 // bytes kept together when swizzled
	index   uint64 // elements of the same place kept together
}

func (w *wave) resource(r uint8) resource {
	w0, w1, w2, w3 := w.S[r], w.S[r+1], w.S[r+2], w.S[r+3]
	v := resource{
		base:    uint64(w0) | uint64(w1&0xffff)<<32,
		stride:  uint64(w1 >> 16 & 0x3fff),
		records: uint64(w2),
		swizzle: w1>>31 != 0,
		addTid:  w3>>23&1 != 0,
		element: 2 << (w3 >> 19 & 3),
		index:   8 << (w3 >> 21 & 3),
	}
	if v.addTid {
		v.stride |= uint64(w3>>15&15) << 14 // the data format field holds more of the stride
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
	imm     uint64
}

func (b *binder) bufferAddress(in *gcn.Inst) (a bufferAddress, err error) {
	if a.v, err = sdst(&in.Base, 4); err != nil {
		return
	}
	if a.soffset, err = scalar(&in.SOffset); err != nil {
		return
	}
	a.offen, a.idxen, a.imm = in.OffEn, in.IdxEn, uint64(uint32(in.Offset))
	if a.offen || a.idxen {
		a.vaddr, err = b.dest(&in.Addr)
	}
	return
}

// resolve computes the lanes' addresses into w.offs. It returns the lanes that
// are inside the buffer, and whether the buffer is the wave's scratch, in which
// case w.offs are offsets in the lanes' segments.
func (a *bufferAddress) resolve(w *wave, size uint64) (inside uint64, scratch bool) {
	r := w.resource(a.v)
	soff := uint64(a.soffset.get(w))
	if r.base&scratchWindow != 0 {
		return w.exec, a.resolveScratch(w, &r, soff)
	}
	var v *Vec
	if a.offen || a.idxen {
		v = a.vaddr.get(w)
	}
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
		if r.stride == 0 || !r.swizzle { // raw: num_records counts bytes
			off += idx * r.stride
			if off+soff+size <= r.records {
				inside |= 1 << i
			}
		} else { // structures: it counts them
			if idx < r.records && off+size <= r.stride {
				inside |= 1 << i
			}
			hi, lo := idx/r.index, idx%r.index
			off = (hi*r.stride+off/r.element*r.element)*r.index + lo*r.element + off%r.element
		}
		w.offs[i] = r.base + soff + off - w.mem.Base
	}
	inside &= w.exec
	limit, out := w.mem.Size-size, uint64(0)
	for i, off := range w.offs {
		out |= (off | (limit - off)) >> 63 << i
	}
	if out = w.foreign(out&inside, size); out != 0 {
		w.outside(out)
	}
	return inside, false
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
		addr, err := b.bufferAddress(in)
		if err != nil {
			return nil, err
		}
		if in.LDS {
			return func(w *wave) {
				w.bufferRead(a, &addr, &w.out[0])
				for i := range w.offs {
					w.offs[i] = uint64(w.S[regM0]&0xffff) + uint64(in.Offset) + uint64(i)*4
				}
				w.ldsWrite(stores["dword"], &w.out[0], w.exec)
			}, nil
		}
		d, err := b.dest(&in.Dst)
		return func(w *wave) { w.bufferRead(a, &addr, d.get(w)) }, err
	}
}

func (w *wave) bufferRead(a *access, addr *bufferAddress, d *Vec) {
	in, scratch := addr.resolve(w, a.size)
	if scratch {
		w.scratchRead(a, d, in)
		return
	}
	if in != 0 {
		a.load(w.mem.base, &w.offs, d, in)
	}
	if out := w.exec &^ in; out != 0 { // beyond the buffer: 0
		w.offs = [64]uint64{}
		var zero [16]byte
		a.load(pointer(&zero), &w.offs, d, out)
	}
	w.stats.ReadBytes += a.size * uint64(bits.OnesCount64(in))
}

func bufferStore(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.bufferAddress(in)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		return func(w *wave) {
			in, scratch := addr.resolve(w, a.size)
			if scratch {
				w.scratchWrite(a, s.get(w), in)
				return
			}
			if in != 0 {
				w.writable(in, a.size)
				a.store(w.mem.base, &w.offs, s.get(w), in)
			}
			w.stats.WriteBytes += a.size * uint64(bits.OnesCount64(in))
		}, err
	}
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
		in, scratch := addr.resolve(w, op.size)
		w.out[0], w.out[1] = Vec{}, Vec{}
		if scratch {
			op.onScratch(w, src, in)
		} else {
			op.onGlobal(w, src, in)
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
})
