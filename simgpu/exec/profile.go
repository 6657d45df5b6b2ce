package exec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Profile is what kernels take their time for: how long each of them executed, and which
// instructions were executed by their functions and not by translated code. Times are of all
// goroutines together, and are only those of programs whose Options have the profile. The zero
// value is an empty one. Safe for concurrent use.
type Profile struct {
	mu      sync.Mutex
	kernels map[string]time.Duration
	calls   map[profileKey]*profileEntry
	chosen  map[profilePlace]*profileEntry // of calls, by instruction
}

// byFunction is why an instruction was executed by its function.
type byFunction uint8

const (
	notTranslated byFunction = iota // there is no translation of the instruction, or of this form of it
	leftByCode                      // translated code left it: its addresses, mostly
	coldBlock                       // its block has not been executed often enough
	otherMode                       // MODE is not one that the code is for
	wholeBlock                      // its block is not translated
)

var byFunctionText = [...]string{"not translated", "left by its translation", "before translation", "MODE", "block not translated"}

func (h byFunction) String() string { return byFunctionText[h] }

type profileKey struct {
	name string // the mnemonic
	how  byFunction
}

type profilePlace struct {
	pc  uint64
	how byFunction
}

// profileEntry is what one mnemonic took.
type profileEntry struct {
	n       uint64
	took    time.Duration
	example string
}

// entry is that of an instruction. mu is held.
func (p *Profile) entry(prog *Program, pc uint64, how byFunction) *profileEntry {
	place := profilePlace{pc, how}
	if e := p.chosen[place]; e != nil {
		return e
	}
	name, example := "?", "?"
	if in, _, err := prog.instAt(pc); err == nil {
		name, example = in.Info.Name, in.String()
	}
	if p.chosen == nil {
		p.chosen, p.calls = map[profilePlace]*profileEntry{}, map[profileKey]*profileEntry{}
	}
	k := profileKey{name, how}
	e := p.calls[k]
	if e == nil {
		e = &profileEntry{example: example}
		p.calls[k] = e
	}
	p.chosen[place] = e
	return e
}

// execute executes the instructions of b from one up to another by their functions, and counts them.
func (p *Profile) execute(w *wave, b *block, from, to int, how byFunction) {
	began := time.Now()
	for i := from; i < to; i++ {
		w.idx = i
		b.ops[i](w)
		now := time.Now()
		p.count(w.d.Program, b, i, how, now.Sub(began))
		began = now
	}
	w.idx = to
}

// count adds what instruction i of b, or its end, took.
func (p *Profile) count(prog *Program, b *block, i int, how byFunction, took time.Duration) {
	if i == len(b.at) { // it has no instruction for an end
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entry(prog, b.pcOf(i), how)
	e.n++
	e.took += took
}

// kernel counts the time of a kernel's goroutine.
func (p *Profile) kernel(name string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kernels == nil {
		p.kernels = map[string]time.Duration{}
	}
	p.kernels[name] += took
}

// profileTime is when something of the dispatch begins, for profileTurn.
func (d *Dispatch) profileTime() (began time.Time) {
	if d.Program.options.Profile != nil {
		began = time.Now()
	}
	return began
}

// profileTurn counts the time since then.
func (d *Dispatch) profileTurn(began time.Time) {
	if p := d.Program.options.Profile; p != nil {
		p.kernel(d.Kernel, time.Since(began))
	}
}

// ProfiledKernel is a kernel and the time that it took.
type ProfiledKernel struct {
	Name string
	Took time.Duration
}

// ProfiledInstruction is what instructions of a mnemonic took in functions.
type ProfiledInstruction struct {
	Name    string
	Why     string // they were not executed by translated code
	Times   uint64 // of waves
	Took    time.Duration
	Example string // one of them
}

// Kernels are those that were executed, what took longest first.
func (p *Profile) Kernels() []ProfiledKernel {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []ProfiledKernel
	for name, took := range p.kernels {
		all = append(all, ProfiledKernel{name, took})
	}
	slices.SortFunc(all, func(a, b ProfiledKernel) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Instructions are those that functions executed, what took longest first.
func (p *Profile) Instructions() []ProfiledInstruction {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []ProfiledInstruction
	for k, e := range p.calls {
		all = append(all, ProfiledInstruction{k.name, k.how.String(), e.n, e.took, e.example})
	}
	slices.SortFunc(all, func(a, b ProfiledInstruction) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), strings.Compare(a.Name, b.Name), strings.Compare(a.Why, b.Why))
	})
	return all
}

// shortName is as much of a kernel's name as tells it from others, mostly: those of templates are long.
func shortName(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most-20] + "…" + s[len(s)-20:]
	}
	return s
}

// String is the profile in one line, with as much of it as a line can have.
func (p *Profile) String() string {
	const most = 10
	kernels, instructions := p.Kernels(), p.Instructions()
	var b strings.Builder
	total := time.Duration(0)
	for _, k := range kernels {
		total += k.Took
	}
	fmt.Fprintf(&b, "kernels executed for %s", total.Round(time.Millisecond))
	for i, k := range kernels[:min(len(kernels), most/2)] {
		fmt.Fprintf(&b, "%s %s %s", map[bool]string{true: ":", false: ","}[i == 0], k.Took.Round(time.Millisecond), shortName(k.Name))
	}
	total = 0
	for _, x := range instructions {
		total += x.Took
	}
	fmt.Fprintf(&b, "; functions for %s", total.Round(time.Millisecond))
	for i, x := range instructions[:min(len(instructions), most)] {
		fmt.Fprintf(&b, "%s %s %d × %s (%s)", map[bool]string{true: ":", false: ","}[i == 0], x.Took.Round(time.Millisecond), x.Times, x.Example, x.Why)
	}
	return b.String()
}
