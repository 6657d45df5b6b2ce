//go:build linux && amd64

package exec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// divOperand is a number at whose exponent the steps of a division choose, or a special one.
func divOperand(r *rand.Rand, f *divFormat) uint64 {
	special := []uint64{0, 1, f.encode(math.Inf(1)), f.encode(math.NaN()), f.encode(math.Inf(1)) | 1, f.encode(1), 1 << (f.prec - 1), 1<<(f.prec-1) - 1}
	exponents := []int{0, 1, 2, f.tiny, f.tiny + 1, f.eMask / 2, f.eMask/2 - f.far, f.eMask/2 + f.far, f.eMask/2 + f.far + 1, f.eMask - f.scale, f.eMask - 2, f.eMask - 1}
	x := r.Uint64() & (1<<(f.prec-1) - 1)
	switch r.IntN(8) {
	case 0:
		x = special[r.IntN(len(special))]
	case 1:
		x |= uint64(r.IntN(f.eMask)) << (f.prec - 1)
	case 2:
		x |= uint64(f.eMask/2-10+r.IntN(20)) << (f.prec - 1)
	default:
		x |= uint64(exponents[r.IntN(len(exponents))]) << (f.prec - 1)
	}
	if r.IntN(4) == 0 {
		x |= f.sign()
	}
	return x
}

// TestDivisionTranslated executes the steps of divisions with the functions of the
// instructions and as machine code, on operands near all that they tell apart.
func TestDivisionTranslated(t *testing.T) {
	if !translates(t) {
		return
	}
	n := 150
	if testing.Short() {
		n = 30
	}
	for _, c := range []struct {
		f     *divFormat
		texts []string
	}{
		{&div16, []string{"v_div_fixup_f16 v6, v4, v0, v2", "v_div_fixup_f16 v2, |v4|, v0, -v2", "v_div_fixup_f16 v0, s12, v0, v0",
			"v_div_fixup_f16 v6, v4, v0, v2 op_sel:[1,0,1,1]", "v_div_fixup_legacy_f16 v6, v4, v0, v2"}},
		{&div32, []string{
			"v_div_scale_f32 v6, s[10:11], v0, v0, v2", "v_div_scale_f32 v6, vcc, v2, v0, v2", "v_div_scale_f32 v6, vcc, v4, v0, v2",
			"v_div_scale_f32 v0, vcc, v0, v0, 1.0", "v_div_scale_f32 v0, vcc, s12, s12, v2",
			"v_div_fmas_f32 v6, v0, v2, v4", "v_div_fmas_f32 v0, v0, -v2, v4", "v_div_fixup_f32 v6, v4, v0, v2", "v_div_fixup_f32 v2, |v4|, v0, v2", "v_div_fixup_f32 v0, s12, v0, v0",
			"v_cmp_lt_f32 vcc, v0, v2; v_div_fmas_f32 v6, v0, v2, v4; v_cndmask_b32 v7, v0, v2, vcc",
		}},
		{&div64, []string{
			"v_div_scale_f64 v[6:7], s[10:11], v[0:1], v[0:1], v[2:3]", "v_div_scale_f64 v[6:7], vcc, v[2:3], v[0:1], v[2:3]", "v_div_scale_f64 v[2:3], vcc, v[4:5], v[0:1], v[2:3]",
			"v_div_scale_f64 v[0:1], vcc, v[0:1], v[0:1], 1.0", "v_div_scale_f64 v[0:1], vcc, s[12:13], s[12:13], v[2:3]",
			"v_div_fmas_f64 v[6:7], v[0:1], v[2:3], v[4:5]", "v_div_fmas_f64 v[2:3], v[0:1], -v[2:3], v[4:5]", "v_div_fixup_f64 v[6:7], v[4:5], v[0:1], v[2:3]", "v_div_fixup_f64 v[2:3], |v[4:5]|, v[0:1], v[2:3]",
		}},
	} {
		for _, arch := range arches {
			m := newMachine(t, arch)
			m.blind = true
			_, mem := m.alloc(page)
			r := rand.New(rand.NewPCG(uint64(arch), uint64(c.f.bits)))
			for _, text := range c.texts {
				words := assemble(t, arch, text)
				for range n {
					m.scramble(r)
					m.setMode([]uint32{0xf0, 0x3f0, r.Uint32() & 0xff}[r.IntN(3)])
					m.setS64(regEXEC, execPatterns[r.IntN(len(execPatterns))])
					m.setS64(regVCC, []uint64{0, r.Uint64(), 1 << r.IntN(64), ^m.s64(regEXEC)}[r.IntN(4)])
					m.setS64(12, divOperand(r, c.f))
					for l := range WaveSize {
						for reg := 0; reg < 6; reg += 2 {
							x := divOperand(r, c.f)
							switch c.f.bits {
							case 16:
								m.V[reg][l] = uint32(x) | uint32(divOperand(r, c.f))<<16
							case 32:
								m.V[reg][l] = uint32(x)
							default:
								m.set64(reg, l, x)
							}
						}
					}
					exec := m.s64(regEXEC)
					if d, _ := m.bothWays(t, words, mem); d != "" {
						t.Fatalf("%s: %s: %s; EXEC %#x", arch, text, d, exec)
					}
				}
			}
		}
	}
}
