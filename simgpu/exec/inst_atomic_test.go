package exec

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Every atomic operation on device memory, LDS and scratch.
func TestAtomics(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	r := rand.New(rand.NewPCG(71, 72))
	addr, data := m.alloc(4096)
	type u = uint64
	for _, c := range []struct {
		f    func(old, d, c u) u
		bits uint
		asm  string
		code []uint32
	}{
		{func(o, d, c u) u { return o + d }, 32, "flat_atomic_add v6, v[0:1], v2 sc0", []uint32{0xdd090000, 0x06000200}},
		{func(o, d, c u) u { return o - d }, 32, "flat_atomic_sub v6, v[0:1], v2 sc0", []uint32{0xdd0d0000, 0x06000200}},
		{func(o, d, c u) u { return d }, 32, "flat_atomic_swap v6, v[0:1], v2 sc0", []uint32{0xdd010000, 0x06000200}},
		{func(o, d, c u) u {
			if o == c {
				return d
			}
			return o
		}, 32, "flat_atomic_cmpswap v6, v[0:1], v[2:3] sc0", []uint32{0xdd050000, 0x06000200}},
		{func(o, d, c u) u { return u(min(sx(o, 32), sx(d, 32))) }, 32, "flat_atomic_smin v6, v[0:1], v2 sc0", []uint32{0xdd110000, 0x06000200}},
		{func(o, d, c u) u { return min(o, d) }, 32, "flat_atomic_umin v6, v[0:1], v2 sc0", []uint32{0xdd150000, 0x06000200}},
		{func(o, d, c u) u { return u(max(sx(o, 32), sx(d, 32))) }, 32, "flat_atomic_smax v6, v[0:1], v2 sc0", []uint32{0xdd190000, 0x06000200}},
		{func(o, d, c u) u { return max(o, d) }, 32, "flat_atomic_umax v6, v[0:1], v2 sc0", []uint32{0xdd1d0000, 0x06000200}},
		{func(o, d, c u) u { return o & d }, 32, "flat_atomic_and v6, v[0:1], v2 sc0", []uint32{0xdd210000, 0x06000200}},
		{func(o, d, c u) u { return o | d }, 32, "flat_atomic_or v6, v[0:1], v2 sc0", []uint32{0xdd250000, 0x06000200}},
		{func(o, d, c u) u { return o ^ d }, 32, "flat_atomic_xor v6, v[0:1], v2 sc0", []uint32{0xdd290000, 0x06000200}},
		{func(o, d, c u) u {
			if o >= d {
				return 0
			}
			return o + 1
		}, 32, "flat_atomic_inc v6, v[0:1], v2 sc0", []uint32{0xdd2d0000, 0x06000200}},
		{func(o, d, c u) u {
			if o == 0 || o > d {
				return d
			}
			return o - 1
		}, 32, "flat_atomic_dec v6, v[0:1], v2 sc0", []uint32{0xdd310000, 0x06000200}},
		{func(o, d, c u) u { return u(b32(f32(uint32(o)) + f32(uint32(d)))) }, 32, "flat_atomic_add_f32 v6, v[0:1], v2 sc0", []uint32{0xdd350000, 0x06000200}},
		{func(o, d, c u) u { return o + d }, 64, "flat_atomic_add_x2 v[6:7], v[0:1], v[2:3] sc0", []uint32{0xdd890000, 0x06000200}},
		{func(o, d, c u) u {
			if o == c {
				return d
			}
			return o
		}, 64, "flat_atomic_cmpswap_x2 v[6:7], v[0:1], v[2:5] sc0", []uint32{0xdd850000, 0x06000200}},
		{func(o, d, c u) u { return u(min(int64(o), int64(d))) }, 64, "flat_atomic_smin_x2 v[6:7], v[0:1], v[2:3] sc0", []uint32{0xdd910000, 0x06000200}},
		{func(o, d, c u) u { return bits64(float(o) + float(d)) }, 64, "flat_atomic_add_f64 v[6:7], v[0:1], v[2:3] sc0", []uint32{0xdd3d0000, 0x06000200}},
		{func(o, d, c u) u { return bits64(min(float(o), float(d))) }, 64, "flat_atomic_min_f64 v[6:7], v[0:1], v[2:3] sc0", []uint32{0xdd410000, 0x06000200}},
	} {
		m.check(c.asm, c.code)
		for range 4 {
			var old, want [64]uint64
			for i := range 64 {
				old[i] = r.Uint64()
				// As floats they are finite.
				d := r.Uint64() &^ (1 << 62)
				old[i] &^= 1 << 62
				if c.bits == 32 {
					old[i], d = u32(old[i]&^(1<<30)), u32(d&^(1<<30))
				}
				cmp := old[i] // what cmpswap expects, or not
				if r.IntN(3) == 0 {
					cmp++
				}
				if c.bits == 32 {
					m.V[2][i], m.V[3][i] = uint32(d), uint32(cmp)
				} else {
					m.set64(2, i, d)
					m.set64(4, i, cmp)
				}
				want[i] = c.f(old[i], d, cmp)
				switch i % 3 {
				case 0:
					m.set64(0, i, addr+u(i*8))
					binary.LittleEndian.PutUint64(data[i*8:], old[i])
				case 1:
					m.set64(0, i, sharedBase+u(i*8))
					binary.LittleEndian.PutUint64(m.wg.lds[i*8:], old[i])
				case 2:
					m.set64(0, i, privateBase+16)
					binary.LittleEndian.PutUint32(m.wave.scratch[swizzle(16, i):], uint32(old[i]))
					binary.LittleEndian.PutUint32(m.wave.scratch[swizzle(20, i):], uint32(old[i]>>32))
				}
			}
			if err := m.exec(c.code...); err != nil {
				t.Fatalf("%s: %v", c.asm, err)
			}
			for i := range 64 {
				var got uint64
				switch i % 3 {
				case 0:
					got = binary.LittleEndian.Uint64(data[i*8:])
				case 1:
					got = binary.LittleEndian.Uint64(m.wg.lds[i*8:])
				case 2:
					got = uint64(binary.LittleEndian.Uint32(m.wave.scratch[swizzle(16, i):])) | uint64(binary.LittleEndian.Uint32(m.wave.scratch[swizzle(20, i):]))<<32
				}
				mask := ^uint64(0) >> (64 - c.bits)
				if got&mask != want[i]&mask || (m.get64(6, i)^old[i])&mask != 0 {
					t.Fatalf("%s: lane %d: memory %#x, want %#x; returned %#x, was %#x", c.asm, i, got&mask, want[i]&mask, m.get64(6, i)&mask, old[i])
				}
			}
		}
	}
	// All lanes on one place, and misalignment.
	for i := range 64 {
		m.set64(0, i, addr)
		m.V[2][i] = 1
	}
	clear(data[:8])
	m.inst("global_atomic_add v6, v[0:1], v2, off sc0", 0xdd098000, 0x067f0200)
	seen := map[uint32]bool{}
	for i := range 64 {
		seen[m.V[6][i]] = true
	}
	if binary.LittleEndian.Uint32(data) != 64 || len(seen) != 64 {
		t.Errorf("sum %d, %d different old values", binary.LittleEndian.Uint32(data), len(seen))
	}
	m.set64(0, 7, addr+2)
	var f *Fault
	if err := m.exec(words("global_atomic_add v[0:1], v2, off", 0xdd088000, 0x007f0200)...); !errors.As(err, &f) || f.Kind != AlignmentFault || f.Lane != 7 || f.Addr != addr+2 {
		t.Errorf("misaligned atomic: %v", err)
	}
	// LDS operations with operands of their own.
	for i := range 64 {
		m.V[0][i], m.V[2][i], m.V[3][i] = uint32(i*4), uint32(i), 99
		binary.LittleEndian.PutUint32(m.wg.lds[i*4:], uint32(i&^1))
	}
	m.inst("ds_cmpst_rtn_b32 v6, v0, v2, v3", 0xd8600000, 0x06030200)
	for i := range 64 {
		want := uint32(99)
		if i&1 == 1 {
			want = uint32(i &^ 1)
		}
		if got := binary.LittleEndian.Uint32(m.wg.lds[i*4:]); got != want || m.V[6][i] != uint32(i&^1) {
			t.Fatalf("ds_cmpst: lane %d: %d, want %d", i, got, want)
		}
	}
	m.V[0] = Vec{}
	clear(m.wg.lds[:8])
	m.inst("ds_add_u32 v0, v3", 0xd8000000, 0x00000300)
	m.inst("ds_max_rtn_u32 v6, v0, v2", 0xd8500000, 0x06000200)
	m.inst("ds_wrxchg_rtn_b32 v7, v0, v2", 0xd85a0000, 0x07000200)
	if got := binary.LittleEndian.Uint32(m.wg.lds); got != 63 || m.V[6][5] != 64*99 || m.V[7][0] != 64*99 {
		t.Errorf("LDS atomics: %d %d %d", got, m.V[6][5], m.V[7][0])
	}
}

func float(b uint64) float64 { return f64(uint32(b), uint32(b>>32)) }
