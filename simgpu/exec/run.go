package exec

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// stopCheck is how many blocks a wave executes between looks at the stop flag.
const stopCheck = 256

// run executes the wave for a time slice, of slice×stopCheck blocks or machine
// code that has filled the tally slice times, and says why it stopped. Faults are
// panics; see guard.
func (w *wave) run(slice int, stop *atomic.Bool) status {
	b, heat := w.blk, w.d.Program.options.TranslateAfter
	if w.watched != nil {
		heat = 0 // nothing is translated: machine code does what nobody watches
	}
	if w.left != 0 {
		if b = w.nativeLeft(); b == nil {
			return w.status
		}
		w.blk = b
	}
	for range slice {
		if stop.Load() {
			return running
		}
		for range stopCheck {
			e := b.entry.Load()
			if e != nil && heat > 0 && w.d.Program.refit(b, w, e) {
				continue
			}
			if e != nil && e.suits(w) {
				if b = w.native(e); b == nil {
					return w.status
				}
				w.blk = b
				if w.tally.high == 0 { // it was full: that was many instructions
					break
				}
				continue
			}
			if int(b.heat.Load()) < heat && w.d.Program.warm(b, w) {
				continue
			}
			w.setExec()
			w.ldsOwner, w.chain.other = nil, 1
			if b.needV > len(w.V) || b.needA > len(w.A) {
				w.registers(b)
			}
			if p := w.d.Program.options.Profile; p != nil {
				p.execute(w, b, 0, len(b.ops), b.why(w, heat))
			} else {
				w.execute(b.ops)
			}
			w.tally.add(b, w.exec)
			if w.tally.full() {
				w.flushTally()
			}
			next := b.term(w, b)
			if next == nil {
				return w.status
			}
			w.blk = next
			b = next
		}
		if w.spins(b) {
			return spinning
		}
	}
	return running
}

// why says for what reason functions execute the block.
func (b *block) why(w *wave, heat int) byFunction {
	switch e := b.entry.Load(); {
	case e != nil && e.fits(w):
		return otherMode
	case e != nil:
		return coldBlock
	case w.watched == nil && heat > 0 && int(b.heat.Load()) < heat:
		return coldBlock
	}
	return wholeBlock
}

// execute runs the instructions of a block. It stands alone because what the
// caller keeps in registers would be saved around each of the calls.
//
//go:noinline
func (w *wave) execute(ops []func(*wave)) {
	for i, op := range ops {
		w.idx = i
		op(w)
	}
	w.idx = len(ops)
}

func (w *wave) registers(b *block) {
	w.idx = 0
	panic(&Fault{Kind: RegisterFault, Lane: -1,
		Detail: fmt.Sprintf("the block at %#x uses %d vector and %d accumulation registers, the kernel asked for %d and %d",
			b.pc, b.needV, b.needA, len(w.V), len(w.A))})
}

// pause makes the wave stop here and go on with block next later.
func (w *wave) pause(s status, next *block) *block {
	w.status = s
	w.blk = next
	return nil
}

// faultAddr returns the address of a page fault that was recovered.
func faultAddr(e any) (uint64, bool) {
	err, ok := e.(runtime.Error)
	if !ok {
		return 0, false
	}
	a, ok := err.(interface{ Addr() uintptr })
	if !ok {
		return 0, false
	}
	return uint64(a.Addr()), true
}

// toFault turns what was recovered from executing w into a Fault.
func (w *wave) toFault(e any) *Fault {
	w.settle()
	w.flushTally()
	if w.accessing != 0 {
		if again := w.again(); again != nil {
			e = again
		}
	}
	f, ok := e.(*Fault)
	if !ok {
		if addr, isFault := faultAddr(e); isFault {
			f = &Fault{Kind: MemoryFault, Addr: addr, Lane: -1, Detail: "memory is not allocated"}
			for i, off := range w.offs {
				if a := w.mem.Base + off; w.exec>>i&1 != 0 && a <= addr && addr-a < 16 {
					f.Lane = i
					break
				}
			}
		} else {
			f = &Fault{Kind: InternalFault, Lane: -1, Detail: fmt.Sprint(e)}
		}
	}
	f.Kernel = w.d.Kernel
	f.Workgroup = w.wg.id
	f.Wave = w.id
	if w.blk != nil {
		f.PC = w.pc()
		in, code, err := w.d.Program.instAt(f.PC)
		f.Bytes = code
		if err == nil {
			f.Inst = in.String()
		}
	}
	return f
}
