package exec

import "math/bits"

// 32-bit integer and bitwise operations.

var _ = define(func() {
	valu("v_mov_b32", 1, func(d, a, _, _ *Vec) { *d = *a })
	valu("v_not_b32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = ^a[i]
		}
	})
	valu("v_bfrev_b32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = bits.Reverse32(a[i])
		}
	})
	valu("v_ffbh_u32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			n := uint32(bits.LeadingZeros32(a[i]))
			if n == 32 {
				n = ^uint32(0)
			}
			d[i] = n
		}
	})
	valu("v_ffbl_b32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = firstBit(uint64(a[i]))
		}
	})
	valu("v_ffbh_i32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = leadingSign(uint64(a[i]), 32)
		}
	})
	valu("v_add_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] + b[i]
		}
	}).saturating(func(_ *fpEnv, a, b, _ uint64) uint64 { return min(a+b, 0xffffffff) })
	valu("v_sub_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}).saturating(func(_ *fpEnv, a, b, _ uint64) uint64 { return a - min(a, b) })
	valu("v_subrev_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = b[i] - a[i]
		}
	}).saturating(func(_ *fpEnv, a, b, _ uint64) uint64 { return b - min(a, b) })
	valu("v_add_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] + b[i]
		}
	}).saturating(func(_ *fpEnv, a, b, _ uint64) uint64 { return sat32(int64(int32(a)) + int64(int32(b))) })
	valu("v_sub_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}).saturating(func(_ *fpEnv, a, b, _ uint64) uint64 { return sat32(int64(int32(a)) - int64(int32(b))) })
	valu("v_and_b32", 2, func(d, a, b, _ *Vec) {
		x, y, z := pairs(d), pairs(a), pairs(b)
		for i := range x {
			x[i] = y[i] & z[i]
		}
	})
	valu("v_or_b32", 2, func(d, a, b, _ *Vec) {
		x, y, z := pairs(d), pairs(a), pairs(b)
		for i := range x {
			x[i] = y[i] | z[i]
		}
	})
	valu("v_xor_b32", 2, func(d, a, b, _ *Vec) {
		x, y, z := pairs(d), pairs(a), pairs(b)
		for i := range x {
			x[i] = y[i] ^ z[i]
		}
	})
	valu("v_xnor_b32", 2, func(d, a, b, _ *Vec) {
		x, y, z := pairs(d), pairs(a), pairs(b)
		for i := range x {
			x[i] = ^(y[i] ^ z[i])
		}
	})
	valu("v_lshlrev_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = b[i] << (a[i] & 31)
		}
	})
	valu("v_lshrrev_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = b[i] >> (a[i] & 31)
		}
	})
	valu("v_ashrrev_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(int32(b[i]) >> (a[i] & 31))
		}
	})
	valu("v_min_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(min(int32(a[i]), int32(b[i])))
		}
	})
	valu("v_max_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(max(int32(a[i]), int32(b[i])))
		}
	})
	valu("v_min_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	})
	valu("v_max_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	})
	valu("v_mul_lo_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] * b[i]
		}
	})
	valu("v_mul_hi_u32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(uint64(a[i]) * uint64(b[i]) >> 32)
		}
	})
	valu("v_mul_hi_i32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(int64(int32(a[i])) * int64(int32(b[i])) >> 32)
		}
	})
	valu("v_mul_i32_i24", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(s24(a[i]) * s24(b[i]))
		}
	})
	valu("v_mul_hi_i32_i24", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(int64(s24(a[i])) * int64(s24(b[i])) >> 32)
		}
	})
	valu("v_mul_u32_u24", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = a[i] & 0xffffff * (b[i] & 0xffffff)
		}
	})
	valu("v_mul_hi_u32_u24", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(uint64(a[i]&0xffffff) * uint64(b[i]&0xffffff) >> 32)
		}
	})
	valu("v_bcnt_u32_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(bits.OnesCount32(a[i])) + b[i]
		}
	})
	valu("v_mbcnt_lo_u32_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(bits.OnesCount32(a[i]&uint32(uint64(1)<<min(i, 32)-1))) + b[i]
		}
	})
	valu("v_mbcnt_hi_u32_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = uint32(bits.OnesCount32(a[i]&uint32(uint64(1)<<max(i-32, 0)-1))) + b[i]
		}
	})
	valu("v_bfm_b32", 2, func(d, a, b, _ *Vec) {
		_, _, _ = d[0], a[0], b[0]
		for i := range d {
			d[i] = (1<<(a[i]&31) - 1) << (b[i] & 31)
		}
	})
})

func sat32(x int64) uint64 {
	return uint64(uint32(int32(max(-1<<31, min(1<<31-1, x)))))
}

func s24(x uint32) int32 { return int32(x<<8) >> 8 }
