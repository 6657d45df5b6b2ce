package exec

import (
	"errors"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// v_fmac_f16 accumulates in the half that it writes, in all three encodings that can name it.
func TestRDNAAccumulatorHalves(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	m.setMask(1<<32 - 1)
	const two, three, five, seven, eleven, thirteen = 0x4000, 0x4200, 0x4500, 0x4700, 0x4980, 0x4a80
	half := map[uint32]float64{two: 2, three: 3, five: 5, seven: 7, eleven: 11, thirteen: 13}
	for bits := range uint32(8) {
		dst, a, b := bits&1, bits>>1&1, bits>>2&1
		vop2 := 54<<25 | (6+128*dst)<<17 | (2+128*b)<<9 | (256 + 128*a)
		for name, words := range map[string][]uint32{
			"e32": {vop2},
			"e64": {0xd4000000 | 310<<16 | (a|b<<1|dst<<3)<<11 | 6, 256 | 258<<9},
			"dpp": {vop2&^0x1ff | dppFollows, 128*a | 0xe4<<8 | 0xff000000},
		} {
			for i := range 32 {
				m.V[0][i], m.V[2][i], m.V[6][i] = two|three<<16, five|seven<<16, eleven|thirteen<<16
			}
			if err := m.exec(words...); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			pick := func(v, high uint32) uint32 { return v >> (16 * high) & 0xffff }
			sum := uint32(f64to16(half[pick(two|three<<16, a)]*half[pick(five|seven<<16, b)] + half[pick(eleven|thirteen<<16, dst)]))
			want := low(eleven|thirteen<<16, sum)
			if dst != 0 {
				want = high(eleven|thirteen<<16, sum)
			}
			if got := m.V[6][17]; got != want {
				t.Errorf("%s, halves %d %d %d: %#x, want %#x", name, dst, a, b, got, want)
			}
		}
	}
}

// A matrix instruction counts the lanes that a wave has.
func TestRDNAMatrixLanes(t *testing.T) {
	m := newMachine(t, gcn.GFX1100)
	m.stats, m.tally = Stats{}, tally{}
	if err := m.exec(0xcc404010, 0x1c421100); err != nil { // v_wmma_f32_16x16x16_f16 v[16:23], v[0:7], v[8:15], v[16:23]
		t.Fatal(err)
	}
	m.flushTally()
	if s := &m.stats; s.Instructions[MFMA] != 1 || s.Lanes[MFMA] != 32 || s.FLOPs != 2*16*16*16 {
		t.Errorf("%d instructions, %d lanes, %d floating-point operations", s.Instructions[MFMA], s.Lanes[MFMA], s.FLOPs)
	}
}

// dppFollows is the number of source 0 that says so.
const dppFollows = 250

// Forms of operations that execute, which do not: they must not execute as if they were plain.
func TestRefusedForms(t *testing.T) {
	const row = 0xff000000 // all rows and banks
	mov := func(ctrl uint32) []uint32 {
		return []uint32{0x7e000200 | 6<<17 | dppFollows, ctrl<<8 | row}
	}
	for _, c := range []struct {
		name  string
		arch  gcn.Arch
		words []uint32
		runs  bool
	}{
		{"buffer_load_b32 v[2:3] tfe", gcn.GFX1100, []uint32{0xe0000000 | 20<<18, 2<<8 | 2<<16 | 1<<21 | 128<<24}, false},
		{"buffer_load_b32 v2", gcn.GFX1100, []uint32{0xe0000000 | 20<<18, 2<<8 | 2<<16 | 128<<24}, true},
		{"ds_add_u32 gds", gcn.GFX1100, []uint32{0xd8000000 | 1<<17, 2 << 8}, false},
		{"ds_add_u32", gcn.GFX1100, []uint32{0xd8000000, 2 << 8}, true},
		{"wave_shl", gcn.GFX1100, mov(0x130), false},
		{"row_bcast:15", gcn.GFX1100, mov(0x142), false},
		{"row_share:1", gcn.GFX1100, mov(0x151), true},
		{"row_xmask:1", gcn.GFX1100, mov(0x161), true},
		{"wave_shl", gcn.GFX942, mov(0x130), true},
		{"row_bcast:15", gcn.GFX942, mov(0x142), true},
		{"row_xmask:1", gcn.GFX942, mov(0x161), false},
		{"v_alignbit_b32 clamp", gcn.GFX942, []uint32{0xd1ce8006, 0x04120500}, false},
		{"v_alignbit_b32", gcn.GFX942, []uint32{0xd1ce0006, 0x04120500}, true},
		{"row_shl:0", gcn.GFX942, mov(0x100), false},
	} {
		in, err := gcn.Decode(c.arch, bytesOf(c.words), 0)
		if err != nil {
			t.Errorf("%v: %s: %v", c.arch, c.name, err)
			continue
		}
		_, err = (&binder{p: NewProgram(c.arch, nil, Options{}), blk: &block{}}).bind(&in)
		if c.runs && err != nil || !c.runs && !errors.Is(err, errNotExecutable) && !errors.Is(err, errModifier) {
			t.Errorf("%v: %s (%s): %v, executes: %v", c.arch, c.name, in.String(), err, c.runs)
		}
	}
}
