package exec

import (
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The local data share. Lanes that are out of its range read 0 and write
// nothing. Only the goroutine that executes the workgroup touches it, so
// nothing here is atomic.

// ldsInside returns the lanes whose n bytes at w.offs are inside the LDS.
func (w *wave) ldsInside(lanes, n uint64) uint64 {
	size := uint64(len(w.wg.lds))
	if size < n {
		return 0
	}
	limit, m := size-n, uint64(0)
	for i := range w.offs {
		m = top(m, limit-w.offs[i]) // offsets are less than 2^33
	}
	return lanes &^ m
}

func (w *wave) ldsBase() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(w.wg.lds)) }

func (w *wave) ldsRead(a *access, d *Vec, lanes uint64) {
	if lanes == 0 {
		return
	}
	in := w.ldsInside(lanes, a.size)
	if in != 0 {
		a.load(w.ldsBase(), &w.offs, d, in)
	}
	if out := lanes &^ in; out != 0 {
		w.offs = [64]uint64{}
		var zero [16]byte
		a.load(unsafe.Pointer(&zero), &w.offs, d, out)
	}
}

func (w *wave) ldsWrite(a *access, s *Vec, lanes uint64) {
	if lanes == 0 {
		return
	}
	if in := w.ldsInside(lanes, a.size); in != 0 {
		a.store(w.ldsBase(), &w.offs, s, in)
	}
}

// dsAddress binds the address register plus an offset in bytes. The sum has 32
// bits: compilers subtract from an address what an offset adds again.
func (b *binder) dsAddress(in *gcn.Inst) (func(w *wave, imm uint64), error) {
	a, err := b.dest(&in.Addr)
	return func(w *wave, imm uint64) {
		v := a.get(w)
		for i := range v {
			w.offs[i] = uint64(v[i] + uint32(imm))
		}
	}, err
}

func dsRead(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a := b.loads(a)
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		imm := uint64(uint16(in.Offset))
		return func(w *wave) {
			addr(w, imm)
			w.ldsRead(a, d.get(w), w.exec)
		}, err
	}
}

func dsWrite(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		imm := uint64(uint16(in.Offset))
		return func(w *wave) {
			addr(w, imm)
			w.ldsWrite(a, s.get(w), w.exec)
		}, err
	}
}

// dsRead2 reads two elements; scale is the unit of the offsets in bytes.
func dsRead2(a *access, scale uint64) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		o0, o1 := uint64(in.Offset0)*scale, uint64(in.Offset1)*scale
		return func(w *wave) {
			// The destination may be the address register: read to the side.
			out := &w.out[0]
			addr(w, o0)
			w.ldsRead(a, out, w.exec)
			addr(w, o1)
			w.ldsRead(a, &w.out[a.regs], w.exec)
			w.commit(d, 2*a.regs, w.exec)
		}, err
	}
}

func dsWrite2(a *access, scale uint64) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		s0, err := b.dest(&in.Data)
		if err != nil {
			return nil, err
		}
		s1, err := b.dest(&in.Data1)
		o0, o1 := uint64(in.Offset0)*scale, uint64(in.Offset1)*scale
		return func(w *wave) {
			addr(w, o0)
			w.ldsWrite(a, s0.get(w), w.exec)
			addr(w, o1)
			w.ldsWrite(a, s1.get(w), w.exec)
		}, err
	}
}

var _ = define(func() {
	for name, kind := range map[string]string{"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4",
		"i8": "sbyte", "u8": "ubyte", "i16": "sshort", "u16": "ushort", "u8_d16": "ubyte_d16", "u8_d16_hi": "ubyte_d16_hi",
		"i8_d16": "sbyte_d16", "i8_d16_hi": "sbyte_d16_hi", "u16_d16": "short_d16", "u16_d16_hi": "short_d16_hi"} {
		on("ds_read_"+name, dsRead(loads[kind]))
	}
	for name, kind := range map[string]string{"b32": "dword", "b64": "dwordx2", "b96": "dwordx3", "b128": "dwordx4",
		"b8": "byte", "b16": "short", "b8_d16_hi": "byte_d16_hi", "b16_d16_hi": "short_d16_hi"} {
		on("ds_write_"+name, dsWrite(stores[kind]))
	}
	for name, kind := range map[string]string{"b32": "dword", "b64": "dwordx2"} {
		size := loads[kind].size
		on("ds_read2_"+name, dsRead2(loads[kind], size))
		on("ds_read2st64_"+name, dsRead2(loads[kind], size*64))
		on("ds_write2_"+name, dsWrite2(stores[kind], size))
		on("ds_write2st64_"+name, dsWrite2(stores[kind], size*64))
	}
	for name, kind := range map[string]string{"b32": "dword", "b64": "dwordx2"} {
		l, s := loads[kind], stores[kind]
		on("ds_wrxchg2_rtn_"+name, dsExchange2(l, s, l.size))
		on("ds_wrxchg2st64_rtn_"+name, dsExchange2(l, s, l.size*64))
	}
	on("ds_condxchg32_rtn_b64", dsConditionalExchange)
	on("ds_append", dsCount(1))
	on("ds_consume", dsCount(^uint32(0)))
	on("ds_bpermute_b32", permute(func(v, addr, out *Vec, imm, among uint32, exec uint64) {
		for i := range out {
			from := ((addr[i]+imm)>>2&(among-1) | uint32(i)&-among) & 63
			out[i] = v[from] & uint32(-(exec >> from & 1)) // inactive lanes give 0
		}
	}))
	on("ds_permute_b32", permute(func(v, addr, out *Vec, imm, among uint32, exec uint64) {
		*out = Vec{}
		for m := exec; m != 0; m &= m - 1 { // the highest lane wins
			i := bits.TrailingZeros64(m) & 63
			out[((addr[i]+imm)>>2&(among-1)|uint32(i)&-among)&63] = v[i]
		}
	}))
	on("ds_swizzle_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := b.dest(&in.Addr)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		var from [WaveSize]uint8
		for i := range from {
			from[i] = uint8(swizzleLane(uint16(in.Offset), i))
		}
		return func(w *wave) {
			v, out := s.get(w), &w.out[0]
			for i := range out {
				j := from[i] & 63
				out[i] = v[j] & uint32(-(w.exec >> j & 1))
			}
			w.commit(d, 1, w.exec)
		}, err
	})
	// Addresses are M0 + offset + 4 × lane.
	on("ds_read_addtid_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		imm := uint64(uint16(in.Offset))
		return func(w *wave) {
			w.addTid(imm)
			w.ldsRead(loads["dword"], d.get(w), w.exec)
		}, err
	})
	on("ds_write_addtid_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := b.dest(&in.Data)
		imm := uint64(uint16(in.Offset))
		return func(w *wave) {
			w.addTid(imm)
			w.ldsWrite(stores["dword"], s.get(w), w.exec)
		}, err
	})
})

