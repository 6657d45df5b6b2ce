package x64

// Gathers and scatters of lowered code.

// gather emits Gather, GatherQ and GatherPair: with wide, qwords as index; with pairs, qwords as elements too.
func (l *lowering) gather(d Z, m Mem, k K, wide, pairs bool) {
	l.begin()
	emit := func(o VOp, long byte, r, index, mask ymm) {
		at := m
		at.VecIx = Z(index)
		l.a.vexAfter(o.Map, o.PP, o.W, long, o.Op, byte(r), byte(mask), at, 0)
	}
	var out [2]ymm
	switch {
	case wide && !pairs:
		var parts [2]ymm
		mask, old := l.mask(k, 0, 4), l.get(d, 0)
		for half := range 2 {
			t, r := l.free(), l.free()
			l.op16(VMOVDQU32, t, 0, l.half16(mask, half))
			l.op16(VMOVDQU32, r, 0, l.half16(old, half))
			emit(VOp{m38, p66, 0, 0x91}, 1, r, l.get(m.VecIx, half), t)
			parts[half] = r
		}
		out[0], out[1] = l.free(), l.zero()
		l.join(out[0], parts[0], parts[1])
	default:
		o, size := VOp{m38, p66, 0, 0x90}, 4
		if pairs {
			o, size = VOp{m38, p66, 1, 0x91}, 8
		}
		for half := range 2 {
			t, r := l.free(), l.own(d, half)
			l.copy(t, l.mask(k, half, size))
			emit(o, 1, r, l.get(m.VecIx, half), t)
			out[half] = r
		}
	}
	l.set(d, 0, out[0])
	l.set(d, 1, out[1])
	l.noMask(k)
}

// noMask makes k empty.
func (l *lowering) noMask(k K) {
	l.a.StoreImm(true, l.maskSlot(k), 0)
	l.written(k)
}

// scatter emits Scatter, ScatterQ and ScatterPair, element by element.
func (l *lowering) scatter(m Mem, s Z, k K, wide, pairs bool) {
	l.begin()
	l.settleMask(k)
	for half := range 2 { // the indexes are read from memory
		if r, ok := l.find(halfOf(m.VecIx, half)); ok {
			l.save(int(r))
		}
	}
	count, size := 16, 4
	if wide {
		count = 8
	}
	o := vpextrd
	if pairs {
		o.W, size = 1, 8
	}
	var x [4]any // 16 bytes each
	for i := range count * size / 16 {
		x[i] = l.half16(l.get(s, i/2), i%2)
	}
	for i := range count {
		l.ifBit(k, i, func() {
			if index := l.slot(m.VecIx, 0); wide {
				l.a.Load(true, RBP, part(index, 8*i))
			} else {
				l.a.LoadSigned(RBP, part(index, 4*i))
			}
			n := 16 / size
			l.op16Imm(o, x[i/n].(ymm), 0, AtIndex(m.Base, RBP, int(m.Disp)), byte(i%n))
		})
	}
	l.noMask(k)
}

// ifBit emits f's code, executed if k has bit i. It must be less than 128 bytes, and change nothing of what registers hold.
func (l *lowering) ifBit(k K, i int, f func()) {
	a, slot := l.a, part(l.maskAt(k), i/8)
	a.rex(false, 0, slot)
	a.emit(0xf6)
	a.modrm(0, slot, 1, 1)
	a.emit(1 << (i % 8))
	l.unlessZero(f)
}

// ifAny emits f's code, executed if k has any element, with the limits of ifBit.
func (l *lowering) ifAny(k K, f func()) {
	l.a.CmpShort(l.maskAt(k), 0)
	l.unlessZero(f)
}

// unlessZero emits f's code, executed if the flag E is not set.
func (l *lowering) unlessZero(f func()) {
	a := l.a
	a.emit(0x74, 0)
	at := len(a.code)
	f()
	a.code[at-1] = byte(len(a.code) - at)
}

// loadNarrow loads those of 16 elements of n bytes, one or two, at m that k has. They lie at the beginning of what it returns: 8 in each.
func (l *lowering) loadNarrow(n int, m Mem, k K) []ymm {
	l.settleMask(k)
	x := []ymm{l.zero(), l.zero()}
	o := VOp{m3a, p66, 0, 0x20}
	if n == 2 {
		o = VOp{m0f, p66, 0, 0xc4}
	}
	for i := range 16 {
		l.ifBit(k, i, func() { l.op16Imm(o, x[i/8], x[i/8], part(m, n*i), byte(i%8)) })
	}
	return x
}

// storeNarrow emits VStoreNarrow.
func (l *lowering) storeNarrow(n int, m Mem, s Z, k K) {
	l.begin()
	l.settleMask(k)
	x := l.narrowWords(s)
	o := VOp{m3a, p66, 0, 0x15}
	halves := []any{x, x}
	if n == 1 {
		o.Op = 0x14
		t := l.free()
		l.op(VPANDD, x, x, l.constant32(0x00ff00ff))
		l.op16(VOp{m0f, p66, 0, 0x67}, t, x, l.half16(x, 1)) // packuswb
		halves[0] = t
	}
	if k == 0 {
		if n == 1 {
			l.op16(vmovdquTo, halves[0].(ymm), 0, m)
		} else {
			l.store(m, x)
		}
		return
	}
	if n == 2 {
		halves[1] = l.half16(x, 1)
	}
	per := 16 / n
	for i := range 16 {
		l.ifBit(k, i, func() { l.op16Imm(o, halves[i/per].(ymm), 0, part(m, n*i), byte(i%per)) })
	}
}

// narrowWords is a register with the low words of the dwords of s.
func (l *lowering) narrowWords(s Z) ymm {
	words := l.constant32(0xffff)
	x, y := l.free(), l.free()
	l.op(VPANDD, x, l.get(s, 0), words)
	l.op(VPANDD, y, l.get(s, 1), words)
	l.op(vpackusdw, x, x, y)
	l.opImm(vpermq, x, 0, x, 0xd8)
	return x
}
