package exec

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// ringed is a program whose waves, each for itself, store what they begin with: the work-item, what is in the LDS at its place, at another wave's and at the LDS' end, and scalar
// registers of several lines. Then they meet, add up what the others have left in the LDS, give way, and leave behind what the next ones must not
// find. s17 is a mask: what is done is by that of the workgroup's number that it lets through.
const ringed = "s_load_dwordx2 s[16:17], s[0:1], 0x0; v_lshlrev_b32_e32 v3, 2, v0; ds_read_b32 v4, v3; v_mov_b32_e32 v8, s16; s_waitcnt lgkmcnt(0); v_mov_b32_e32 v8, s16; ds_read_b32 v5, v8; v_xor_b32_e32 v9, 0x100, v3; v_min_u32_e32 v9, 0x2fc, v9; ds_read_b32 v10, v9; " +
	"s_cselect_b32 s4, 1, 0; s_or_b32 s4, s4, s20; s_or_b32 s4, s4, s41; s_or_b32 s4, s4, s90; s_or_b32 s4, s4, s75; s_or_b32 s4, s4, vcc_lo; s_or_b32 s4, s4, vcc_hi; s_andn2_b32 s5, -1, exec_lo; s_or_b32 s4, s4, s5; s_andn2_b32 s5, -1, exec_hi; s_or_b32 s4, s4, s5; " +
	"s_waitcnt lgkmcnt(0); v_or_b32_e32 v4, v4, v5; v_or_b32_e32 v4, v4, v10; v_or_b32_e32 v4, s4, v4; v_mov_b32_e32 v5, s2; v_mul_u32_u24_e32 v6, 0xc00, v5; v_lshl_add_u32 v6, v0, 4, v6; " + // 192 work-items of 16 bytes
	"v_add_u32_e32 v7, 1, v0; v_mul_u32_u24_e32 v7, v7, v7; v_add_u32_e32 v7, v7, v5; ds_write_b32 v3, v7; " +
	"s_and_b32 s10, s2, s17; s_cmp_eq_u32 s10, 5; s_cbranch_scc0 inside; s_getreg_b32 s11, hwreg(HW_REG_MODE); s_movk_i32 s75, 0x3; inside:; " + // Go executes it in some
	"s_waitcnt lgkmcnt(0); s_barrier; ds_read_b32 v7, v9; s_waitcnt lgkmcnt(0); ds_write_b32 v9, v5; ds_write_b32 v8, v7; " + // gives way
	"v_readfirstlane_b32 s12, v0; s_cmp_eq_u32 s10, 6; s_cbranch_scc0 meet; s_cmp_eq_u32 s12, 64; s_cbranch_scc1 end; meet:; s_barrier; end:; ds_read_b32 v10, v3; s_waitcnt lgkmcnt(0); ds_write_b32 v3, v10; " + // in some one wave ends before the others meet
	"v_mov_b32_e32 v10, v0; global_store_dwordx4 v6, v[4:7], s[0:1] offset:2048; global_store_dword v6, v10, s[0:1] offset:2056; " +
	"s_mov_b64 vcc, -1; s_movk_i32 s20, 0x1; s_mov_b64 s[40:41], -1; s_cmp_lt_u32 s10, 3; s_cbranch_scc1 2; s_movk_i32 s90, 0x7; s_branch 0; s_mov_b64 exec, 3; s_cmp_eq_u32 s20, s20; s_endpgm"

// ringedRun executes it and returns what each work-item stored: what must be zero, the workgroup, the work-item, what another one left in the LDS.
func ringedRun(t *testing.T, after, groups, workers int, mask uint32) (out [][4]uint32, stats Stats) {
	t.Helper()
	const items, lds = 192, 3*256 + 16
	d := newDevice(t, gcn.GFX90A, 4<<20)
	d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
	buf, data := d.alloc(2048 + groups*items*16)
	x := d.assemble(buf, uint32(groups), items, assemble(t, gcn.GFX90A, ringed))
	x.DynamicLDS = lds
	x.Desc.Rsrc1, x.Desc.Rsrc3 = x.Desc.Rsrc1|1, 3 // 16 registers
	binary.LittleEndian.PutUint32(data, lds-4)
	binary.LittleEndian.PutUint32(data[4:], mask)
	stats, err := x.Run(context.Background(), workers)
	if err != nil {
		t.Fatal(err)
	}
	for i := range groups * items {
		var v [4]uint32
		for j := range v {
			v[j] = binary.LittleEndian.Uint32(data[2048+16*i+4*j:])
		}
		out = append(out, v)
	}
	return out, stats
}

// TestRingsBeginAlike: in a chain of workgroups with an LDS each wave begins with what it would find in a workgroup of its own, and so does the LDS.
func TestRingsBeginAlike(t *testing.T) {
	const groups = 60
	for _, mask := range []uint32{0, 7, 31} { // of all workgroups none, or some, do what ends a ring
		var first Stats
		for n, after := range []int{-1, 1, 2, 7, 30} {
			for _, workers := range []int{1, 3} {
				out, stats := ringedRun(t, after, groups, workers, mask)
				for i, got := range out {
					group, item := uint32(i/192), uint32(i%192)
					other := item ^ 64
					if other >= 192 {
						other = 191
					}
					want := [4]uint32{0, group, item, (other+1)*(other+1) + group}
					if other == 191 { // its own wave writes there
						want[3] = got[3]
					}
					if got != want {
						t.Fatalf("mask %d, translated after %d, %d workers, workgroup %d, work-item %d: %#x, want %#x", mask, after, workers, group, item, got, want)
					}
				}
				if n == 0 && workers == 1 {
					first = stats
				}
				if stats != first || stats.Workgroups != groups || stats.Waves != 3*groups {
					t.Errorf("mask %d, translated after %d, %d workers: %+v, want %+v", mask, after, workers, stats, first)
				}
			}
		}
	}
}
