package x64

import "slices"

// Masks of lowered code. Bits of a mask that are beyond the elements of what made it
// mean nothing, as those who read it read no more of it.

// mask is a register with all ones in those elements of half a register that k has.
func (l *lowering) mask(k K, half, size int) ymm {
	c := maskOf(k, half, size)
	if r, ok := l.find(c); ok {
		return r
	}
	slot := l.maskAt(k)
	r := l.free()
	switch size {
	case 4:
		l.op(vpbcastb, r, 0, part(slot, half))
		bits := l.a.Const(bitsOf(4, 0))
		l.op(VPANDD, r, r, bits)
		l.op(vpcmpeqd, r, r, bits)
	case 8:
		l.op(vpbcastb, r, 0, slot)
		bits := l.a.Const(bitsOf(8, 4*half))
		l.op(VPANDD, r, r, bits)
		l.op(vpcmpeqq, r, r, bits)
	default:
		l.op(VPBCASTD, r, 0, part(slot, 4*half))
		bytes := make([]byte, 32)
		for i := range bytes {
			bytes[i] = byte(i / 8)
		}
		l.op(VPSHUFB, r, r, l.a.Const(bytes))
		bits := l.a.Const(bitsOf(1, 0))
		l.op(VPANDD, r, r, bits)
		l.op(vpcmpeqb, r, r, bits)
	}
	l.regs[r].what = c
	return r
}

// bitsOf are 32 bytes of elements of which each has its own bit, from first on, modulo 8.
func bitsOf(size, first int) []byte {
	b := make([]byte, 32)
	for i := range 32 / size {
		b[i*size] = 1 << ((first + i) % 8)
	}
	return b
}

// masked is x in the elements of k. It may write x.
func (l *lowering) masked(x ymm, k K, half, size int) ymm {
	if k != 0 {
		l.op(VPANDD, x, x, l.mask(k, half, size))
	}
	return x
}

// written forgets what was known of a mask.
func (l *lowering) written(k K) {
	l.masks = slices.DeleteFunc(l.masks, func(m unsettled) bool { return m.k == k })
	for i := range l.regs {
		if r := &l.regs[i]; r.what.kind == ofK && r.what.n == int32(k) {
			*r = holding{used: r.used}
		}
	}
}

// maskAt is the slot of a mask, to be read.
func (l *lowering) maskAt(k K) Mem {
	l.settleMask(k)
	return l.maskSlot(k)
}

// unsettled is a mask that its slot does not have yet: it is in two registers.
type unsettled struct {
	k    K
	x    [2]ymm
	size int // of an element
}

// mostUnsettled leaves most registers to others.
const mostUnsettled = 2

// setMask makes k the elements in which x, by half, is all ones.
func (l *lowering) setMask(k K, x [2]ymm, size int) {
	l.written(k)
	if size == 1 {
		for half := range 2 {
			l.op(vpmovmskb, ymm(RBP), 0, x[half])
			l.a.Store(false, part(l.maskSlot(k), 4*half), RBP)
		}
		return
	}
	for half, r := range x {
		l.regs[r] = holding{what: maskOf(k, half, size), dirty: true, used: l.now}
	}
	if l.masks = append(l.masks, unsettled{k, x, size}); len(l.masks) > mostUnsettled {
		l.settleMask(l.masks[0].k)
	}
}

// settleMask makes the slot of a mask have it. It sets no flags.
func (l *lowering) settleMask(k K) {
	i := slices.IndexFunc(l.masks, func(m unsettled) bool { return m.k == k })
	if i < 0 {
		return
	}
	m := l.masks[i]
	l.masks = slices.Delete(l.masks, i, i+1)
	t, u := l.free(), l.free()
	l.gatherMask(m, t, u)
	l.drop(t)
	l.drop(u)
	for _, r := range m.x {
		l.regs[r].dirty = false
	}
}

