package x64

// Lowering of AVX-512 to AVX2, for processors without AVX-512.
//
// The instructions are the same for whoever translates: registers of 64 bytes and
// masks. After Asm.Lower each becomes a few AVX2 instructions. A register is two
// halves of 32 bytes, each of which is in one of the sixteen registers that there
// are or in its slot in memory; a mask is in its slot, and registers may have
// what it makes of 32 bytes: all ones in the elements that it has. A comparison leaves its
// mask in two such registers, and the slot has it when somebody wants it from there. What is in
// registers is known from one label to the next: a label, and what goes to one, finds
// everything in the slots.
//
// An instruction sets no flags that its AVX-512 form does not set, but for Scatter, VStoreNarrow, and V1 of memory under a mask that
// broadcasts or widens.
// RBP is used and not kept. Which instructions there are not is said by Asm.Missing.

// SlotBytes is how much memory lowered code wants for its registers and masks.
const SlotBytes = 32*64 + 8*16

// ymm is a register of 32 bytes.
type ymm uint8

// lowering is the state of it.
type lowering struct {
	a       *Asm
	slots   Mem
	homes   [32]Mem
	homed   uint32 // the registers that have homes
	regs    [16]holding
	masks   []unsettled // oldest first
	now     int32       // number of the instruction that is being lowered
	missing bool
}

// holding is what a register has.
type holding struct {
	what  content
	used  int32 // by which instruction
	dirty bool  // its slot does not have it
}

// content is a half of a register, of what a mask makes, or a constant in all elements. It is compared for each operand with that of each register,
// and is as long as what is compared at once.
type content struct {
	n    int32 // of the register or mask, offset of the constant
	size int16 // of an element, in bytes
	kind contentKind
	half uint8
}

func halfOf(z Z, half int) content { return content{kind: ofZ, n: int32(z), half: uint8(half)} }

func maskOf(k K, half, size int) content {
	return content{kind: ofK, n: int32(k), half: uint8(half), size: int16(size)}
}

func constantAt(pool, size int) content {
	return content{kind: ofConst, n: int32(pool), size: int16(size)}
}

type contentKind uint8

const (
	nothing contentKind = iota
	ofZ
	ofK
	ofConst
)

// Lower makes all that follows AVX2. Its registers have SlotBytes at base + disp.
func (a *Asm) Lower(base Reg, disp int) {
	a.low = &lowering{a: a, slots: At(base, disp)}
}

// Missing reports whether an instruction was asked for that is not lowered. The code is worth nothing then.
func (a *Asm) Missing() bool { return a.low != nil && a.low.missing }

// Dead says that nobody reads the registers and masks of the sets again before they are written. Without Lower it does nothing.
func (a *Asm) Dead(z uint32, k uint8) {
	if a.low == nil {
		return
	}
	for i := range a.low.regs {
		r := &a.low.regs[i]
		if r.what.kind == ofZ && z>>r.what.n&1 != 0 {
			*r = holding{}
		}
	}
	for m := range K(8) {
		if k>>m&1 != 0 {
			a.low.written(m)
		}
	}
}

// Home makes the 64 bytes at m what the register is, until Leave: they are read when the register is, and written at Leave or before. Only lowered code has
// homes.
func (a *Asm) Home(z Z, m Mem) {
	a.Dead(1<<z, 0)
	a.low.homes[z] = m
	a.low.homed |= 1 << z
}

// Leave ends all homes. Those of the registers in kept have what these had; what others had may be lost.
func (a *Asm) Leave(kept uint32) {
	l := a.low
	for i := range l.regs {
		if r := &l.regs[i]; r.what.kind == ofZ && l.homed>>r.what.n&1 != 0 {
			if kept>>r.what.n&1 != 0 {
				l.save(i)
			}
			*r = holding{}
		}
	}
	l.homed = 0
}

// begin begins an instruction.
func (l *lowering) begin() { l.now++ }

func (l *lowering) slot(z Z, half int) Mem {
	if l.homed>>z&1 != 0 {
		return part(l.homes[z], 32*half)
	}
	m := l.slots
	m.Disp += int32(z)*64 + int32(half)*32
	return m
}

func (l *lowering) maskSlot(k K) Mem {
	m := l.slots
	m.Disp += 32*64 + int32(k)*16
	return m
}

func (l *lowering) find(c content) (ymm, bool) {
	for i := range l.regs {
		if l.regs[i].what == c {
			l.regs[i].used = l.now
			return ymm(i), true
		}
	}
	return 0, false
}

