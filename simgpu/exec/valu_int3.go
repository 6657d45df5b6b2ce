package exec

import "math/bits"

// Integer operations of three sources, and 64-bit integers.

// each3 makes a kernel from a function of one lane. It costs a call for each
// lane; the common operations have loops of their own.
func each3(f func(a, b, c uint32) uint32) kernel {
	return func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

var _ = define(func() {
	valu("v_add3_u32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = a[i] + b[i] + c[i]
		}
	})
	valu("v_lshl_add_u32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = a[i]<<(b[i]&31) + c[i]
		}
	})
	valu("v_add_lshl_u32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = (a[i] + b[i]) << (c[i] & 31)
		}
	})
	valu("v_lshl_or_b32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = a[i]<<(b[i]&31) | c[i]
		}
	})
	valu("v_and_or_b32", 3, func(d, a, b, c *Vec) {
		x, y, z, u := pairs(d), pairs(a), pairs(b), pairs(c)
		for i := range x {
			x[i] = y[i]&z[i] | u[i]
		}
	})
	valu("v_or3_b32", 3, func(d, a, b, c *Vec) {
		x, y, z, u := pairs(d), pairs(a), pairs(b), pairs(c)
		for i := range x {
			x[i] = y[i] | z[i] | u[i]
		}
	})
	valu("v_xad_u32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = (a[i] ^ b[i]) + c[i]
		}
	})
	valu("v_bfe_u32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = a[i] >> (b[i] & 31) & (1<<(c[i]&31) - 1)
		}
	})
	valu("v_bfe_i32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = vbfeI32(a[i], b[i]&31, c[i]&31)
		}
	})
	valu("v_bfi_b32", 3, func(d, a, b, c *Vec) {
		x, y, z, u := pairs(d), pairs(a), pairs(b), pairs(c)
		for i := range x {
			x[i] = y[i]&z[i] | ^y[i]&u[i]
		}
	})
	valu("v_alignbit_b32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = uint32((uint64(a[i])<<32 | uint64(b[i])) >> (c[i] & 31))
		}
	})
	valu("v_alignbyte_b32", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = uint32((uint64(a[i])<<32 | uint64(b[i])) >> (8 * (c[i] & 3)))
		}
	})
	valu("v_perm_b32", 3, each3(perm))
	valu("v_mad_i32_i24", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = uint32(s24(a[i])*s24(b[i])) + c[i]
		}
	}).saturating(func(_ *fpEnv, a, b, c uint64) uint64 {
		return sat32(int64(s24(uint32(a)))*int64(s24(uint32(b))) + int64(int32(c)))
	})
	valu("v_mad_u32_u24", 3, func(d, a, b, c *Vec) {
		_, _, _, _ = d[0], a[0], b[0], c[0]
		for i := range d {
			d[i] = a[i]&0xffffff*(b[i]&0xffffff) + c[i]
		}
	}).saturating(func(_ *fpEnv, a, b, c uint64) uint64 {
		return min(a&0xffffff*(b&0xffffff)+c, 0xffffffff)
	})
	valu("v_min3_i32", 3, each3(func(a, b, c uint32) uint32 { return uint32(min(int32(a), int32(b), int32(c))) }))
	valu("v_max3_i32", 3, each3(func(a, b, c uint32) uint32 { return uint32(max(int32(a), int32(b), int32(c))) }))
	valu("v_med3_i32", 3, each3(func(a, b, c uint32) uint32 { return uint32(median(int32(a), int32(b), int32(c))) }))
	valu("v_min3_u32", 3, each3(func(a, b, c uint32) uint32 { return min(a, b, c) }))
	valu("v_max3_u32", 3, each3(func(a, b, c uint32) uint32 { return max(a, b, c) }))
	valu("v_med3_u32", 3, each3(median[uint32]))
	valu("v_lerp_u8", 3, each3(func(a, b, c uint32) uint32 {
		var r uint32
		for s := 0; s < 32; s += 8 {
			r |= (a>>s&0xff + b>>s&0xff + c>>s&1) >> 1 << s
		}
		return r
	}))
	valu("v_sad_u8", 3, each3(func(a, b, c uint32) uint32 { return sadU8(a, b, false) + c }))
	valu("v_sad_hi_u8", 3, each3(func(a, b, c uint32) uint32 { return sadU8(a, b, false)<<16 + c }))
	valu("v_msad_u8", 3, each3(func(a, b, c uint32) uint32 { return sadU8(a, b, true) + c }))
	valu("v_sad_u16", 3, each3(func(a, b, c uint32) uint32 {
		return absdiff(a&0xffff, b&0xffff) + absdiff(a>>16, b>>16) + c
	}))
	valu("v_sad_u32", 3, each3(func(a, b, c uint32) uint32 { return absdiff(a, b) + c }))

	wide64()
})

