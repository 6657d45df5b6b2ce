package exec

import (
	"maps"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Program is the executable form of the code in a Memory. It decodes what a
// wave reaches, block by block, and keeps it until it is invalidated. Safe for
// concurrent use.
type Program struct {
	arch gcn.Arch
	mem  *Memory

	blocks sync.Map // uint64 address of the first instruction, or wayKey → *block

	mu     sync.Mutex // one block is decoded at a time
	kept   int        // cost of the blocks
	most   int        // that may be kept
	drops  int        // times they were dropped, to have room
	consts map[uint64]*[2]Vec
	waits  map[uint64]spaces // by address: s_waitcnt that waves may give way at, for loads from there
	native nativeCode
	wide   atomic.Pointer[Program] // of the kernels that have waves of 64 lanes, where those read code in another way; nil: there have been none

	options      Options
	epochs       epochs // of turns that execute code of the program
	untranslated atomic.Uint64
	watch        *watch // nil: nobody watches what instructions do
}

// NewProgram makes an empty program over the code in mem.
func NewProgram(arch gcn.Arch, mem *Memory, o Options) *Program {
	ready()
	o.complete()
	return &Program{arch: arch, mem: mem, most: mostKept, consts: map[uint64]*[2]Vec{}, waits: map[uint64]spaces{}, options: o}
}

// Untranslated is how often code was executed often enough to be translated and
// was not, because there was no memory for machine code, the system grants
// none that can be executed, or the translator failed. It is right all the same, but slow.
func (p *Program) Untranslated() uint64 {
	n := p.untranslated.Load()
	if w := p.wide.Load(); w != nil {
		n += w.untranslated.Load()
	}
	return n
}

// forWaves is the program of a kernel: on RDNA the waves that it is compiled for decide what instructions mean.
func (p *Program) forWaves(desc *Descriptor) *Program {
	if p == nil || desc.Properties&propWave32 != 0 || p.arch.Wave64() == p.arch {
		return p
	}
	if w := p.wide.Load(); w != nil {
		return w
	}
	w := NewProgram(p.arch.Wave64(), p.mem, p.options)
	w.watch = p.watch
	if !p.wide.CompareAndSwap(nil, w) { // somebody else was faster
		return p.wide.Load()
	}
	return w
}

// Arch is the instruction set of the program.
func (p *Program) Arch() gcn.Arch { return p.arch }

// Memory is the device memory of the program.
func (p *Program) Memory() *Memory { return p.mem }

// Invalidate forgets the code in [addr, addr+size). Call it before that memory
// holds something else, and when no dispatch executes it.
func (p *Program) Invalidate(addr, size uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.wide.Load(); w != nil {
		w.Invalidate(addr, size)
	}
	p.drop(func(b *block) bool { return b.end > addr && b.pc-addr < size || b.pc < addr && b.end > addr })
	maps.DeleteFunc(p.waits, func(pc uint64, _ spaces) bool { return pc-addr < size })
	p.watch.forget(addr, size)
}

// drop forgets blocks, and cuts what leads to them from blocks of either kind: waves that are in one go on in it, and from there to new ones. mu is held.
func (p *Program) drop(which func(*block) bool) {
	p.blocks.Range(func(_, v any) bool {
		if b := v.(*block); which(b) {
			b.dead.Store(true)
		}
		return true
	})
	p.blocks.Range(func(k, v any) bool {
		b := v.(*block)
		for _, to := range []*atomic.Pointer[block]{&b.next, &b.target} {
			if n := to.Load(); n != nil && n.dead.Load() {
				to.Store(nil)
			}
		}
		if b.dead.Load() {
			p.blocks.Delete(k)
			p.kept -= b.cost
			p.forget(b)
		}
		return true
	})
	p.reclaim()
	clear(p.consts) // those in use are in their blocks
}

// block is a run of instructions that is entered at its first and left after
// its last one, and in which EXEC does not change.
type block struct {
	pc, end uint64                         // addresses of its first instruction and after its last
	ops     []func(*wave)                  // what the instructions do
	at      []uint16                       // distance of each instruction from pc, in dwords
	term    func(w *wave, b *block) *block // what comes next; nil result: the wave stops, w.status says why
	counts  [NumClasses]uint32
	tallied tallied // counts, for tally

	needV, needA int // registers used

	next, target atomic.Pointer[block] // found when first wanted
	targetPC     uint64
	dead         atomic.Bool // invalidated
	begins       atomic.Bool // a kernel or a function does with it, and it is known where its waves give way
	gives        spaces      // ends with a wait that a wave may give way at, for loads from there
	unusual      bool        // begins or ends in a way that is not the usual one
	cost         int         // instructions, and as many as its constants take

	heat    atomic.Int32 // times it was executed before it was translated
	entry   atomic.Pointer[nativeEntry]
	regions []*region // that have its code; the program's lock holds them
}

// pcOf is the address of instruction i, and of the block if it has no such one.
func (b *block) pcOf(i int) uint64 {
	if i < len(b.at) {
		return b.pc + 4*uint64(b.at[i])
	}
	return b.pc
}

const maxBlock = 512 // instructions

// mostKept is how many decoded instructions a program keeps, of about 100 bytes each, and those of one region more: more than most programs execute.
const mostKept = 1 << 20

// constantCost is a constant's, in instructions.
const constantCost = 5

// block returns the block at pc, decoding it if need be. It must be called on a
// goroutine that panics on faults.
func (p *Program) block(pc uint64) *block {
	if b, ok := p.blocks.Load(pc); ok {
		return b.(*block)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.makeRoom()
	return p.made(pc)
}

// beginning is the block that a kernel begins with, or a function that one calls.
func (p *Program) beginning(pc uint64, function bool) *block {
	if b, ok := p.blocks.Load(pc); ok && b.(*block).begins.Load() {
		return b.(*block)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.makeRoom()
	p.findWaits(pc, function)
	b := p.made(pc)
	b.begins.Store(true)
	return b
}

// made is block for who has the lock.
func (p *Program) made(pc uint64) *block {
	if b, ok := p.blocks.Load(pc); ok {
		return b.(*block)
	}
	return p.keep(pc, p.decode(pc, 0))
}

// keep keeps a block that has been decoded. mu is held.
func (p *Program) keep(key any, b *block) *block {
	b.tallied = tallyOf(&b.counts)
	b.cost += len(b.ops) + 1
	p.kept += b.cost
	p.blocks.Store(key, b)
	return b
}

// makeRoom drops all blocks when they are as many as may be kept: those that are still executed are decoded again.
// mu is held, by who holds no block that it will make others of.
func (p *Program) makeRoom() {
	if p.kept < p.most {
		return
	}
	p.drop(func(*block) bool { return true })
	p.drops++
}

// link remembers the block after another, or that a dispatch begins with, unless that has been dropped.
func link(at *atomic.Pointer[block], n *block) *block {
	at.Store(n)
	if n.dead.Load() { // who dropped it may have looked for what leads there before it did
		at.Store(nil)
	}
	return n
}

// following is the block after b.
func (p *Program) following(b *block) *block {
	if n := b.next.Load(); n != nil {
		return n
	}
	return link(&b.next, p.block(b.end))
}

// branchTo is the block at b's branch target.
func (p *Program) branchTo(b *block) *block {
	if n := b.target.Load(); n != nil {
		return n
	}
	return link(&b.target, p.block(b.targetPC))
}

// fetch reads up to four instruction words, as many as an instruction has at most, at pc and says how many there are.
func (p *Program) fetch(pc uint64) (words [4]uint32, n int) {
	defer func() {
		// A page after the last readable one: the words before it count.
		if e := recover(); e != nil {
			if _, ok := faultAddr(e); !ok {
				panic(e)
			}
		}
	}()
	for n < len(words) && p.mem.Contains(pc+uint64(n)*4, 4) {
		words[n] = *(*uint32)(p.mem.at(pc + uint64(n)*4))
		n++
	}
	return words, n
}

// instAt decodes the instruction at pc.
func (p *Program) instAt(pc uint64) (gcn.Inst, []byte, error) {
	words, n := p.fetch(pc)
	if n == 0 || pc&3 != 0 {
		return gcn.Inst{}, nil, &Fault{Kind: MemoryFault, Addr: pc, Lane: -1, Detail: "instruction fetch"}
	}
	code := unsafe.Slice((*byte)(unsafe.Pointer(&words)), n*4)
	in, err := gcn.Decode(p.arch, code, 0)
	if err != nil {
		return gcn.Inst{}, append([]byte(nil), code[:min(8, len(code))]...), err
	}
	in.PC = pc
	if in.Dual != nil {
		in.Dual.PC = pc
	}
	return in, append([]byte(nil), code[:in.Len]...), nil
}

// decode makes the block that starts at pc, for waves that begin it this way.
// What cannot be decoded or bound becomes an instruction that faults when it is
// executed.
func (p *Program) decode(pc uint64, y way) *block {
	b := &block{pc: pc, end: pc}
	bd := &binder{p: p, blk: b}
	bd.begin(y)
	defer bd.finish()
	for len(b.ops) < maxBlock {
		in, _, err := p.instAt(b.end)
		if err != nil {
			f, ok := err.(*Fault)
			if !ok {
				f = &Fault{Kind: InstructionFault, Lane: -1, Detail: err.Error()}
			}
			b.stop(f, 4)
			return b
		}
		done, err := bd.bind(&in)
		if err != nil {
			b.stop(&Fault{Kind: InstructionFault, Lane: -1, Detail: err.Error()}, uint64(in.Len))
			return b
		}
		if done {
			return b
		}
	}
	b.term = fallThrough
	return b
}

// stop ends the block with an instruction that faults.
func (b *block) stop(f *Fault, n uint64) {
	b.add(func(*wave) { g := *f; panic(&g) }, n)
	b.term = fallThrough
}

func (b *block) add(op func(*wave), n uint64) {
	b.at = append(b.at, uint16((b.end-b.pc)/4))
	b.ops = append(b.ops, op)
	b.end += n
}

func fallThrough(w *wave, b *block) *block { return w.d.Program.following(b) }