// free is a register that the instruction has not used yet.
func (l *lowering) free() ymm {
	best := -1
	for i := range l.regs {
		r := &l.regs[i]
		if r.used == l.now && l.now > 0 {
			continue
		}
		if r.what.kind == nothing {
			best = i
			break
		}
		if r.what.kind == ofK && r.dirty { // see freeMask
			continue
		}
		if best < 0 || r.used < l.regs[best].used {
			best = i
		}
	}
	if best < 0 {
		best = l.freeMask()
	}
	if best < 0 {
		panic("x64: an instruction needs more registers than there are")
	}
	l.save(best)
	l.regs[best] = holding{used: l.now}
	return ymm(best)
}

// save stores what only the register has.
func (l *lowering) save(i int) {
	r := &l.regs[i]
	if r.dirty && r.what.kind == ofZ {
		l.store(l.slot(Z(r.what.n), int(r.what.half)), ymm(i))
		r.dirty = false
	}
}

// flush makes the slots hold everything.
func (l *lowering) flush() {
	for i := range l.regs {
		l.save(i)
	}
	for len(l.masks) > 0 {
		l.settleMask(l.masks[0].k)
	}
}

// forget is where nobody knows what is in registers.
func (l *lowering) forget() { l.regs = [16]holding{} }

// get is a register with half of z.
func (l *lowering) get(z Z, half int) ymm {
	c := halfOf(z, half)
	if r, ok := l.find(c); ok {
		return r
	}
	r := l.free()
	l.load(r, l.slot(z, half))
	l.regs[r].what = c
	return r
}

// set makes r the half of z.
func (l *lowering) set(z Z, half int, r ymm) {
	c := halfOf(z, half)
	if old, ok := l.find(c); ok && old != r {
		l.regs[old].what, l.regs[old].dirty = content{}, false
	}
	l.save(int(r)) // it may be another one's
	l.regs[r] = holding{what: c, dirty: true, used: l.now}
}

// own is a register with a copy of half of z, to be written.
func (l *lowering) own(z Z, half int) ymm {
	r := l.free()
	l.copy(r, l.get(z, half))
	return r
}

// broadcast is a register with the element at m in all places.
func (l *lowering) broadcast(m Mem, size int) ymm {
	c := constantAt(m.pool, size)
	if m.con {
		if r, ok := l.find(c); ok {
			return r
		}
	}
	r := l.free()
	l.op(broadcasts[size], r, 0, m)
	if m.con {
		l.regs[r].what = c
	}
	return r
}

// constant32 and constant64 are a register with a dword or qword in all places.
func (l *lowering) constant32(v uint32) ymm { return l.broadcast(l.a.Const32(v), 4) }
func (l *lowering) constant64(v uint64) ymm { return l.broadcast(l.a.Const64(v), 8) }

// zero is a register of zeros, ones one of ones.
func (l *lowering) zero() ymm {
	r := l.free()
	l.op(VPXORD, r, r, r)
	return r
}

func (l *lowering) ones() ymm {
	r := l.free()
	l.op(vpcmpeqd, r, r, r)
	return r
}

// sizeOf is how many bytes an element has, of instructions on dwords and qwords.
func sizeOf(o VOp) int { return 4 << o.W }

// operand is the source of an instruction with elements of size bytes: by half a ymm or a Mem.
func (l *lowering) operand(rm any, size int) func(half int) any {
	switch rm := rm.(type) {
	case Z:
		return func(half int) any { return l.get(rm, half) }
	case Bcast:
		return func(int) any { return l.broadcast(rm.Mem, size) }
	}
	return func(half int) any { return part(rm.(Mem), 32*half) }
}

// in is a source in a register.
func (l *lowering) in(x any) ymm {
	if r, ok := x.(ymm); ok {
		return r
	}
	r := l.free()
	l.load(r, x.(Mem))
	return r
}

// part is m, n bytes on.
func part(m Mem, n int) Mem {
	if m.con {
		m.pool += n
	} else {
		m.Disp += int32(n)
	}
	return m
}

// finish makes r half of d, where the mask has it; the other elements stay, or become zero.
func (l *lowering) finish(d Z, half int, r ymm, k K, size int, zero bool) {
	if k != 0 {
		m := l.mask(k, half, size)
		t := l.free()
		if zero {
			l.op(VPANDD, t, r, m)
		} else {
			l.blend(t, l.get(d, half), r, m)
		}
		r = t
	}
	l.set(d, half, r)
}

// broadcasts are by the size of an element.
var broadcasts = map[int]VOp{4: VPBCASTD, 8: {m38, p66, 0, 0x59}}

