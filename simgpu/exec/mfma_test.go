package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestMFMA multiplies small whole numbers, for which no order of summing up
// matters, with the layouts of registers written down shape by shape.
func TestMFMA(t *testing.T) {
	type at struct{ reg, lane, shift int }
	for _, c := range []struct {
		arch            gcn.Arch
		m, n, k, blocks int
		a, b            func(i, k, blk int) at // of A: row, of B: column
		d               func(i, j, blk int) at
		encode          func(x int) uint32
		integer, double bool
		asm             string
		code            []uint32
	}{
		{gcn.GFX90A, 32, 32, 2, 1,
			func(i, k, _ int) at { return at{0, i + 32*k, 0} }, func(j, k, _ int) at { return at{0, j + 32*k, 0} },
			func(i, j, _ int) at { return at{i/8*4 + i%4, i/4%2*32 + j, 0} },
			func(x int) uint32 { return math32(float64(x)) }, false, false, "v_mfma_f32_32x32x2f32 v[32:47], v0, v4, v[32:47]", []uint32{0xd3c40020, 0x04820900}},
		{gcn.GFX942, 16, 16, 16, 1,
			func(i, k, _ int) at { return at{k % 4 / 2, i + k/4*16, k % 2 * 16} }, func(j, k, _ int) at { return at{k % 4 / 2, j + k/4*16, k % 2 * 16} },
			func(i, j, _ int) at { return at{i % 4, i/4*16 + j, 0} },
			func(x int) uint32 { return uint32(f64to16(float64(x))) }, false, false, "v_mfma_f32_16x16x16_f16 v[32:35], v[0:1], v[4:5], v[32:35]", []uint32{0xd3cd0020, 0x04820900}},
		{gcn.GFX90A, 4, 4, 4, 16,
			func(i, k, blk int) at { return at{k / 2, blk*4 + i, k % 2 * 16} }, func(j, k, blk int) at { return at{k / 2, blk*4 + j, k % 2 * 16} },
			func(i, j, blk int) at { return at{i, blk*4 + j, 0} },
			func(x int) uint32 { return math32(float64(x)) >> 16 }, false, false, "v_mfma_f32_4x4x4bf16_1k v[32:35], v[0:1], v[4:5], v[32:35]", []uint32{0xd3e50020, 0x04820900}},
		{gcn.GFX90A, 16, 16, 4, 4,
			func(i, k, blk int) at { return at{0, blk*16 + i, k * 8} }, func(j, k, blk int) at { return at{0, blk*16 + j, k * 8} },
			func(i, j, blk int) at { return at{blk*4 + i%4, i/4*16 + j, 0} },
			func(x int) uint32 { return uint32(x) & 255 }, true, false, "v_mfma_i32_16x16x4i8 v[32:47], v0, v4, v[32:47]", []uint32{0xd3d10020, 0x04820900}},
		{gcn.GFX942, 16, 16, 4, 1,
			func(i, k, _ int) at { return at{0, i + 16*k, 0} }, func(j, k, _ int) at { return at{0, j + 16*k, 0} },
			func(i, j, _ int) at { return at{i / 4 * 2, i%4*16 + j, 0} }, nil, false, true,
			"v_mfma_f64_16x16x4_f64 v[32:39], v[0:1], v[4:5], v[32:39]", []uint32{0xd3ee0020, 0x04820900}},
		{gcn.GFX942, 32, 32, 16, 1,
			func(i, k, _ int) at { return at{k % 8 / 4, i + k/8*32, k % 4 * 8} }, func(j, k, _ int) at { return at{k % 8 / 4, j + k/8*32, k % 4 * 8} },
			func(i, j, _ int) at { return at{i/8*4 + i%4, i/4%2*32 + j, 0} },
			func(x int) uint32 { // fp8: -7..7 with a bias of 8
				s := uint32(0)
				if x < 0 {
					s, x = 0x80, -x
				}
				return []uint32{0, s | 8<<3, s | 9<<3, s | 9<<3 | 4, s | 10<<3, s | 10<<3 | 2, s | 10<<3 | 4, s | 10<<3 | 6}[x]
			}, false, false, "v_mfma_f32_32x32x16_fp8_fp8 v[32:47], v[0:1], v[4:5], v[32:47]", []uint32{0xd3f70020, 0x04820900}},
	} {
		mach := newMachine(t, c.arch)
		r := rand.New(rand.NewPCG(1, uint64(c.m)))
		put := func(base int, p at, x int) {
			if c.double {
				mach.set64(base+p.reg, p.lane, bits64(float64(x)))
				return
			}
			mach.V[base+p.reg][p.lane] |= c.encode(x) << p.shift
		}
		num := func() int { return r.IntN(15) - 7 }
		a, b, want := map[[3]int]int{}, map[[3]int]int{}, map[[3]int]int{}
		for blk := range c.blocks {
			for k := range c.k {
				for i := range c.m {
					a[[3]int{blk, i, k}] = num()
					put(0, c.a(i, k, blk), a[[3]int{blk, i, k}])
				}
				for j := range c.n {
					b[[3]int{blk, j, k}] = num()
					put(4, c.b(j, k, blk), b[[3]int{blk, j, k}])
				}
			}
			for i := range c.m {
				for j := range c.n {
					s := num()
					p := c.d(i, j, blk)
					switch {
					case c.double:
						mach.set64(32+p.reg, p.lane, bits64(float64(s)))
					case c.integer:
						mach.V[32+p.reg][p.lane] = uint32(s)
					default:
						mach.V[32+p.reg][p.lane] = math32(float64(s))
					}
					for k := range c.k {
						s += a[[3]int{blk, i, k}] * b[[3]int{blk, j, k}]
					}
					want[[3]int{blk, i, j}] = s
				}
			}
		}
		mach.setMask(0) // does not matter
		mach.inst(c.asm, c.code...)
		for at, w := range want {
			p := c.d(at[1], at[2], at[0])
			var got float64
			switch {
			case c.double:
				got = float(mach.get64(32+p.reg, p.lane))
			case c.integer:
				got = float64(int32(mach.V[32+p.reg][p.lane]))
			default:
				got = float64(f32(mach.V[32+p.reg][p.lane]))
			}
			if got != float64(w) {
				t.Fatalf("%s: block %d, element (%d, %d) is %g, want %d", c.asm, at[0], at[1], at[2], got, w)
			}
		}
	}
}

