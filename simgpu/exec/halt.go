package exec

import (
	"fmt"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Messages, and instructions that stop a wave.

// freesRegisters reports whether a message of RDNA is no more than that the wave is done with its vector registers, as compilers send it before the
// end.
func freesRegisters(in *gcn.Inst) bool { return in.Arch.Has(gcn.RDNA) && in.Simm16 == 3 }

// message is s_sendmsg: whoever started the dispatch hears of interrupts.
func message(_ *binder, in *gcn.Inst) (func(*wave), error) {
	msg := in.Simm16
	if freesRegisters(in) {
		return func(*wave) {}, nil
	}
	return func(w *wave) {
		if f := w.d.OnMessage; f != nil {
			f(msg, w.S[regM0])
		}
	}, nil
}

// halt stops the wave until a debugger resumes it. There is none: instead of
// hanging for ever as on a card, the kernel ends and says why.
func halt(w *wave) {
	panic(&Fault{Kind: TrapFault, Lane: -1, Detail: "the wave halts itself, and there is no debugger to resume it"})
}

// trap: the trap handler of AMD's runtime turns 2 (llvm.trap) into an error of
// the queue, and goes on behind 3 (llvm.debugtrap) when there is no debugger.
func trap(_ *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
	id := in.Simm16 & 0xff
	if id == 3 {
		return fallThrough, nil
	}
	return func(*wave, *block) *block {
		panic(&Fault{Kind: TrapFault, Lane: -1, Detail: fmt.Sprintf("trap %d", id)})
	}, nil
}

var _ = define(func() {
	on("s_sendmsg", message)
	on("s_sendmsghalt", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		send, err := message(b, in)
		return func(w *wave) { send(w); halt(w) }, err
	})
	on("s_sethalt", func(_ *binder, in *gcn.Inst) (func(*wave), error) {
		if in.Simm16&1 == 0 {
			return func(*wave) {}, nil
		}
		return halt, nil
	})
	// s_setkill 1 ends the wave as the host's kill command does.
	onControl("s_setkill", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		if in.Simm16&1 == 0 {
			return fallThrough, nil
		}
		return endProgram(b, in)
	})
	onControl("s_trap", trap)
})
