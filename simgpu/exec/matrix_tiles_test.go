package exec

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestMatrixKernels compares what is fast with what is portable, bit for bit: any bits in the
// registers, all modifiers, C a constant or D's registers, and registers that overlap.
func TestMatrixKernels(t *testing.T) {
	if !useTiles {
		t.Log("no kernels on this processor: portable functions are compared with themselves")
	}
	defer func(old bool) { useTiles = old }(useTiles)
	fast := useTiles
	r := rand.New(rand.NewPCG(7, 7))
	for _, f := range matrixForms(t) {
		if f.sparse != nil {
			continue
		}
		machines := [3]*machine{newMachine(t, f.arch), newMachine(t, f.arch), newMachine(t, f.arch)}
		for n := range 8 {
			fields := matrixFields{accCD: r.Uint32N(2), acc: r.Uint32N(4)}
			if r.IntN(3) == 0 {
				fields.cbsz, fields.abid, fields.blgp = r.Uint32N(5), r.Uint32N(16), r.Uint32N(8)
			}
			d, a, b, c := atC, atA, atB, 256+atC
			switch n {
			case 1:
				c = 242 // 1.0
			case 2:
				c = 128 + r.IntN(65)
			case 3:
				d = 0 // A's, perhaps
			case 4:
				a, b = atC, atC+2
			case 5:
				c = 256
			case 6:
				by := 1 + r.IntN(3) // partly D's
				if c -= by; r.IntN(2) == 0 && atC+2*by+f.regsC <= 64 {
					c += 2 * by
				}
			}
			for i := range 64 {
				for reg := range 64 {
					v, acc := matrixBits(r, f.typeA), matrixBits(r, f.typeC)
					for _, m := range machines {
						m.V[reg][i], m.A[reg][i] = v, acc
					}
				}
			}
			if r.IntN(2) == 0 { // sums that mean something
				for i := range 64 {
					for reg := range 32 {
						v := math32(r.NormFloat64())
						for _, m := range machines {
							m.V[atC+reg][i], m.A[atC+reg][i] = v, v
						}
					}
				}
			}
			code := f.encode(d, a, b, c, fields)
			machines[0].matrix(&f, code)
			machines[1].prog.options.TranslateAfter = 1
			machines[1].matrix(&f, code)
			useTiles = false
			machines[2].matrix(&f, code)
			useTiles = fast
			for k, what := range []string{"function", "machine code"} {
				for reg := range 64 {
					for i := range 64 {
						x, y := machines[k], machines[2]
						if x.V[reg][i] != y.V[reg][i] || x.A[reg][i] != y.A[reg][i] {
							in, _ := gcn.Decode(f.arch, code, 0)
							t.Fatalf("%s, %s: register %d, lane %d: v %#x, a %#x, want %#x, %#x", in.String(), what, reg, i, x.V[reg][i], x.A[reg][i], y.V[reg][i], y.A[reg][i])
						}
					}
				}
				if x, y := machines[k].wave.stats.FLOPs, machines[2].wave.stats.FLOPs; x != y {
					t.Fatalf("%s, %s: %d floating-point operations, want %d", f.name, what, x, y)
				}
			}
		}
	}
}

// matrixBits are any bits, often those of ordinary numbers and of the edges of a type.
func matrixBits(r *rand.Rand, typ string) uint32 {
	pair := func(x uint32) uint32 { return x&0xffff | r.Uint32()<<16 }
	switch k := r.IntN(8); {
	case k == 0:
		return r.Uint32()
	case k == 1:
		return wild32(r)
	case typ == "f16":
		return uint32(f64to16(r.NormFloat64())) | uint32(f64to16(r.NormFloat64()))<<16
	case typ == "bf16":
		return pair(math32(r.NormFloat64()) >> 16)
	case typ == "f32" || typ == "xf32":
		return math32(r.NormFloat64())
	}
	return r.Uint32()
}

// BenchmarkMatrix is the speed of matrix instructions, of a wave that repeats one.
func BenchmarkMatrix(b *testing.B) {
	for _, name := range []string{"f32_32x32x8_f16", "f32_16x16x16_f16", "f32_32x32x8_bf16", "f32_32x32x2_f32", "f32_16x16x4_f32", "f32_4x4x1_16b_f32",
		"i32_32x32x16_i8", "f32_32x32x16_fp8_fp8", "f32_32x32x4_xf32", "f64_16x16x4_f64", "f64_4x4x4_4b_f64"} {
		for _, f := range matrixForms(b) {
			if f.name != name || f.arch != gcn.GFX942 {
				continue
			}
			b.Run(name, func(b *testing.B) {
				m := newMachine(b, f.arch)
				code := f.encode(atC, atA, atB, 256+atC, matrixFields{})
				var words []uint32
				for range 64 {
					words = append(words, binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:]))
				}
				if err := m.exec(words...); err != nil {
					b.Fatal(err)
				}
				blk := m.prog.block(m.code)
				for b.Loop() {
					for _, op := range blk.ops {
						op(m.wave)
					}
				}
				b.ReportMetric(float64(2*f.m*f.m*f.k*f.blocks*64)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

// BenchmarkMatrixKernels is the speed of products that kernels make with matrix instructions, from memory, on one goroutine.
func BenchmarkMatrixKernels(b *testing.B) {
	for _, c := range []struct {
		kernel         string
		element, tile  uint32
		size, products uint32
	}{{"matrix_f16", 2, 64, 4, 256}, {"matrix_bf16", 2, 64, 4, 256}, {"matrix_f32", 4, 64, 4, 256}, {"matrix_i8", 1, 64, 4, 256}, {"matrix_f64", 8, 32, 8, 256}} {
		b.Run(c.kernel, func(b *testing.B) {
			l := newLauncher(b, gcn.GFX942, "matrix")
			n := c.products
			x, _ := l.alloc(int(n * n * c.element))
			y, _ := l.alloc(int(n * n * c.element))
			z, _ := l.alloc(int(n * n * c.size))
			d := l.dispatch(l.m, c.kernel, [3]uint32{n / c.tile * 64, n / c.tile, 1}, [3]uint32{64, 1, 1}, 0, args(x, y, z, n, n))
			start := cpuTime()
			for b.Loop() {
				if _, err := d.Run(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(n)*float64(n)*float64(n)*float64(b.N)/(cpuTime()-start)/1e9, "GFLOP/s")
		})
	}
}
