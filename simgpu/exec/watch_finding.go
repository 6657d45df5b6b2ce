package exec

import "fmt"

// Finding is what a check has found, the first time that an instruction did it.
type Finding struct {
	Check  Checks
	Detail string // what is wrong, in words
	Addr   uint64 // the address, if it is one of device memory; else 0
	Size   uint64 // bytes accessed there
	PC     uint64
	Inst   string
	Lane   int // -1: of the whole wave

	Kernel    string
	Workgroup [3]uint32
	Wave      int
	Other     uint64 // race: the instruction that made the other access
}

// find tells of something that the instruction does, once.
func (w *wave) find(check Checks, lane int, f Finding) {
	pc := w.pc()
	if _, known := w.watched.p.seen.LoadOrStore(found{check, pc}, struct{}{}); known || w.d.OnFinding == nil {
		return
	}
	f.Check, f.PC, f.Lane = check, pc, lane
	f.Kernel, f.Workgroup, f.Wave = w.d.Kernel, w.wg.id, w.id
	if in, _, err := w.d.Program.instAt(pc); err == nil {
		f.Inst = in.String()
	}
	if err := w.d.OnFinding(&f); err != nil {
		panic(&Fault{Kind: CheckFault, Addr: f.Addr, Lane: lane, Detail: err.Error()})
	}
}

// pc is the address of the instruction that executes.
func (w *wave) pc() uint64 { return w.blk.pcOf(w.idx) }

// String is the finding without what the runtime knows of addresses.
func (f *Finding) String() string {
	s := fmt.Sprintf("%s: %s by %q at pc %#x in kernel %s, workgroup (%d,%d,%d), wave %d", f.Check, f.Detail, f.Inst, f.PC,
		f.Kernel, f.Workgroup[0], f.Workgroup[1], f.Workgroup[2], f.Wave)
	if f.Lane >= 0 {
		s += fmt.Sprintf(", lane %d", f.Lane)
	}
	return s
}
