//go:build linux && amd64

package exec

import (
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/cpu"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Translation of what is executed often to machine code.
//
// A block that has been executed a number of times is translated together with
// the blocks that are known to follow it, a region. What a wave is stays in its
// wave structure but for a few vector registers (see pins), which are stored where
// the code can return to Go. Go executes what was not translated with the block's
// own functions and calls the code again behind it. Addresses that are not inside the LDS or device memory
// are left to Go, too. A page of device memory that is not allocated faults in
// translated code; Go executes the instruction again then, to say what happened.
//
// What is not translated: what is rare. Floating-point modes other than the usual one
// are executed by Go.

// hasAVX512: the processor has all that is emitted where it is not lowered to AVX2.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512CD

// useNative is off where the processor lacks the instructions, and in tests.
var useNative = (hasAVX512 || cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C) && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// hasPopcnt: bits of vectors can be counted.
var hasPopcnt = cpu.X86.HasAVX512VPOPCNTDQ || !hasAVX512

// useHalves: there is arithmetic on f16. Tests set it.
var useHalves = hasAVX512 && cpuid.CPU.Supports(cpuid.AVX512FP16)

// hasByteTables: the processor permutes the bytes of two vectors.
var hasByteTables = hasAVX512 && cpu.X86.HasAVX512VBMI

const (
	regionBlocks = 64   // of a region
	regionInsts  = 4096 // likewise
)

// callNative calls translated code. What happens when that faults rests on what
// the Go runtime does with a signal whose program counter is not Go's (sighandler
// and preparePanic of runtime/signal_unix.go and signal_amd64.go):
//
//   - a SIGSEGV or SIGBUS becomes a panic of the goroutine, not the end of the
//     process, as debug.SetPanicOnFault asks for. The panic is given the caller of
//     the code as the place where it happened, because the word at the top of the
//     stack is an address of Go's and the program counter is none: so translated
//     code must leave the stack pointer as it found it, with the return address
//     at the top;
//   - the panic's value has the address (an Addr method);
//   - a SIGURG that wants to preempt, or a SIGPROF, finds no Go function and
//     returns: so code must come back now and then by itself, which the tally
//     sees to, and the garbage collector waits that long.
//
// No interface of Go promises the first. TestFaultsInMachineCode holds it, and
// names the versions of Go that were looked at.
//
// It returns the number of an exit, of the region of the wave that executes by then: w, unless
// waves meet; see waveMeet.
func callNative(code uintptr, w *wave) (exit uint64, now uintptr)

// nativeEntry is where a block begins in translated code.
type nativeEntry struct {
	r  *region
	at uintptr
}

// region is what was translated together.
type region struct {
	at     extent      // of the arena
	gone   atomic.Bool // it is not entered any more
	begin  uintptr     // where its first block begins
	blocks []*block    // whose code it is

	needV, needA int
	pinned       int  // vector registers
	turns        int  // instructions in strips
	folded       int  // instructions whose results are known
	few          int  // blocks with code for few lanes
	affine       int  // accesses at affine addresses
	affineTurns  int  // ways to loops whose roots are known
	f32, f64     bool // has arithmetic that MODE matters for
	dx10         bool // clamps, so NaN has to become 0
	matrix       bool // has matrix instructions, whose results MODE can limit
	modal        bool // of which some have denormals as MODE says
	exits        []nativeExit
}

// nativeExit is why translated code returned.
type nativeExit struct {
	kind     exitKind
	blk      *block
	from, to int // instructions of blk that Go executes, exitOps
	why      byFunction
	affine   []affineStale // registers that are written before, exitOps
	resume   uintptr       // where the code goes on after them
}

type exitKind uint8

const (
	exitOps   exitKind = iota
	exitTerm           // Go executes what ends the block
	exitNext           // the following block is not in the region
	exitTaken          // the branch target is not
	exitTally          // the tally is full; the block has not begun
)

// suits reports whether the wave can execute the region, fits whether it has the registers.
func (e *nativeEntry) suits(w *wave) bool { return e.r.suits(w) }
func (e *nativeEntry) fits(w *wave) bool  { return e.r.fits(w) }

func (r *region) suits(w *wave) bool {
	return r.fits(w) && !(r.f32 && w.fp.slow32) && !(r.f64 && w.fp.slow64) && !(r.dx10 && !w.fp.dx10) &&
		!(r.matrix && w.fp.ovfl16) && !(r.modal && w.fp.flushIn32) && useNative
}

// fits reports whether the wave has the region's registers.
func (r *region) fits(w *wave) bool { return r.needV <= len(w.V) && r.needA <= len(w.A) }

// toNative makes the wave ready to execute translated code of e.
func (w *wave) toNative(e *nativeEntry) {
	lds := w.wg.lds
	w.ldsAt, w.ldsLen = unsafe.Pointer(unsafe.SliceData(lds)), uint32(min(len(lds), 1<<30))
	w.scratchAt, w.scratchLen = unsafe.Pointer(unsafe.SliceData(w.scratch)), uint32(len(w.scratch)/WaveSize)
	if w.tally.full() {
		w.flushTally()
	}
	w.region = e.r
	if e.r != w.chain.region {
		w.chain.other = 1
	}
	if w.ldsOwner != e.r {
		w.ldsOwner = e.r
		clear(w.ldsKind[:ldsKept])
	}
}

// native executes translated code from e on. It returns the block to go on
// with, nil if the wave stops.
func (w *wave) native(e *nativeEntry) *block {
	w.toNative(e)
	return w.nativeFrom(e.at)
}

// nativeFrom is native from an address of the wave's region on.
func (w *wave) nativeFrom(at uintptr) *block {
	for {
		id, now := callNative(at, w)
		w.settle()
		if o := w.wg.part(w, now); o != w {
			o.left = uint32(id) + 1
			return nil
		}
		next, resume := w.leave(id)
		if resume == 0 {
			return next
		}
		at = resume
	}
}

// nativeLeft is native for a wave that translated code left while Go executed another one.
func (w *wave) nativeLeft() *block {
	id := uint64(w.left - 1)
	w.left = 0
	next, resume := w.leave(id)
	if resume == 0 {
		return next
	}
	if w.region.gone.Load() { // since then; there may be something else at resume
		return w.rest(w.blk, w.region.exits[id].to)
	}
	return w.nativeFrom(resume)
}

// leave does what translated code returned for. It returns the block to go on with, nil
// if the wave stops, or where in the code that is.
func (w *wave) leave(id uint64) (next *block, resume uintptr) {
	x := &w.region.exits[id]
	w.accessing = 0
	w.blk = x.blk
	switch x.kind {
	case exitOps:
		w.setExec()
		x.made(w)
		if p := w.d.Program.options.Profile; p != nil {
			p.execute(w, x.blk, x.from, x.to, x.why)
		} else {
			for i := x.from; i < x.to; i++ {
				w.idx = i
				x.blk.ops[i](w)
			}
		}
		if !w.region.suits(w) { // MODE has changed
			return w.rest(x.blk, x.to), 0
		}
		return nil, x.resume
	case exitTerm:
		if p := w.d.Program.options.Profile; p != nil {
			began := time.Now()
			next = x.blk.term(w, x.blk)
			p.count(w.d.Program, x.blk, len(x.blk.ops), notTranslated, time.Since(began))
			return next, 0
		}
		return x.blk.term(w, x.blk), 0
	case exitNext:
		return w.d.Program.following(x.blk), 0
	case exitTaken:
		return w.d.Program.branchTo(x.blk), 0
	}
	w.flushTally()
	return x.blk, 0
}

// again executes the instruction that faulted in translated code with its own
// function, and returns what that panics with.
func (w *wave) again() (e any) {
	x := &w.region.exits[w.accessing-1]
	w.accessing = 0
	w.blk, w.idx = x.blk, x.from
	defer func() { e = recover() }()
	w.setExec()
	x.made(w)
	x.blk.ops[x.from](w)
	return nil
}

// rest executes a block from instruction i on.
func (w *wave) rest(b *block, i int) *block {
	w.ldsOwner = nil
	for ; i < len(b.ops); i++ {
		w.idx = i
		b.ops[i](w)
	}
	return b.term(w, b)
}

// warm counts that w executes b, and translates it when that is worth it. It
// reports whether there is machine code now.
func (p *Program) warm(b *block, w *wave) bool {
	if int(b.heat.Add(1)) != p.options.TranslateAfter || !useNative {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.entry.Load() == nil && !b.dead.Load() && p.roomForCode() {
		p.translate(b, len(w.V), len(w.A))
	}
	if p.native.full { // it will not be
		b.heat.Store(0)
	}
	return b.entry.Load() != nil
}

// refit translates b anew if its code is of a region with more registers than w has: functions are executed by kernels of several sizes, and
// the first one's region goes on to what only that executes. It reports whether there is other code now, which fits both.
func (p *Program) refit(b *block, w *wave, e *nativeEntry) bool {
	if e.fits(w) || b.needV > len(w.V) || b.needA > len(w.A) || !useNative || int(b.heat.Add(1))%p.options.TranslateAfter != 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.entry.Load() == e && !b.dead.Load() && p.roomForCode() {
		p.translate(b, len(w.V), len(w.A))
	}
	return b.entry.Load() != e
}

// after are the blocks that may follow b and that it may branch to, as far as they are known. Where
// everything is translated at once they are made known, and always an end of the program: what nobody knows of may read
// every register.
func (p *Program) after(b *block, ins []gcn.Inst) [2]*block {
	name := ""
	if len(b.at) > len(b.ops) {
		name = ins[len(b.ops)].Op.String()
	}
	if _, branches := nativeBranches[name]; branches && b.target.Load() == nil {
		if in, _, err := p.instAt(b.targetPC); err == nil && in.Op == gcn.S_ENDPGM {
			link(&b.target, p.made(b.targetPC))
		}
	}
	if p.options.TranslateAfter == 1 {
		_, branches := nativeBranches[name]
		if name == "" || name == "s_barrier" || branches {
			link(&b.next, p.made(b.end))
		}
		if name == "s_branch" || branches {
			link(&b.target, p.made(b.targetPC))
		}
	}
	return [2]*block{b.next.Load(), b.target.Load()}
}

// keepPanics has those of the translator not be recovered. Tests set it.
var keepPanics bool

// generated is the code of a region. It is false if some form has what the one that was tried has not, or if the translator fails: then functions
// execute what it was for, as they do everything at first, and the log says it.
func (p *Program) generated(g *nativeGen, head *block) (code []byte, ok bool) {
	if !keepPanics {
		defer func() {
			e := recover()
			if e == nil {
				return
			}
			if code, ok = nil, false; !p.native.failed { // once is enough to find out why
				p.native.failed = true
				p.options.Logf("the translator failed for the code at %#x, which is slow therefore, and nothing else: %v\n%s", head.pc, e, debug.Stack())
			}
		}()
	}
	code = g.generate()
	return code, !g.a.Missing()
}

// translate makes a region that begins with head, of blocks that use no more registers than v vector and a accumulation registers. mu is held.
func (p *Program) translate(head *block, v, a int) {
	g := &nativeGen{p: p, r: &region{}, starts: map[*block]x64.Label{}, rings: map[int32]x64.Label{}, afresh: map[bool]x64.Label{}}
	queue, insts := []*block{head}, 0
	for i := 0; i < len(queue); i++ {
		b := queue[i]
		ins, ok := p.instructions(b)
		if insts += len(ins); !ok || i > 0 && insts > regionInsts {
			if i == 0 {
				return
			}
			continue
		}
		following := p.after(b, ins)
		nb := nativeBlock{b: b, ins: ins, next: following[0], target: following[1]}
		g.blocks = append(g.blocks, nb)
		g.starts[b] = g.a.Label()
		for _, n := range following {
			if n == nil || n.dead.Load() || n.needV > v || n.needA > a || len(queue) == regionBlocks {
				continue
			}
			if !slices.Contains(queue, n) {
				queue = append(queue, n)
			}
		}
	}
	g.lower()
	code, ok := p.generated(g, head)
	if !ok {
		p.untranslated.Add(1)
		return
	}
	at, base, ok := p.put(code)
	if !ok {
		return
	}
	g.r.at = at
	for i := range g.r.exits {
		if l := g.resumes[i]; l >= 0 {
			g.r.exits[i].resume = base + uintptr(g.a.Offset(l))
		}
	}
	for i, b := range g.blocks {
		g.r.blocks = append(g.r.blocks, b.b)
		b.b.regions = append(b.b.regions, g.r)
		if i == 0 {
			g.r.begin = base + uintptr(g.a.Offset(g.entries[i]))
		}
		if i == 0 || b.b.entry.Load() == nil {
			b.b.entry.Store(&nativeEntry{g.r, base + uintptr(g.a.Offset(g.entries[i]))})
		}
	}
	for _, b := range g.around[len(g.blocks):] { // if they change, other registers may matter
		g.r.blocks = append(g.r.blocks, b.b)
		b.b.regions = append(b.b.regions, g.r)
	}
}

// instructions decodes the instructions of a block again, its end included. It
// is false for blocks that cannot be translated.
func (p *Program) instructions(b *block) ([]gcn.Inst, bool) {
	if b.unusual {
		return nil, false
	}
	ins := make([]gcn.Inst, len(b.at))
	for i, at := range b.at {
		in, _, err := p.instAt(b.pc + uint64(at)*4)
		if err != nil {
			return nil, false
		}
		ins[i] = in
	}
	return ins, nameRelative(ins)
}

// nativeBlock is a block of a region.
type nativeBlock struct {
	b            *block
	ins          []gcn.Inst
	can          []bool // which of them can be translated
	next, target *block // as far as they were known when the region was chosen; of those around it, all
	known        bool   // of those around it: that is all that may follow
}

// Where things lie in a wave.
var (
	waveS        = int(unsafe.Offsetof(wave{}.S))
	waveV        = int(unsafe.Offsetof(wave{}.bases)) + int(inV)*8
	waveSlots    = int(unsafe.Offsetof(wave{}.slots))
	waveA        = int(unsafe.Offsetof(wave{}.bases)) + int(inA)*8
	waveLDS      = int(unsafe.Offsetof(wave{}.ldsAt))
	waveLen      = int(unsafe.Offsetof(wave{}.ldsLen))
	waveAccess   = int(unsafe.Offsetof(wave{}.accessing))
	waveMode     = int(unsafe.Offsetof(wave{}.mode))
	wavePriority = int(unsafe.Offsetof(wave{}.priority))
	waveRead     = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.ReadBytes))
	waveWrite    = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.WriteBytes))
	waveTally    = waveHigh + 6 // instructions of all classes
	waveLow      = int(unsafe.Offsetof(wave{}.tally) + unsafe.Offsetof(tally{}.low))
	waveHigh     = int(unsafe.Offsetof(wave{}.tally) + unsafe.Offsetof(tally{}.high))
	waveLanes    = int(unsafe.Offsetof(wave{}.tally) + unsafe.Offsetof(tally{}.lanes))
)
