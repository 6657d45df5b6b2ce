//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestWMMACode: matrix instructions of RDNA by functions and as machine code, the same to the bit: numbers of all kinds, negations, halves of registers,
// constants, D where A, B or C is, other instructions around them that keep registers, and any lanes active.
func TestWMMACode(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func(cost int, vnni bool) { leaveCost, useVNNI = cost, vnni }(leaveCost, useVNNI)
	vnni := useVNNI
	for _, arch := range rdnaWaves {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(8, 15))
		const c, d = "v[24:31]", "v[48:55]" // of waves of 64 lanes, the first four of them: that is not encoded
		for _, text := range []string{
			"v_wmma_f32_16x16x16_f16 " + d + ", v[8:15], v[16:23], " + c,
			"v_wmma_f32_16x16x16_f16 " + c + ", v[8:15], v[16:23], " + c + " neg_lo:[1,0,1]",
			"v_wmma_f32_16x16x16_bf16 " + d + ", v[8:15], v[16:23], " + c + " neg_lo:[0,1,0]",
			"v_wmma_f32_16x16x16_bf16 " + c + ", v[20:27], v[16:23], 1.0 neg_hi:[1,0,1]",
			"v_wmma_f32_16x16x16_f16 v[26:33], v[8:15], v[16:23], " + c,
			"v_wmma_i32_16x16x16_iu8 v[22:29], v[8:11], v[16:19], " + c,
			"v_wmma_f16_16x16x16_f16 " + d + ", v[8:15], v[16:23], " + c + " neg_hi:[0,1,1]",
			"v_wmma_f16_16x16x16_f16 " + d + ", v[8:15], v[16:23], " + c + " op_sel:[0,0,1] neg_lo:[0,0,1]",
			"v_wmma_f16_16x16x16_f16 " + c + ", v[8:15], v[16:23], 0 op_sel:[0,0,1]",
			"v_wmma_i32_16x16x16_iu8 " + d + ", v[8:11], v[16:19], " + c + " neg_lo:[1,0,0]",
			"v_wmma_i32_16x16x16_iu8 " + d + ", v[8:11], v[16:19], " + c + " neg_lo:[0,1,0]",
			"v_wmma_i32_16x16x16_iu8 " + c + ", v[8:11], v[16:19], 5 neg_lo:[1,1,0]",
			"v_wmma_i32_16x16x16_iu8 " + c + ", v[8:11], v[16:19], " + c,
			"v_add_nc_u32 v8, v8, v9\nv_xor_b32 v24, v24, v25\nv_wmma_f32_16x16x16_f16 " + d + ", v[8:15], v[16:23], " + c + "\nv_add_f32 v48, v48, v49\n" +
				"v_wmma_f16_16x16x16_f16 " + d + ", v[16:23], v[8:15], " + c + "\nv_add_f32 v49, v48, v49",
		} {
			for i := range 24 {
				leaveCost = []int{8, -1000}[i%2]
				useVNNI = vnni && i%4 < 2
				m.fill(r, data)
				m.setMode(0xf0)
				for reg := 8; reg < 32; reg++ {
					for l := range m.V[reg] {
						if i%3 != 0 { // halves that are numbers near one; of bytes, any
							m.V[reg][l] = uint32(f64to16(r.Float64()*4-2)) | uint32(f64to16(r.Float64()*4-2))<<16
						} else if i%2 == 0 {
							m.V[reg][l] = r.Uint32()
						}
					}
				}
				diff, returns := m.bothWays(t, assembleLines(t, arch, text), mem)
				if returns != 0 {
					t.Errorf("%v, %s: it is left to Go", arch, text)
				}
				if diff != "" {
					t.Fatalf("%v, %s: %s", arch, text, diff)
				}
			}
		}
	}
}

// TestWMMAKinds: which of them have machine code.
func TestWMMAKinds(t *testing.T) {
	if !translates(t) {
		return
	}
	for name := range wmmaKinds {
		if _, got := wmmaNative["v_wmma_"+name]; got != (name != "bf16_16x16x16_bf16" && name != "i32_16x16x16_iu4") {
			t.Errorf("%s: code %v", name, got)
		}
	}
	g := nativeGen{p: NewProgram(gcn.GFX1100, newMachine(t, gcn.GFX1100).prog.mem, Options{}), r: &region{}, blk: &block{}}
	g.lower()
	for name := range wmmaNative {
		words := assemble(t, gcn.GFX1100, name+map[bool]string{false: " v[48:55], v[8:15], v[16:23], v[24:31]", true: " v[48:55], v[8:11], v[16:19], v[24:31]"}[name == "v_wmma_i32_16x16x16_iu8"])
		in, err := gcn.Decode(gcn.GFX1100, bytesOf(words), 0)
		if err != nil {
			t.Fatal(err)
		}
		if !g.can(&block{}, &in) {
			t.Errorf("%s has no code", name)
		}
		g.inst(&in)
	}
	for _, f := range g.stubs {
		f()
	}
	if g.a.Missing() {
		t.Error("some code cannot be lowered")
	}
}
