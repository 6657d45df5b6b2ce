package x64

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Instructions that AVX2 has nothing like: what they do, out of several.

// derived emits r = o x.
func (l *lowering) derived(o VOp, r, x ymm) {
	switch o {
	case VCVTUD2PS: // both halves are exact, and so is the high one times 2¹⁶
		t := l.free()
		l.shift(VPSRLD, r, x, 16)
		l.op(VCVTDQ2PS, r, 0, r)
		l.op(VPANDD, t, x, l.constant32(0xffff))
		l.op(VCVTDQ2PS, t, 0, t)
		l.op(VFMA213PS, r, l.constant32(math.Float32bits(1<<16)), t)
	case VPLZCNTD: // the exponent says; the bit behind the highest one is taken away, so that nothing rounds up
		t := l.free()
		l.shift(VPSRLD, t, x, 1)
		l.op(vpandn, r, t, x)
		l.op(VCVTDQ2PS, r, 0, r)
		l.shift(VPSLLD, r, r, 1)
		l.shift(VPSRLD, r, r, 24)
		l.op(VPSUBD, r, l.constant32(127+31), r)
		l.op(VPMINUD, r, r, l.constant32(32))
		l.shift(VPSRAD, t, x, 31)
		l.op(vpandn, r, t, r)
	case VCVTTPS2U:
		l.unsignedOfFloat(r, x)
	case VCVTQQ2PD: // the upper and the lower dword each are part of a large number
		t := l.free()
		l.shift(VPSRAD, r, x, 16)
		l.op(VPXORD, t, t, t)
		l.opImm(vpblendw, r, r, t, 0x33)
		l.op(VPADDQ, r, r, l.constant64(math.Float64bits(3<<67)))
		l.opImm(vpblendw, t, x, l.constant64(math.Float64bits(1<<52)), 0x88)
		l.op(VSUBPD, r, r, l.constant64(math.Float64bits(3<<67+1<<52)))
		l.op(VADDPD, r, r, t)
	case VGETEXPPS, VGETEXPPD:
		l.exponent(o, r, x)
	case VPOPCNTD:
		l.countBits(r, x)
	}
}

// countBits emits VPOPCNTD: a table of half bytes, whose counts add up.
func (l *lowering) countBits(r, x ymm) {
	var table, ones, nibbles [32]byte
	for i := range table {
		table[i], ones[i], nibbles[i] = byte(bits.OnesCount(uint(i%16))), 1, 15
	}
	counts, t := l.in(l.a.Const(table[:])), l.free()
	l.op(VPANDD, r, x, l.a.Const(nibbles[:]))
	l.op(VPSHUFB, r, counts, r)
	l.shift(VPSRLD, t, x, 4)
	l.op(VPANDD, t, t, l.a.Const(nibbles[:]))
	l.op(VPSHUFB, t, counts, t)
	l.op(vpaddb, r, r, t)
	l.op(vpmaddubsw, r, r, l.a.Const(ones[:]))
	l.op(VPMADDWD, r, r, l.constant32(1<<16|1))
}

// unsignedOfFloat emits r = x as unsigned dwords; all ones where it is not one.
func (l *lowering) unsignedOfFloat(r, x ymm) {
	half := l.constant32(math.Float32bits(1 << 31))
	t, u := l.free(), l.free()
	l.op(VSUBPS, t, x, half)
	l.op(VCVTTPS2D, t, 0, t)
	l.op(VPXORD, t, t, l.constant32(1<<31))
	l.op(VCVTTPS2D, r, 0, x)
	l.opImm(VCMPPS, u, x, half, FGE)
	l.blend(r, r, t, u)
	l.opImm(VCMPPS, t, x, l.constant32(math.Float32bits(-1)), FNGT)
	l.opImm(VCMPPS, u, x, l.constant32(math.Float32bits(1<<32)), FNLT)
	l.op(VPORD, r, r, t)
	l.op(VPORD, r, r, u)
}

// unsignedOfDouble emits the low dwords of r = x as unsigned dwords; all ones where it is not one.
func (l *lowering) unsignedOfDouble(r, x ymm) {
	t := l.free()
	l.opImm(VRNDSCALEPD, r, 0, x, 3|8)
	l.op(VADDPD, r, r, l.constant64(math.Float64bits(1<<52)))
	l.opImm(VCMPPD, t, x, l.constant64(math.Float64bits(-1)), FNGT)
	l.op(VPORD, r, r, t)
	l.opImm(VCMPPD, t, x, l.constant64(math.Float64bits(1<<32)), FNLT)
	l.op(VPORD, r, r, t)
}

// smallerOrLarger emits VRANGE with 4 or 5, for what is no NaN: the order of the sources makes no
// difference but for zeros, of which both results together have the sign.
func (l *lowering) smallerOrLarger(o VOp, r, x, y ymm, imm byte) {
	minimum, maximum := VMINPS, VMAXPS
	if o == VRANGEPD {
		minimum, maximum = VMINPD, VMAXPD
	}
	t := l.free()
	if imm == 4 {
		l.op(minimum, r, x, y)
		l.op(minimum, t, y, x)
		l.op(VPORD, r, r, t)
	} else {
		l.op(maximum, r, x, y)
		l.op(maximum, t, y, x)
		l.op(VPANDD, r, r, t)
	}
}

