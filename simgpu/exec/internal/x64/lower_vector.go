package x64

// Vector instructions of lowered code.

// sameInVEX are instructions of two sources that AVX2 has, with the same number; their elements have so many bytes.
var sameInVEX = map[VOp]int{
	VPADDD: 4, VPSUBD: 4, VPANDD: 4, VPORD: 4, VPXORD: 4, VPMULLD: 4, VPMINUD: 4, VPMAXUD: 4, VPMINSD: 4, VPMAXSD: 4, VPSLLVD: 4, VPSRLVD: 4,
	VPSRAVD: 4, VADDPS: 4, VSUBPS: 4, VMULPS: 4, VDIVPS: 4, VMINPS: 4, VMAXPS: 4, VPMULDQ: 8, VPMADDWD: 4, VPUNPCKLDQ: 4, VPUNPCKHDQ: 4,
	VPSHUFB: 1,
	VPADDW:  2, VPSUBW: 2, VPADDUSW: 2, VPSUBUSW: 2, VPADDSW: 2, VPSUBSW: 2, VPMULLW: 2, VPMINUW: 2, VPMAXUW: 2, VPMINSW: 2, VPMAXSW: 2,
	VPADDQ: 8, VPSUBQ: 8, VPORQ: 8, VPMULUDQ: 8, VPSLLVQ: 8, VPSRLVQ: 8, VPANDQ: 8, VADDPD: 8, VMULPD: 8, VMINPD: 8, VMAXPD: 8, VSUBPD: 8,
	VDIVPD: 8, VPXORQ: 8,
}

// binary emits V.
func (l *lowering) binary(o VOp, d, s Z, rm any, k K) {
	l.begin()
	size, same := sameInVEX[o]
	switch o {
	case VFMA213PS, VFMA231PS, VFMA213PD:
		l.fused(o, d, s, rm, k)
		return
	case VPBLENDMD:
		size = 4
	case VPERMD, VPERMI2D:
		l.permute(o, d, s, rm, k)
		return
	case VPSRAVQ, VSCALEFPD:
		size = 8
	case VPSLLVW, VPSRLVW, VPSRAVW:
		size = 2
	default:
		if !same {
			l.missing = true
			return
		}
	}
	if size == 2 && k != 0 {
		l.missing = true
		return
	}
	y := l.operand(rm, size)
	for half := range 2 {
		x := l.get(s, half)
		r := l.free()
		switch o {
		case VPBLENDMD:
			if k == 0 {
				l.copy(r, l.in(y(half)))
			} else {
				l.blend(r, x, y(half), l.mask(k, half, 4))
			}
			l.set(d, half, r)
			continue
		case VPSLLVW, VPSRLVW, VPSRAVW:
			l.shiftWords(o, r, x, l.in(y(half)))
		case VPSRAVQ:
			l.signed(r, x, func() { l.op(VPSRLVQ, r, r, y(half)) })
		case VSCALEFPD:
			l.scale(r, x, l.in(y(half)))
		default:
			l.op(o, r, x, y(half))
		}
		l.finish(d, half, r, k, size, false)
		l.begin() // what the first half used in between is free again
	}
}

// fused emits fused multiplications and additions.
func (l *lowering) fused(o VOp, d, s Z, rm any, k K) {
	size := sizeOf(o)
	y := l.operand(rm, size)
	if b, ok := rm.(Bcast); ok {
		one := l.broadcast(b.Mem, size)
		y = func(int) any { return one }
	}
	for half := range 2 {
		if k == 0 { // where it is
			r := l.get(d, half)
			l.op(o, r, l.get(s, half), y(half))
			l.regs[r].dirty = true
			continue
		}
		r := l.own(d, half)
		l.op(o, r, l.get(s, half), y(half))
		l.finish(d, half, r, k, size, false)
	}
}