// gatherMask puts a mask into its slot by way of t and u.
func (l *lowering) gatherMask(m unsettled, t, u ymm) {
	if m.size == 8 {
		l.opImm(VSHUFPS, t, m.x[0], m.x[1], 0x88)
		l.opImm(vpermq, t, 0, t, 0xd8)
		l.op(vmovmskps, ymm(RBP), 0, t)
	} else {
		l.op(vpackssdw, t, m.x[0], m.x[1])
		l.opImm(vpermq, t, 0, t, 0xd8)
		l.opImm(vextract, t, 0, u, 1)
		l.op16(vpacksswb, t, t, u)
		l.op16(vpmovmskb, ymm(RBP), 0, t)
	}
	l.a.StoreSmall(2, l.maskSlot(m.k), RBP)
}

// freeMask makes the registers of an unsettled mask free, of which it returns one; -1 if the instruction uses them.
func (l *lowering) freeMask() int {
	for i, m := range l.masks {
		if l.regs[m.x[0]].used != l.now && l.regs[m.x[1]].used != l.now {
			l.masks = slices.Delete(l.masks, i, i+1)
			l.gatherMask(m, m.x[0], m.x[1])
			l.drop(m.x[0])
			l.drop(m.x[1])
			return int(m.x[0])
		}
	}
	return -1
}

// compare emits VCmp.
func (l *lowering) compare(o VOp, d K, s Z, rm any, k K, pred byte) {
	l.begin()
	size := 4
	switch o {
	case VPCMPQ, VPCMPUQ, VCMPPD:
		size = 8
	case VPCMPB, VPCMPUB:
		size = 1
	}
	y := l.operand(rm, size)
	var c [2]ymm
	for half := range 2 {
		r := l.free()
		a, b := l.get(s, half), y(half)
		if o == VCMPPS || o == VCMPPD {
			l.opImm(o, r, a, b, pred)
		} else {
			l.compareInts(o, r, a, b, pred)
		}
		c[half] = l.masked(r, k, half, size)
	}
	l.setMask(d, c, size)
}

// intCompares are what comparisons of integers are made of: by more than, or by minimum and maximum.
var intCompares = map[VOp]struct{ eq, more, min, max VOp }{
	VPCMPD:  {eq: vpcmpeqd, more: vpcmpgtd},
	VPCMPQ:  {eq: vpcmpeqq, more: vpcmpgtq},
	VPCMPB:  {eq: vpcmpeqb, more: vpcmpgtb},
	VPCMPUQ: {eq: vpcmpeqq, more: vpcmpgtq},
	VPCMPUD: {eq: vpcmpeqd, min: VPMINUD, max: VPMAXUD},
	VPCMPUB: {eq: vpcmpeqb, min: vpminub, max: vpmaxub},
}

// compareInts emits r = all ones where a pred b.
func (l *lowering) compareInts(o VOp, r, a ymm, b any, pred byte) {
	how := intCompares[o]
	invert := pred >= NEQ // NEQ, NLT, NLE are the others of EQ, LT, LEQ
	if invert {
		pred -= NEQ
	}
	switch {
	case pred == EQ:
		l.op(how.eq, r, a, b)
	case how.max != VOp{}: // a < b unless max(a, b) = a; a <= b if min(a, b) = a
		if pred == LT {
			l.op(how.max, r, a, b)
			invert = !invert
		} else {
			l.op(how.min, r, a, b)
		}
		l.op(how.eq, r, r, a)
	default:
		y := l.in(b)
		if o == VPCMPUQ { // with the signs turned
			sign := l.constant64(1 << 63)
			x, t := l.free(), l.free()
			l.op(VPXORD, x, a, sign)
			l.op(VPXORD, t, y, sign)
			a, y = x, t
		}
		if pred == LT {
			l.op(how.more, r, y, a)
		} else {
			l.op(how.more, r, a, y)
			invert = !invert
		}
	}
	if invert {
		l.op(VPXORD, r, r, l.ones())
	}
}

