package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar atomics: one operation of the wave, whatever EXEC is. The data
// registers receive the old value if the instruction asks for it (glc).

// scalar binds the operation on the memory that addr finds; addr gives nil for
// what lies outside of a buffer, where nothing happens and the old value is 0.
func (op *atomicOp) scalar(address func(b *binder, in *gcn.Inst, size uint64) (func(w *wave) unsafe.Pointer, error)) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		n := op.regs()
		if op.cmp {
			n *= 2
		}
		s, err := sdst(&in.Data, n)
		if err != nil {
			return nil, err
		}
		addr, err := address(b, in, op.size)
		returns := in.Cache&gcn.GLC != 0
		load := func(w *wave, r uint8) uint64 {
			if op.size == 8 {
				return w.s64(r)
			}
			return uint64(w.S[r])
		}
		return func(w *wave) {
			data, cmp, old := load(w, s), uint64(0), uint64(0)
			if op.cmp { // new value, compared value
				cmp = load(w, s+uint8(op.regs()))
			}
			if p := addr(w); p != nil {
				old = op.global(p, data, cmp)
			}
			w.stats.Atomics++
			if !returns {
				return
			}
			w.S[s] = uint32(old)
			if op.size == 8 {
				w.setS64(s, old)
			}
		}, err
	}
}

// smemAtomicAddress is where s_atomic operates.
func smemAtomicAddress(_ *binder, in *gcn.Inst, size uint64) (func(w *wave) unsafe.Pointer, error) {
	off, err := smemOffset(in)
	if err != nil {
		return nil, err
	}
	base, err := sbase(&in.Base)
	return func(w *wave) unsafe.Pointer {
		addr := base(w) + off(w)&^3
		if addr&(size-1) != 0 {
			panic(&Fault{Kind: AlignmentFault, Addr: addr, Lane: -1})
		}
		return w.mem.checkWrite(addr, size)
	}, err
}

// smemAtomicBuffer is where s_buffer_atomic operates.
func smemAtomicBuffer(_ *binder, in *gcn.Inst, size uint64) (func(w *wave) unsafe.Pointer, error) {
	base, err := sdst(&in.Base, 4)
	if err != nil {
		return nil, err
	}
	off, err := smemOffset(in)
	return func(w *wave) unsafe.Pointer {
		addr, limit := w.bufferSpan(base)
		at := off(w) &^ 3
		if limit < size || at > limit-size {
			return nil
		}
		addr = addr&^3 + at
		if addr&(size-1) != 0 {
			panic(&Fault{Kind: AlignmentFault, Addr: addr, Lane: -1})
		}
		return w.mem.checkWrite(addr, size)
	}, err
}

var _ = define(func() {
	for width, suffix := range map[int]string{32: "", 64: "_x2"} {
		for name, f := range rmwOps(width) {
			switch name {
			case "rsub", "mskor", "wrap": // the LDS alone has those
				continue
			}
			op := &atomicOp{f, uint64(width / 8), name == "cmpswap", name}
			on("s_atomic_"+name+suffix, op.scalar(smemAtomicAddress))
			on("s_buffer_atomic_"+name+suffix, op.scalar(smemAtomicBuffer))
		}
	}
	// Translations that are fetched ahead of time show nowhere here.
	on("s_atc_probe", nop)
	on("s_atc_probe_buffer", nop)
})
