package exec

import (
	"sync"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Watching what instructions do: checks for what a kernel must not do, and traces
// for people. The functions of a watched program's instructions have others
// around them, chosen when a block is decoded, and nothing is translated; a
// program that nobody watches pays nothing.

// Checks are what a program looks for in the kernels that it executes.
type Checks uint8

const (
	CheckUninit Checks = 1 << iota // use of a register, LDS or scratch that nothing was written to
	CheckRace                      // LDS accessed by several waves without a barrier between
	CheckBounds                    // access outside of allocations, at the size that was asked for, and of the LDS
	CheckAlign                     // access at an address that is no multiple of the element
	CheckWait                      // use of what a load has not brought yet: an s_waitcnt is missing

	AllChecks = CheckUninit | CheckRace | CheckBounds | CheckAlign | CheckWait
)

// Names of the checks, for options and reports.
var checkNames = [...]string{"uninit", "race", "bounds", "align", "wait"}

// String is the name of a single check.
func (c Checks) String() string {
	for i, name := range checkNames {
		if c == 1<<i {
			return name
		}
	}
	return "none"
}

// ParseCheck is the check of a name, 0 if there is none.
func ParseCheck(name string) Checks {
	for i, n := range checkNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// Watch makes the program look for what the checks say, and tell what traced
// waves do. Call it before the first dispatch. What is found goes to the
// dispatch's OnFinding, steps to its OnTrace.
func (p *Program) Watch(c Checks, trace bool) {
	if c != 0 || trace {
		p.watch = &watch{checks: c, trace: trace}
	}
}

// watch is how a program is watched.
type watch struct {
	checks Checks
	trace  bool
	seen   sync.Map // found → struct{}: an instruction is told of once
}

// found is what makes a finding another one: the check, and the instruction.
type found struct {
	check Checks
	pc    uint64
}

// forget forgets what was found in the code in [addr, addr+size).
func (p *watch) forget(addr, size uint64) {
	if p == nil {
		return
	}
	p.seen.Range(func(k, _ any) bool {
		if k.(found).pc-addr < size {
			p.seen.Delete(k)
		}
		return true
	})
}

// watched is what is known of a wave beside what it is.
type watched struct {
	p     *watch
	group *watchedGroup
	undefined
	pending pending
	clock   []uint32 // of each wave of the workgroup: how far it has been heard of; see race
	serial  uint64   // of the instruction that executes, for lanes
	lanes   [128]laneWrite
	tracing bool
}

// watchedGroup is the same of a workgroup.
type watchedGroup struct {
	lds   []byte // as the LDS: a bit is set where it is undefined
	races *races
	waves []*watched
}

// group sets up a workgroup of a number of waves.
func (p *watch) group(lds, waves int) *watchedGroup {
	if p == nil {
		return nil
	}
	g := &watchedGroup{}
	if p.checks&CheckUninit != 0 {
		g.lds = make([]byte, lds)
		fill(g.lds)
	}
	if p.checks&CheckRace != 0 && lds > 0 && waves > 1 {
		g.races = &races{cells: make([]cell, (lds+3)/4)}
	}
	return g
}

// wave sets up a wave that starts with sgprs scalar registers and some active lanes.
func (p *watch) wave(w *wave, sgprs, lanes int) *watched {
	if p == nil {
		return nil
	}
	if w.d.Desc.enablePrivateSegment() && !w.d.architectedScratch() {
		sgprs++
	}
	x := &watched{p: p, group: w.wg.watched}
	x.group.waves = append(x.group.waves, x)
	if p.checks&CheckUninit != 0 {
		x.undefined = newUndefined(w, sgprs, lanes)
	}
	if p.checks&CheckWait != 0 {
		x.pending = newPending(len(w.V), len(w.A))
	}
	x.clock = make([]uint32, w.wg.count)
	x.clock[w.id] = 1
	x.tracing = p.trace && w.d.OnTrace != nil && w.d.Traced(w.wg.id, w.id)
	return x
}

// meet is the barrier at which all waves are: what was before it is known to all.
func (g *watchedGroup) meet() {
	if g == nil || g.races == nil {
		return
	}
	g.races.epoch++
	clear(g.races.synced)
	for i, x := range g.waves {
		clear(x.clock)
		x.clock[i] = 1
	}
}

// before is what is looked at before an instruction executes. It may panic with a Fault.
type before = func(w *wave)

// instruction binds what watches an instruction that h has bound to run.
func (p *watch) instruction(b *binder, in *gcn.Inst, h handler, run func(*wave)) func(*wave) {
	list := p.looks(b, in, h, run)
	after := p.after(b, in)
	trace := p.steps(in)
	return func(w *wave) {
		for _, f := range list {
			f(w)
		}
		if w.watched.tracing && trace != nil {
			told := trace(w)
			run(w)
			told()
		} else {
			run(w)
		}
		if after != nil {
			after(w)
		}
	}
}

// control does the same for an instruction that ends its block.
func (p *watch) control(b *binder, in *gcn.Inst, term func(*wave, *block) *block) func(*wave, *block) *block {
	var list []before
	if p.checks&CheckWait != 0 {
		list = append(list, waits(in))
	}
	if p.checks&CheckUninit != 0 {
		if f := undefinedBranch(in); f != nil {
			list = append(list, f)
		}
	}
	trace := p.steps(in)
	return func(w *wave, b *block) *block {
		for _, f := range list {
			f(w)
		}
		if w.watched.tracing && trace != nil {
			told := trace(w)
			next := term(w, b)
			told()
			return next
		}
		return term(w, b)
	}
}

// looks are the checks of an instruction.
func (p *watch) looks(b *binder, in *gcn.Inst, h handler, run func(*wave)) (list []before) {
	if p.checks&CheckWait != 0 {
		list = append(list, waits(in))
	}
	// What is undefined is reported before the access it leads to.
	if p.checks&CheckUninit != 0 {
		if f := undefinedUse(b, in); f != nil {
			list = append(list, f)
		}
	}
	if p.checks&(CheckBounds|CheckAlign|CheckRace) != 0 {
		if f := p.accesses(b, in); f != nil {
			list = append(list, f)
		}
	}
	if p.checks&CheckUninit != 0 {
		if f := undefinedResult(b, in, h, run); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// after is what is looked at when an instruction has executed, nil for nothing.
func (p *watch) after(b *binder, in *gcn.Inst) before {
	if p.checks&CheckUninit == 0 {
		return nil
	}
	return undefinedSCC(in)
}
