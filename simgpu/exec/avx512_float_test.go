//go:build linux && amd64

package exec

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// Floats of the model. The first of the operands that is a NaN is the result, a quiet one; what has no number is the NaN with a sign.

const (
	quietBit32, none32 = 1 << 22, 0xffc00000
	quietBit64, none64 = 1 << 51, 0xfff8 << 48
)

func noNumber64(x uint64) bool { return x&(1<<63-1) > 0x7ff<<52 }

// arith32 and arith64 are operations with the rule of NaNs.
func arith32(f func(o *sources512, x [3]uint32) uint32, order ...int) func(o *sources512, d, s, r uint32) uint32 {
	return func(o *sources512, d, s, r uint32) uint32 {
		x := [3]uint32{d, s, r}
		for _, i := range order {
			if isNaN32(x[i]) {
				return x[i] | quietBit32
			}
		}
		if v := f(o, x); !isNaN32(v) {
			return v
		}
		return none32
	}
}

func arith64(f func(o *sources512, x [3]uint64) uint64, order ...int) func(o *sources512, d, s, r uint64) uint64 {
	return func(o *sources512, d, s, r uint64) uint64 {
		x := [3]uint64{d, s, r}
		for _, i := range order {
			if noNumber64(x[i]) {
				return x[i] | quietBit64
			}
		}
		if v := f(o, x); !noNumber64(v) {
			return v
		}
		return none64
	}
}

// float32of and float64of are operations on two numbers.
func float32of(f func(a, b float32) float32) vector512 {
	return with32(false, arith32(func(_ *sources512, x [3]uint32) uint32 {
		return math.Float32bits(f(math.Float32frombits(x[1]), math.Float32frombits(x[2])))
	}, 1, 2))
}

func float64of(f func(a, b float64) float64) vector512 {
	return with64(false, arith64(func(_ *sources512, x [3]uint64) uint64 {
		return math.Float64bits(f(math.Float64frombits(x[1]), math.Float64frombits(x[2])))
	}, 1, 2))
}

// one32 and one64 are operations on one.
func one32(imm bool, f func(o *sources512, x float64) float64) vector512 {
	return with32(imm, arith32(func(o *sources512, x [3]uint32) uint32 {
		return math.Float32bits(float32(f(o, float64(math.Float32frombits(x[2])))))
	}, 2))
}

func one64(imm bool, f func(o *sources512, x float64) float64) vector512 {
	return with64(imm, arith64(func(o *sources512, x [3]uint64) uint64 {
		return math.Float64bits(f(o, math.Float64frombits(x[2])))
	}, 2))
}

// choose32 and choose64 are minimum and maximum: the second, unless the first is what is wanted.
func choose32(first func(a, b float32) bool) vector512 {
	return on32(func(_, s, r uint32) uint32 {
		if first(math.Float32frombits(s), math.Float32frombits(r)) {
			return s
		}
		return r
	})
}

func choose64(first func(a, b float64) bool) vector512 {
	return on64(func(_, s, r uint64) uint64 {
		if first(math.Float64frombits(s), math.Float64frombits(r)) {
			return s
		}
		return r
	})
}

// range32 and range64 are VRANGE with the sign of what is chosen, for numbers: -0 is less than 0.
func range512(o *sources512, a, b float64) bool { // a is chosen
	less := a < b || a == b && math.Signbit(a)
	if o.imm == 4 {
		return less
	}
	return !less
}

func rounded512(o *sources512, x float64) float64 {
	return [4]func(float64) float64{math.RoundToEven, math.Floor, math.Ceil, math.Trunc}[o.imm&3](x)
}

