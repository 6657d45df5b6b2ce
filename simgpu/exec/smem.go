package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar memory: s_load, s_store, s_buffer_load, s_buffer_store.

// check panics if the n bytes at addr are not inside the device's range.
func (m *Memory) check(addr, n uint64) unsafe.Pointer {
	if !m.Contains(addr, n) {
		panic(&Fault{Kind: MemoryFault, Addr: addr, Lane: -1, Detail: "address is not in device memory"})
	}
	return m.at(addr)
}

// checkWrite is check for a store.
func (m *Memory) checkWrite(addr, n uint64) unsafe.Pointer {
	p := m.check(addr, n)
	if m.inReadOnly(addr, n) {
		panic(&Fault{Kind: MemoryFault, Addr: addr, Lane: -1, Detail: "memory is read-only for this device"})
	}
	return p
}

// smemOffset binds the sum of the offsets of a scalar memory instruction.
func smemOffset(in *gcn.Inst) (func(w *wave) uint64, error) {
	s, err := scalar(&in.SOffset)
	if err != nil {
		return nil, err
	}
	imm := uint64(int64(in.Offset))
	if in.SOffset.Kind == gcn.None || in.SOffset.Kind == gcn.Off {
		return func(*wave) uint64 { return imm }, nil
	}
	return func(w *wave) uint64 { return imm + uint64(s.get(w)) }, nil
}

// sbase binds the address in a register pair.
func sbase(o *gcn.Operand) (func(w *wave) uint64, error) {
	s, err := scalar64(o)
	return func(w *wave) uint64 { return s.get(w) &^ 3 }, err
}

func smemLoad(n int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := sdst(&in.Dst, n)
		if err != nil {
			return nil, err
		}
		off, err := smemOffset(in)
		if err != nil {
			return nil, err
		}
		base, err := sbase(&in.Base)
		size := uint64(n) * 4
		return func(w *wave) {
			p := w.mem.check(base(w)+off(w)&^3, size)
			copy(w.S[d:int(d)+n], unsafe.Slice((*uint32)(p), n))
			w.stats.ReadBytes += size
		}, err
	}
}

func smemStore(n int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := sdst(&in.Data, n)
		if err != nil {
			return nil, err
		}
		off, err := smemOffset(in)
		if err != nil {
			return nil, err
		}
		base, err := sbase(&in.Base)
		size := uint64(n) * 4
		return func(w *wave) {
			p := w.mem.checkWrite(base(w)+off(w)&^3, size)
			copy(unsafe.Slice((*uint32)(p), n), w.S[s:int(s)+n])
			w.stats.WriteBytes += size
		}, err
	}
}

// bufferSpan is what the V# at register base describes for scalar access: its
// first byte and its size.
func (w *wave) bufferSpan(base uint8) (addr, size uint64) {
	addr = w.s64(base) & (1<<48 - 1)
	stride := uint64(w.S[base+1] >> 16 & 0x3fff)
	size = uint64(w.S[base+2])
	if stride != 0 {
		size *= stride
	}
	return addr, size
}

func smemBufferLoad(n int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := sdst(&in.Dst, n)
		if err != nil {
			return nil, err
		}
		base, err := sdst(&in.Base, 4)
		if err != nil {
			return nil, err
		}
		off, err := smemOffset(in)
		return func(w *wave) {
			addr, size := w.bufferSpan(base)
			o := off(w) &^ 3
			var v [16]uint32 // the destination may overlap the descriptor
			for i := range n {
				// What lies outside the buffer reads 0.
				if at := o + uint64(i)*4; at+4 <= size {
					v[i] = *(*uint32)(w.mem.check(addr&^3+at, 4))
				}
			}
			copy(w.S[d:int(d)+n], v[:n])
			w.stats.ReadBytes += uint64(n) * 4
		}, err
	}
}

func smemBufferStore(n int) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := sdst(&in.Data, n)
		if err != nil {
			return nil, err
		}
		base, err := sdst(&in.Base, 4)
		if err != nil {
			return nil, err
		}
		off, err := smemOffset(in)
		return func(w *wave) {
			addr, size := w.bufferSpan(base)
			o := off(w) &^ 3
			for i := range n {
				if at := o + uint64(i)*4; at+4 <= size {
					*(*uint32)(w.mem.checkWrite(addr&^3+at, 4)) = w.S[int(s)+i]
				}
			}
			w.stats.WriteBytes += uint64(n) * 4
		}, err
	}
}

var _ = define(func() {
	for n, suffix := range map[int]string{1: "", 2: "x2", 4: "x4", 8: "x8", 16: "x16"} {
		on("s_load_dword"+suffix, smemLoad(n))
		on("s_buffer_load_dword"+suffix, smemBufferLoad(n))
		if n <= 4 {
			on("s_store_dword"+suffix, smemStore(n))
			on("s_buffer_store_dword"+suffix, smemBufferStore(n))
		}
	}
	on("s_dcache_discard", nop)
	on("s_dcache_discard_x2", nop)
})
