package exec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// smallFormats are the formats of A and B in the order of their numbers: bits, and those of the mantissa, and the smallest number.
var smallFormats = []struct {
	name              string
	bits, mantissa    int
	smallest, largest float64
}{{"fp8", 8, 3, 0x1p-9, 448}, {"bf8", 8, 2, 0x1p-16, 57344}, {"fp6", 6, 3, 0.125, 7.5}, {"bf6", 6, 2, 0.0625, 28}, {"fp4", 4, 1, 0.5, 6}}

// formatAt is the lane and the first bit in its registers of element k of row (of B: column) i. Of 8 bits, a lane has two
// groups of 16 neighbours, of fewer bits 32 neighbours: as AMD's examples for the matrix cores of CDNA 4 load them.
func formatAt(dim, bits, i, k int) (lane, bit int) {
	lanes := 64 / dim
	if bits == 8 {
		return k%(16*lanes)/16*dim + i, k/(16*lanes)*128 + k%16*8
	}
	return k/32*dim + i, k % 32 * bits
}

func (m *machine) putBits(reg, lane, bit, n int, x uint32) {
	for j := range n {
		m.V[reg+(bit+j)/32][lane] |= x >> j & 1 << ((bit + j) % 32)
	}
}

// Every pair of formats, with and without scales, of which each byte is tried, in exact arithmetic: numbers and scales are
// such that no sum is rounded.
func TestMatrixFormats(t *testing.T) {
	const a, b, c, d, scaleA, scaleB = 0, 8, 16, 40, 60, 61
	for fa, formatA := range smallFormats {
		for fb, formatB := range smallFormats {
			for _, dim := range []int{16, 32} {
				r := rand.New(rand.NewPCG(uint64(fa), uint64(fb)))
				depth, byteA, byteB := 2048/dim, r.IntN(4), r.IntN(4)
				m := newMachine(t, gcn.GFX950)
				var num [2][32][128]float64 // of A, B
				var scale [2][32][4]float64
				for s, f := range []int{fa, fb} {
					f := smallFormats[f]
					v := miniValues(f.mantissa, f.smallest, f.largest)
					for i := range dim {
						for k := range depth {
							code := r.IntN(len(v))
							switch f.name { // near one
							case "fp8":
								code = 7<<3 + r.IntN(16)
							case "bf8":
								code = 15<<2 + r.IntN(8)
							case "bf6":
								code = 3<<2 + r.IntN(8)
							}
							num[s][i][k] = v[code]
							if r.IntN(2) == 0 {
								num[s][i][k], code = -v[code], code|1<<(f.bits-1)
							}
							lane, bit := formatAt(dim, f.bits, i, k)
							m.putBits([]int{a, b}[s], lane, bit, f.bits, uint32(code))
						}
						for g := range depth / 32 {
							e := 125 + r.IntN(5)
							scale[s][i][g] = math.Ldexp(1, e-127)
							m.V[scaleA+s][g*dim+i] = r.Uint32()&^(0xff<<(8*[]int{byteA, byteB}[s])) | uint32(e)<<(8*[]int{byteA, byteB}[s])
						}
					}
				}
				for i := range dim {
					for j := range dim {
						x := resultAt("f32", dim, i, j, 0)
						m.V[c+x.reg][x.lane] = math32(float64(i - j))
					}
				}
				op := uint32(0x2d)
				if dim == 32 {
					op = 0x2e
				}
				code := []uint32{0xd3800000 | op<<16 | uint32(fa)<<8 | d, uint32(fb)<<29 | (256 + a) | (256+b)<<9 | (256+c)<<18}
				for _, scaled := range []bool{false, true} {
					if scaled {
						sel := uint32(byteA&1 | byteB&1<<1)
						hi := uint32(byteA>>1 | byteB>>1<<1)
						code = []uint32{0xd3ac0000 | sel<<11, hi<<27 | (256 + scaleA) | (256+scaleB)<<9, code[0] | 1<<11, code[1]}
					}
					m.setMask(r.Uint64()) // does not matter
					if err := m.exec(code...); err != nil {
						t.Fatal(err)
					}
					for i := range dim {
						for j := range dim {
							want := new(big.Float).SetPrec(500).SetInt64(int64(i - j))
							for k := range depth {
								p := big.NewFloat(num[0][i][k])
								p.SetPrec(500).Mul(p, big.NewFloat(num[1][j][k]))
								if scaled {
									p.Mul(p, big.NewFloat(scale[0][i][k/32]*scale[1][j][k/32]))
								}
								want.Add(want, p)
							}
							x := resultAt("f32", dim, i, j, 0)
							w, exact := want.Float32()
							if exact != big.Exact {
								t.Fatalf("%s by %s: the sum is not exact", formatA.name, formatB.name)
							}
							if got := f32(m.V[d+x.reg][x.lane]); got != w {
								t.Fatalf("%s by %s, %d rows, scaled %v: element (%d, %d) is %v, want %v", formatA.name, formatB.name, dim, scaled, i, j, got, w)
							}
						}
					}
				}
			}
		}
	}
}

// Scales that are constants, or NaN, and products that are too large for a float32.
func TestMatrixScales(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	one := func(src uint32, scaleB, c uint32) uint32 {
		t.Helper()
		for i := range 64 { // all of A and B is 1, of 8 bits
			for k := range 16 {
				m.V[k][i] = 0x38383838
			}
			m.V[25][i] = scaleB
			for k := range 4 {
				m.V[16+k][i] = c
			}
		}
		if err := m.exec(0xd3ac0000, src|(256+25)<<9, 0xd3ad0800|40, 256|(256+8)<<9|(256+16)<<18); err != nil {
			t.Fatal(err)
		}
		return m.V[40][0]
	}
	for _, x := range []struct {
		src, scaleB, c, want uint32
	}{
		{242, 127, 0, math32(128)},              // 1.0
		{245, 127, 0, math32(256)},              // -2.0: its exponent
		{240, 126, math32(3), math32(35)},       // 0.5
		{242, 255, 0, 0x7fc00000},               // NaN
		{246, 254, 0, 0x7f800000},               // beyond float32
		{128, 127, math32(1), math32(1)},        // 0: 2 to the power of -127, of which nothing is left
		{128, 127, 0, math32(128 * 0x1p-127)},   // denormal numbers are kept
		{242, 254, 0xff800000, 0xff800000},      // infinity stays
		{244, 120, 0x80000000, math32(0x1p+01)}, // 2.0
	} {
		if got := one(x.src, x.scaleB, x.c); got != x.want {
			t.Errorf("source %d, scale %d: %#x (%v), want %#x", x.src, x.scaleB, got, f32(got), x.want)
		}
	}
	m.setMode(0xf0 | 1<<23)
	if got := one(246, 254, 0); got != 0x7f7fffff {
		t.Errorf("limited: %#x", got)
	}
}
