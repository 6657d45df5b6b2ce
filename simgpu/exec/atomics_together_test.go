package exec

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestAtomicsTogether: what all work-items of all workgroups do at once to the same words, on several cores, by functions and in machine code on both sides, is done
// as often as they do it. Each adds 1, takes a number, adds 1 as a float and as a double, takes the greatest, and adds 2 by comparing and exchanging,
// in a loop until nobody has been faster.
func TestAtomicsTogether(t *testing.T) {
	const groups, size = 32, 256
	text := "v_mov_b32_e32 v3, 0; v_mov_b32_e32 v1, s2; v_lshl_or_b32 v2, v1, 8, v0; v_mov_b32_e32 v4, 1; v_mov_b32_e32 v5, 0; " +
		"global_atomic_add v3, v4, s[0:1] offset:128; " +
		"global_atomic_add_x2 v[8:9], v3, v[4:5], s[0:1] offset:256 glc; " +
		"v_mov_b32_e32 v10, 1.0; global_atomic_add_f32 v3, v10, s[0:1] offset:384; " +
		"v_mov_b32_e32 v12, 0; v_mov_b32_e32 v13, 0x3ff00000; global_atomic_add_f64 v3, v[12:13], s[0:1] offset:512; " +
		"global_atomic_umax v3, v2, s[0:1] offset:640; " +
		"global_load_dword v15, v3, s[0:1] offset:768; s_waitcnt vmcnt(0); s_mov_b64 s[10:11], exec; " +
		"again:; v_add_u32_e32 v14, 2, v15; global_atomic_cmpswap v16, v3, v[14:15], s[0:1] offset:768 glc; s_waitcnt vmcnt(0); " +
		"v_cmp_ne_u32_e32 vcc, v16, v15; v_mov_b32_e32 v15, v16; s_and_b64 exec, exec, vcc; s_cbranch_execnz again; s_mov_b64 exec, s[10:11]; " +
		"v_lshlrev_b32_e32 v17, 2, v8; v_add_u32_e32 v17, 0x1000, v17; global_atomic_add v17, v4, s[0:1]; s_endpgm"
	for _, after := range []int{-1, 1, 40} {
		d := newDevice(t, gcn.GFX90A, 1<<20)
		d.prog = NewProgram(gcn.GFX90A, d.mem, Options{TranslateAfter: after})
		buf, data := d.alloc(page + 4*groups*size)
		x := d.assemble(buf, groups, size, assemble(t, gcn.GFX90A, text))
		x.Desc.Rsrc1, x.Desc.Rsrc3 = x.Desc.Rsrc1|2, 5 // 24 registers
		if _, err := x.Run(context.Background(), 4); err != nil {
			t.Fatal(err)
		}
		word := binary.LittleEndian.Uint32
		const n = groups * size
		for name, c := range map[string]struct{ got, want uint64 }{
			"add":     {uint64(word(data[128:])), n},
			"add_x2":  {binary.LittleEndian.Uint64(data[256:]), n},
			"add_f32": {uint64(math.Float32frombits(word(data[384:]))), n},
			"add_f64": {uint64(math.Float64frombits(binary.LittleEndian.Uint64(data[512:]))), n},
			"umax":    {uint64(word(data[640:])), n - 1},
			"cmpswap": {uint64(word(data[768:])), 2 * n},
		} {
			if c.got != c.want {
				t.Errorf("translated after %d: %s: %d, want %d", after, name, c.got, c.want)
			}
		}
		for i := range n {
			if k := word(data[page+4*i:]); k != 1 {
				t.Fatalf("translated after %d: the number %d was taken %d times", after, i, k)
			}
		}
	}
}
