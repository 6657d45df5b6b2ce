//go:build linux && amd64

package exec

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestProfile: each instruction that a function executes is counted once, with the reason, and those of translated code are not.
func TestProfile(t *testing.T) {
	const rounds = 300
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	p := &Profile{}
	m.prog.options.Profile = p
	data, _ := m.alloc(page)
	m.setS64(4, data|1<<63) // swizzled
	m.setS64(6, page)
	m.setS64(regEXEC, ^uint64(0))
	code := assemble(t, gcn.GFX90A, "s_movk_i32 s0, 300; again:; v_add_u32 v1, v1, v1; v_cvt_off_f32_i4 v2, v1; buffer_load_dword v3, v0, s[4:7], 0 offen; s_sub_u32 s0, s0, 1; s_cmp_lg_u32 s0, 0; s_cbranch_scc1 again; s_nop 0")
	if err := m.exec(code...); err != nil {
		t.Fatal(err)
	}
	times := map[string]map[string]uint64{}
	for _, x := range p.Instructions() {
		if times[x.Name] == nil {
			times[x.Name] = map[string]uint64{}
		}
		times[x.Name][x.Why] += x.Times
	}
	t.Log(times)
	sum := func(name string) (n uint64) {
		for _, k := range times[name] {
			n += k
		}
		return n
	}
	// Swizzled buffers are left to Go.
	for _, name := range []string{"v_cvt_off_f32_i4", "buffer_load_dword"} {
		if n := sum(name); n != rounds {
			t.Errorf("%s: %d times, want %d", name, n, rounds)
		}
	}
	if translates(t) {
		const warm = usualHeat
		if n := sum("v_add_u32"); n == 0 || n > warm {
			t.Errorf("v_add_u32: %d times", n)
		}
		if n := times["v_cvt_off_f32_i4"][notTranslated.String()]; n < rounds-warm || n >= rounds {
			t.Errorf("v_cvt_off_f32_i4 was executed %d times for want of a translation", n)
		}
		if n := times["buffer_load_dword"][leftByCode.String()]; n < rounds-warm || n >= rounds {
			t.Errorf("buffer_load_dword was left %d times", n)
		}
	} else if n := sum("v_add_u32"); n != rounds {
		t.Errorf("v_add_u32: %d times", n)
	}
	if s := p.String(); !strings.Contains(s, "300 ×") && !strings.Contains(s, "v_cvt_off_f32_i4") {
		t.Errorf("it says %q", s)
	}
}