// permute emits VPERMD and VPERMI2D: whole registers by numbers.
func (l *lowering) permute(o VOp, d, s Z, rm any, k K) {
	number, table := s, []func(int) any{l.operand(rm, 4)}
	if o == VPERMI2D {
		number = d
		table = []func(int) any{func(half int) any { return l.get(s, half) }, table[0]}
	}
	var out [2]ymm
	for half := range 2 {
		index := l.get(number, half)
		t := l.free()
		var of [2]ymm
		for i, from := range table {
			lo, hi := l.free(), l.free()
			l.op(VPERMD, lo, index, from(0))
			l.op(VPERMD, hi, index, from(1))
			l.shift(VPSLLD, t, index, 28)
			l.opImm(vblendvps, lo, lo, hi, byte(t)<<4)
			of[i] = lo
			l.drop(hi)
		}
		if len(table) == 2 {
			l.shift(VPSLLD, t, index, 27)
			l.opImm(vblendvps, of[0], of[0], of[1], byte(t)<<4)
			l.drop(of[1])
		}
		l.drop(t)
		out[half] = of[0]
	}
	for half := range 2 {
		l.finish(d, half, out[half], k, 4, false)
	}
}

// drop makes a register free within the instruction.
func (l *lowering) drop(r ymm) { l.regs[r] = holding{} }

// wordShifts are the shifts of dwords that shifts of words are made of.
var wordShifts = map[VOp]VOp{VPSLLVW: VPSLLVD, VPSRLVW: VPSRLVD, VPSRAVW: VPSRAVD}

// shiftWords emits shifts of words by words, as shifts of the dwords that they are in.
func (l *lowering) shiftWords(o VOp, r, x, n ymm) {
	low := l.constant32(0xffff)
	by := wordShifts[o]
	t, u := l.free(), l.free()
	switch o {
	case VPSRAVW:
		l.shift(VPSLLD, t, x, 16)
		l.shift(VPSRAD, t, t, 16)
	case VPSRLVW:
		l.op(VPANDD, t, x, low)
	default:
		l.copy(t, x)
	}
	l.op(VPANDD, u, n, low)
	l.op(by, t, t, u)
	l.shift(VPSRLD, u, n, 16)
	if o == VPSRAVW {
		l.copy(r, x)
	} else {
		l.op(vpandn, r, low, x)
	}
	l.op(by, r, r, u)
	l.opImm(vpblendw, r, r, t, 0x55)
}

// wholeOf are instructions of one source that AVX2 has, of whole registers.
var wholeOf = map[VOp]int{VCVTDQ2PS: 4, VCVTTPS2D: 4, VSQRTPD: 8, VMOVDQU32: 4, VMOVDQU64: 8, VMOVDQU8: 1}

// widening are those whose source has so many bytes for half a register.
var widening = map[VOp]struct{ bytes, size int }{
	VPMOVZXDQ: {16, 8}, VCVTPS2PD: {16, 8}, VCVTDQ2PD: {16, 8}, VCVTUD2PD: {16, 8}, VPMOVZXWD: {16, 4}, VPMOVSXWD: {16, 4}, VCVTPH2PS: {16, 4},
	VPMOVZXBD: {8, 4}, VPMOVSXBD: {8, 4},
}

// narrowing are those whose result has half the size.
var narrowing = map[VOp]bool{VCVTPD2PS: true, VCVTTPD2D: true, VCVTTPD2U: true}

// derivedOf are those that AVX2 has nothing like, see derived.
var derivedOf = map[VOp]bool{VCVTUD2PS: true, VPLZCNTD: true, VCVTTPS2U: true, VGETEXPPS: true, VGETEXPPD: true, VCVTQQ2PD: true, VPOPCNTD: true}

// unary emits V1, and V1Zero if zero.
func (l *lowering) unary(o VOp, d Z, rm any, k K, zero bool) {
	l.begin()
	if m, ok := rm.(Mem); ok && !m.con && k != 0 { // nothing may be read where k is not
		l.unaryOfSome(o, d, m, k, zero)
		return
	}
	if o == VPBCASTD || o == VPBCASTQ {
		size := sizeOf(o)
		var t ymm
		if m, ok := rm.(Mem); ok {
			t = l.broadcast(m, size)
		} else {
			t = l.free()
			l.op(broadcasts[size], t, 0, l.get(rm.(Z), 0))
		}
		for half := range 2 {
			r := l.free()
			l.copy(r, t)
			l.finish(d, half, r, k, size, zero)
		}
		return
	}
	if w, ok := widening[o]; ok {
		l.widen(o, d, rm, k, zero, w.bytes, w.size)
		return
	}
	if narrowing[o] {
		l.narrow(o, d, rm, k, zero)
		return
	}
	size, whole := wholeOf[o]
	switch {
	case derivedOf[o]:
		size = sizeOf(o)
	case !whole:
		l.missing = true
		return
	}
	if o == VMOVDQU8 {
		o = VMOVDQU32 // which is vmovdqu
	}
	x := l.operand(rm, size)
	for half := range 2 {
		r := l.free()
		if whole {
			l.op(o, r, 0, x(half))
		} else {
			l.derived(o, r, l.in(x(half)))
		}
		l.finish(d, half, r, k, size, zero)
		l.begin() // as in binary
	}
}

