package exec

import (
	"math/bits"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Scalar arithmetic with two sources (SOP2) and comparisons (SOPC). SOPK is
// the same operations with a 16-bit immediate.

type sop2 = func(w *wave, a, b uint32) uint32
type sop2w = func(w *wave, a, b uint64) uint64

// on2 defines a 32-bit operation. The function sets SCC if the operation does.
//
//go:noinline
func on2(name string, f sop2) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s0, s1, d, err := scalar2(in)
		return func(w *wave) { w.S[d] = f(w, s0.get(w), s1.get(w)) }, err
	})
}

// on2r defines a 32-bit operation whose SCC is "result is not zero".
//
//go:noinline
func on2r(name string, f func(a, b uint32) uint32) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s0, s1, d, err := scalar2(in)
		return func(w *wave) {
			r := f(s0.get(w), s1.get(w))
			w.S[d] = r
			w.setSCC(r != 0)
		}, err
	})
}

// on2w and on2wr define 64-bit operations, the latter with SCC = result not zero.
//
//go:noinline
func on2w(name string, f sop2w) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s0, s1, d, err := scalar2w(in)
		return func(w *wave) { w.setS64(d, f(w, s0.get(w), s1.get(w))) }, err
	})
}

//go:noinline
func on2wr(name string, f func(a, b uint64) uint64) {
	on2w(name, func(w *wave, a, b uint64) uint64 {
		r := f(a, b)
		w.setSCC(r != 0)
		return r
	})
}

func scalar2(in *gcn.Inst) (s0, s1 sref, d uint8, err error) {
	if s0, err = scalar(&in.Src[0]); err != nil {
		return
	}
	if s1, err = scalar(&in.Src[1]); err != nil {
		return
	}
	d, err = sdst(&in.Dst, 1)
	return
}

// scalar2w binds 64-bit sources; one that the operation declares as 32 bits
// (a shift count) is zero extended.
func scalar2w(in *gcn.Inst) (s0, s1 sref64, d uint8, err error) {
	if s0, err = scalarAs64(&in.Src[0]); err != nil {
		return
	}
	if s1, err = scalarAs64(&in.Src[1]); err != nil {
		return
	}
	d, err = sdst(&in.Dst, 2)
	return
}

func scalarAs64(o *gcn.Operand) (sref64, error) {
	if o.Width == 2 {
		return scalar64(o)
	}
	s, err := scalar(o)
	return sref64{s.reg, uint64(s.mask), uint64(s.val)}, err
}

// compare defines s_cmp_… and, for 32 bits, s_cmpk_….
//
//go:noinline
func compare(name string, f func(a, b uint32) bool) {
	on("s_cmp_"+name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s0, err := scalar(&in.Src[0])
		if err != nil {
			return nil, err
		}
		s1, err := scalar(&in.Src[1])
		return func(w *wave) { w.setSCC(f(s0.get(w), s1.get(w))) }, err
	})
	signed := name[len(name)-3] == 'i'
	on("s_cmpk_"+name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		k := uint32(in.Simm16)
		if signed {
			k = uint32(int32(int16(in.Simm16)))
		}
		s0, err := scalar(&in.Src[0])
		return func(w *wave) { w.setSCC(f(s0.get(w), k)) }, err
	})
}

//go:noinline
func compare64(name string, f func(a, b uint64) bool) {
	on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
		s0, err := scalarAs64(&in.Src[0])
		if err != nil {
			return nil, err
		}
		s1, err := scalarAs64(&in.Src[1])
		return func(w *wave) { w.setSCC(f(s0.get(w), s1.get(w))) }, err
	})
}

func addOverflows(a, b, r uint32) bool { return (a^r)&(b^r)>>31 != 0 }
func subOverflows(a, b, r uint32) bool { return (a^b)&(a^r)>>31 != 0 }

// bfe32 takes the offset (bits 4:0) and width (bits 22:16) of s_bfe_*32.
func bfeU32(a, b uint32) uint32 {
	off, n := b&31, b>>16&0x7f
	if n == 0 {
		return 0
	}
	a >>= off
	if n < 32 {
		a &= 1<<n - 1
	}
	return a
}

