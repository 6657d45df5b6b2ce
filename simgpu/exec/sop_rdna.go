package exec

import "github.com/rocwire/rocwire/simgpu/gcn"

// Scalar operations of RDNA: EXEC of 32 lanes, modes and clocks.

// execOf32 defines what changes EXEC where a wave has 32 lanes: D = EXEC; EXEC = f(S, EXEC), or D = EXEC = f(S, EXEC);
// SCC = EXEC != 0.
func execOf32() {
	change := func(name string, saves bool, f func(s, e uint32) uint32) {
		on1(name, func(w *wave, s uint32) uint32 {
			e := w.S[regEXEC]
			r := f(s, e)
			w.S[regEXEC] = r
			w.setSCC(r != 0)
			if saves {
				return e
			}
			return r
		})
	}
	narrow := func(f func(a, b uint64) uint64) func(s, e uint32) uint32 {
		return func(s, e uint32) uint32 { return uint32(f(uint64(s), uint64(e))) }
	}
	for _, name := range []string{"and", "or", "xor", "nand", "nor", "xnor"} {
		change("s_"+name+"_saveexec_b32", true, narrow(logic[name]))
	}
	change("s_and_not0_saveexec_b32", true, func(s, e uint32) uint32 { return ^s & e })
	change("s_or_not0_saveexec_b32", true, func(s, e uint32) uint32 { return ^s | e })
	change("s_and_not1_saveexec_b32", true, func(s, e uint32) uint32 { return s &^ e })
	change("s_or_not1_saveexec_b32", true, func(s, e uint32) uint32 { return s | ^e })
	change("s_and_not0_wrexec_b32", false, func(s, e uint32) uint32 { return ^s & e })
	change("s_and_not1_wrexec_b32", false, func(s, e uint32) uint32 { return s &^ e })
}

// hints are the instructions of RDNA that say something of when and how others execute, or of caches.
var hints = []string{"s_clause", "s_delay_alu", "s_set_inst_prefetch_distance", "s_wait_idle", "s_waitcnt_depctr", "s_wait_event",
	"s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt", "s_version", "s_ttracedata_imm", "v_pipeflush", "s_gl1_inv", "buffer_gl0_inv", "buffer_gl1_inv"}

// Messages of s_sendmsg_rtn that are answered.
const msgRealTime = 131

var _ = define(func() {
	on2("s_pack_hl_b32_b16", func(_ *wave, a, b uint32) uint32 { return a>>16 | b<<16 })
	on("s_movrelsd_2_b32", func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s, err := sdst(&in.Src[0], 1)
		if err != nil {
			return nil, err
		}
		d, err := sdst(&in.Dst, 1)
		return func(w *wave) {
			from, to := uint32(s)+w.S[regM0]&0x3ff, uint32(d)+w.S[regM0]>>16&0x3ff
			if max(from, to) >= regVCC {
				panic(&Fault{Kind: RegisterFault, Lane: -1, Detail: "scalar register relative to M0"})
			}
			w.S[to] = w.S[from]
		}, err
	})
	for name, at := range map[string]uint32{"s_round_mode": 0, "s_denorm_mode": 4} {
		on(name, func(_ *binder, in *gcn.Inst) (func(*wave), error) {
			v := uint32(in.Simm16&15) << at
			return func(w *wave) { w.setMode(w.mode&^(15<<at) | v) }, nil
		})
	}
	for _, n := range hints {
		on(n, nop)
	}
	onControl("s_sendmsg_rtn_b64", func(b *binder, in *gcn.Inst) (func(*wave, *block) *block, error) {
		if in.Simm16 != msgRealTime {
			return nil, errNotExecutable
		}
		return clock(func(w *wave) uint64 { return w.cycles() * 100 / coreMHz })(b, in)
	})
})