func exponent512(_ *sources512, x float64) float64 {
	switch {
	case x == 0:
		return math.Inf(-1)
	case math.IsInf(x, 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(x)
	return float64(e - 1)
}

func mantissa512(_ *sources512, x float64) float64 {
	m, _ := math.Frexp(x)
	return m
}

// toInt is a number without its fraction if it is within limits, otherwise what says that it is not.
func toInt(x, least, most float64, otherwise uint32) uint32 {
	if x = math.Trunc(x); !(x >= least && x <= most) {
		return otherwise
	}
	return uint32(int64(x))
}

func int512(x float64) uint32  { return toInt(x, math.MinInt32, math.MaxInt32, 1<<31) }
func uint512(x float64) uint32 { return toInt(x, 0, math.MaxUint32, math.MaxUint32) }

// halfOf is a float of 16 bits.
func halfOf(x uint32, mode rounding) uint16 {
	if isNaN32(x) {
		return uint16(x>>16&0x8000 | 0x7e00 | x>>13&0x3ff)
	}
	return roundF16(float64(math.Float32frombits(x)), mode)
}

// singleOf is a double as float32.
func singleOf(o *sources512, x uint64) uint32 {
	if noNumber64(x) {
		return uint32(x>>32&(1<<31)) | 0x7fc00000 | uint32(x>>29)&(1<<23-1)
	}
	return uint32(fmt32.narrow(o.round, math.Float64frombits(x)))
}

// floats512 are the instructions on floats.
var floats512 = map[x64.VOp]vector512{
	x64.VPBLENDMD: on32(func(_, _, r uint32) uint32 { return r }), // what the mask has not is s, see evex
	x64.VADDPS:    float32of(func(a, b float32) float32 { return a + b }),
	x64.VSUBPS:    float32of(func(a, b float32) float32 { return a - b }),
	x64.VMULPS:    float32of(func(a, b float32) float32 { return a * b }),
	x64.VDIVPS:    float32of(func(a, b float32) float32 { return a / b }),
	x64.VADDPD:    float64of(func(a, b float64) float64 { return a + b }),
	x64.VSUBPD:    float64of(func(a, b float64) float64 { return a - b }),
	x64.VMULPD:    float64of(func(a, b float64) float64 { return a * b }),
	x64.VDIVPD:    float64of(func(a, b float64) float64 { return a / b }),
	x64.VFMA213PS: with32(false, arith32(func(o *sources512, x [3]uint32) uint32 {
		return uint32(fmt32.fma(o.round, uint64(x[1]), uint64(x[0]), uint64(x[2])))
	}, 1, 0, 2)),
	x64.VFMA231PS: with32(false, arith32(func(o *sources512, x [3]uint32) uint32 {
		return uint32(fmt32.fma(o.round, uint64(x[1]), uint64(x[2]), uint64(x[0])))
	}, 1, 2, 0)),
	x64.VFMA213PD: with64(false, arith64(func(_ *sources512, x [3]uint64) uint64 {
		return math.Float64bits(math.FMA(math.Float64frombits(x[1]), math.Float64frombits(x[0]), math.Float64frombits(x[2])))
	}, 1, 0, 2)),
	x64.VMINPS: choose32(func(a, b float32) bool { return a < b }),
	x64.VMAXPS: choose32(func(a, b float32) bool { return a > b }),
	x64.VMINPD: choose64(func(a, b float64) bool { return a < b }),
	x64.VMAXPD: choose64(func(a, b float64) bool { return a > b }),
	x64.VRANGEPS: with32(true, func(o *sources512, _, s, r uint32) uint32 {
		if range512(o, float64(math.Float32frombits(s)), float64(math.Float32frombits(r))) {
			return s
		}
		return r
	}),
	x64.VRANGEPD: with64(true, func(o *sources512, _, s, r uint64) uint64 {
		if range512(o, math.Float64frombits(s), math.Float64frombits(r)) {
			return s
		}
		return r
	}),
	x64.VSQRTPD:     one64(false, func(_ *sources512, x float64) float64 { return math.Sqrt(x) }),
	x64.VRNDSCALEPS: one32(true, rounded512), x64.VRNDSCALEPD: one64(true, rounded512),
	x64.VGETEXPPS: one32(false, exponent512), x64.VGETEXPPD: one64(false, exponent512),
	x64.VGETMANTPS: one32(true, mantissa512), x64.VGETMANTPD: one64(true, mantissa512),
	x64.VSCALEFPD: with64(false, arith64(func(_ *sources512, x [3]uint64) uint64 {
		return math.Float64bits(math.Ldexp(math.Float64frombits(x[1]), int(math.Floor(math.Float64frombits(x[2])))))
	}, 1, 2)),

	x64.VCVTDQ2PS: on32(func(_, _, r uint32) uint32 { return math.Float32bits(float32(int32(r))) }),
	x64.VCVTUD2PS: on32(func(_, _, r uint32) uint32 { return math.Float32bits(float32(r)) }),
	x64.VCVTTPS2D: on32(func(_, _, r uint32) uint32 { return int512(float64(math.Float32frombits(r))) }),
	x64.VCVTTPS2U: on32(func(_, _, r uint32) uint32 { return uint512(float64(math.Float32frombits(r))) }),
	x64.VCVTQQ2PD: on64(func(_, _, r uint64) uint64 { return math.Float64bits(float64(int64(r))) }),
	x64.VCVTDQ2PD: widen64(func(r uint32) uint64 { return math.Float64bits(float64(int32(r))) }),
	x64.VCVTUD2PD: widen64(func(r uint32) uint64 { return math.Float64bits(float64(r)) }),
	x64.VCVTPS2PD: widen64(func(r uint32) uint64 {
		if isNaN32(r) {
			return uint64(r>>31)<<63 | 0x7ff8<<48 | uint64(r&(1<<23-1))<<29
		}
		return math.Float64bits(float64(math.Float32frombits(r)))
	}),
	x64.VCVTPH2PS: widen32(2, func(x uint16) uint32 { return math.Float32bits(f16to32(x)) }),
	x64.VCVTPD2PS: narrow32(singleOf),
	x64.VCVTTPD2D: narrow32(func(_ *sources512, r uint64) uint32 { return int512(math.Float64frombits(r)) }),
	x64.VCVTTPD2U: narrow32(func(_ *sources512, r uint64) uint32 { return uint512(math.Float64frombits(r)) }),
}

// compare512 is an instruction whose result is a mask.
type compare512 struct {
	size  int
	imm   bool
	holds func(a, b []byte, imm byte) bool
}

// ints512 compares integers as predicates 0 to 7 say.
func ints512[T cmp.Ordered](size int, get func(b []byte) T) compare512 {
	return compare512{size, true, func(s, r []byte, imm byte) bool {
		a, b := get(s), get(r)
		return [8]bool{a == b, a < b, a <= b, false, a != b, a >= b, a > b, true}[imm&7]
	}}
}

// reals512 compares floats as predicates 0 to 31 say, of which the second half signals in other cases and is the same otherwise.
func reals512(size int, get func(b []byte) float64) compare512 {
	return compare512{size, true, func(s, r []byte, imm byte) bool {
		a, b := get(s), get(r)
		no := a != a || b != b
		return [16]bool{a == b, a < b, a <= b, no, no || a != b, no || !(a < b), no || !(a <= b), !no,
			no || a == b, no || a < b, no || a <= b, false, !no && a != b, a >= b, a > b, true}[imm&15]
	}}
}

// le32 and le64 read numbers.
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
func le64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// compares512 are the comparisons.
var compares512 = map[x64.VOp]compare512{
	x64.VPCMPD:  ints512(4, func(b []byte) int32 { return int32(le32(b)) }),
	x64.VPCMPUD: ints512(4, le32),
	x64.VPCMPQ:  ints512(8, func(b []byte) int64 { return int64(le64(b)) }),
	x64.VPCMPUQ: ints512(8, le64),
	x64.VPCMPB:  ints512(1, func(b []byte) int8 { return int8(b[0]) }),
	x64.VPCMPUB: ints512(1, func(b []byte) byte { return b[0] }),
	x64.VCMPPS:  reals512(4, func(b []byte) float64 { return float64(math.Float32frombits(le32(b))) }),
	x64.VCMPPD:  reals512(8, func(b []byte) float64 { return math.Float64frombits(le64(b)) }),

	{Map: 2, PP: 1, Op: 0x27}:       {4, false, func(a, b []byte, _ byte) bool { return le32(a)&le32(b) != 0 }},         // VPTESTMD
	{Map: 2, PP: 2, W: 1, Op: 0x26}: {2, false, func(a, b []byte, _ byte) bool { return (a[0]&b[0] | a[1]&b[1]) == 0 }}, // VPTESTNMW
	{Map: 3, PP: 1, Op: 0x66}: {4, true, func(_, b []byte, classes byte) bool { // VFPCLASSPS
		x := le32(b)
		infinite := x&0x7fffffff == 0x7f800000
		denormal := x&0x7f800000 == 0 && x<<1 != 0
		for i, is := range [8]bool{isNaN32(x) && x&quietBit32 != 0, x == 0, x == 1<<31, x == 0x7f800000, infinite && x>>31 != 0, denormal,
			x>>31 != 0 && x<<1 != 0 && x&0x7f800000 != 0x7f800000, isNaN32(x) && x&quietBit32 == 0} {
			if is && classes>>i&1 != 0 {
				return true
			}
		}
		return false
	}},
}