// format is that of a type of floats.
type format struct {
	size, bits, bias  int // of the fraction, of the exponent
	mul, sub, compare VOp
	left, right       VShift
}

func formatOf(o VOp) format {
	if o.W == 1 {
		return format{8, 52, 1023, VMULPD, VSUBPD, VCMPPD, VPSLLQ, VPSRLQ}
	}
	return format{4, 23, 127, VMULPS, VSUBPS, VCMPPS, VPSLLD, VPSRLD}
}

// con is v in all places.
func (l *lowering) con(f format, v float64) Mem {
	if f.size == 8 {
		return l.conBits(f, math.Float64bits(v))
	}
	return l.conBits(f, uint64(math.Float32bits(float32(v))))
}

// conBits are bits in all places.
func (l *lowering) conBits(f format, v uint64) Mem {
	var b []byte
	for range 32 / f.size {
		if f.size == 8 {
			b = binary.LittleEndian.AppendUint64(b, v)
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	return l.a.Const(b)
}

// normal emits r = x, times two to the power of f.bits where x is denormal or zero; denormal is all ones there.
func (l *lowering) normal(f format, r, denormal, x ymm) {
	sign := uint64(1) << (8*f.size - 1)
	smallest := uint64(1) << f.bits
	t := l.free()
	l.op(VPANDD, t, x, l.conBits(f, sign-1))
	l.opImm(f.compare, denormal, t, l.conBits(f, smallest), FLT)
	l.op(f.mul, t, x, l.con(f, math.Ldexp(1, f.bits)))
	l.blend(r, x, t, denormal)
	l.drop(t)
}

// exponent emits VGETEXP.
func (l *lowering) exponent(o VOp, r, x ymm) {
	f := formatOf(o)
	denormal, t := l.free(), l.free()
	l.normal(f, t, denormal, x)
	l.shift(f.left, t, t, 1)
	l.shift(f.right, t, t, byte(f.bits+1))
	if f.size == 8 { // the exponent is the end of 2⁵²
		l.op(VPORD, t, t, l.constant64(math.Float64bits(1<<52)))
		l.op(VSUBPD, r, t, l.constant64(math.Float64bits(1<<52+1023)))
	} else {
		l.op(VCVTDQ2PS, t, 0, t)
		l.op(VSUBPS, r, t, l.con(f, 127))
	}
	l.op(VPANDD, t, denormal, l.con(f, float64(f.bits)))
	l.op(f.sub, r, r, t)
	infinity := uint64(2*f.bias+1) << f.bits
	zero := l.zero()
	l.opImm(f.compare, t, x, zero, FEQ)
	l.blend(r, r, l.con(f, math.Inf(-1)), t)
	l.op(VPANDD, denormal, x, l.conBits(f, 1<<(8*f.size-1)-1))
	l.opImm(f.compare, t, denormal, l.conBits(f, infinity), FEQ)
	l.blend(r, r, l.conBits(f, infinity), t)
	l.opImm(f.compare, t, x, x, FUN)
	l.op(VPORD, denormal, x, l.conBits(f, 1<<(f.bits-1))) // a quiet one
	l.blend(r, r, denormal, t)
}

// mantissa emits VGETMANT with 2, for finite numbers but zero.
func (l *lowering) mantissa(o VOp, r, x ymm, imm byte) {
	if imm != 2 {
		l.missing = true
		return
	}
	f := formatOf(o)
	t, denormal := l.free(), l.free()
	l.normal(f, t, denormal, x)
	exponent := uint64(2*f.bias+1) << f.bits
	l.op(VPANDD, t, t, l.conBits(f, ^exponent))
	l.op(VPORD, r, t, l.con(f, 0.5))
}

// scale emits VSCALEFPD for a finite n: x times two to the power of its integral part, rounded once. Steps up and
// down are of powers that are exact, and end before what becomes denormal rounds.
func (l *lowering) scale(r, x, n ymm) {
	f := formatOf(VSCALEFPD)
	one := l.in(l.con(f, 1))
	e, c, t := l.free(), l.free(), l.free()
	l.opImm(VRNDSCALEPD, e, 0, n, 1|8)
	l.op(VMINPD, e, e, l.con(f, 2200))
	l.op(VMAXPD, e, e, l.con(f, -2200))
	l.copy(r, x)
	for _, step := range []struct {
		limit, by float64
		pred      byte
	}{{1023, 1023, FGT}, {1023, 1023, FGT}, {-1022, -969, FLT}, {-1022, -969, FLT}} {
		l.opImm(VCMPPD, c, e, l.con(f, step.limit), step.pred)
		l.blend(t, one, l.con(f, math.Ldexp(1, int(step.by))), c)
		l.op(VMULPD, r, r, t)
		l.op(VPANDD, t, c, l.con(f, step.by))
		l.op(VSUBPD, e, e, t)
	}
	l.op(VMINPD, e, e, l.con(f, 1023))
	l.op(VADDPD, e, e, l.con(f, 3<<51+1023))
	l.shift(VPSLLQ, e, e, 52)
	l.op(VMULPD, r, r, e)
}
