package x64

// Moves of lowered code, between registers of different size and memory.

// storeAll emits VStore.
func (l *lowering) storeAll(m Mem, s Z, k K) {
	l.begin()
	for half := range 2 {
		if at := part(m, 32*half); k == 0 {
			l.store(at, l.get(s, half))
		} else {
			l.op(vmaskStore, l.get(s, half), l.mask(k, half, 4), at)
		}
	}
}

// lowDwords emits VNarrow.
func (l *lowering) lowDwords(d, s Z) {
	l.begin()
	r := l.free()
	l.opImm(VSHUFPS, r, l.get(s, 0), l.get(s, 1), 0x88)
	l.opImm(vpermq, r, 0, r, 0xd8)
	l.lowHalf(d, r)
}

// lowWords emits VNarrowWords.
func (l *lowering) lowWords(d, s Z) {
	l.begin()
	l.lowHalf(d, l.narrowWords(s))
}

// toHalf emits VToHalf.
func (l *lowering) toHalf(d, s Z, imm byte) {
	l.begin()
	var x [2]ymm
	for half := range 2 {
		x[half] = l.free()
		l.opImm(VCVTPS2PH, l.get(s, half), 0, x[half], imm)
	}
	l.join(x[0], x[0], x[1])
	l.lowHalf(d, x[0])
}

// upper emits VUpper.
func (l *lowering) upper(d, s Z) {
	l.begin()
	l.lowHalf(d, l.own(s, 1))
}

// fromReg emits VFromReg.
func (l *lowering) fromReg(w bool, d Z, r Reg) {
	l.begin()
	o, all := vmovd, broadcasts[4]
	if w {
		o.W, all = 1, broadcasts[8]
	}
	t, u := l.free(), l.free()
	l.a.vexAfter(o.Map, o.PP, o.W, 0, o.Op, byte(t), 0, r, 0)
	l.op(all, t, 0, t)
	l.copy(u, t)
	l.set(d, 0, t)
	l.set(d, 1, u)
}

// toReg emits VToReg.
func (l *lowering) toReg(w bool, r Reg, s Z) {
	l.begin()
	o := vmovdTo
	if w {
		o.W = 1
	}
	l.a.vexAfter(o.Map, o.PP, o.W, 0, o.Op, byte(l.get(s, 0)), 0, r, 0)
}

// load16 emits VLoad16, store16 VStore16.
func (l *lowering) load16(d Z, m Mem) {
	l.begin()
	r := l.free()
	l.op16(VMOVDQU32, r, 0, m)
	l.lowHalf(d, r)
}

func (l *lowering) store16(m Mem, s Z) {
	l.begin()
	l.op16(vmovdquTo, l.get(s, 0), 0, m)
}

// storeMask emits KStore.
func (l *lowering) storeMask(m Mem, s K) {
	l.a.two(0xb7, false, RBP, l.maskAt(s))
	l.a.StoreSmall(2, m, RBP)
}

// maskFromReg emits KFromReg.
func (l *lowering) maskFromReg(d K, r Reg) {
	l.a.StoreSmall(2, l.maskSlot(d), r)
	l.written(d)
}
