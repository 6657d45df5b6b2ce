//go:build linux && amd64

package exec

import (
	"errors"
	"runtime"
	"slices"
)

// nativeCode is the machine code of a Program. The Program's lock holds it
// together.
type nativeCode struct {
	arena   codeArena
	opened  bool
	off     bool // there can be no machine code
	full    bool // not now
	drops   int  // times that all of it was dropped, to have room
	told    bool
	failed  bool // the translator has, and it was told
	retired []retired
}

// retired is a region that is not entered any more, but may be executing.
type retired struct {
	r     *region
	epoch uint64 // turns that began before it may be in it
}

// put finds room for code. It reports false if there is none: for good, which it says once, or before older code is dropped.
func (p *Program) put(code []byte) (at extent, base uintptr, ok bool) {
	n := &p.native
	var err error
	if !n.opened {
		n.opened = true
		n.arena.size = p.options.CodeMemory
		if err = n.arena.open(); err == nil { // whoever executes code of the program holds the program
			runtime.AddCleanup(p, codeFile.release, n.arena.codeFile)
		}
		n.off = err != nil
	}
	if err == nil {
		at, base, err = n.arena.add(code)
		full := errors.Is(err, errArenaFull)
		if full && len(code) <= n.arena.size {
			n.full = true
			return at, base, false
		}
		n.off = err != nil && !full
	}
	if err == nil {
		return at, base, true
	}
	p.untranslated.Add(1)
	if !n.told {
		n.told = true
		p.options.Logf("kernels are executed without being translated to machine code, many times as slow: %v", err)
	}
	return at, base, false
}

// roomForCode reports whether it is worth trying to translate. When the arena is full all code in it is dropped, and what is still
// executed is translated again: no order of use is kept, and it takes much work to fill it.
func (p *Program) roomForCode() bool {
	n := &p.native
	if n.full && len(n.retired) == 0 {
		if n.drops++; n.drops == 1 {
			p.options.Logf("the machine code of kernels has filled %d bytes, and is made again as it is needed", n.arena.size)
		}
		p.blocks.Range(func(_, v any) bool { p.forget(v.(*block)); return true })
	}
	if n.full {
		p.reclaim()
	}
	if n.off {
		p.untranslated.Add(1)
	}
	return !n.off && !n.full
}

// forget retires the machine code that b is in.
func (p *Program) forget(b *block) {
	for _, r := range b.regions {
		for _, o := range r.blocks {
			if e := o.entry.Load(); e != nil && e.r == r {
				o.entry.Store(nil)
				o.heat.Store(0)
			}
			if o != b {
				o.regions = slices.DeleteFunc(o.regions, func(x *region) bool { return x == r })
			}
		}
		r.gone.Store(true)
		p.native.retired = append(p.native.retired, retired{r: r, epoch: p.epochs.advance()})
	}
	b.regions = nil
}

// reclaim makes room of retired code that nobody executes.
func (p *Program) reclaim() {
	n := &p.native
	before := len(n.retired)
	n.retired = slices.DeleteFunc(n.retired, func(x retired) bool {
		if !p.epochs.begun(x.epoch) {
			return false
		}
		n.arena.drop(x.r.at)
		return true
	})
	if len(n.retired) < before {
		n.full = false
	}
}
