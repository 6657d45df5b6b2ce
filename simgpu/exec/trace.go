package exec

import (
	"fmt"
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Step is an instruction that a traced wave has executed.
type Step struct {
	Kernel    string    `json:"kernel"`
	Workgroup [3]uint32 `json:"workgroup"`
	Wave      int       `json:"wave"`
	PC        uint64    `json:"pc"`
	Inst      string    `json:"inst"`
	Exec      uint64    `json:"exec"`
	Changed   []Changed `json:"changed,omitempty"`
	Addresses []Lane    `json:"addresses,omitempty"` // of the lanes that access memory; one with lane -1: of all
}

// Changed is a register that an instruction has written to another value.
type Changed struct {
	Register string `json:"register"`
	Values   []Lane `json:"values"` // of the lanes that have changed; one with lane -1: a scalar register, or all 64 lanes the same
}

// Lane is the value of a lane.
type Lane struct {
	Lane  int    `json:"lane"`
	Value uint64 `json:"value"`
}

// steps binds what tells of an instruction: called before it, it returns what is to
// be called behind it.
func (p *watch) steps(in *gcn.Inst) func(w *wave) (told func()) {
	if !p.trace {
		return nil
	}
	inst := *in
	text := inst.String()
	vector, scalars := tracedRegisters(&inst)
	return func(w *wave) func() {
		s := &Step{Kernel: w.d.Kernel, Workgroup: w.wg.id, Wave: w.id, PC: inst.PC, Inst: text, Exec: w.exec}
		s.Addresses = w.addresses(&inst)
		var old []Vec
		for _, o := range vector {
			old = append(old, w.file(&o)...)
		}
		before := w.S
		return func() {
			k := 0
			for _, o := range vector {
				for i, v := range w.file(&o) {
					if c := changedLanes(&old[k], &v, w.d.waveSize()); c != nil {
						s.Changed = append(s.Changed, Changed{fmt.Sprintf("%s%d", filePrefix(&o), int(o.Index)+i), c})
					}
					k++
				}
			}
			for _, r := range scalars {
				if before[r] != w.S[r] {
					s.Changed = append(s.Changed, Changed{scalarName(r), []Lane{{-1, uint64(w.S[r])}}})
				}
			}
			w.d.OnTrace(s)
		}
	}
}

// file is the registers of an operand, as far as the wave has them.
func (w *wave) file(o *gcn.Operand) []Vec {
	f := w.V
	if o.Kind == gcn.AccVGPR {
		f = w.A
	}
	return f[min(int(o.Index), len(f)):min(int(o.Index)+max(1, int(o.Width)), len(f))]
}

// tracedRegisters are those that an instruction may change.
func tracedRegisters(in *gcn.Inst) (vector []gcn.Operand, scalars []int) {
	outputs := []gcn.Operand{in.Dst, in.SDst}
	if in.Op.String() == "v_swap_b32" {
		outputs = append(outputs, in.Src[0])
	}
	for _, o := range outputs {
		switch o.Kind {
		case gcn.VGPR, gcn.AccVGPR:
			vector = append(vector, o)
		case gcn.SGPR:
			for i := range max(1, int(o.Width)) {
				if r := int(o.Index) + i; r < 126 {
					scalars = append(scalars, r)
				}
			}
		}
	}
	return vector, append(scalars, regEXEC, regEXEC+1, regSCC)
}

func scalarName(r int) string {
	switch r {
	case regVCC:
		return "vcc_lo"
	case regVCC + 1:
		return "vcc_hi"
	case regEXEC:
		return "exec_lo"
	case regEXEC + 1:
		return "exec_hi"
	case regM0:
		return "m0"
	case regSCC:
		return "scc"
	case regFlatScratch:
		return "flat_scratch_lo"
	case regFlatScratch + 1:
		return "flat_scratch_hi"
	}
	return fmt.Sprintf("s%d", r)
}

func changedLanes(old, now *Vec, lanes int) (list []Lane) {
	same := true
	for i := range lanes {
		same = same && now[i] == now[0]
		if old[i] != now[i] {
			list = append(list, Lane{i, uint64(now[i])})
		}
	}
	if len(list) == lanes && same {
		return []Lane{{-1, uint64(now[0])}}
	}
	return list
}

// addresses are those that an instruction is about to access.
func (w *wave) addresses(in *gcn.Inst) (list []Lane) {
	a := accessOf(&binder{p: w.d.Program, blk: &block{}}, in)
	switch {
	case a == nil:
		return nil
	case a.scalar != nil:
		return []Lane{{-1, a.scalar(w)}}
	case a.priv != nil:
		a.priv(w)
		return w.listed(w.exec, 0)
	}
	defer func() {
		if recover() != nil { // the instruction will fault, and say so
			list = nil
		}
	}()
	a.each(w, func(lanes uint64) { list = append(list, w.listed(lanes, w.mem.Base)...) },
		func(lanes uint64) { list = append(list, w.listed(lanes, 0)...) })
	return list
}

func (w *wave) listed(lanes, base uint64) (list []Lane) {
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m) & 63
		list = append(list, Lane{i, base + w.offs[i]})
	}
	return list
}
