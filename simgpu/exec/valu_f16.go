package exec

import "math"

// 16-bit arithmetic: float and integer, single.

func add16(a, b uint16) uint16 { return f32to16(f16to32(a) + f16to32(b)) }
func mul16(a, b uint16) uint16 { return f32to16(f16to32(a) * f16to32(b)) }

// fma16 is exact before it is rounded: whenever the result is finite, the
// product and the sum fit into a float64.
func fma16(a, b, c uint16) uint16 { return f64to16(f16to64(a)*f16to64(b) + f16to64(c)) }

func isNaN16(x uint16) bool { return x&0x7fff > 0x7c00 }

func med16(a, b, c uint16) uint16 {
	if isNaN16(a) || isNaN16(b) || isNaN16(c) {
		return min16(min16(a, b), c)
	}
	return max16(min16(a, b), min16(max16(a, b), c))
}

// half3 makes a kernel of a function on 16-bit values; the upper half of the
// result is zero.
func half3(f func(a, b, c uint16) uint16) kernel {
	return func(d, a, b, c *Vec) {
		for i := range d {
			d[i] = uint32(f(uint16(a[i]), uint16(b[i]), uint16(c[i])))
		}
	}
}

// slow16 is for operations on f16 that round nothing.
func slow16(f func(a, b, c uint16) uint16) lane {
	return fmt16.soft(func(_ rounding, a, b, c uint64) uint64 {
		return uint64(f(uint16(a), uint16(b), uint16(c)))
	})
}

// float16ops are the f16 operations that also exist packed.
var float16ops = []struct {
	name string
	n    int
	f    func(a, b, c uint16) uint16
	slow lane
}{
	{"add", 2, func(a, b, _ uint16) uint16 { return add16(a, b) }, fmt16.softAdd()},
	{"mul", 2, func(a, b, _ uint16) uint16 { return mul16(a, b) }, fmt16.softMul()},
	{"fma", 3, fma16, fmt16.softFMA()},
	{"min", 2, func(a, b, _ uint16) uint16 { return min16(a, b) }, slow16(func(a, b, _ uint16) uint16 { return min16(a, b) })},
	{"max", 2, func(a, b, _ uint16) uint16 { return max16(a, b) }, slow16(func(a, b, _ uint16) uint16 { return max16(a, b) })},
}

// int16ops are the 16-bit integer operations that also exist packed, under the
// names they have there. clamp is the saturating version, if it has one.
var int16ops = []struct {
	packed string
	single []string
	n      int
	f      func(a, b, c uint16) uint16
	clamp  func(a, b, c uint16) uint16
}{
	{"add_u16", []string{"add_u16"}, 2, func(a, b, _ uint16) uint16 { return a + b },
		func(a, b, _ uint16) uint16 { return uint16(min(uint32(a)+uint32(b), 0xffff)) }},
	{"sub_u16", []string{"sub_u16"}, 2, func(a, b, _ uint16) uint16 { return a - b },
		func(a, b, _ uint16) uint16 { return a - min(a, b) }},
	{"", []string{"subrev_u16"}, 2, func(a, b, _ uint16) uint16 { return b - a },
		func(a, b, _ uint16) uint16 { return b - min(a, b) }},
	{"add_i16", []string{"add_i16"}, 2, func(a, b, _ uint16) uint16 { return a + b },
		func(a, b, _ uint16) uint16 { return sat16(int32(int16(a)) + int32(int16(b))) }},
	{"sub_i16", []string{"sub_i16"}, 2, func(a, b, _ uint16) uint16 { return a - b },
		func(a, b, _ uint16) uint16 { return sat16(int32(int16(a)) - int32(int16(b))) }},
	{"mul_lo_u16", []string{"mul_lo_u16"}, 2, func(a, b, _ uint16) uint16 { return a * b }, nil},
	{"lshlrev_b16", []string{"lshlrev_b16"}, 2, func(a, b, _ uint16) uint16 { return b << (a & 15) }, nil},
	{"lshrrev_b16", []string{"lshrrev_b16"}, 2, func(a, b, _ uint16) uint16 { return b >> (a & 15) }, nil},
	{"ashrrev_i16", []string{"ashrrev_i16"}, 2, func(a, b, _ uint16) uint16 { return uint16(int16(b) >> (a & 15)) }, nil},
	{"max_u16", []string{"max_u16"}, 2, func(a, b, _ uint16) uint16 { return max(a, b) }, nil},
	{"min_u16", []string{"min_u16"}, 2, func(a, b, _ uint16) uint16 { return min(a, b) }, nil},
	{"max_i16", []string{"max_i16"}, 2, func(a, b, _ uint16) uint16 { return uint16(max(int16(a), int16(b))) }, nil},
	{"min_i16", []string{"min_i16"}, 2, func(a, b, _ uint16) uint16 { return uint16(min(int16(a), int16(b))) }, nil},
	{"mad_u16", []string{"mad_u16", "mad_legacy_u16"}, 3, func(a, b, c uint16) uint16 { return a*b + c },
		func(a, b, c uint16) uint16 { return uint16(min(uint64(a)*uint64(b)+uint64(c), 0xffff)) }},
	{"mad_i16", []string{"mad_i16", "mad_legacy_i16"}, 3, func(a, b, c uint16) uint16 { return a*b + c },
		func(a, b, c uint16) uint16 { return sat16(int32(int16(a))*int32(int16(b)) + int32(int16(c))) }},
	{"", []string{"min3_u16"}, 3, func(a, b, c uint16) uint16 { return min(a, b, c) }, nil},
	{"", []string{"max3_u16"}, 3, func(a, b, c uint16) uint16 { return max(a, b, c) }, nil},
	{"", []string{"med3_u16"}, 3, median[uint16], nil},
	{"", []string{"min3_i16"}, 3, func(a, b, c uint16) uint16 { return uint16(min(int16(a), int16(b), int16(c))) }, nil},
	{"", []string{"max3_i16"}, 3, func(a, b, c uint16) uint16 { return uint16(max(int16(a), int16(b), int16(c))) }, nil},
	{"", []string{"med3_i16"}, 3, func(a, b, c uint16) uint16 { return uint16(median(int16(a), int16(b), int16(c))) }, nil},
}

