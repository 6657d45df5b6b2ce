package exec

import (
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Program control: branches, calls, barriers, waits, messages, traps.

// branchTarget is where a relative branch goes.
func branchTarget(b *binder, in *gcn.Inst) uint64 {
	return b.blk.end + 4 + uint64(int64(int16(in.Simm16)))*4
}

// conditional makes the control of a branch that is taken if test says so.
//
//go:noinline
func conditional(test func(w *wave) bool) control {
	return func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		b.blk.targetPC = branchTarget(b, in)
		return func(w *wave, b *block) *block {
			if test(w) {
				return w.d.Program.branchTo(b)
			}
			return w.d.Program.following(b)
		}, nil
	}
}

// jump goes to an address computed at run time, such as a return.
func (w *wave) jump(b *block, pc uint64) *block {
	if n := b.lastTarget(pc); n != nil {
		return n
	}
	return link(&b.target, w.d.Program.block(pc))
}

// call goes to a function.
func (w *wave) call(b *block, pc uint64) *block {
	if n := b.lastTarget(pc); n != nil {
		return n
	}
	return link(&b.target, w.d.Program.beginning(pc, true))
}

// lastTarget is the last target of the instruction that ends b, which is likely to be the next one as well, if it is at pc.
func (b *block) lastTarget(pc uint64) *block {
	if n := b.target.Load(); n != nil && n.pc == pc && !n.dead.Load() {
		return n
	}
	return nil
}

func nop(*binder, *gcn.Inst) (func(*wave), error) { return func(*wave) {}, nil }

var _ = define(func() {
	onControl("s_branch", conditional(func(*wave) bool { return true }))
	onControl("s_cbranch_scc0", conditional(func(w *wave) bool { return w.S[regSCC] == 0 }))
	onControl("s_cbranch_scc1", conditional(func(w *wave) bool { return w.S[regSCC] != 0 }))
	onControl("s_cbranch_vccz", conditional(func(w *wave) bool { return w.condition() == 0 }))
	onControl("s_cbranch_vccnz", conditional(func(w *wave) bool { return w.condition() != 0 }))
	onControl("s_cbranch_execz", conditional(func(w *wave) bool { return w.active() == 0 }))
	onControl("s_cbranch_execnz", conditional(func(w *wave) bool { return w.active() != 0 }))
	for _, n := range []string{"sys", "user", "sys_or_user", "sys_and_user"} {
		onControl("s_cbranch_cdbg"+n, conditional(func(*wave) bool { return false })) // no debugger
	}
	onControl("s_endpgm", endProgram)
	onControl("s_endpgm_saved", endProgram)
	onControl("s_endpgm_ordered_ps_done", endProgram)
	onControl("s_barrier", func(*binder, *gcn.Inst) (func(*wave, *block) *block, error) {
		return func(w *wave, b *block) *block {
			w.gives = w.wg.mayGive()
			return w.pause(atBarrier, w.d.Program.following(b))
		}, nil
	})
	onControl("s_sleep", func(*binder, *gcn.Inst) (func(*wave, *block) *block, error) {
		return func(w *wave, b *block) *block {
			next := w.d.Program.following(b)
			if w.sleeps++; w.sleeps%sleepsOn == 0 || w.spins(next) {
				return w.pause(sleeping, next)
			}
			return next
		}, nil
	})
	onControl("s_setpc_b64", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		s, err := scalar64(&in.Src[0])
		return func(w *wave, b *block) *block { return w.jump(b, s.get(w)) }, err
	})
	onControl("s_swappc_b64", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		s, err := scalar64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 2)
		return func(w *wave, b *block) *block {
			pc := s.get(w)
			w.setS64(d, b.end)
			return w.call(b, pc)
		}, err
	})
	onControl("s_call_b64", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		d, err := sdst(&in.Dst, 2)
		b.blk.targetPC = branchTarget(b, in)
		return func(w *wave, b *block) *block {
			w.setS64(d, b.end)
			return w.d.Program.branchTo(b)
		}, err
	})
	on("s_getpc_b64", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		d, err := sdst(&in.Dst, 2)
		pc := b.blk.end + uint64(in.Len)
		return func(w *wave) { w.setS64(d, pc) }, err
	})

	for _, n := range []string{"s_nop", "s_waitcnt", "s_icache_inv", "s_incperflevel", "s_decperflevel",
		"s_ttracedata", "s_wakeup", "s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol", "v_nop",
		"buffer_wbl2", "buffer_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol", "ds_nop"} {
		on(n, nop)
	}
	onControl("s_memtime", clock(func(w *wave) uint64 { return w.cycles() }))
	onControl("s_memrealtime", clock(func(w *wave) uint64 { return w.cycles() * 100 / coreMHz }))
})

// The devices' clocks count from here; s_memrealtime runs at 100 MHz.
var started = time.Now()

const coreMHz = 1700

// sleepsOn is how often a wave sleeps before others run, if it does not only wait: its registers are others each time. It counts what it sleeps,
// to be late, or to wait longer each time.
const sleepsOn = 64

// clockReads is how often a wave looks at the clock before others run: a wave
// that looks at it all the time waits for something.
const clockReads = 16

func clock(now func(w *wave) uint64) control {
	return func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		d, err := sdst(&in.Dst, 2)
		return func(w *wave, b *block) *block {
			w.setS64(d, now(w))
			next := w.d.Program.following(b)
			if w.clocks++; w.clocks%clockReads == 0 {
				return w.pause(sleeping, next)
			}
			return next
		}, err
	}
}

func endProgram(*binder, *gcn.Inst) (func(*wave, *block) *block, error) {
	return func(w *wave, b *block) *block { return w.pause(ended, b) }, nil
}
