package exec

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// scaledForm is a v_cvt_scalef32 by the words of its mnemonic.
var scaledForm = regexp.MustCompile(`^v_cvt_scalef32_(?:(sr)_)?(?:(pk|pk32|2xpk16)_)?(f32|f16|bf16|fp8|bf8|fp6|bf6|fp4)_(f32|f16|bf16|fp8|bf8|fp6|bf6|fp4)$`)

var bitsOf = map[string]int{"f32": 32, "f16": 16, "bf16": 16, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}

func (m *machine) bitsAt(reg, lane, bit, n int) (x uint32) {
	for j := range n {
		x |= m.V[reg+(bit+j)/32][lane] >> ((bit + j) % 32) & 1 << j
	}
	return x
}

// Every instruction, with all selections, by what AMD's manual says of each: where its numbers lie, which random number belongs to which,
// and what it leaves as it is. How a number is rounded is TestMinifloatRounding's.
func TestConvertScaled(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 950))
	seen := 0
	for _, info := range gcn.Ops(gcn.GFX950) {
		f := scaledForm.FindStringSubmatch(info.Name)
		if f == nil {
			if strings.Contains(info.Name, "scalef32") {
				t.Errorf("%s: what is it?", info.Name)
			}
			continue
		}
		seen++
		random, many, to, from := f[1] != "", f[2], f[3], f[4]
		n := map[string]int{"": 1, "pk": 2, "pk32": 32, "2xpk16": 32}[many]
		two := many == "2xpk16" || many == "pk" && from == "f32" && !random
		for sel := range uint32(16) {
			var part, at int
			var uses uint32
			written := n * bitsOf[to]
			switch {
			case n == 32:
			case from == "fp4", from == "fp8" && n == 1, from == "bf8" && n == 1:
				part, uses = int(sel&3)*8, 3
			case from == "fp8", from == "bf8":
				part, uses = int(sel&1)*16, 1
			}
			switch written {
			case 8:
				at, uses = int(sel>>2)*8, uses|12
			case 16:
				at, uses = int(sel>>3)*16, uses|8
			}
			if sel&^uses != 0 {
				continue
			}
			m := newMachine(t, gcn.GFX950)
			const src0, src1, srcRandom, srcScale, dst = 0, 32, 48, 49, 64
			for k := range 128 {
				for l := range 64 {
					m.V[k][l] = r.Uint32()
					if k == srcScale {
						m.V[k][l] = math32(math.Ldexp(1+r.Float64(), r.IntN(20)-10)) // only the exponent counts
						if r.IntN(2) == 0 {
							m.V[k][l] ^= 1 << 31
						}
						if l == 7 {
							m.V[k][l] = 0x7fc00000
						}
					}
				}
			}
			for k := range 32 { // of moderate size: random bits would mostly be too large
				for l := range 64 {
					switch x := r.NormFloat64(); from {
					case "f32":
						m.V[k][l], m.V[src1+k%16][l] = math32(x), math32(r.NormFloat64())
					case "f16":
						m.V[k][l] = uint32(f64to16(x)) | uint32(f64to16(r.NormFloat64()))<<16
					case "bf16":
						m.V[k][l] = math32(x)>>16 | math32(r.NormFloat64())&0xffff0000
					}
				}
			}
			mask := r.Uint64()
			m.setMask(mask)
			srcs := []uint32{src0}
			if two {
				srcs = append(srcs, src1)
			}
			if random {
				srcs = append(srcs, srcRandom)
			}
			srcs = append(srcs, srcScale)
			code := []uint32{0xd0000000 | uint32(info.Opcode[gcn.GFX950])<<16 | sel<<11 | dst, 0}
			for i, s := range srcs {
				code[1] |= (256 + s) << (9 * i)
			}
			before := append([]Vec(nil), m.V...)
			if err := m.exec(code...); err != nil {
				t.Fatalf("%s: %v", info.Name, err)
			}
			after := m.V
			old := &machine{t: t, wave: &wave{V: before}}
			for l := range 64 {
				for bit := range 32 * 32 {
					if mask>>l&1 != 0 && bit >= at && bit < at+written {
						continue
					}
					if got, want := m.bitsAt(dst, l, bit, 1), old.bitsAt(dst, l, bit, 1); got != want {
						t.Fatalf("%s: lane %d, bit %d was to be kept", info.Name, l, bit)
					}
				}
				if mask>>l&1 == 0 {
					continue
				}
				exponent := int(before[srcScale][l]>>23&0xff) - 127
				number := before[srcRandom][l]
				for i := range n {
					var x uint32
					if two {
						x = before[[]uint32{src0, src1}[i%2]+uint32(i/2)][l]
					} else {
						x = old.bitsAt(src0, l, part+i*bitsOf[from], bitsOf[from])
					}
					v := minifloats[from].value(x)
					scaled := v
					if exponent == 128 {
						scaled = math.NaN()
					} else if bitsOf[to] < bitsOf[from] {
						scaled = math.Ldexp(v, -exponent)
					} else {
						scaled = math.Ldexp(v, exponent)
					}
					var want uint32
					if random {
						want = minifloats[to].stochastic(scaled, minifloats[from], number, false)
						if number&(1<<31) != 0 { // the next of v_prng_b32
							number = number<<1 ^ 197
						} else {
							number <<= 1
						}
					} else {
						want = minifloats[to].nearest(scaled, false)
					}
					if scaled != scaled { // the sign is that of the source
						want = want&(1<<(bitsOf[to]-1)-1) | x>>(bitsOf[from]-1)<<(bitsOf[to]-1)
					}
					if got := (&machine{wave: &wave{V: after}}).bitsAt(dst, l, at+i*bitsOf[to], bitsOf[to]); got != want {
						t.Fatalf("%s, op_sel %#x: number %d of lane %d, %v with 2^%d becomes %#x, want %#x", info.Name, sel, i, l, v, exponent, got, want)
					}
				}
			}
		}
	}
	if seen != 49 {
		t.Errorf("%d conversions", seen)
	}
}