// dsExchange2 is ds_wrxchg2: two elements are exchanged for two registers.
func dsExchange2(load, store *access, scale uint64) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.dsAddress(in)
		if err != nil {
			return nil, err
		}
		s0, err := b.dest(&in.Data)
		if err != nil {
			return nil, err
		}
		s1, err := b.dest(&in.Data1)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		o0, o1 := uint64(in.Offset0)*scale, uint64(in.Offset1)*scale
		return func(w *wave) {
			// One lane after the other: they may exchange with the same place.
			exec := w.exec
			for m := exec; m != 0; m &= m - 1 {
				lane := m & -m
				addr(w, o0)
				w.ldsRead(load, &w.out[0], lane)
				addr(w, o0)
				w.ldsWrite(store, s0.get(w), lane)
				addr(w, o1)
				w.ldsRead(load, &w.out[load.regs], lane)
				addr(w, o1)
				w.ldsWrite(store, s1.get(w), lane)
			}
			w.commit(d, 2*load.regs, exec)
		}, err
	}
}

// dsConditionalExchange is ds_condxchg32: each of the two dwords at an address
// that is a multiple of 8 is replaced by the data's without its highest bit, if
// that is set. Both old values are given back.
func dsConditionalExchange(b *binder, in *gcn.Inst) (func(*wave), error) {
	addr, err := b.dsAddress(in)
	if err != nil {
		return nil, err
	}
	s, err := b.dest(&in.Data)
	if err != nil {
		return nil, err
	}
	d, err := b.dest(&in.Dst)
	imm := uint64(uint16(in.Offset))
	return func(w *wave) {
		v := s.get(w)
		addr(w, imm)
		for i := range w.offs {
			w.offs[i] &^= 7
		}
		inside := w.ldsInside(w.exec, 8)
		w.out[0], w.out[1] = Vec{}, Vec{}
		for m := inside; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			for k, x := range [2]uint32{v[i], upper(v)[i]} {
				p := mem32(w.ldsBase(), w.offs[i]+uint64(4*k))
				w.out[k][i] = *p
				if x>>31 != 0 {
					*p = x &^ (1 << 31)
				}
			}
		}
		w.commit(d, 2, w.exec)
	}, err
}

// dsCount is ds_append and ds_consume: a counter at M0 + offset grows or
// shrinks by the number of active lanes, which all get its old value.
func dsCount(sign uint32) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := b.dest(&in.Dst)
		imm := uint64(uint16(in.Offset))
		return func(w *wave) {
			at := uint64(w.S[regM0]&0xffff) + imm
			var old uint32
			if at+4 <= uint64(len(w.wg.lds)) {
				p := mem32(w.ldsBase(), at)
				old = *p
				*p += sign * uint32(bits.OnesCount64(w.exec))
			}
			for i := range w.out[0] {
				w.out[0][i] = old
			}
			w.commit(d, 1, w.exec)
		}, err
	}
}

func (w *wave) addTid(imm uint64) {
	for i := range w.offs {
		w.offs[i] = uint64(w.S[regM0]&0xffff) + imm + uint64(i)*4
	}
}

// permute defines a move between lanes by byte addresses of lanes.
func permute(f func(v, addr, out *Vec, imm, among uint32, exec uint64)) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a, err := b.dest(&in.Addr)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		imm, among := uint32(uint16(in.Offset)), uint32(WaveSize)
		if b.p.arch.Has(gcn.RDNA) {
			among = 32
		}
		return func(w *wave) {
			f(s.get(w), a.get(w), &w.out[0], imm, among, w.exec)
			w.commit(d, 1, w.exec)
		}, err
	}
}

// swizzleLane is the lane that lane i of ds_swizzle_b32 reads.
func swizzleLane(mode uint16, i int) int {
	switch {
	case mode&0xe000 == 0xe000: // FFT: the mask's bits stay, of the others come the reversed ones
		mask := uint32(mode & 31)
		j := bits.Reverse32(uint32(i))>>27>>bits.OnesCount32(mask) | uint32(i)&mask
		return i&32 | int(j)
	case mode&0xe000 == 0xc000: // rotate within 32 lanes
		n, mask := int(mode>>5&31), int(mode&31)
		if mode>>10&1 != 0 {
			n = -n
		}
		return i&32 | i&mask | (i+n)&31&^mask
	case mode&0x8000 != 0: // quad permutation
		return i&^3 | int(mode>>(2*(i&3))&3)
	}
	and, or, xor := int(mode&31), int(mode>>5&31), int(mode>>10&31)
	return i&32 | (i&and | or) ^ xor
}
