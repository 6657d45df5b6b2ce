package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Flat, global and scratch instructions.

// addresser computes the 64-bit addresses of all lanes, as offsets from base,
// into w.offs, and returns the active lanes whose n bytes are not inside the
// device's range.
type addresser func(w *wave, n uint64) (outside uint64)

// globalAddress binds VGPR pair + offset, or SGPR pair + 32-bit VGPR + offset.
func (b *binder) globalAddress(in *gcn.Inst) (addresser, error) {
	imm := uint64(int64(in.Offset))
	b.need(&in.Addr)
	if in.Addr.Kind != gcn.VGPR {
		return nil, &badOperand{in.Addr}
	}
	r := in.Addr.Index
	if in.Base.Kind == gcn.SGPR {
		base, err := scalar64(&in.Base)
		return func(w *wave, n uint64) uint64 {
			v, limit, m := &w.V[r], w.mem.Size-n, uint64(0)
			start := base.get(w) + imm - w.mem.Base
			for i := range v {
				off := start + uint64(v[i])
				w.offs[i] = off
				m = top(m, off|(limit-off))
			}
			return m & w.exec
		}, err
	}
	return func(w *wave, n uint64) uint64 {
		lo, hi := &w.V[r], &w.V[r+1]
		limit, m, start := w.mem.Size-n, uint64(0), imm-w.mem.Base
		for i := range lo {
			off := start + (uint64(lo[i]) | uint64(hi[i])<<32)
			w.offs[i] = off
			m = top(m, off|(limit-off))
		}
		return m & w.exec
	}, nil
}

// outside stops the wave: the first of the lanes is not in device memory.
func (w *wave) outside(lanes uint64) {
	i := bits.TrailingZeros64(lanes) & 63
	panic(&Fault{Kind: MemoryFault, Addr: w.mem.Base + w.offs[i], Lane: i, Detail: "address is not in device memory"})
}

// spaces splits lanes of flat addresses that are not in device memory: those
// in the LDS and those in the scratch aperture. Their offsets become relative
// to it. Lanes that are nowhere stop the wave.
func (w *wave) spaces(lanes uint64) (lds, scratch uint64) {
	var lost uint64
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		addr := w.mem.Base + w.offs[i]
		switch addr >> 32 {
		case sharedBase >> 32:
			lds |= 1 << i
		case privateBase >> 32:
			scratch |= 1 << i
		default:
			lost |= 1 << i
			continue
		}
		w.offs[i] = addr & 0xffffffff
	}
	if lost != 0 {
		w.outside(lost)
	}
	return lds, scratch
}

func flatLoad(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		a := b.loads(a)
		if in.LDS {
			return ldsLoad(a, b, in)
		}
		addr, err := b.globalAddress(in)
		if err != nil {
			return nil, err
		}
		d, err := b.dest(&in.Dst)
		flat := in.Enc == gcn.FLAT
		return func(w *wave) {
			out := w.foreign(addr(w, a.size), a.size)
			if out == 0 {
				a.load(w.mem.base, &w.offs, d.get(w), w.exec)
			} else {
				if !flat {
					w.outside(out)
				}
				lds, scratch := w.spaces(out)
				if in := w.exec &^ out; in != 0 {
					a.load(w.mem.base, &w.offs, d.get(w), in)
				}
				w.ldsRead(a, d.get(w), lds)
				w.scratchRead(a, d.get(w), scratch)
			}
			w.stats.ReadBytes += a.size * uint64(bits.OnesCount64(w.exec&^out))
		}, err
	}
}

func flatStore(a *access) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		addr, err := b.globalAddress(in)
		if err != nil {
			return nil, err
		}
		s, err := b.dest(&in.Data)
		flat := in.Enc == gcn.FLAT
		return func(w *wave) {
			out := w.foreign(addr(w, a.size), a.size)
			if out == 0 {
				w.writable(w.exec, a.size)
				a.store(w.mem.base, &w.offs, s.get(w), w.exec)
			} else {
				if !flat {
					w.outside(out)
				}
				lds, scratch := w.spaces(out)
				if in := w.exec &^ out; in != 0 {
					w.writable(in, a.size)
					a.store(w.mem.base, &w.offs, s.get(w), in)
				}
				w.ldsWrite(a, s.get(w), lds)
				w.scratchWrite(a, s.get(w), scratch)
			}
			w.stats.WriteBytes += a.size * uint64(bits.OnesCount64(w.exec&^out))
		}, err
	}
}

