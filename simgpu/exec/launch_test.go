package exec

import (
	"context"
	"encoding/binary"
	"testing"
)

// What a workgroup leaves in its registers is not there for the next one, which
// may be smaller: v0 and the scalars begin as they must, in every workgroup.
func TestWorkgroupsBeginAnew(t *testing.T) {
	for _, arch := range arches {
		d := newDevice(t, arch, 1<<20)
		buf, data := d.alloc(page)
		const groups, size, items = 5, 96, 4*96 + 70 // the last workgroup has 70 work-items
		run := d.assemble(buf, groups, size,
			words("s_mul_i32 s3, s2, 0x180", 0x9203ff02, 0x180), words("v_lshlrev_b32_e32 v1, 2, v0", 0x24020082), words("v_add_u32_e32 v1, s3, v1", 0x68020203),
			words("v_add_u32_e32 v0, s4, v0", 0x68000004), words("global_store_dword v1, v0, s[0:1]", 0xdc708000, 0x00000001),
			words("s_movk_i32 s4, 0x1000", 0xb0041000), words("v_mov_b32_e32 v0, 7", 0x7e000287), []uint32{endpgm})
		run.Grid[0] = items
		for range 2 {
			for i := range data {
				data[i] = 0xee
			}
			stats, err := run.Run(context.Background(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if stats.Workgroups != groups || stats.Waves != 2*groups {
				t.Errorf("%s: %+v", arch, stats)
			}
			for i := range uint32(groups * size) {
				want := i % size
				if i >= items {
					want = 0xeeeeeeee
				}
				if got := binary.LittleEndian.Uint32(data[4*i:]); got != want {
					t.Fatalf("%s: work-item %d has %#x, want %#x", arch, i, got, want)
				}
			}
		}
	}
}
