package exec

import (
	"fmt"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar access to scratch: a register's offset counts 64 times, as the lanes'
// segments are interleaved. The base is the wave's scratch (FLAT_SCRATCH) or an
// address in memory.

// scalarScratch is the memory of n bytes at an address that may be in the
// wave's own scratch.
func (w *wave) scalarScratch(addr, n uint64, write bool) unsafe.Pointer {
	if off := addr - scratchWindow; addr&scratchWindow != 0 {
		if size := uint64(len(w.scratch)); n > size || off > size-n {
			panic(&Fault{Kind: ScratchFault, Addr: off, Lane: -1, Detail: fmt.Sprintf("the wave's scratch has %d bytes", size)})
		}
		return unsafe.Pointer(&w.scratch[off])
	}
	if write {
		return w.mem.checkWrite(addr, n)
	}
	return w.mem.check(addr, n)
}

func smemScratch(n int, write bool) handler {
	return func(b *binder, in *gcn.Inst) (func(*wave), error) {
		o := &in.Dst
		if write {
			o = &in.Data
		}
		r, err := sdst(o, n)
		if err != nil {
			return nil, err
		}
		soff, err := scalar(&in.SOffset)
		if err != nil {
			return nil, err
		}
		imm, size := uint64(int64(in.Offset)), uint64(n)*4
		base, err := sbase(&in.Base)
		return func(w *wave) {
			p := w.scalarScratch(base(w)+(imm+uint64(soff.get(w))*WaveSize)&^3, size, write)
			mem, regs := unsafe.Slice((*uint32)(p), n), w.S[r:int(r)+n]
			if write {
				copy(mem, regs)
				w.stats.WriteBytes += size
			} else {
				copy(regs, mem)
				w.stats.ReadBytes += size
			}
		}, err
	}
}

var _ = define(func() {
	for n, suffix := range map[int]string{1: "", 2: "x2", 4: "x4"} {
		on("s_scratch_load_dword"+suffix, smemScratch(n, false))
		on("s_scratch_store_dword"+suffix, smemScratch(n, true))
	}
})
