package exec

import "math"

// Conversions.

// toI32 and toU32 truncate and saturate; NaN becomes 0.
func toI32(x float64) uint32 {
	switch {
	case x != x:
		return 0
	case x <= math.MinInt32:
		return 1 << 31
	case x >= math.MaxInt32:
		return math.MaxInt32
	}
	return uint32(int32(x))
}

func toU32(x float64) uint32 {
	switch {
	case !(x > 0):
		return 0
	case x >= math.MaxUint32:
		return math.MaxUint32
	}
	return uint32(x)
}

// toInt16 rounds to nearest even and saturates to lo..hi; NaN becomes 0.
func toInt16(x float64, lo, hi float64) uint32 {
	if x != x {
		return 0
	}
	return uint32(int32(math.RoundToEven(max(lo, min(hi, x))))) & 0xffff
}

var _ = define(func() {
	valu("v_cvt_f32_i32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = b32(float32(int32(a[i])))
		}
	}).f32(func(e *fpEnv, a, _, _ uint64) uint64 { return fmt32.narrow(e.round32, float64(int32(a))) })
	valu("v_cvt_f32_u32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = b32(float32(int64(a[i])))
		}
	}).f32(func(e *fpEnv, a, _, _ uint64) uint64 { return fmt32.narrow(e.round32, float64(uint32(a))) })
	for n, name := range []string{"v_cvt_f32_ubyte0", "v_cvt_f32_ubyte1", "v_cvt_f32_ubyte2", "v_cvt_f32_ubyte3"} {
		v := valu(name, 1, func(d, a, _, _ *Vec) {
			_, _ = d[0], a[0]
			for i := range d {
				d[i] = b32(float32(int32(a[i] >> (8 * n) & 0xff)))
			}
		})
		v.fl, v.slow = isF32, nil
	}
	toInt := func(name string, f func(x float64) uint32) {
		valu(name, 1, func(d, a, _, _ *Vec) {
			_, _ = d[0], a[0]
			for i := range d {
				d[i] = f(float64(f32(a[i])))
			}
		})
	}
	valu("v_cvt_u32_f32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = toU32(float64(f32(a[i])))
		}
	})
	valu("v_cvt_i32_f32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = toI32(float64(f32(a[i])))
		}
	})
	toInt("v_cvt_rpi_i32_f32", func(x float64) uint32 { return toI32(math.Floor(x + 0.5)) })
	toInt("v_cvt_flr_i32_f32", func(x float64) uint32 { return toI32(math.Floor(x)) })
	valu("v_cvt_off_f32_i4", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = b32(float32(int32(a[i]<<28)>>28) / 16)
		}
	}).fl = isF32

	// To and from f64.
	valu("v_cvt_f64_f32", 1, func(d, a, _, _ *Vec) {
		dh := upper(d)
		for i := range d {
			put64(&d[i], &dh[i], float64(f32(a[i])))
		}
	}).f64(func(e *fpEnv, a, _, _ uint64) uint64 {
		if e.flushIn32 {
			a = fmt32.flush(a)
		}
		return math.Float64bits(float64(f32(uint32(a))))
	})
	valu("v_cvt_f64_i32", 1, func(d, a, _, _ *Vec) {
		dh := upper(d)
		for i := range d {
			put64(&d[i], &dh[i], float64(int32(a[i])))
		}
	}).f64(nil)
	valu("v_cvt_f64_u32", 1, func(d, a, _, _ *Vec) {
		dh := upper(d)
		for i := range d {
			put64(&d[i], &dh[i], float64(a[i]))
		}
	}).f64(nil)
	valu("v_cvt_f32_f64", 1, func(d, a, _, _ *Vec) {
		ah := upper(a)
		for i := range d {
			d[i] = b32(float32(f64(a[i], ah[i])))
		}
	}).f32(func(e *fpEnv, a, _, _ uint64) uint64 {
		if e.flushIn64 {
			a = fmt64.flush(a)
		}
		r := fmt32.narrow(e.round32, math.Float64frombits(a))
		if e.flushOut32 {
			r = fmt32.flush(r)
		}
		return r
	})
	valu("v_cvt_i32_f64", 1, func(d, a, _, _ *Vec) {
		ah := upper(a)
		for i := range d {
			d[i] = toI32(f64(a[i], ah[i]))
		}
	})
	valu("v_cvt_u32_f64", 1, func(d, a, _, _ *Vec) {
		ah := upper(a)
		for i := range d {
			d[i] = toU32(f64(a[i], ah[i]))
		}
	})

	// To and from f16. Its rounding and denormals are those of f64.
	valu("v_cvt_f16_f32", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = uint32(f32to16(f32(a[i])))
		}
	}).f16(func(e *fpEnv, a, _, _ uint64) uint64 {
		if e.flushIn32 {
			a = fmt32.flush(a)
		}
		r := uint64(roundF16(float64(f32(uint32(a))), e.round64))
		if e.flushOut64 {
			r = fmt16.flush(r)
		}
		return r
	})
	valu("v_cvt_f32_f16", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			d[i] = b32(f16to32(uint16(a[i])))
		}
	}).f32(func(e *fpEnv, a, _, _ uint64) uint64 {
		a &= 0xffff
		if e.flushIn64 {
			a = fmt16.flush(a)
		}
		return uint64(b32(f16to32(uint16(a))))
	})
	half := func(name string, f func(e *fpEnv, a uint32) uint32) {
		rne := newFPEnv(0xf0)
		valu(name, 1, func(d, a, _, _ *Vec) {
			_, _ = d[0], a[0]
			for i := range d {
				d[i] = f(&rne, a[i])
			}
		}).f16(func(e *fpEnv, a, _, _ uint64) uint64 { return uint64(f(e, uint32(a))) })
	}
	half("v_cvt_f16_u16", func(e *fpEnv, a uint32) uint32 { return uint32(roundF16(float64(uint16(a)), e.round64)) })
	half("v_cvt_f16_i16", func(e *fpEnv, a uint32) uint32 { return uint32(roundF16(float64(int16(a)), e.round64)) })
	from16 := func(name string, f func(x float64) uint32) {
		valu(name, 1, func(d, a, _, _ *Vec) {
			_, _ = d[0], a[0]
			for i := range d {
				d[i] = f(f16to64(uint16(a[i])))
			}
		})
	}
	from16("v_cvt_u16_f16", func(x float64) uint32 { return toInt16(math.Trunc(x), 0, 65535) })
	from16("v_cvt_i16_f16", func(x float64) uint32 { return toInt16(math.Trunc(x), -32768, 32767) })
	norm := func(x float64, signed bool) uint32 {
		if signed {
			return toInt16(max(-1, min(1, x))*32767, -32767, 32767)
		}
		return toInt16(max(0, min(1, x))*65535, 0, 65535)
	}
	from16("v_cvt_norm_i16_f16", func(x float64) uint32 { return norm(x, true) })
	from16("v_cvt_norm_u16_f16", func(x float64) uint32 { return norm(x, false) })

	pack := func(name string, f func(x uint32) uint32) {
		valu(name, 2, func(d, a, b, _ *Vec) {
			_, _, _ = d[0], a[0], b[0]
			for i := range d {
				d[i] = f(a[i])&0xffff | f(b[i])<<16
			}
		})
	}
	pack("v_cvt_pknorm_i16_f32", func(x uint32) uint32 { return norm(float64(f32(x)), true) })
	pack("v_cvt_pknorm_u16_f32", func(x uint32) uint32 { return norm(float64(f32(x)), false) })
	pack("v_cvt_pknorm_i16_f16", func(x uint32) uint32 { return norm(f16to64(uint16(x)), true) })
	pack("v_cvt_pknorm_u16_f16", func(x uint32) uint32 { return norm(f16to64(uint16(x)), false) })
	pack("v_cvt_pkrtz_f16_f32", func(x uint32) uint32 { return uint32(roundF16(float64(f32(x)), roundZero)) })
	pack("v_cvt_pk_u16_u32", func(x uint32) uint32 { return min(x, 0xffff) })
	pack("v_cvt_pk_i16_i32", func(x uint32) uint32 { return uint32(max(-32768, min(32767, int32(x)))) })
	pack("v_pack_b32_f16", func(x uint32) uint32 { return x & 0xffff })

	byteOf := func(x uint32) uint32 { // to a byte, rounded to nearest even
		v := float64(f32(x))
		if v != v {
			return 0
		}
		return uint32(math.RoundToEven(max(0, min(255, v))))
	}
	// v_cvt_pkaccum_u8_f32: the third source is the destination.
	for _, name := range []string{"v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32"} {
		valu(name, 3, each3(func(a, b, c uint32) uint32 {
			s := b & 3 * 8
			return c&^(0xff<<s) | byteOf(a)<<s
		}))
	}
	valu("v_sat_pk_u8_i16", 1, func(d, a, _, _ *Vec) {
		_, _ = d[0], a[0]
		for i := range d {
			sat := func(x int16) uint32 { return uint32(max(0, min(255, x))) }
			d[i] = sat(int16(a[i])) | sat(int16(a[i]>>16))<<8
		}
	})
})