func wide64() {
	valu("v_mov_b64", 1, func(d, a, _, _ *Vec) {
		lo, hi := *a, *upper(a)
		*d = lo
		*upper(d) = hi
	}).wide()
	valu("v_lshlrev_b64", 2, func(d, a, b, _ *Vec) {
		dh, bh := upper(d), upper(b)
		_, _, _, _, _ = d[0], dh[0], a[0], b[0], bh[0]
		for i := range d {
			r := (uint64(b[i]) | uint64(bh[i])<<32) << (a[i] & 63)
			d[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}).wide()
	valu("v_lshrrev_b64", 2, func(d, a, b, _ *Vec) {
		dh, bh := upper(d), upper(b)
		_, _, _, _, _ = d[0], dh[0], a[0], b[0], bh[0]
		for i := range d {
			r := (uint64(b[i]) | uint64(bh[i])<<32) >> (a[i] & 63)
			d[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}).wide()
	valu("v_ashrrev_i64", 2, func(d, a, b, _ *Vec) {
		dh, bh := upper(d), upper(b)
		_, _, _, _, _ = d[0], dh[0], a[0], b[0], bh[0]
		for i := range d {
			r := int64(uint64(b[i])|uint64(bh[i])<<32) >> (a[i] & 63)
			d[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}).wide()
	valu("v_lshl_add_u64", 3, func(d, a, b, c *Vec) {
		dh, ah, ch := upper(d), upper(a), upper(c)
		for i := range d {
			v := uint64(a[i]) | uint64(ah[i])<<32
			// The shift count is 0 to 4; larger ones shift everything out.
			r := v<<(b[i]&7) + (uint64(c[i]) | uint64(ch[i])<<32)
			d[i], dh[i] = uint32(r), uint32(r>>32)
		}
	}).wide()
	sad := func(name string, masked bool) {
		valu(name, 3, func(d, a, b, c *Vec) {
			dh, ah, ch := upper(d), upper(a), upper(c)
			for i := range d {
				v, acc := uint64(a[i])|uint64(ah[i])<<32, uint64(c[i])|uint64(ch[i])<<32
				var r uint64
				for j := range 4 {
					s := uint64(sadU8(uint32(v>>(8*j)), b[i], masked)) + acc>>(16*j)&0xffff
					r |= min(s, 0xffff) << (16 * j)
				}
				d[i], dh[i] = uint32(r), uint32(r>>32)
			}
		}).wide()
	}
	sad("v_qsad_pk_u16_u8", false)
	sad("v_mqsad_pk_u16_u8", true)
	// Four results of 32 bits.
	valu("v_mqsad_u32_u8", 3, func(d, a, b, c *Vec) {
		ah := upper(a)
		for i := range d {
			v := uint64(a[i]) | uint64(ah[i])<<32
			dj, cj := d, c
			for j := range 4 {
				r := min(uint64(sadU8(uint32(v>>(8*j)), b[i], true))+uint64(cj[i]), 0xffffffff)
				dj[i] = uint32(r)
				if j < 3 {
					dj, cj = upper(dj), upper(cj)
				}
			}
		}
	}).dst = 4
}

// vbfeI32 extracts n bits at off and extends their sign.
func vbfeI32(a, off, n uint32) uint32 {
	if n == 0 {
		return 0
	}
	n = min(n, 32-off)
	return uint32(int32(a<<((32-off-n)&31)) >> ((32 - n) & 31))
}

// perm selects bytes of a:b: 0-3 are those of b, 4-7 those of a, 8-11 signs,
// 12 zero, above 0xff.
func perm(a, b, sel uint32) uint32 {
	v := uint64(a)<<32 | uint64(b)
	var r uint32
	for s := 0; s < 32; s += 8 {
		x := sel >> s & 0xff
		var y uint32
		switch {
		case x >= 13:
			y = 0xff
		case x == 12:
		case x >= 8:
			y = uint32(int64(v<<(48-16*(x-8)))>>63) & 0xff
		default:
			y = uint32(v>>(8*x)) & 0xff
		}
		r |= y << s
	}
	return r
}

func median[T int32 | uint32 | int16 | uint16](a, b, c T) T {
	return max(min(a, b), min(max(a, b), c))
}

func absdiff(a, b uint32) uint32 {
	d, borrow := bits.Sub32(a, b, 0)
	if borrow != 0 {
		return -d
	}
	return d
}

// sadU8 is the sum of absolute differences of four bytes; masked leaves out
// those where b is zero.
func sadU8(a, b uint32, masked bool) uint32 {
	var r uint32
	for s := 0; s < 32; s += 8 {
		if y := b >> s & 0xff; !masked || y != 0 {
			r += absdiff(a>>s&0xff, y)
		}
	}
	return r
}