// unaryOfSome emits loads of the elements that k has.
func (l *lowering) unaryOfSome(o VOp, d Z, m Mem, k K, zero bool) {
	size := sizeOf(o)
	switch w := widening[o]; {
	case o == VPBCASTD || o == VPBCASTQ:
		r := l.zero()
		l.ifAny(k, func() { l.op(broadcasts[size], r, 0, m) })
		for half := range 2 { // under a mask, so that each half gets a register of its own
			l.finish(d, half, r, k, size, zero)
		}
		return
	case w.size == 4 && o != VCVTPH2PS:
		l.widen(o, d, nil, k, zero, w.bytes, 4, l.loadNarrow(w.bytes/8, m, k)...)
		return
	case o != VMOVDQU32 && o != VMOVDQU64:
		l.missing = true
		return
	}
	load := vmaskLoad
	load.W = byte(size / 8)
	for half := range 2 {
		r, has := l.free(), l.mask(k, half, size)
		l.op(load, r, has, part(m, 32*half))
		if !zero {
			l.blend(r, l.get(d, half), r, has)
		}
		l.set(d, half, r)
	}
}

// widen emits instructions whose result is larger than the source, which is rm, or was loaded, the halves' sources.
func (l *lowering) widen(o VOp, d Z, rm any, k K, zero bool, bytes, size int, loaded ...ymm) {
	var out [2]ymm
	for half := range 2 {
		var x any
		switch v := rm.(type) {
		case nil:
			x = loaded[half]
		case Mem:
			x = part(v, bytes*half)
		case Z:
			switch r := l.get(v, 0); {
			case bytes == 16:
				x = l.half16(r, half)
			case half == 0:
				x = r
			default:
				t := l.free()
				l.op16Imm(VPSHUFD, t, 0, r, 0xee)
				x = t
			}
		default:
			l.missing = true
			return
		}
		r := l.free()
		if o == VCVTUD2PD { // the dword is the end of 2⁵²
			l.op(VPMOVZXDQ, r, 0, x)
			power := l.constant64(0x433 << 52)
			l.op(VPORD, r, r, power)
			l.op(VSUBPD, r, r, power)
		} else {
			l.op(o, r, 0, x)
		}
		out[half] = r
	}
	for half := range 2 {
		l.finish(d, half, out[half], k, size, zero)
	}
}

// narrow emits instructions of qwords whose results are dwords, in the low half.
func (l *lowering) narrow(o VOp, d Z, rm any, k K, zero bool) {
	x := l.operand(rm, 8)
	var out [2]ymm
	for half := range 2 {
		r := l.free()
		if o == VCVTTPD2U {
			l.unsignedOfDouble(r, l.in(x(half)))
			l.opImm(VSHUFPS, r, r, r, 0x88)
			l.opImm(vpermq, r, 0, r, 0xd8)
		} else {
			l.op(o, r, 0, x(half))
		}
		out[half] = r
	}
	r := l.free()
	l.join(r, out[0], out[1])
	l.finish(d, 0, r, k, 4, zero)
	l.set(d, 1, l.zero())
}

// lowHalf makes d the 32 bytes of r, and zeros.
func (l *lowering) lowHalf(d Z, r ymm) {
	l.set(d, 0, r)
	l.set(d, 1, l.zero())
}

