package exec

import (
	"context"
	"testing"
	"time"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestSpins: a wave spins if it is at a place with the registers that it had there a time slice before, and not if any of them has changed.
func TestSpins(t *testing.T) {
	w, here, there := &wave{V: make([]Vec, 3)}, &block{}, &block{}
	step := func(what string, b *block, want bool) {
		t.Helper()
		if got := w.spins(b); got != want {
			t.Fatalf("%s: %v", what, got)
		}
	}
	settle := func() {
		t.Helper()
		step("it comes there", here, false)
		step("its scalar registers are the same, the others have not been looked at", here, false)
		step("all are the same", here, true)
		step("and again", here, true)
	}
	settle()
	step("it is elsewhere", there, false)
	settle()
	w.S[regEXEC+1]++
	settle()
	w.V[2][63]++
	step("a lane has changed", here, false)
	for waited := 1; ; waited = min(2*waited+1, mostSpinWait) {
		for range waited {
			step("it computes: nobody looks", here, false)
		}
		step("looked at again", here, false)
		if waited == mostSpinWait {
			break
		}
		w.V[0][5]++
		step("it still computes", here, false)
	}
	step("it does not compute any more", here, true)
}

// looks is a loop that waits for the word before the workgroup's own.
const looks = "s_cmp_eq_u32 s2, 0; s_cbranch_scc1 5; global_load_dword v3, v1, s[4:5] glc; s_waitcnt vmcnt(0); v_cmp_eq_u32_e32 vcc, 0, v3; s_cbranch_vccnz 65531; "

// TestSpinningCostsLittle: while one workgroup sleeps again and again, those that wait for it have short turns, each for the one before it.
func TestSpinningCostsLittle(t *testing.T) { spinningCosts(t, -1, maxTally, looks) }

// TestSleepingWaitsOnce: those that wait for it, and sleep meanwhile, look once in a turn.
func TestSleepingWaitsOnce(t *testing.T) {
	spinningCosts(t, -1, 10, "s_cmp_eq_u32 s2, 0; s_cbranch_scc1 6; s_sleep 1; global_load_dword v3, v1, s[4:5] glc; s_waitcnt vmcnt(0); v_cmp_eq_u32_e32 vcc, 0, v3; s_cbranch_vccnz 65530; ")
}

// spinningCosts: most is how many instructions a workgroup executes in a turn, waits how it waits.
func spinningCosts(t *testing.T, translateAfter int, most uint64, waits string) {
	const groups, sleeps = 40, 300 * sleepsOn
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: translateAfter})
	buf, data := d.alloc(page)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	run := d.assemble(buf, groups, 64, assemble(t, gcn.GFX90A, "v_mov_b32_e32 v1, 0; v_mov_b32_e32 v2, 1; s_lshl_b32 s3, s2, 2; s_add_u32 s4, s0, s3; s_addc_u32 s5, s1, 0; "+
		"s_cmp_lg_u32 s2, 0; s_cbranch_scc1 4; s_movk_i32 s6, 0x4b00; s_sleep 1; s_sub_u32 s6, s6, 1; s_cbranch_scc0 65533; "+ // the first one
		waits+"global_store_dword v1, v2, s[4:5] offset:4; s_endpgm"))
	run.Cooperative = true // all are resident
	stats, err := run.Run(ctx, 1)
	if err != nil || data[4*groups] != 1 {
		t.Fatalf("%v, the last one's word is %d", err, data[4*groups])
	}
	if n := (stats.TotalInstructions() - 3*sleeps) * sleepsOn / (sleeps * groups); n == 0 || n > most {
		t.Errorf("%d instructions of each workgroup in each round", n)
	}
}
