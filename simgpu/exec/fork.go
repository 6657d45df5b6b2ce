package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Divergent branches with a stack in scalar registers: s_cbranch_i_fork and
// s_cbranch_g_fork go on with the smaller part of the lanes and put the other
// part aside, four registers an entry: EXEC and PC; s_cbranch_join takes it up.
// MODE.CSP counts the entries.

const (
	forkEntry = 4 // registers
	forkDepth = 8 // entries that CSP can count
)

// fork decides which lanes go on and where: those of pass to target, the others
// to the instruction after.
func (w *wave) fork(pass, target, after uint64) (pc uint64) {
	exec := w.s64(regEXEC)
	pass &= exec
	fail := exec &^ pass
	push := func(lanes, pc uint64) {
		csp := w.mode >> modeStackAt
		if csp == forkDepth-1 { // six are enough for 64 lanes: each time at most half go on
			panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "the stack of s_cbranch_fork is full"})
		}
		w.setS64(uint8(csp*forkEntry), lanes)
		w.setS64(uint8(csp*forkEntry+2), pc)
		w.mode += 1 << modeStackAt
	}
	switch {
	case fail == 0:
		return target
	case pass == 0:
		return after
	case bits.OnesCount64(fail) < bits.OnesCount64(pass):
		push(pass, target)
		w.setS64(regEXEC, fail)
		return after
	}
	push(fail, after)
	w.setS64(regEXEC, pass)
	return target
}

var _ = define(func() {
	onControl("s_cbranch_i_fork", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		lanes, err := scalar64(&in.Src[0])
		target := branchTarget(b, in)
		return func(w *wave, b *block) *block { return w.jump(b, w.fork(lanes.get(w), target, b.end)) }, err
	})
	onControl("s_cbranch_g_fork", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		lanes, err := scalar64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		target, err := scalar64(&in.Src[1])
		return func(w *wave, b *block) *block { return w.jump(b, w.fork(lanes.get(w), target.get(w), b.end)) }, err
	})
	// s_cbranch_join: the source is CSP as it was before the forks that meet here.
	onControl("s_cbranch_join", func(_ *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		before, err := scalar(&in.Src[0])
		return func(w *wave, b *block) *block {
			csp := w.mode >> modeStackAt
			if csp == before.get(w) {
				return w.d.Program.following(b)
			}
			if csp == 0 {
				panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "the stack of s_cbranch_fork is empty"})
			}
			csp--
			w.mode -= 1 << modeStackAt
			w.setS64(regEXEC, w.s64(uint8(csp*forkEntry)))
			return w.jump(b, w.s64(uint8(csp*forkEntry+2)))
		}, err
	})
})
