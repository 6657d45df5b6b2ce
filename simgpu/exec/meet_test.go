package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// meeting is a program whose four waves exchange numbers through the LDS, with two barriers a round. Waves 0 and 1
// do s16 rounds, the others s17. In some rounds a wave does what is not translated, and in round s18 of
// wave 2 it reads at s[20:21].
const meeting = "s_load_dwordx2 s[16:17], s[0:1], 0x0; s_load_dword s18, s[0:1], 0x8; s_load_dwordx2 s[20:21], s[0:1], 0x10; " +
	"v_lshrrev_b32_e32 v1, 6, v0; v_readfirstlane_b32 s8, v1; v_lshlrev_b32_e32 v2, 2, v0; v_xor_b32_e32 v3, 0x100, v2; v_mov_b32_e32 v5, v0; s_mov_b32 s9, 0; " +
	"s_cmp_lt_u32 s8, 2; s_cselect_b32 s10, s16, s17; " +
	// A round.
	"round:; s_and_b32 s11, s9, 7; s_sub_i32 s11, s11, 4; s_cmp_eq_u32 s11, s8; s_cbranch_scc0 all; s_getreg_b32 s11, hwreg(HW_REG_MODE); " +
	"all:; s_cmp_eq_u32 s8, 2; s_cbranch_scc0 here; s_cmp_eq_u32 s9, s18; s_cbranch_scc0 here; s_load_dword s12, s[20:21], 0x0; " +
	"here:; ds_write_b32 v2, v5; s_waitcnt lgkmcnt(0); s_barrier; " +
	"ds_read_b32 v6, v3; s_waitcnt lgkmcnt(0); v_lshl_add_u32 v5, v6, 1, v5; v_add_u32_e32 v5, s9, v5; s_barrier; " +
	"s_add_i32 s9, s9, 1; s_cmp_lt_u32 s9, s10; s_cbranch_scc1 round; " +
	"v_mov_b32_e32 v7, s2; v_lshl_add_u32 v2, v7, 10, v2; global_store_dword v2, v5, s[0:1] offset:64; s_endpgm"

// meet prepares a dispatch of it.
func meet(t *testing.T, after, groups int, rounds [3]uint32) (x *Dispatch, buf uint64, data []byte) {
	d := newDevice(t, gcn.GFX90A, 1<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
	buf, data = d.alloc(4 * page)
	x = d.assemble(buf, uint32(groups), 256, assemble(t, gcn.GFX90A, meeting))
	x.DynamicLDS = 1024
	for i, n := range rounds {
		binary.LittleEndian.PutUint32(data[4*i:], n)
	}
	binary.LittleEndian.PutUint64(data[16:], 1<<40) // there is nothing
	return x, buf, data
}

// met is what a work-item of it stores.
func met(rounds [3]uint32) (out [256]uint32) {
	for i := range out {
		out[i] = uint32(i)
	}
	for n := range max(rounds[0], rounds[1]) {
		before := out
		for i := range out {
			if n < rounds[i/128] {
				out[i] += 2*before[i^64] + n
			}
		}
	}
	return out
}

// TestMeetings: waves that meet at barriers again and again, all of them or those that have not ended, see each
// other's numbers, in machine code as in functions.
func TestMeetings(t *testing.T) {
	for _, rounds := range [][3]uint32{{1, 1, 9999}, {5, 5, 9999}, {20, 33, 9999}, {700, 4, 9999}, {1500, 1500, 9999}} {
		want := met(rounds)
		var first Stats
		for i, after := range []int{-1, 1, 2, 5, 0} {
			for _, workers := range []int{1, 3} {
				x, _, data := meet(t, after, 3, rounds)
				stats, err := x.Run(context.Background(), workers)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = stats
				}
				if stats != first || stats.Workgroups != 3 || stats.Waves != 12 {
					t.Errorf("%v, translated after %d: %+v, want %+v", rounds, after, stats, first)
				}
				for g := range 3 {
					for i, want := range want {
						if got := binary.LittleEndian.Uint32(data[64+1024*g+4*i:]); got != want {
							t.Fatalf("%v, translated after %d, workgroup %d: work-item %d has %#x, want %#x", rounds, after, g, i, got, want)
						}
					}
				}
			}
		}
	}
}

// TestMeetingFaults: a fault names the wave, whichever Go began with.
func TestMeetingFaults(t *testing.T) {
	for _, after := range []int{-1, 1, 3} {
		x, _, _ := meet(t, after, 2, [3]uint32{300, 300, 60})
		_, err := x.Run(context.Background(), 1)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != MemoryFault || f.Addr != 1<<40 || f.Wave != 2 || f.Workgroup != [3]uint32{} || f.Inst != "s_load_dword s12, s[20:21], 0x0" {
			t.Fatalf("translated after %d: %v, %+v", after, err, f)
		}
	}
}

// TestMeetingPageFault: the same where the page is only found to be missing by reading.
func TestMeetingPageFault(t *testing.T) {
	for _, after := range []int{-1, 1, 3} {
		x, buf, data := meet(t, after, 2, [3]uint32{300, 300, 60})
		binary.LittleEndian.PutUint64(data[16:], buf+16*page)
		_, err := x.Run(context.Background(), 1)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != MemoryFault || f.Addr != buf+16*page || f.Wave != 2 || f.Inst != "s_load_dword s12, s[20:21], 0x0" {
			t.Fatalf("translated after %d: %v, %+v", after, err, f)
		}
	}
}
