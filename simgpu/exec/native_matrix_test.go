//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestMatrixCode: matrix instructions among others, whose registers are in registers of the processor or not, and several that have the
// same code or another.
func TestMatrixCode(t *testing.T) {
	if !translates(t) {
		return
	}
	if waveTileA%64 != 0 || waveTileB%64 != 0 || waveTileSums%64 != 0 {
		t.Errorf("what matrix instructions read is not in lines of the cache: %d, %d, %d", waveTileA, waveTileB, waveTileSums)
	}
	defer func(cost int) { leaveCost = cost }(leaveCost)
	for _, arch := range arches {
		m := newMachine(t, arch)
		m.blind = true
		m.V, m.A = registers(m.V, 64), registers(m.A, 64)
		m.setBases()
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(5, 1))
		half, bytes, single := "v_mfma_f32_16x16x16f16", "v_mfma_i32_16x16x16i8", "v_mfma_f32_4x4x1f32"
		narrow, wide := "v2", "v6"
		if arch == gcn.GFX942 {
			half, bytes, single = "v_mfma_f32_16x16x16_f16", "v_mfma_i32_16x16x32_i8", "v_mfma_f32_4x4x1_16b_f32"
			narrow, wide = "v[2:3]", "v[6:7]"
		}
		for _, text := range []string{
			"v_mov_b32 v4, v1\nv_add_u32 v5, v4, v2\n" + half + " v[8:11], v[4:5], v[6:7], v[8:11]\nv_add_f32 v9, v9, v8\n" + half + " v[8:11], v[6:7], v[4:5], v[8:11]\nv_add_f32 v4, v11, v10",
			"v_add_u32 v6, v6, v2\n" + bytes + " v[4:7], " + wide + ", " + wide + ", 0\nv_add_u32 v4, v7, v4\n" + bytes + " v[8:11], " + wide + ", " + narrow + ", v[4:7]",
			"v_add_u32 v6, v6, v2\n" + single + " a[4:7], v6, v7, 1.0\nv_accvgpr_read_b32 v7, a4\n" + single + " a[0:3], v7, v6, a[4:7]\nv_accvgpr_read_b32 v6, a1\nv_mul_f32 v6, v6, v7",
			half + " v[0:3], v[0:1], v[2:3], v[0:3]\n" + half + " v[4:7], v[0:1], v[2:3], v[0:3]\nv_max_f32 v0, v4, v5\nv_max_f32 v1, v6, v7",
		} {
			for i, cost := range []int{8, -1000} {
				leaveCost = cost
				sameTranslated(t, m, mem, data, r, text, 10+i, nil)
			}
		}
	}
}

// TestMatrixHasCode: which matrix instructions have machine code, so that TestMatrixKernels compares it and not functions.
func TestMatrixHasCode(t *testing.T) {
	if !translates(t) {
		return
	}
	if hasAVX512 && !useVNNI {
		t.Log("those of bytes have none: this processor has no VNNI")
	}
	for _, f := range matrixForms(t) {
		in, err := gcn.Decode(f.arch, f.encode(atC, atA, atB, 256+atC, matrixFields{}), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := f.sparse == nil && f.typeA == f.typeB
		switch f.typeA {
		case "f32", "f16", "bf16":
		case "i8":
			want = want && (!hasAVX512 || useVNNI)
		default:
			want = false
		}
		g := nativeGen{p: NewProgram(f.arch, newMachine(t, f.arch).prog.mem, Options{})}
		if got := g.can(&block{}, &in); got != want {
			t.Errorf("%v %s: code %v, want %v", f.arch, f.name, got, want)
		}
		if !want {
			continue
		}
		g.blk, g.r = &block{}, &region{}
		g.lower()
		g.inst(&in)
		for _, f := range g.stubs { // the code itself
			f()
		}
		if g.a.Missing() {
			t.Errorf("%v %s: its code cannot be lowered", f.arch, f.name)
		}
	}
}
