package exec

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// op3 is an instruction with sources v0, v2, v4 (pairs: v[0:1], ...) and
// destination v6, and a model of one lane.
type op3 struct {
	asm   string
	words []uint32
	f     func(a, b, c uint64, i int) uint64
}

func op(f func(a, b, c uint64, i int) uint64, asm string, words ...uint32) op3 {
	return op3{asm, words, f}
}

// runOps executes every instruction with random sources under every EXEC
// pattern and compares all lanes: active ones with the model, the others with
// what was there.
func runOps(t *testing.T, arch gcn.Arch, ops []op3, wild func(r *rand.Rand) uint64, same func(got, want uint64) bool) {
	t.Helper()
	m := newMachine(t, arch)
	for n, v := range initialScalars {
		m.S[n] = v
	}
	r := rand.New(rand.NewPCG(uint64(len(ops)), 9))
	for _, o := range ops {
		if o.words == nil {
			o.words = assemble(t, arch, o.asm)
		} else {
			m.check(o.asm, o.words)
		}
		wide := uint64(1)<<32 - 1
		for at := 0; at < 4*len(o.words); { // what counts is the last instruction
			in, err := gcn.Decode(arch, bytesOf(o.words), at)
			if err != nil {
				t.Fatal(err)
			}
			if wide = 1<<32 - 1; in.Dst.Width == 2 {
				wide = ^uint64(0)
			}
			at += int(in.Len)
		}
		for _, mask := range masks(r) {
			var src [3][64]uint64
			for i := range 64 {
				for j := range src {
					src[j][i] = wild(r)
					m.set64(2*j, i, src[j][i])
				}
				m.set64(6, i, 0xaaaaaaaa55555555)
			}
			m.setMask(mask)
			if err := m.exec(o.words...); err != nil {
				t.Fatalf("%s: %v", o.asm, err)
			}
			for i := range 64 {
				got, want := m.get64(6, i), uint64(0xaaaaaaaa55555555)
				if mask>>i&1 != 0 {
					want = o.f(src[0][i], src[1][i], src[2][i], i)&wide | 0xaaaaaaaa55555555&^wide
					if same != nil && same(got, want) {
						continue
					}
				}
				if got != want {
					t.Fatalf("%s: EXEC %#x, lane %d: sources %#x %#x %#x: got %#x, want %#x", o.asm, mask, i, src[0][i], src[1][i], src[2][i], got, want)
				}
			}
		}
	}
}