// What is written down: the values of a few by hand, and MODE.
func TestConvertScaledByHand(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	m.V[0][0], m.V[1][0], m.V[2][0], m.V[3][0] = math32(3), math32(-1000), math32(-2), 0xaaaaaaaa
	m.inst("v_cvt_scalef32_pk_fp4_f32 v3, v0, v1, v2 op_sel:[0,0,1,0]", 0xd23d2003, 0x040a0300)
	if m.V[3][0] != 0xaaaaf3aa { // 1.5 is 3, -6 is f
		t.Errorf("fp4: %#x", m.V[3][0])
	}
	m.inst("v_cvt_scalef32_pk_fp8_f32 v3, |v0|, -v1, 1.0 op_sel:[0,0,0,1]", 0xd2354103, 0x43ca0300)
	if m.V[3][0] != 0x7f44f3aa { // 1000 is NaN
		t.Errorf("fp8: %#x", m.V[3][0])
	}
	m.setMode(0xf0 | 1<<23)
	m.inst("v_cvt_scalef32_pk_fp8_f32 v3, v0, v1, v2", 0xd2350003, 0x040a0300)
	if m.V[3][0] != 0x7f44fe3c {
		t.Errorf("fp8, limited: %#x", m.V[3][0])
	}
	// A denormal source is zero if MODE says so; a denormal result then is refused.
	m.setMode(0xc0)
	m.V[0][0], m.V[2][0] = 0x007fffff, 0x00800000
	m.inst("v_cvt_scalef32_pk_fp8_f32 v3, v0, v0, v2", 0xd2350003, 0x040a0100)
	if m.V[3][0]&0xffff != 0 {
		t.Errorf("denormal: %#x", m.V[3][0])
	}
	m.V[0][0], m.V[2][0] = 1, 0
	code := []uint32{0xd23b0003, 0x00020500} // v_cvt_scalef32_f32_fp8 v3, v0, v2
	if err := m.exec(code...); err == nil || !strings.Contains(err.Error(), denormalMode) {
		t.Errorf("denormal result: %v", err)
	}
	m.setMode(0xf0)
	if err := m.exec(code...); err != nil || m.V[3][0] != math32(0x1p-136) {
		t.Errorf("denormal result: %v, %#x", err, m.V[3][0])
	}
}
