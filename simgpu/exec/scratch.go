package exec

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scratch: each lane's private memory. The lanes' segments are interleaved by
// dword, so that a place that is the same for all lanes is one vector:
// lane's byte o lies at (o/4*64 + lane)*4 + o%4.

// swizzle is where byte off of a lane's segment lies.
func swizzle(off uint64, lane int) uint64 {
	return (off>>2*WaveSize+uint64(lane))*4 + off&3
}

// scratchCheck stops the wave if one of the lanes is outside its segment;
// w.offs holds offsets in the lanes' segments. It reports whether all are
// dword-aligned.
func (w *wave) scratchCheck(lanes, size uint64) (aligned bool) {
	limit := uint64(len(w.scratch)) / WaveSize
	var low uint64
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		off := w.offs[i]
		if off > limit || size > limit-off {
			panic(&Fault{Kind: ScratchFault, Addr: off, Lane: i, Detail: "the private segment is smaller"})
		}
		low |= off
	}
	return low&3 == 0
}

// scratchRead loads the lanes' data from scratch; w.offs are offsets in the
// lanes' segments and are used up.
func (w *wave) scratchRead(a *access, d *Vec, lanes uint64) {
	if lanes == 0 {
		return
	}
	aligned := w.scratchCheck(lanes, a.size)
	base := unsafe.Pointer(unsafe.SliceData(w.scratch))
	if a.size < 4 && (aligned || a.size == 1) || a.size == 4 && aligned {
		w.swizzleAll(lanes)
		a.load(base, &w.offs, d, lanes)
		return
	}
	if aligned {
		w.swizzleAll(lanes)
		for n := a.size; ; n -= 4 {
			loadDword(base, &w.offs, d, lanes)
			if n == 4 {
				return
			}
			d = upper(d)
			for i := range w.offs {
				w.offs[i] += 4 * WaveSize
			}
		}
	}
	// Byte by byte through a buffer.
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		var buf [16]byte
		off := w.offs[i]
		for j := range a.size {
			buf[j] = w.scratch[swizzle(off+j, i)]
		}
		w.offs[i] = 0
		a.load(unsafe.Pointer(&buf), &w.offs, d, 1<<i)
	}
}

// scratchWrite stores the lanes' data.
func (w *wave) scratchWrite(a *access, s *Vec, lanes uint64) {
	if lanes == 0 {
		return
	}
	aligned := w.scratchCheck(lanes, a.size)
	base := unsafe.Pointer(unsafe.SliceData(w.scratch))
	if a.size < 4 && (aligned || a.size == 1) || a.size == 4 && aligned {
		w.swizzleAll(lanes)
		a.store(base, &w.offs, s, lanes)
		return
	}
	if aligned {
		w.swizzleAll(lanes)
		for n := a.size; ; n -= 4 {
			storeDword(base, &w.offs, s, lanes)
			if n == 4 {
				return
			}
			s = upper(s)
			for i := range w.offs {
				w.offs[i] += 4 * WaveSize
			}
		}
	}
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		var buf [16]byte
		off := w.offs[i]
		w.offs[i] = 0
		a.store(unsafe.Pointer(&buf), &w.offs, s, 1<<i)
		for j := range a.size {
			w.scratch[swizzle(off+j, i)] = buf[j]
		}
	}
}

func (w *wave) swizzleAll(lanes uint64) {
	for i := range w.offs {
		w.offs[i] = swizzle(w.offs[i], i)
	}
}

// scratchAddress binds the sum of VGPR, SGPR and offset, any of which may be
// missing.
func (b *binder) scratchAddress(in *gcn.Inst) (func(w *wave), error) {
	var s sref
	var err error
	if in.Base.Kind == gcn.SGPR {
		if s, err = scalar(&in.Base); err != nil {
			return nil, err
		}
	}
	imm := uint32(in.Offset)
	if in.Addr.Kind != gcn.VGPR {
		return func(w *wave) {
			off := uint64(s.get(w) + imm)
			for i := range w.offs {
				w.offs[i] = off
			}
		}, nil
	}
	b.need(&in.Addr)
	r := in.Addr.Index
	return func(w *wave) {
		v, start := &w.V[r], s.get(w)+imm
		for i := range v {
			w.offs[i] = uint64(v[i] + start)
		}
	}, nil
}

func scratchLoad(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a := b.loads(a)
		addr, err := b.scratchAddress(in)
		if err != nil {
			return nil, err
		}
		if in.LDS || in.Info.Flags&gcn.LDSDest != 0 {
			at := uint64(int64(in.Offset))
			return func(w *wave) {
				addr(w)
				w.scratchRead(a, &w.out[0], w.exec)
				w.toLDS(a, &w.out[0], at)
			}, nil
		}
		d, err := b.dest(&in.Dst)
		return func(w *wave) {
			addr(w)
			w.scratchRead(a, d.get(w), w.exec)
		}, err
	}
}

func scratchStore(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.scratchAddress(in)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		return func(w *wave) {
			addr(w)
			w.scratchWrite(a, s.get(w), w.exec)
		}, err
	}
}
