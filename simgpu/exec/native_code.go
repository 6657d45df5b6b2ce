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
	told    bool
	retired []retired
}

// retired is a region that is not entered any more, but may be executing.
type retired struct {
	r     *region
	epoch uint64 // turns that began before it may be in it
}

// put makes room for code. It reports false if there is none, and says so once.
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
		if n.full = errors.Is(err, errArenaFull); err != nil && !n.full {
			n.off = true
		}
	}
	if err != nil && !n.told {
		n.told = true
		p.options.Logf("kernels are executed without being translated to machine code, many times as slow: %v", err)
	}
	return at, base, err == nil
}

// roomForCode reports whether it is worth trying to translate.
func (p *Program) roomForCode() bool {
	if p.native.full {
		p.reclaim()
	}
	if p.native.off || p.native.full {
		p.untranslated.Add(1)
		return false
	}
	return true
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
	if n.full && len(n.retired) < before { // what had to do without may try again
		n.full = false
		p.blocks.Range(func(_, v any) bool {
			if b := v.(*block); b.entry.Load() == nil {
				b.heat.Store(0)
			}
			return true
		})
	}
}