// AVX2 instructions that AVX-512 has not in this form.
var (
	vpcmpeqb   = VOp{m0f, p66, 0, 0x74}
	vpcmpeqd   = VOp{m0f, p66, 0, 0x76}
	vpcmpeqq   = VOp{m38, p66, 0, 0x29}
	vpcmpgtb   = VOp{m0f, p66, 0, 0x64}
	vpcmpgtd   = VOp{m0f, p66, 0, 0x66}
	vpcmpgtq   = VOp{m38, p66, 0, 0x37}
	vpminub    = VOp{m0f, p66, 0, 0xda}
	vpmaxub    = VOp{m0f, p66, 0, 0xde}
	vpaddb     = VOp{m0f, p66, 0, 0xfc}
	vpmaddubsw = VOp{m38, p66, 0, 0x04} // sums of pairs of products of bytes, of rm with signs
	vpandn     = VOp{m0f, p66, 0, 0xdf} // ^s & rm
	vmovdquTo  = VOp{m0f, pf3, 0, 0x7f}
	vmaskLoad  = VOp{m38, p66, 0, 0x8c}
	vmaskStore = VOp{m38, p66, 0, 0x8e}
	vpbcastb   = VOp{m38, p66, 0, 0x78}
	vpackssdw  = VOp{m0f, p66, 0, 0x6b}
	vpacksswb  = VOp{m0f, p66, 0, 0x63}
	vpackusdw  = VOp{m38, p66, 0, 0x2b}
	vmovmskps  = VOp{m0f, 0, 0, 0x50}
	vpmovmskb  = VOp{m0f, p66, 0, 0xd7}
	vmovd      = VOp{m0f, p66, 0, 0x6e}
	vmovdTo    = VOp{m0f, p66, 0, 0x7e}
	vmovq      = VOp{m0f, pf3, 0, 0x7e}
	vmovqTo    = VOp{m0f, p66, 0, 0xd6}
	vpunpckbw  = VOp{m0f, p66, 0, 0x60} // the low ones, as the next
	vpunpckwd  = VOp{m0f, p66, 0, 0x61}
)

// Those with an immediate.
var (
	vpermq    = VOp{m3a, p66, 1, 0x00}
	vpblendw  = VOp{m3a, p66, 0, 0x0e}
	vblendvb  = VOp{m3a, p66, 0, 0x4c}
	vextract  = VOp{m3a, p66, 0, 0x39} // reg and rm are the other way round
	vinsert   = VOp{m3a, p66, 0, 0x38}
	vpextrd   = VOp{m3a, p66, 0, 0x16} // likewise; W: a qword
	vblendvps = VOp{m3a, p66, 0, 0x4a}
)

// op emits r = s o rm, on 32 bytes.
func (l *lowering) op(o VOp, r, s ymm, rm any) {
	l.a.vexAfter(o.Map, o.PP, o.W, 1, o.Op, byte(r), byte(s), rm, 0)
}

// opImm emits it with an immediate.
func (l *lowering) opImm(o VOp, r, s ymm, rm any, imm byte) {
	l.a.vexAfter(o.Map, o.PP, o.W, 1, o.Op, byte(r), byte(s), rm, 1)
	l.a.emit(imm)
}

// op16 and op16Imm are of 16 bytes.
func (l *lowering) op16(o VOp, r, s ymm, rm any) {
	l.a.vexAfter(o.Map, o.PP, o.W, 0, o.Op, byte(r), byte(s), rm, 0)
}

func (l *lowering) op16Imm(o VOp, r, s ymm, rm any, imm byte) {
	l.a.vexAfter(o.Map, o.PP, o.W, 0, o.Op, byte(r), byte(s), rm, 1)
	l.a.emit(imm)
}

// shift emits r = s shifted by n.
func (l *lowering) shift(o VShift, r, s ymm, n byte) {
	l.opImm(VOp{m0f, p66, 0, o.Op}, ymm(o.Ext), r, s, n)
}

func (l *lowering) load(r ymm, m Mem)  { l.op(VMOVDQU32, r, 0, m) }
func (l *lowering) store(m Mem, r ymm) { l.op(vmovdquTo, r, 0, m) }
func (l *lowering) copy(r, s ymm)      { l.op(VMOVDQU32, r, 0, s) }

// blend emits r = m ? y : x, bytes.
func (l *lowering) blend(r, x ymm, y any, m ymm) { l.opImm(vblendvb, r, x, y, byte(m)<<4) }

// half16 are the low or the high 16 bytes of a source: a ymm, of which the low ones count, or a Mem.
func (l *lowering) half16(x any, half int) any {
	if m, ok := x.(Mem); ok {
		return part(m, 16*half)
	}
	if half == 0 {
		return x
	}
	r := l.free()
	l.opImm(vextract, x.(ymm), 0, r, 1)
	return r
}

// join emits r = hi:lo, of 16 bytes each.
func (l *lowering) join(r, lo, hi ymm) { l.opImm(vinsert, r, lo, hi, 1) }