// rounded emits VRounded: in the mode that says so.
func (l *lowering) rounded(o VOp, d, s, t Z, r Rounding) {
	const usual = 0x1f80 // Go's
	mode := func(v uint32) {
		l.a.vexAfter(m0f, 0, 0, 0, 0xae, 2, 0, l.a.Const32(v), 0)
	}
	mode(usual | uint32(r)<<13)
	if narrowing[o] || wholeOf[o] != 0 {
		l.unary(o, d, t, 0, false)
	} else {
		l.binary(o, d, s, t, 0)
	}
	mode(usual)
}

// withImm emits VImm.
func (l *lowering) withImm(o VOp, d, s Z, rm any, k K, imm byte) {
	l.begin()
	size := sizeOf(o)
	y := l.operand(rm, size)
	if o == VINSERTI64X4 {
		if imm != 1 || k != 0 {
			l.missing = true
			return
		}
		r, t := l.free(), l.free()
		l.op(VMOVDQU32, r, 0, y(0))
		l.copy(t, l.get(s, 0))
		l.set(d, 0, t)
		l.set(d, 1, r)
		return
	}
	for half := range 2 {
		r := l.free()
		switch o {
		case VPTERNLOGD:
			l.logic(r, l.get(d, half), l.get(s, half), l.in(y(half)), imm)
		case VRNDSCALEPS, VRNDSCALEPD: // which is vround
			l.opImm(o, r, 0, y(half), imm|8)
		case VSHUFPS:
			l.opImm(VSHUFPS, r, l.get(s, half), y(half), imm)
		case VPSHUFD:
			l.opImm(VPSHUFD, r, 0, y(half), imm)
		case VRANGEPS, VRANGEPD:
			l.smallerOrLarger(o, r, l.get(s, half), l.in(y(half)), imm)
		case VGETMANTPS, VGETMANTPD:
			l.mantissa(o, r, l.in(y(half)), imm)
		default:
			l.missing = true
			return
		}
		l.finish(d, half, r, k, size, false)
		l.begin()
	}
}

// logic emits VPTERNLOGD: what the bits of y and z say where x is one, and what they say where it is none.
func (l *lowering) logic(r, x, y, z ymm, imm byte) {
	t := l.free()
	l.logic2(r, y, z, imm>>4)
	l.logic2(t, y, z, imm&15)
	l.op(VPANDD, r, r, x)
	l.op(vpandn, t, x, t)
	l.op(VPORD, r, r, t)
}

// logic2 emits r = bit y:z of imm.
func (l *lowering) logic2(r, y, z ymm, imm byte) {
	invert := imm&1 != 0
	if invert {
		imm ^= 15
	}
	switch imm {
	case 0:
		l.op(VPXORD, r, r, r)
	case 2:
		l.op(vpandn, r, y, z)
	case 4:
		l.op(vpandn, r, z, y)
	case 6:
		l.op(VPXORD, r, y, z)
	case 8:
		l.op(VPANDD, r, y, z)
	case 10:
		l.copy(r, z)
	case 12:
		l.copy(r, y)
	case 14:
		l.op(VPORD, r, y, z)
	}
	if invert {
		l.op(VPXORD, r, r, l.ones())
	}
}

// signed emits r = qwords x shifted to the right with their signs: shift does it without.
func (l *lowering) signed(r, x ymm, shift func()) {
	t := l.zero()
	l.op(vpcmpgtq, t, t, x)
	l.op(VPXORD, r, x, t)
	shift()
	l.op(VPXORD, r, r, t)
}

// shiftAll emits VShift.
func (l *lowering) shiftAll(o VShift, d Z, rm any, k K, n byte) {
	l.begin()
	size := 4
	switch {
	case o == VPSLLW || o == VPSRLW || o == VPSRAW:
		size = 2
	case o.W == 1:
		size = 8
	}
	if size == 2 && k != 0 {
		l.missing = true
		return
	}
	x := l.operand(rm, size)
	for half := range 2 {
		s, r := l.in(x(half)), l.free()
		if o == VPSRAQ {
			l.signed(r, s, func() { l.shift(VPSRLQ, r, r, n) })
		} else {
			l.shift(o, r, s, n)
		}
		l.finish(d, half, r, k, size, false)
	}
}