// test emits VTest.
func (l *lowering) test(d K, s Z, rm any, k K) {
	l.begin()
	y, zero := l.operand(rm, 4), l.zero()
	var c [2]ymm
	for half := range 2 {
		r := l.free()
		l.op(VPANDD, r, l.get(s, half), y(half))
		l.op(vpcmpeqd, r, r, zero)
		l.op(VPXORD, r, r, l.ones())
		c[half] = l.masked(r, k, half, 4)
	}
	l.setMask(d, c, 4)
}

// class emits VClass of NaNs, both kinds of them, and denormals.
func (l *lowering) class(d K, s Z, classes byte) {
	const nans, denormals = 0x81, 0x20
	l.begin()
	if classes&^(nans|denormals) != 0 || classes&nans != 0 && classes&nans != nans {
		l.missing = true
		return
	}
	size, zero := l.constant32(1<<31-1), l.zero()
	var c [2]ymm
	for half := range 2 {
		x := l.get(s, half)
		r, t, u := l.zero(), l.free(), l.free()
		l.op(VPANDD, t, x, size)
		if classes&nans != 0 {
			l.op(vpcmpgtd, r, t, l.constant32(0x7f800000))
		}
		if classes&denormals != 0 {
			l.op(vpcmpgtd, u, t, zero)
			l.op(vpcmpgtd, t, l.constant32(1<<23), t)
			l.op(VPANDD, t, t, u)
			l.op(VPORD, r, r, t)
		}
		l.drop(t)
		l.drop(u)
		c[half] = r
	}
	l.setMask(d, c, 4)
}

// combine emits K. It sets no flags, as general instructions would.
func (l *lowering) combine(o KOp, d, s, t K) {
	l.begin()
	from, and := l.maskAt(s), l.maskAt(t)
	x, y := l.free(), l.free()
	l.op16(vmovq, x, 0, from)
	l.op16(vmovq, y, 0, and)
	switch o {
	case KAND:
		l.op16(VPANDD, x, x, y)
	case KANDN:
		l.op16(vpandn, x, x, y)
	case KOR:
		l.op16(VPORD, x, x, y)
	case KXOR:
		l.op16(VPXORD, x, x, y)
	case KXNOR:
		l.op16(VPXORD, x, x, y)
		l.op16(vpcmpeqd, y, y, y)
		l.op16(VPXORD, x, x, y)
	case KUNPCKBW:
		l.op16(vpunpckbw, x, y, x)
	case KUNPCKWD:
		l.op16(vpunpckwd, x, y, x)
	case KUNPCKDQ:
		l.op16(VPUNPCKLDQ, x, y, x)
	default:
		l.missing = true
	}
	l.op16(vmovqTo, x, 0, l.maskSlot(d))
	l.written(d)
}

// moveMask makes d what is at m, n bytes.
func (l *lowering) moveMask(d K, m Mem, n int) {
	if n == 2 {
		l.a.two(0xb7, false, RBP, m)
	} else {
		l.a.Load(true, RBP, m)
	}
	l.a.Store(true, l.maskSlot(d), RBP)
	l.written(d)
}

// shiftMask emits KShiftRight.
func (l *lowering) shiftMask(d, s K, n byte) {
	l.begin()
	from := l.maskAt(s)
	x := l.free()
	l.op16(vmovq, x, 0, from)
	l.op16Imm(VOp{m0f, p66, 0, VPSRLW.Op}, ymm(VPSRLW.Ext), x, x, n)
	l.op16(vmovqTo, x, 0, l.maskSlot(d))
	l.written(d)
}

// testMasks emits KTestOr, of which the flag E is right.
func (l *lowering) testMasks(s, t K) {
	from, and := l.maskAt(s), l.maskAt(t)
	l.a.two(0xb7, false, RBP, from)
	l.a.emit(0x66)
	l.a.Op(OR, false, RBP, and)
}
