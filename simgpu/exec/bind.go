package exec

import (
	"errors"
	"fmt"
	"sync"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// binder turns the decoded instructions of one block into functions.
type binder struct {
	p   *Program
	blk *block
	// indexed is the GPR index mode where the binder stands, if it is on: bit i,
	// source i; bit 3, the destination; register numbers are relative to M0.
	indexed uint8
	idxOn   bool
	skips   bool // vector instructions are skipped
	changes bool // what way the wave goes on is known only when it is there
}

// handler binds an instruction: it returns what executing it does.
type handler func(b *binder, in *gcn.Inst) (func(*wave), error)

// control binds an instruction that ends its block: it returns what comes next.
type control func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error)

// handlers and controls hold everything that can be executed, by mnemonic
// without encoding suffix. The files of the instruction classes fill them.
var (
	handlers = map[string]handler{}
	controls = map[string]control{}
)

// definitions fill the tables when the first Program is made: most processes
// that link this package never make one.
var definitions []func()

// define adds a definition; a file's is its var _.
func define(f func()) struct{} {
	definitions = append(definitions, f)
	return struct{}{}
}

// ready fills the tables.
var ready = sync.OnceFunc(func() {
	for _, f := range definitions {
		f()
	}
})

func on(name string, h handler) {
	if handlers[name] != nil || controls[name] != nil {
		panic("exec: two meanings of " + name)
	}
	handlers[name] = h
}

func onControl(name string, c control) {
	if handlers[name] != nil || controls[name] != nil {
		panic("exec: two meanings of " + name)
	}
	controls[name] = c
}

var errNotExecutable = errors.New("not executable in this simulator")

// bind adds the instruction to the block. It reports whether the block ends.
func (b *binder) bind(in *gcn.Inst) (done bool, err error) {
	class := classOf(in)
	if b.skips && isVector(in) {
		b.blk.add(func(*wave) {}, uint64(in.Len))
		b.blk.counts[class]++
		return false, nil
	}
	if was := b.indexed; was != 0 && isVMEM(in) { // only arithmetic has relative registers
		b.indexed = 0
		defer func() { b.indexed = was }()
	}
	if r := Reason(in.Arch, in.Info); r != "" {
		return false, fmt.Errorf("%w: %s", errNotExecutable, r)
	}
	if c := controls[in.Op.String()]; c != nil {
		term, err := c(b, in)
		if err != nil {
			return false, err
		}
		if b.p.watch != nil {
			term = b.p.watch.control(b, in, term)
		}
		b.blk.at = append(b.blk.at, uint16((b.blk.end-b.blk.pc)/4))
		b.blk.end += uint64(in.Len)
		b.blk.counts[class]++
		b.blk.term = term
		return true, nil
	}
	run, err := b.operation(in)
	if err != nil {
		return false, err
	}
	b.blk.add(run, uint64(in.Len))
	b.blk.counts[class]++
	if b.idxOn && writesM0(in) {
		b.changes = true
	}
	if in.Op == gcn.S_WAITCNT {
		if at := b.p.waits[in.PC]; at != 0 {
			b.blk.gives, b.blk.term = at, giveWay
			return true, nil
		}
	}
	if writesEXEC(in) || b.changes {
		b.blk.term = fallThrough
		return true, nil
	}
	return false, nil
}

// operation binds what executing an instruction does.
func (b *binder) operation(in *gcn.Inst) (func(*wave), error) {
	h := handlers[in.Op.String()]
	if h == nil || unknownForm(in) || !in.Arch.Has(gcn.RDNA) && namesNull(in) {
		return nil, errNotExecutable
	}
	if r := refused(in); r != "" {
		return nil, fmt.Errorf("%w: %s", errNotExecutable, r)
	}
	run, err := h(b, in)
	if err != nil {
		return nil, err
	}
	if usesZ(in) {
		inner := run
		run = func(w *wave) { w.computeZ(); inner(w) }
	}
	if b.p.watch != nil {
		run = b.p.watch.instruction(b, in, h, run)
	}
	if in.Dual == nil {
		return run, nil
	}
	second, err := b.operation(in.Dual)
	if err != nil {
		return nil, err
	}
	return together(in, run, second), nil
}

// unknownForm reports whether it is a form of an operation that LLVM takes apart, but of
// which no document says what it does.
func unknownForm(in *gcn.Inst) bool {
	switch in.Op {
	case gcn.V_PK_FMAC_F16:
		return in.Form == gcn.FormSDWA || in.Form == gcn.FormDPP
	case gcn.V_ALIGNBIT_B32, gcn.V_ALIGNBYTE_B32:
		return in.OpSel != 0 && !in.Arch.Has(gcn.RDNA) // there the shift has 16 bits
	}
	return false
}

// refused says why a form of an operation that executes does not; it is empty for the others.
func refused(in *gcn.Inst) string {
	switch {
	case in.Form == gcn.FormDPP && !in.DPP.Eight && !in.DPP.Ctrl.Valid(in.Arch):
		return "the target has no such permutation of lanes"
	case in.TFE:
		return "texture fail enable is not simulated"
	case in.GDS && in.Info.Flags&gcn.IsGWS == 0:
		return "the memory that all workgroups share (GDS) is not simulated"
	}
	return ""
}

// namesNull reports whether an operand is the null register, which CDNA decodes but of which no document of it says anything.
func namesNull(in *gcn.Inst) bool {
	for _, o := range []*gcn.Operand{&in.Dst, &in.SDst, &in.Src[0], &in.Src[1], &in.Src[2], &in.SOffset, &in.Data, &in.Base} {
		if o.Kind == gcn.Special && o.Index == gcn.SrcNull {
			return true
		}
	}
	return false
}

func writesEXEC(in *gcn.Inst) bool {
	hits := func(o *gcn.Operand) bool {
		return o.Kind == gcn.SGPR && o.Index < regEXEC+2 && int(o.Index)+max(int(o.Width), 2) > regEXEC
	}
	return in.Info.Flags&gcn.WritesEXEC != 0 || hits(&in.Dst) || hits(&in.SDst)
}

func classOf(in *gcn.Inst) Class {
	switch in.Enc {
	case gcn.SOP1, gcn.SOP2, gcn.SOPC, gcn.SOPK, gcn.SOPP:
		if in.Info.Flags&(gcn.IsBranch|gcn.IsTerm) != 0 {
			return Branch
		}
		return SALU
	case gcn.SMEM:
		return SMEM
	case gcn.MFMA:
		return MFMA
	case gcn.VOP3P:
		if in.Info.Flags&gcn.AllLanes != 0 { // v_wmma
			return MFMA
		}
	case gcn.DS:
		return LDS
	case gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.MUBUF, gcn.MTBUF, gcn.MIMG:
		return VMEM
	}
	return VALU
}