// Broadcasts of A's blocks and permutations of B's lanes, the constant as C,
// and accumulation registers.
func TestMFMAModifiers(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	for i := range 64 {
		m.V[0][i], m.V[4][i] = math32(float64(i)), math32(float64(100+i))
	}
	// 4x4x1: block b has A in lanes 4b..4b+3, D[i][j] = A[i]*B[j] in register i.
	m.inst("v_mfma_f32_4x4x1f32 a[0:3], v0, v4, 1.0", 0xd3c28000, 0x03ca0900)
	m.inst("v_mfma_f32_4x4x1f32 v[32:35], v0, v4, 0 cbsz:2 abid:1", 0xd3c20a20, 0x02020900)
	m.inst("v_mfma_f32_4x4x1f32 v[36:39], v0, v4, 0 blgp:3", 0xd3c20024, 0x62020900)
	for l := range 64 {
		blk, j := l/4, l%4
		for i := range 4 {
			a, b := float64(4*blk+i), float64(100+4*blk+j)
			if got := f32(m.A[i][l]); got != float32(a*b+1) {
				t.Fatalf("lane %d, row %d: %g", l, i, got)
			}
			if got := f32(m.V[32+i][l]); got != float32(float64(4*(blk&^3|1)+i)*b) {
				t.Fatalf("cbsz: lane %d, row %d: %g", l, i, got)
			}
			if got := f32(m.V[36+i][l]); got != float32(a*float64(100+(l+16)&63)) {
				t.Fatalf("blgp: lane %d, row %d: %g", l, i, got)
			}
		}
	}
	// f64: blgp negates. One fused step each.
	for i := range 64 {
		m.set64(0, i, bits64(3))
		m.set64(4, i, bits64(5))
		m.set64(32, i, bits64(7))
	}
	m.inst("v_mfma_f64_4x4x4f64 v[34:35], v[0:1], v[4:5], v[32:33] blgp:5", 0xd3ef0022, 0xa4820900)
	if got := float(m.get64(34, 17)); got != 4*-15-7 {
		t.Errorf("f64 with negations: %g", got)
	}
}

func TestSmallFloats(t *testing.T) {
	for _, c := range []struct {
		got  float32
		want float64
	}{{fp8(0x40), 1}, {fp8(0x7f), 240}, {fp8(0x01), 0x1p-10}, {fp8(0x08), 0x1p-7}, {fp8(0xc8), -2}, {fp8(0), 0},
		{bf8(0x40), 1}, {bf8(0x7f), 57344}, {bf8(0x01), 0x1p-17}, {bf8(0xbc), -0.5},
		{roundXF32(0x3f800fff), 1}, {roundXF32(0x3f801001), 1 + 0x1p-10}, {roundXF32(0x3f803000), 1 + 0x1p-9}} {
		if float64(c.got) != c.want {
			t.Errorf("%g, want %g", c.got, c.want)
		}
	}
	if x := fp8(0x80); x == x {
		t.Error("fp8 0x80 is the NaN")
	}
}
