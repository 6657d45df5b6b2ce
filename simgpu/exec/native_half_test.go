//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"
)

// halfOperand is an f16 that sums are often halfway between two f16 with, or nearly so, or a special one.
func halfOperand(r *rand.Rand) uint32 {
	special := []uint32{0, 1, 2, 0x3ff, 0x400, 0x401, 0x3c00, 0x3c01, 0x3bff, 0x4000, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7e55}
	x := special[r.IntN(len(special))]
	switch r.IntN(4) {
	case 0:
		x = uint32(r.IntN(0x7c00))
	case 1: // a power of two, or next to it
		x = uint32(r.IntN(31))<<10 + uint32(r.IntN(3)) - 1
	}
	return x&0x7fff | uint32(r.IntN(2))<<15
}

// TestHalvesTranslated executes arithmetic on f16 with the functions of the instructions and as machine code: with the processor's own
// arithmetic, if it has any, and without it.
func TestHalvesTranslated(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func(halves bool) { useHalves = halves }(useHalves)
	halves := useHalves
	n := 400
	if testing.Short() {
		n = 60
	}
	for _, arch := range arches {
		m := newMachine(t, arch)
		m.blind = true
		_, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(uint64(arch), 16))
		for _, text := range []string{
			"v_fma_f16 v6, v0, v2, v4", "v_pk_fma_f16 v6, v0, v2, v4", "v_pk_fma_f16 v0, v0, v0, v0", "v_pk_fma_f16 v6, v0, s12, v4", "v_pk_fma_f16 v6, v0, 1.0, v4",
			"v_pk_fma_f16 v6, v0, v2, v4 neg_lo:[1,0,0]", "v_pk_fma_f16 v6, s12, v2, v4 neg_lo:[1,0,1] neg_hi:[0,1,1]", "v_pk_fma_f16 v6, v0, v2, v4 op_sel_hi:[0,1,1]",
			"v_pk_fma_f16 v6, v0, v2, v4 op_sel:[1,0,1] op_sel_hi:[0,1,0] neg_hi:[1,0,0]",
			"v_pk_add_f16 v6, v0, v2", "v_pk_add_f16 v6, v0, v2 neg_lo:[0,1] neg_hi:[0,1]", "v_pk_mul_f16 v6, v0, v2", "v_pk_mul_f16 v6, v0, v2 op_sel_hi:[1,0]",
			"v_pk_add_f16 v6, v0, v2 op_sel:[1,0] op_sel_hi:[0,1]", "v_pk_mul_f16 v6, v0, v2 op_sel:[1,1] op_sel_hi:[0,0] neg_lo:[1,0]",
			"v_add_f16 v6, v0, v2", "v_sub_f16 v6, v0, v2", "v_subrev_f16 v6, v0, v2", "v_mul_f16 v6, v0, v2", "v_mul_f16 v0, s12, v0", "v_fma_f16 v2, v0, -v2, |v4|",
			"v_pk_min_f16 v6, v0, v2", "v_pk_max_f16 v6, v0, v2", "v_max_f16 v6, v0, v2",
			"v_pk_mul_f16 v5, v0, v2; v_pk_fma_f16 v6, v5, v2, v4; v_pk_fma_f16 v5, v6, v0, v5; v_pk_add_f16 v6, v5, v6",
		} {
			words := assemble(t, arch, text)
			for i := range n {
				useHalves = halves && i%2 == 0
				m.scramble(r)
				m.setMode([]uint32{0xf0, 0xf0, 0x3f0, r.Uint32() & 0xff}[r.IntN(4)])
				m.setS64(regEXEC, execPatterns[r.IntN(len(execPatterns))])
				m.S[12] = halfOperand(r) | halfOperand(r)<<16
				for l := range WaveSize {
					for reg := range 8 {
						m.V[reg][l] = halfOperand(r) | halfOperand(r)<<16
					}
				}
				if d, _ := m.bothWays(t, words, mem); d != "" {
					t.Fatalf("%s: %s: %s", arch, text, d)
				}
			}
		}
	}
}