// ldsLoad is a global load whose data goes to the LDS.
func ldsLoad(a *access, b *binder, in *gcn.Inst) (func(*wave), error) {
	addr, err := b.globalAddress(in)
	at := uint64(int64(in.Offset))
	return func(w *wave) {
		if out := w.foreign(addr(w, a.size), a.size); out != 0 {
			w.outside(out)
		}
		a.load(w.mem.base, &w.offs, &w.out[0], w.exec)
		w.toLDS(a, &w.out[0], at)
		w.stats.ReadBytes += a.size * uint64(bits.OnesCount64(w.exec))
	}, err
}

// ldsPlaces are the lanes' places in the LDS for instructions that move data
// between it and memory: M0 + the instruction's offset + 4 × lane, or 16 × lane where a
// lane has more than a dword. The offset counts for both. Where the LDS is larger than
// 64 KiB, M0 has two bits more.
func (w *wave) ldsPlaces(at, size uint64) {
	start, step := w.S[regM0]&w.d.ldsMask()+uint32(at), uint32(4)
	if size > 4 {
		step = 16
	}
	for i := range w.offs {
		w.offs[i] = uint64(start + uint32(i)*step)
	}
}

// ldsMask is what of M0 is an address in the LDS.
func (d *Dispatch) ldsMask() uint32 {
	if d.Program.arch.LDS() > 64<<10 {
		return 0x3ffff
	}
	return 0xffff
}

// toLDS writes there what each lane has loaded: a dword, or three or four.
func (w *wave) toLDS(a *access, v *Vec, at uint64) {
	w.ldsPlaces(at, a.size)
	w.ldsWrite(stores[[...]string{1: "dword", 3: "dwordx3", 4: "dwordx4"}[a.regs]], v, w.exec)
}

// addTid is an access at a scalar address, of a dword behind the other for each lane.
func addTid(store bool) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		base, err := scalar64(&in.Base)
		if err != nil {
			return nil, err
		}
		imm, a := uint64(int64(in.Offset)), loads["dword"]
		at := func(w *wave) {
			start := base.get(w) + imm - w.mem.Base
			for i := range w.offs {
				w.offs[i] = start + 4*uint64(i)
			}
			w.inMemory(w.exec, a.size)
		}
		if store {
			s, err := b.dest(&in.Data)
			return func(w *wave) {
				at(w)
				w.writable(w.exec, a.size)
				stores["dword"].store(w.mem.base, &w.offs, s.get(w), w.exec)
				w.stats.WriteBytes += a.size * uint64(bits.OnesCount64(w.exec))
			}, err
		}
		d, err := b.dest(&in.Dst)
		return func(w *wave) {
			at(w)
			a.load(w.mem.base, &w.offs, d.get(w), w.exec)
			w.stats.ReadBytes += a.size * uint64(bits.OnesCount64(w.exec))
		}, err
	}
}

var _ = define(func() {
	on("global_load_addtid_b32", addTid(false))
	on("global_store_addtid_b32", addTid(true))
	for name, a := range loads {
		on("flat_load_"+name, flatLoad(a))
		on("global_load_"+name, flatLoad(a))
		on("scratch_load_"+name, scratchLoad(a))
	}
	for name, a := range stores {
		on("flat_store_"+name, flatStore(a))
		on("global_store_"+name, flatStore(a))
		on("scratch_store_"+name, scratchStore(a))
	}
	for _, n := range []string{"ubyte", "sbyte", "ushort", "sshort", "dword"} {
		on("global_load_lds_"+n, flatLoad(loads[n]))
		on("scratch_load_lds_"+n, scratchLoad(loads[n]))
	}
	for _, n := range []string{"dwordx3", "dwordx4"} {
		on("global_load_lds_"+n, flatLoad(loads[n]))
	}
})
