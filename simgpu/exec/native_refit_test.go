//go:build linux && amd64

package exec

import (
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestSmallerKernel: code that kernels of several sizes execute is machine code for the smaller one, too, though the first one that executed it was larger and
// its region goes on to code that only the larger one may execute.
func TestSmallerKernel(t *testing.T) {
	if !translates(t) {
		return
	}
	const rounds = 500
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	code := assemble(t, gcn.GFX90A, "s_cmp_lg_u32 s5, 0; s_cbranch_scc1 shared; large:; s_movk_i32 s4, 5; v_mov_b32 v39, v1; s_branch shared; shared:; v_add_u32 v1, 1, v1; s_sub_u32 s4, s4, 1; "+
		"s_cmp_lg_u32 s4, 0; s_cbranch_scc1 shared; s_sub_u32 s6, s6, 1; s_cmp_lg_u32 s6, 0; s_cbranch_scc1 large; s_nop 0")
	large := m.V
	for i, small := range []bool{false, true, false} {
		p := &Profile{}
		m.prog.options.Profile = p
		m.V, m.S[5], m.S[6] = large, 0, rounds/5
		if small {
			m.V, m.S[4], m.S[5], m.S[6] = large[:8], rounds, 1, 1
		}
		m.setBases()
		m.V[1] = Vec{}
		m.setS64(regEXEC, ^uint64(0))
		execute := m.runCode
		if i == 0 {
			execute = func() error { return m.exec(code...) }
		}
		if err := execute(); err != nil {
			t.Fatal(err)
		}
		if m.V[1][7] != rounds {
			t.Errorf("small %v: %d rounds, want %d", small, m.V[1][7], rounds)
		}
		n := uint64(0)
		for _, x := range p.Instructions() {
			if x.Name == "v_add_u32" {
				n += x.Times
			}
		}
		if n > 2*usualHeat {
			t.Errorf("small %v: functions executed %d of %d rounds", small, n, rounds)
		}
	}
}