func sat16(x int32) uint16 { return uint16(int16(max(-32768, min(32767, x)))) }

// keepsUpper are the operations whose 16-bit result leaves the other half of
// the destination alone; the older ones write zero there.
var keepsUpper = map[string]bool{
	"v_fma_f16": true, "v_mad_f16": true, "v_mad_u16": true, "v_mad_i16": true, "v_div_fixup_f16": true,
	"v_min3_f16": true, "v_max3_f16": true, "v_med3_f16": true, "v_min3_u16": true, "v_max3_u16": true, "v_med3_u16": true,
	"v_min3_i16": true, "v_max3_i16": true, "v_med3_i16": true, "v_add_i16": true, "v_sub_i16": true,
}

var _ = define(func() {
	float := func(name string, n int, f func(a, b, c uint16) uint16, slow lane) {
		v := valu(name, n, half3(f)).f16(slow)
		v.keeps = keepsUpper[name]
	}
	for _, o := range float16ops {
		float("v_"+o.name+"_f16", o.n, o.f, o.slow)
		vops["v_"+o.name+"_f16"].nearest()
	}
	float("v_sub_f16", 2, func(a, b, _ uint16) uint16 { return add16(a, b^0x8000) }, fmt16.softSub())
	float("v_subrev_f16", 2, func(a, b, _ uint16) uint16 { return add16(b, a^0x8000) }, fmt16.softSubrev())
	float("v_fma_legacy_f16", 3, fma16, fmt16.softFMA())
	// mad rounds the product too and knows no denormals.
	mad := func(a, b, c uint16) uint16 {
		p := flush16(mul16(flush16(a), flush16(b)))
		return flush16(add16(p, flush16(c)))
	}
	for _, n := range []string{"v_mad_f16", "v_mad_legacy_f16", "v_mac_f16", "v_madmk_f16", "v_madak_f16"} {
		float(n, 3, mad, slow16(mad))
	}
	float("v_min3_f16", 3, func(a, b, c uint16) uint16 { return min16(min16(a, b), c) }, slow16(func(a, b, c uint16) uint16 { return min16(min16(a, b), c) }))
	float("v_max3_f16", 3, func(a, b, c uint16) uint16 { return max16(max16(a, b), c) }, slow16(func(a, b, c uint16) uint16 { return max16(max16(a, b), c) }))
	float("v_med3_f16", 3, med16, slow16(med16))
	ldexp := func(a, b, _ uint16) uint16 { return f64to16(ldexp64(f16to64(a), int16(b))) }
	float("v_ldexp_f16", 2, ldexp, func(e *fpEnv, a, b, _ uint64) uint64 {
		return fmt16.soft(func(m rounding, a, _, _ uint64) uint64 {
			return fmt16.narrow(m, ldexp64(fmt16.value(a), int16(b)))
		})(e, a, 0, 0)
	})
	for _, o := range int16ops {
		for _, name := range o.single {
			name = "v_" + name
			v := valu(name, o.n, half3(o.f))
			v.keeps = keepsUpper[name]
			if clamp := o.clamp; clamp != nil {
				v.saturating(func(_ *fpEnv, a, b, c uint64) uint64 {
					return uint64(clamp(uint16(a), uint16(b), uint16(c)))
				})
			}
		}
	}
	valu("v_mad_u32_u16", 3, each3(func(a, b, c uint32) uint32 { return a&0xffff*(b&0xffff) + c }))
	valu("v_mad_i32_i16", 3, each3(func(a, b, c uint32) uint32 {
		return uint32(int32(int16(a))*int32(int16(b))) + c
	}))
})

func flush16(x uint16) uint16 { return uint16(fmt16.flush(uint64(x))) }

// ldexp64 scales within the range of float64, where it is exact for f16.
func ldexp64(x float64, e int16) float64 { return math.Ldexp(x, int(clampExp(int32(e)))) }