func bytesOf(words []uint32) []byte {
	var b []byte
	for _, w := range words {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}

func sx(v uint64, n uint) int64 { return int64(v<<(64-n)) >> (64 - n) }
func u32(v uint64) uint64       { return uint64(uint32(v)) }

func bit(v uint64, i int) uint64 { return v >> i & 1 }

func clampTo(v, lo, hi int64) uint64 { return uint64(max(lo, min(hi, v))) }

func sort3(a, b, c int64) [3]int64 {
	s := [3]int64{a, b, c}
	for range 2 {
		for i := range 2 {
			if s[i] > s[i+1] {
				s[i], s[i+1] = s[i+1], s[i]
			}
		}
	}
	return s
}

func sadBytes(a, b uint64, masked bool) uint64 {
	var s uint64
	for i := range 4 {
		x, y := a>>(8*i)&255, b>>(8*i)&255
		if masked && y == 0 {
			continue
		}
		s += max(x, y) - min(x, y)
	}
	return s
}

func TestIntegers(t *testing.T) {
	type u = uint64
	ops := []op3{
		op(func(a, b, c u, i int) u { return a + b }, "v_add_u32_e32 v6, v0, v2", 0x680c0500),
		op(func(a, b, c u, i int) u { return min(u32(a)+u32(b), 1<<32-1) }, "v_add_u32_e64 v6, v0, v2 clamp", 0xd1348006, 0x00020500),
		op(func(a, b, c u, i int) u { return a - b }, "v_sub_u32_e32 v6, v0, v2", 0x6a0c0500),
		op(func(a, b, c u, i int) u { return u(max(0, int64(u32(a))-int64(u32(b)))) }, "v_sub_u32_e64 v6, v0, v2 clamp", 0xd1358006, 0x00020500),
		op(func(a, b, c u, i int) u { return b - a }, "v_subrev_u32_e32 v6, v0, v2", 0x6c0c0500),
		op(func(a, b, c u, i int) u { return clampTo(sx(a, 32)+sx(b, 32), -1<<31, 1<<31-1) }, "v_add_i32 v6, v0, v2 clamp", 0xd29c8006, 0x00020500),
		op(func(a, b, c u, i int) u { return clampTo(sx(a, 32)-sx(b, 32), -1<<31, 1<<31-1) }, "v_sub_i32 v6, v0, v2 clamp", 0xd29d8006, 0x00020500),
		op(func(a, b, c u, i int) u { return a * b }, "v_mul_lo_u32 v6, v0, v2", 0xd2850006, 0x00020500),
		op(func(a, b, c u, i int) u { return u32(a) * u32(b) >> 32 }, "v_mul_hi_u32 v6, v0, v2", 0xd2860006, 0x00020500),
		op(func(a, b, c u, i int) u { return u(sx(a, 32)*sx(b, 32)) >> 32 }, "v_mul_hi_i32 v6, v0, v2", 0xd2870006, 0x00020500),
		op(func(a, b, c u, i int) u { return u(sx(a, 24) * sx(b, 24)) }, "v_mul_i32_i24_e32 v6, v0, v2", 0x0c0c0500),
		op(func(a, b, c u, i int) u { return u(sx(a, 24)*sx(b, 24)) >> 32 }, "v_mul_hi_i32_i24_e32 v6, v0, v2", 0x0e0c0500),
		op(func(a, b, c u, i int) u { return (a & 0xffffff) * (b & 0xffffff) }, "v_mul_u32_u24_e32 v6, v0, v2", 0x100c0500),
		op(func(a, b, c u, i int) u { return (a & 0xffffff) * (b & 0xffffff) >> 32 }, "v_mul_hi_u32_u24_e32 v6, v0, v2", 0x120c0500),
		op(func(a, b, c u, i int) u { return u(sx(a, 24)*sx(b, 24)) + c }, "v_mad_i32_i24 v6, v0, v2, v4", 0xd1c20006, 0x04120500),
		op(func(a, b, c u, i int) u { return (a&0xffffff)*(b&0xffffff) + c }, "v_mad_u32_u24 v6, v0, v2, v4", 0xd1c30006, 0x04120500),
		op(func(a, b, c u, i int) u { return a & b }, "v_and_b32_e32 v6, v0, v2", 0x260c0500),
		op(func(a, b, c u, i int) u { return a | b }, "v_or_b32_e32 v6, v0, v2", 0x280c0500),
		op(func(a, b, c u, i int) u { return a ^ b }, "v_xor_b32_e32 v6, v0, v2", 0x2a0c0500),
		op(func(a, b, c u, i int) u { return ^(a ^ b) }, "v_xnor_b32_e32 v6, v0, v2", 0x7a0c0500),
		op(func(a, b, c u, i int) u { return ^a }, "v_not_b32_e32 v6, v0", 0x7e0c5700),
		op(func(a, b, c u, i int) u { return a }, "v_mov_b32_e32 v6, v0", 0x7e0c0300),
		op(func(a, b, c u, i int) u { return b << (a % 32) }, "v_lshlrev_b32_e32 v6, v0, v2", 0x240c0500),
		op(func(a, b, c u, i int) u { return u32(b) >> (a % 32) }, "v_lshrrev_b32_e32 v6, v0, v2", 0x200c0500),
		op(func(a, b, c u, i int) u { return u(sx(b, 32) >> (a % 32)) }, "v_ashrrev_i32_e32 v6, v0, v2", 0x220c0500),
		op(func(a, b, c u, i int) u { return b << (a % 64) }, "v_lshlrev_b64 v[6:7], v0, v[2:3]", 0xd28f0006, 0x00020500),
		op(func(a, b, c u, i int) u { return b >> (a % 64) }, "v_lshrrev_b64 v[6:7], v0, v[2:3]", 0xd2900006, 0x00020500),
		op(func(a, b, c u, i int) u { return u(int64(b) >> (a % 64)) }, "v_ashrrev_i64 v[6:7], v0, v[2:3]", 0xd2910006, 0x00020500),
		op(func(a, b, c u, i int) u { return u(min(sx(a, 32), sx(b, 32))) }, "v_min_i32_e32 v6, v0, v2", 0x180c0500),
		op(func(a, b, c u, i int) u { return u(max(sx(a, 32), sx(b, 32))) }, "v_max_i32_e32 v6, v0, v2", 0x1a0c0500),
		op(func(a, b, c u, i int) u { return min(u32(a), u32(b)) }, "v_min_u32_e32 v6, v0, v2", 0x1c0c0500),
		op(func(a, b, c u, i int) u { return max(u32(a), u32(b)) }, "v_max_u32_e32 v6, v0, v2", 0x1e0c0500),
		op(func(a, b, c u, i int) u { return u(sort3(sx(a, 32), sx(b, 32), sx(c, 32))[0]) }, "v_min3_i32 v6, v0, v2, v4", 0xd1d10006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(sx(a, 32), sx(b, 32), sx(c, 32))[1]) }, "v_med3_i32 v6, v0, v2, v4", 0xd1d70006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(sx(a, 32), sx(b, 32), sx(c, 32))[2]) }, "v_max3_i32 v6, v0, v2, v4", 0xd1d40006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(int64(u32(a)), int64(u32(b)), int64(u32(c)))[0]) }, "v_min3_u32 v6, v0, v2, v4", 0xd1d20006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(int64(u32(a)), int64(u32(b)), int64(u32(c)))[1]) }, "v_med3_u32 v6, v0, v2, v4", 0xd1d80006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(int64(u32(a)), int64(u32(b)), int64(u32(c)))[2]) }, "v_max3_u32 v6, v0, v2, v4", 0xd1d50006, 0x04120500),
		op(func(a, b, c u, i int) u { return a + b + c }, "v_add3_u32 v6, v0, v2, v4", 0xd1ff0006, 0x04120500),
		op(func(a, b, c u, i int) u { return a<<(b%32) + c }, "v_lshl_add_u32 v6, v0, v2, v4", 0xd1fd0006, 0x04120500),
		op(func(a, b, c u, i int) u { return (a + b) << (c % 32) }, "v_add_lshl_u32 v6, v0, v2, v4", 0xd1fe0006, 0x04120500),
		op(func(a, b, c u, i int) u { return a<<(b%32) | c }, "v_lshl_or_b32 v6, v0, v2, v4", 0xd2000006, 0x04120500),
		op(func(a, b, c u, i int) u { return a&b | c }, "v_and_or_b32 v6, v0, v2, v4", 0xd2010006, 0x04120500),
		op(func(a, b, c u, i int) u { return a | b | c }, "v_or3_b32 v6, v0, v2, v4", 0xd2020006, 0x04120500),
		op(func(a, b, c u, i int) u { return (a ^ b) + c }, "v_xad_u32 v6, v0, v2, v4", 0xd1f30006, 0x04120500),
		op(func(a, b, c u, i int) u { return a&b | ^a&c }, "v_bfi_b32 v6, v0, v2, v4", 0xd1ca0006, 0x04120500),
		op(func(a, b, c u, i int) u { return u32(a) >> (b % 32) & (1<<(c%32) - 1) }, "v_bfe_u32 v6, v0, v2, v4", 0xd1c80006, 0x04120500),
		op(func(a, b, c u, i int) u {
			var r u
			n, off := int(c%32), int(b%32)
			for k := range 32 { // bit by bit, the last one of the field goes on
				if n > 0 {
					r |= bit(u(sx(a, 32)), min(off+min(k, n-1), 63)) << k
				}
			}
			return r
		}, "v_bfe_i32 v6, v0, v2, v4", 0xd1c90006, 0x04120500),
		op(func(a, b, c u, i int) u { return (u32(a)<<32 | u32(b)) >> (c % 32) }, "v_alignbit_b32 v6, v0, v2, v4", 0xd1ce0006, 0x04120500),
		op(func(a, b, c u, i int) u { return (u32(a)<<32 | u32(b)) >> (c % 4 * 8) }, "v_alignbyte_b32 v6, v0, v2, v4", 0xd1cf0006, 0x04120500),
		op(func(a, b, c u, i int) u {
			var r u
			for k := range 4 {
				var x u
				switch s := c >> (8 * k) & 255; {
				case s < 4:
					x = b >> (8 * s) & 255
				case s < 8:
					x = a >> (8 * (s - 4)) & 255
				case s < 12:
					x = 255 * bit(u32(b)|u32(a)<<32, int(16*(s-8)+15))
				case s > 12:
					x = 255
				}
				r |= x << (8 * k)
			}
			return r
		}, "v_perm_b32 v6, v0, v2, v4", 0xd1ed0006, 0x04120500),
		op(func(a, b, c u, i int) u { return sadBytes(a, b, false) + c }, "v_sad_u8 v6, v0, v2, v4", 0xd1d90006, 0x04120500),
		op(func(a, b, c u, i int) u { return sadBytes(a, b, false)<<16 + c }, "v_sad_hi_u8 v6, v0, v2, v4", 0xd1da0006, 0x04120500),
		op(func(a, b, c u, i int) u { return sadBytes(a, b, true) + c }, "v_msad_u8 v6, v0, v2, v4", 0xd1e40006, 0x04120500),
		op(func(a, b, c u, i int) u {
			return max(a&0xffff, b&0xffff) - min(a&0xffff, b&0xffff) + max(u32(a)>>16, u32(b)>>16) - min(u32(a)>>16, u32(b)>>16) + c
		}, "v_sad_u16 v6, v0, v2, v4", 0xd1db0006, 0x04120500),
		op(func(a, b, c u, i int) u { return max(u32(a), u32(b)) - min(u32(a), u32(b)) + c }, "v_sad_u32 v6, v0, v2, v4", 0xd1dc0006, 0x04120500),
		op(func(a, b, c u, i int) u {
			var r u
			for k := range 4 {
				r |= min(sadBytes(a>>(8*k), b, false)+c>>(16*k)&0xffff, 0xffff) << (16 * k)
			}
			return r
		}, "v_qsad_pk_u16_u8 v[6:7], v[0:1], v2, v[4:5]", 0xd1e50006, 0x04120500),
		op(func(a, b, c u, i int) u {
			var r u
			for k := range 4 {
				r |= (a>>(8*k)&255 + b>>(8*k)&255 + bit(c, 8*k)) / 2 << (8 * k)
			}
			return r
		}, "v_lerp_u8 v6, v0, v2, v4", 0xd1cd0006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(bits.OnesCount32(uint32(a))) + b }, "v_bcnt_u32_b32 v6, v0, v2", 0xd28b0006, 0x00020500),
		op(func(a, b, c u, i int) u {
			n := b
			for k := range min(i, 32) {
				n += bit(a, k)
			}
			return n
		}, "v_mbcnt_lo_u32_b32 v6, v0, v2", 0xd28c0006, 0x00020500),
		op(func(a, b, c u, i int) u {
			n := b
			for k := 32; k < i; k++ {
				n += bit(a, k-32)
			}
			return n
		}, "v_mbcnt_hi_u32_b32 v6, v0, v2", 0xd28d0006, 0x00020500),
		op(func(a, b, c u, i int) u { return (1<<(a%32) - 1) << (b % 32) }, "v_bfm_b32 v6, v0, v2", 0xd2930006, 0x00020500),
		op(func(a, b, c u, i int) u { return u(bits.Reverse32(uint32(a))) }, "v_bfrev_b32_e32 v6, v0", 0x7e0c5900),
		op(func(a, b, c u, i int) u {
			for k := 31; k >= 0; k-- {
				if bit(a, k) == 1 {
					return u(31 - k)
				}
			}
			return ^u(0)
		}, "v_ffbh_u32_e32 v6, v0", 0x7e0c5b00),
		op(func(a, b, c u, i int) u {
			for k := range 32 {
				if bit(a, k) == 1 {
					return u(k)
				}
			}
			return ^u(0)
		}, "v_ffbl_b32_e32 v6, v0", 0x7e0c5d00),
		op(func(a, b, c u, i int) u {
			for k := 30; k >= 0; k-- {
				if bit(a, k) != bit(a, 31) {
					return u(31 - k)
				}
			}
			return ^u(0)
		}, "v_ffbh_i32_e32 v6, v0", 0x7e0c5f00),
		op(func(a, b, c u, i int) u { return u32(a)*u32(b) + c }, "v_mad_u64_u32 v[6:7], vcc, v0, v2, v[4:5]", 0xd1e86a06, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sx(a, 32)*sx(b, 32)) + c }, "v_mad_i64_i32 v[6:7], vcc, v0, v2, v[4:5]", 0xd1e96a06, 0x04120500),
		// 16 bits; the upper half becomes zero, or is kept.
		op(func(a, b, c u, i int) u { return (a + b) & 0xffff }, "v_add_u16_e32 v6, v0, v2", 0x4c0c0500),
		op(func(a, b, c u, i int) u { return (a - b) & 0xffff }, "v_sub_u16_e32 v6, v0, v2", 0x4e0c0500),
		op(func(a, b, c u, i int) u { return a * b & 0xffff }, "v_mul_lo_u16_e32 v6, v0, v2", 0x520c0500),
		op(func(a, b, c u, i int) u { return b << (a % 16) & 0xffff }, "v_lshlrev_b16_e32 v6, v0, v2", 0x540c0500),
		op(func(a, b, c u, i int) u { return b & 0xffff >> (a % 16) }, "v_lshrrev_b16_e32 v6, v0, v2", 0x560c0500),
		op(func(a, b, c u, i int) u { return u(sx(b, 16)>>(a%16)) & 0xffff }, "v_ashrrev_i16_e32 v6, v0, v2", 0x580c0500),
		op(func(a, b, c u, i int) u { return u(min(sx(a, 16), sx(b, 16))) & 0xffff }, "v_min_i16_e32 v6, v0, v2", 0x640c0500),
		op(func(a, b, c u, i int) u { return max(a&0xffff, b&0xffff) }, "v_max_u16_e32 v6, v0, v2", 0x5e0c0500),
		op(func(a, b, c u, i int) u { return clampTo(sx(a, 16)+sx(b, 16), -1<<15, 1<<15-1)&0xffff | 0x55550000 }, "v_add_i16 v6, v0, v2 clamp", 0xd29e8006, 0x00020500),
		op(func(a, b, c u, i int) u { return (a*b+c)&0xffff | 0x55550000 }, "v_mad_u16 v6, v0, v2, v4", 0xd2040006, 0x04120500),
		op(func(a, b, c u, i int) u { return (a>>16*(b&0xffff)+c)<<16 | 0x5555 }, "v_mad_i16 v6, v0, v2, v4 op_sel:[1,0,0,1]", 0xd2054806, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sx(a, 16)*sx(b, 16)) + c }, "v_mad_i32_i16 v6, v0, v2, v4", 0xd1f20006, 0x04120500),
		op(func(a, b, c u, i int) u { return u(sort3(sx(a, 16), sx(b, 16), sx(c, 16))[1])&0xffff | 0x55550000 }, "v_med3_i16 v6, v0, v2, v4", 0xd1fb0006, 0x04120500),
		// Packed.
		op(func(a, b, c u, i int) u { return (a+b)&0xffff | (a>>16+b>>16)<<16 }, "v_pk_add_u16 v6, v0, v2", 0xd38a4006, 0x18020500),
		op(func(a, b, c u, i int) u { return (a>>16+b)&0xffff | (a+b>>16)<<16 }, "v_pk_add_u16 v6, v0, v2 op_sel:[1,0] op_sel_hi:[0,1]", 0xd38a4806, 0x10020500),
		op(func(a, b, c u, i int) u {
			return clampTo(sx(a, 16)-sx(b, 16), -1<<15, 1<<15-1)&0xffff | clampTo(sx(a>>16, 16)-sx(b>>16, 16), -1<<15, 1<<15-1)<<16
		}, "v_pk_sub_i16 v6, v0, v2 clamp", 0xd383c006, 0x18020500),
		op(func(a, b, c u, i int) u { return (a*b+c)&0xffff | (a>>16*(b>>16)+c>>16)<<16 }, "v_pk_mad_u16 v6, v0, v2, v4", 0xd3894006, 0x1c120500),
		op(func(a, b, c u, i int) u { return b<<(a%16)&0xffff | b>>16<<(a>>16%16)<<16 }, "v_pk_lshlrev_b16 v6, v0, v2", 0xd3844006, 0x18020500),
		// Dot products.
		op(func(a, b, c u, i int) u {
			s := sx(c, 32)
			for k := range 4 {
				s += sx(a>>(8*k), 8) * sx(b>>(8*k), 8)
			}
			return u(s)
		}, "v_dot4_i32_i8 v6, v0, v2, v4", 0xd3a84006, 0x1c120500),
		op(func(a, b, c u, i int) u {
			s := u32(c)
			for k := range 8 {
				s += a >> (4 * k) & 15 * (b >> (4 * k) & 15)
			}
			return min(s, 1<<32-1)
		}, "v_dot8_u32_u4 v6, v0, v2, v4 clamp", 0xd3abc006, 0x1c120500),
		op(func(a, b, c u, i int) u { return u(sx(c, 32) + sx(a, 16)*sx(b, 16) + sx(a>>16, 16)*sx(b>>16, 16)) }, "v_dot2_i32_i16 v6, v0, v2, v4", 0xd3a64006, 0x1c120500),
		// Conversions between widths.
		op(func(a, b, c u, i int) u { return min(u32(a), 0xffff) | min(u32(b), 0xffff)<<16 }, "v_cvt_pk_u16_u32 v6, v0, v2", 0xd2970006, 0x00020500),
		op(func(a, b, c u, i int) u {
			return clampTo(sx(a, 32), -1<<15, 1<<15-1)&0xffff | clampTo(sx(b, 32), -1<<15, 1<<15-1)<<16
		}, "v_cvt_pk_i16_i32 v6, v0, v2", 0xd2980006, 0x00020500),
		op(func(a, b, c u, i int) u { return clampTo(sx(a, 16), 0, 255) | clampTo(sx(a>>16, 16), 0, 255)<<8 }, "v_sat_pk_u8_i16_e32 v6, v0", 0x7e0c9f00),
		op(func(a, b, c u, i int) u { return a&0xffff | b<<16 }, "v_pack_b32_f16 v6, v0, v2", 0xd2a00006, 0x00020500),
		op(func(a, b, c u, i int) u { return a>>16&0xffff | b<<16 }, "v_pack_b32_f16 v6, v0, v2 op_sel:[1,0,0]", 0xd2a00806, 0x00020500),
		op(func(a, b, c u, i int) u { return u32(a) | u32(b>>32)<<32 }, "v_pk_mov_b32 v[6:7], v[0:1], v[2:3] op_sel:[0,1]", 0xd3b35006, 0x18020500),
		// Constants and scalars.
		op(func(a, b, c u, i int) u { return 64 + b }, "v_add_u32_e32 v6, 64, v2", 0x680c04c0),
		op(func(a, b, c u, i int) u { return b - 16 }, "v_add_u32_e32 v6, -16, v2", 0x680c04d0),
		op(func(a, b, c u, i int) u { return b ^ 0x12345678 }, "v_xor_b32_e32 v6, 0x12345678, v2", 0x2a0c04ff, 0x12345678),
		op(func(a, b, c u, i int) u { return 0xcafe0000 - b }, "v_sub_u32_e32 v6, s9, v2", 0x6a0c0409),
		op(func(a, b, c u, i int) u { return ^u(0) << (a % 64) }, "v_lshlrev_b64 v[6:7], v0, -1", 0xd28f0006, 0x00018300),
		op(func(a, b, c u, i int) u { return 0x1_00000007 << (a % 64) }, "v_lshlrev_b64 v[6:7], v0, s[10:11]", 0xd28f0006, 0x00001500),
	}
	runOps(t, gcn.GFX90A, ops, wild64, nil)
	runOps(t, gcn.GFX942, []op3{
		op(func(a, b, c u, i int) u { return a<<(b&7) + c }, "v_lshl_add_u64 v[6:7], v[0:1], v2, v[4:5]", 0xd2080006, 0x04120500),
		op(func(a, b, c u, i int) u { return a }, "v_mov_b64_e32 v[6:7], v[0:1]", 0x7e0c7100),
	}, wild64, nil)
}

