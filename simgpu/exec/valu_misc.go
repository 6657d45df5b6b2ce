package exec

import "math"

// 8-bit floats of gfx942, and cube maps.

// toSmall8 rounds to one of the 8-bit formats, to nearest even. What is too
// large becomes NaN: programs that want the largest number limit it before.
func toSmall8(x float32, mantissa, bias int) uint32 {
	v := math.Abs(float64(x))
	if v != v || math.IsInf(v, 0) {
		return 0x80
	}
	_, e := math.Frexp(v)
	e = max(e-1, 1-bias) // denormals have the smallest exponent
	q := uint32(math.RoundToEven(math.Ldexp(v, mantissa-e)))
	if q>>(mantissa+1) != 0 { // rounded up to the next power of two
		q >>= 1
		e++
	}
	if q>>mantissa == 0 {
		e = -bias // denormal or zero: exponent field 0
	}
	if e+bias > 1<<(7-mantissa)-1 {
		return 0x80
	}
	r := uint32(e+bias)<<mantissa | q&(1<<mantissa-1)
	if x < 0 && r != 0 { // there is no negative zero
		r |= 0x80
	}
	return r
}

// cube is the face of a cube map that a direction hits, with what the four
// instructions give.
func cube(a, b, c uint32) (id, major, sc, tc float32) {
	x, y, z := f32(a), f32(b), f32(c)
	ax, ay, az := math.Abs(float64(x)), math.Abs(float64(y)), math.Abs(float64(z))
	switch {
	case az >= ax && az >= ay:
		if z < 0 {
			return 5, 2 * z, -x, -y
		}
		return 4, 2 * z, x, -y
	case ay >= ax:
		if y < 0 {
			return 3, 2 * y, x, -z
		}
		return 2, 2 * y, x, z
	case x < 0:
		return 1, 2 * x, z, -y
	}
	return 0, 2 * x, -z, -y
}

var _ = define(func() {
	for name, f := range map[string]struct {
		from           func(x uint32) float32
		mantissa, bias int
	}{"fp8": {fp8, 3, 8}, "bf8": {bf8, 2, 16}} {
		valu("v_cvt_f32_"+name, 1, func(d, a, _, _ *Vec) {
			for i := range d {
				d[i] = b32(f.from(a[i] & 0xff))
			}
		})
		valu("v_cvt_pk_f32_"+name, 1, func(d, a, _, _ *Vec) {
			dh := upper(d)
			for i := range d {
				d[i], dh[i] = b32(f.from(a[i]&0xff)), b32(f.from(a[i]>>8&0xff))
			}
		}).wide()
		valu("v_cvt_pk_"+name+"_f32", 2, func(d, a, b, _ *Vec) {
			for i := range d {
				d[i] = toSmall8(f32(a[i]), f.mantissa, f.bias) | toSmall8(f32(b[i]), f.mantissa, f.bias)<<8
			}
		}).keeps = true
	}
	for name, pick := range map[string]func(id, major, sc, tc float32) float32{
		"id": func(id, _, _, _ float32) float32 { return id },
		"ma": func(_, major, _, _ float32) float32 { return major },
		"sc": func(_, _, sc, _ float32) float32 { return sc },
		"tc": func(_, _, _, tc float32) float32 { return tc },
	} {
		valu("v_cube"+name+"_f32", 3, each3(func(a, b, c uint32) uint32 { return b32(pick(cube(a, b, c))) })).fl = isF32
	}
})