func bfeI32(a, b uint32) uint32 {
	off, n := b&31, b>>16&0x7f
	if n == 0 {
		return 0
	}
	n = min(n, 32-off) // what lies beyond the register is its sign
	return uint32(int32(a<<(32-off-n)) >> (32 - n))
}

func bfeU64(a, b uint64) uint64 {
	off, n := b&63, b>>16&0x7f
	if n == 0 {
		return 0
	}
	a >>= off
	if n < 64 {
		a &= 1<<n - 1
	}
	return a
}

func bfeI64(a, b uint64) uint64 {
	off, n := b&63, b>>16&0x7f
	if n == 0 {
		return 0
	}
	n = min(n, 64-off)
	return uint64(int64(a<<(64-off-n)) >> (64 - n))
}

var _ = define(func() {
	addU := func(w *wave, a, b uint32) uint32 {
		r, c := bits.Add32(a, b, 0)
		w.S[regSCC] = c
		return r
	}
	on2("s_add_u32", addU)
	on2("s_sub_u32", func(w *wave, a, b uint32) uint32 {
		r, c := bits.Sub32(a, b, 0)
		w.S[regSCC] = c
		return r
	})
	addI := func(w *wave, a, b uint32) uint32 {
		r := a + b
		w.setSCC(addOverflows(a, b, r))
		return r
	}
	on2("s_add_i32", addI)
	on2("s_sub_i32", func(w *wave, a, b uint32) uint32 {
		r := a - b
		w.setSCC(subOverflows(a, b, r))
		return r
	})
	on2("s_addc_u32", func(w *wave, a, b uint32) uint32 {
		r, c := bits.Add32(a, b, w.S[regSCC])
		w.S[regSCC] = c
		return r
	})
	on2("s_subb_u32", func(w *wave, a, b uint32) uint32 {
		r, c := bits.Sub32(a, b, w.S[regSCC])
		w.S[regSCC] = c
		return r
	})
	choose := func(name string, first func(a, b uint32) bool) {
		on2(name, func(w *wave, a, b uint32) uint32 {
			f := first(a, b)
			w.setSCC(f)
			if f {
				return a
			}
			return b
		})
	}
	choose("s_min_i32", func(a, b uint32) bool { return int32(a) < int32(b) })
	choose("s_min_u32", func(a, b uint32) bool { return a < b })
	choose("s_max_i32", func(a, b uint32) bool { return int32(a) > int32(b) })
	choose("s_max_u32", func(a, b uint32) bool { return a > b })
	on2("s_cselect_b32", func(w *wave, a, b uint32) uint32 {
		if w.S[regSCC] != 0 {
			return a
		}
		return b
	})
	on2w("s_cselect_b64", func(w *wave, a, b uint64) uint64 {
		if w.S[regSCC] != 0 {
			return a
		}
		return b
	})
	for name, f := range logic {
		on2wr("s_"+name+"_b64", f)
		on2r("s_"+name+"_b32", func(a, b uint32) uint32 { return uint32(f(uint64(a), uint64(b))) })
	}
	on2r("s_lshl_b32", func(a, b uint32) uint32 { return a << (b & 31) })
	on2wr("s_lshl_b64", func(a, b uint64) uint64 { return a << (b & 63) })
	on2r("s_lshr_b32", func(a, b uint32) uint32 { return a >> (b & 31) })
	on2wr("s_lshr_b64", func(a, b uint64) uint64 { return a >> (b & 63) })
	on2r("s_ashr_i32", func(a, b uint32) uint32 { return uint32(int32(a) >> (b & 31)) })
	on2wr("s_ashr_i64", func(a, b uint64) uint64 { return uint64(int64(a) >> (b & 63)) })
	on2("s_bfm_b32", func(_ *wave, a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) })
	on2w("s_bfm_b64", func(_ *wave, a, b uint64) uint64 { return (1<<(a&63) - 1) << (b & 63) })
	on2("s_mul_i32", func(_ *wave, a, b uint32) uint32 { return a * b })
	on2("s_mul_hi_u32", func(_ *wave, a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) })
	on2("s_mul_hi_i32", func(_ *wave, a, b uint32) uint32 {
		return uint32(int64(int32(a)) * int64(int32(b)) >> 32)
	})
	on2r("s_bfe_u32", bfeU32)
	on2r("s_bfe_i32", bfeI32)
	on2wr("s_bfe_u64", bfeU64)
	on2wr("s_bfe_i64", bfeI64)
	on2r("s_absdiff_i32", func(a, b uint32) uint32 {
		r := a - b
		if int32(r) < 0 {
			r = -r
		}
		return r
	})
	for n := 1; n <= 4; n++ {
		on2("s_lshl"+string(rune('0'+n))+"_add_u32", func(w *wave, a, b uint32) uint32 {
			r := uint64(a)<<n + uint64(b)
			w.setSCC(r>>32 != 0)
			return uint32(r)
		})
	}
	on2("s_pack_ll_b32_b16", func(_ *wave, a, b uint32) uint32 { return a&0xffff | b<<16 })
	on2("s_pack_lh_b32_b16", func(_ *wave, a, b uint32) uint32 { return a&0xffff | b&0xffff0000 })
	on2("s_pack_hh_b32_b16", func(_ *wave, a, b uint32) uint32 { return a>>16 | b&0xffff0000 })

	compare("eq_i32", func(a, b uint32) bool { return a == b })
	compare("lg_i32", func(a, b uint32) bool { return a != b })
	compare("gt_i32", func(a, b uint32) bool { return int32(a) > int32(b) })
	compare("ge_i32", func(a, b uint32) bool { return int32(a) >= int32(b) })
	compare("lt_i32", func(a, b uint32) bool { return int32(a) < int32(b) })
	compare("le_i32", func(a, b uint32) bool { return int32(a) <= int32(b) })
	compare("eq_u32", func(a, b uint32) bool { return a == b })
	compare("lg_u32", func(a, b uint32) bool { return a != b })
	compare("gt_u32", func(a, b uint32) bool { return a > b })
	compare("ge_u32", func(a, b uint32) bool { return a >= b })
	compare("lt_u32", func(a, b uint32) bool { return a < b })
	compare("le_u32", func(a, b uint32) bool { return a <= b })
	compare64("s_cmp_eq_u64", func(a, b uint64) bool { return a == b })
	compare64("s_cmp_lg_u64", func(a, b uint64) bool { return a != b })
	compare64("s_bitcmp0_b32", func(a, b uint64) bool { return a>>(b&31)&1 == 0 })
	compare64("s_bitcmp1_b32", func(a, b uint64) bool { return a>>(b&31)&1 == 1 })
	compare64("s_bitcmp0_b64", func(a, b uint64) bool { return a>>(b&63)&1 == 0 })
	compare64("s_bitcmp1_b64", func(a, b uint64) bool { return a>>(b&63)&1 == 1 })

	// SOPK with a result: the destination is also the first source.
	sopk := func(name string, f func(w *wave, d, k uint32) uint32) {
		on(name, func(b *binder, in *gcn.Inst) (func(*wave), error) {
			d, err := sdst(&in.Dst, 1)
			k := uint32(int32(int16(in.Simm16)))
			return func(w *wave) { w.S[d] = f(w, w.S[d], k) }, err
		})
	}
	sopk("s_movk_i32", func(_ *wave, _, k uint32) uint32 { return k })
	sopk("s_cmovk_i32", func(w *wave, d, k uint32) uint32 {
		if w.S[regSCC] != 0 {
			return k
		}
		return d
	})
	sopk("s_addk_i32", addI)
	sopk("s_mulk_i32", func(_ *wave, d, k uint32) uint32 { return d * k })
})

// logic are the bitwise operations of two operands.
var logic = map[string]func(a, b uint64) uint64{
	"and":   func(a, b uint64) uint64 { return a & b },
	"or":    func(a, b uint64) uint64 { return a | b },
	"xor":   func(a, b uint64) uint64 { return a ^ b },
	"andn2": func(a, b uint64) uint64 { return a &^ b },
	"orn2":  func(a, b uint64) uint64 { return a | ^b },
	"nand":  func(a, b uint64) uint64 { return ^(a & b) },
	"nor":   func(a, b uint64) uint64 { return ^(a | b) },
	"xnor":  func(a, b uint64) uint64 { return ^(a ^ b) },
}