// initialScalars are the scalar registers that the instructions find.
var initialScalars = map[int]uint32{9: 0xcafe0000, 10: 7, 11: 1}

func TestMul64Carry(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(1, 1))
	for _, mask := range masks(r) {
		var wantU, wantI, wantAdd, wantSub uint64
		m.setMask(mask)
		in := r.Uint64()
		m.setS64(regVCC, in)
		for i := range 64 {
			a, b, c := wild64(r), wild64(r), wild64(r)
			m.set64(0, i, a)
			m.set64(2, i, b)
			m.set64(4, i, c)
			big64 := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
			p := new(big.Int).Mul(big64(u32(a)), big64(u32(b)))
			if p.Add(p, big64(c)).BitLen() > 64 {
				wantU |= 1 << i
			}
			s := new(big.Int).Mul(big.NewInt(sx(a, 32)), big.NewInt(sx(b, 32)))
			if !s.Add(s, big.NewInt(int64(c))).IsInt64() {
				wantI |= 1 << i
			}
			if u32(a)+u32(b)+bit(in, i) > 1<<32-1 {
				wantAdd |= 1 << i
			}
			if int64(u32(b))-int64(u32(a))-int64(bit(in, i)) < 0 {
				wantSub |= 1 << i
			}
		}
		check := func(reg uint8, want uint64, asm string, words ...uint32) {
			t.Helper()
			m.inst(asm, words...)
			if got := m.s64(reg); got != want&mask {
				t.Errorf("%s: EXEC %#x: mask %#x, want %#x", asm, mask, got, want&mask)
			}
		}
		check(20, wantU, "v_mad_u64_u32 v[6:7], s[20:21], v0, v2, v[4:5]", 0xd1e81406, 0x04120500)
		check(20, wantI, "v_mad_i64_i32 v[6:7], s[20:21], v0, v2, v[4:5]", 0xd1e91406, 0x04120500)
		check(20, wantAdd, "v_addc_co_u32_e64 v6, s[20:21], v0, v2, vcc", 0xd11c1406, 0x01aa0500)
		for i := range 64 {
			if want := uint32(u32(uint64(m.V[0][i])) + uint64(m.V[2][i]) + bit(in, i)); bit(mask, i) == 1 && m.V[6][i] != want {
				t.Errorf("addc: lane %d is %#x, want %#x", i, m.V[6][i], want)
			}
		}
		check(20, wantSub, "v_subbrev_co_u32_e64 v6, s[20:21], v0, v2, vcc", 0xd11e1406, 0x01aa0500)
		m.inst("v_cndmask_b32_e32 v8, v0, v2, vcc", 0x00100500)
		for i := range 64 {
			want := m.V[0][i]
			if bit(in, i) == 1 {
				want = m.V[2][i]
			}
			if bit(mask, i) == 1 && m.V[8][i] != want {
				t.Errorf("cndmask: lane %d is %#x, want %#x", i, m.V[8][i], want)
			}
		}
		check(regVCC, wantAdd, "v_addc_co_u32_e32 v6, vcc, v0, v2, vcc", 0x380c0500)
	}
}
