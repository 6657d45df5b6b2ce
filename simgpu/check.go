package simgpu

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
)

// ParseChecks reads what is to be looked for in kernels: names between commas; on,
// for all that is never right in a correct program; all, which includes align: a
// compiler makes unaligned accesses of a correct memcpy, too.
func ParseChecks(s string) (exec.Checks, error) {
	var c exec.Checks
	for _, name := range strings.Split(s, ",") {
		switch name = strings.TrimSpace(name); name {
		case "", "off":
		case "on":
			c |= exec.AllChecks &^ exec.CheckAlign
		case "all":
			c |= exec.AllChecks
		default:
			k := exec.ParseCheck(name)
			if k == 0 {
				return 0, fmt.Errorf("there is no check %q, but uninit, race, bounds, align, wait, on and all", name)
			}
			c |= k
		}
	}
	return c, nil
}

// watch prepares a dispatch of a program that is watched.
func (d *device) watch(x *exec.Dispatch) {
	r := d.r
	if r.o.Check != 0 {
		x.Allocated = r.allocatedAll
		x.OnFinding = d.found
	}
	if r.o.Trace.Kernel != "" {
		r.traced.watch(d, x)
	}
}

// allocatedAll reports whether the n bytes at addr are all of one allocation, as
// large as it was asked for.
func (r *Runtime) allocatedAll(addr, n uint64) bool {
	s := r.space.Load()
	if !s.Contains(addr, 1) {
		return true // memory of the program that it has registered
	}
	a := s.Lookup(addr)
	if a == nil || n > a.Size-(addr-a.Base) {
		return false
	}
	b := noteOf(a).block.Load()
	return b == nil || b.over.Load() != b.uses.Load()+1
}

// leave is told that a block was freed: what its stream, st, does from here on must not use it.
func (b *poolBlock) leave(c exec.Checks, st *stream) {
	if c&exec.CheckBounds == 0 {
		return
	}
	this := b.uses.Load() + 1
	if st == nil {
		b.over.Store(this)
		return
	}
	st.q.Add(queue.Task{Always: true, Run: func() { b.over.Store(this) }})
}

// found tells the program, and whoever reads the log, what a kernel does wrong.
func (d *device) found(f *exec.Finding) error {
	r := d.r
	var b strings.Builder
	fmt.Fprintf(&b, "sim-check: %s: %s\n", f.Check, f.Detail)
	fmt.Fprintf(&b, "  kernel %s%s\n  %s  (pc %#x)\n", f.Kernel, r.sourceOf(f.PC), f.Inst, f.PC)
	fmt.Fprintf(&b, "  workgroup (%d,%d,%d), wave %d", f.Workgroup[0], f.Workgroup[1], f.Workgroup[2], f.Wave)
	if f.Lane >= 0 {
		fmt.Fprintf(&b, ", lane %d", f.Lane)
	}
	b.WriteByte('\n')
	if f.Addr != 0 {
		fmt.Fprintf(&b, "  address %#x: %s\n", f.Addr, r.neighbour(f.Addr))
	}
	if f.Other != 0 {
		fmt.Fprintf(&b, "  the other access:%s (pc %#x)\n", r.sourceOf(f.Other), f.Other)
	}
	d.meter.Found(bits.TrailingZeros(uint(f.Check)))
	r.o.Logf("simgpu: card %d: %s", d.id, strings.ReplaceAll(strings.TrimSpace(b.String()), "\n ", ";"))
	r.o.OnOutput(true, []byte(b.String()))
	if r.o.CheckFatal {
		return errors.New(f.Check.String() + ": " + f.Detail)
	}
	return nil
}

// sourceLines finds source lines of a module's code.
type sourceLines struct {
	mu    *sync.Mutex
	lines *codeobject.Lines
}

// linesOf keeps what is known of a module's lines.
func (r *Runtime) linesOf(image []byte) sourceLines {
	return sourceLines{new(sync.Mutex), codeobject.DebugLines(image)}
}

// sourceOf is " at FILE:LINE" of an instruction, "" if that is not known.
func (r *Runtime) sourceOf(pc uint64) string {
	for _, m := range r.modules.list(func(m *module) bool { return pc-m.alloc.Base < m.alloc.Size }) {
		m.lines.mu.Lock()
		line := m.lines.lines.Line(pc - m.alloc.Base)
		m.lines.mu.Unlock()
		if line != "" {
			return " at " + line
		}
	}
	return ""
}
