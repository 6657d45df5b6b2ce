package x64

// General instructions. W is the operand size: false 32 bits, true 64.

// rex emits a prefix if it is needed.
func (a *Asm) rex(w bool, reg byte, rm any) {
	x, b, _ := high(rm)
	p := reg>>3&1<<2 | x<<1 | b
	if w {
		p |= 8
	}
	if p != 0 {
		a.emit(0x40 | p)
	}
}

// Op is one of the arithmetic instructions with two operands.
type Op byte

// The arithmetic instructions, by their number in the opcode.
const (
	ADD Op = iota
	OR
	ADC
	SBB
	AND
	SUB
	XOR
	CMP
)

// Op emits r = r op rm.
func (a *Asm) Op(op Op, w bool, r Reg, rm any) {
	a.rex(w, byte(r), rm)
	a.emit(byte(op)<<3 | 3)
	a.modrm(byte(r), rm, 0, 1)
}

// OpTo emits m = m op r.
func (a *Asm) OpTo(op Op, w bool, m Mem, r Reg) {
	a.rex(w, byte(r), m)
	a.emit(byte(op)<<3 | 1)
	a.modrm(byte(r), m, 0, 1)
}

// Locked emits m = m op r, atomically.
func (a *Asm) Locked(op Op, w bool, m Mem, r Reg) {
	a.emit(0xf0)
	a.OpTo(op, w, m, r)
}

// Exchange emits m = r and r = what was at m, atomically.
func (a *Asm) Exchange(w bool, m Mem, r Reg) {
	a.rex(w, byte(r), m)
	a.emit(0x87)
	a.modrm(byte(r), m, 0, 1)
}

// ExchangeAdd emits m = m + r and r = what was at m, atomically.
func (a *Asm) ExchangeAdd(w bool, m Mem, r Reg) {
	a.emit(0xf0)
	a.two(0xc1, w, r, m)
}

// CompareExchange emits m = r if m is RAX, and RAX = what was at m. It sets the flags: E if it was RAX. If locked it is atomic.
func (a *Asm) CompareExchange(locked, w bool, m Mem, r Reg) {
	if locked {
		a.emit(0xf0)
	}
	a.two(0xb1, w, r, m)
}

// OpImm emits rm = rm op v, v sign extended.
func (a *Asm) OpImm(op Op, w bool, rm any, v int32) {
	a.rex(w, 0, rm)
	if v == int32(int8(v)) {
		a.emit(0x83)
		a.modrm(byte(op), rm, 1, 1)
		a.emit(byte(v))
		return
	}
	a.emit(0x81)
	a.modrm(byte(op), rm, 4, 1)
	a.imm32(uint32(v))
}

// CmpShort compares the word at m with v.
func (a *Asm) CmpShort(m Mem, v uint16) {
	a.emit(0x66)
	a.rex(false, 0, m)
	a.emit(0x81)
	a.modrm(byte(CMP), m, 2, 1)
	a.emit(byte(v), byte(v>>8))
}

// Load emits r = rm.
func (a *Asm) Load(w bool, r Reg, rm any) {
	a.rex(w, byte(r), rm)
	a.emit(0x8b)
	a.modrm(byte(r), rm, 0, 1)
}

// Store emits m = r.
func (a *Asm) Store(w bool, m Mem, r Reg) {
	a.rex(w, byte(r), m)
	a.emit(0x89)
	a.modrm(byte(r), m, 0, 1)
}

// StoreSmall emits m = the low n bytes of r, one or two.
func (a *Asm) StoreSmall(n int, m Mem, r Reg) {
	if n == 2 {
		a.emit(0x66)
		a.rex(false, byte(r), m)
		a.emit(0x89)
	} else {
		a.byteRex(byte(r), m)
		a.emit(0x88)
	}
	a.modrm(byte(r), m, 0, 1)
}

// byteRex emits a prefix always: with one, 4 to 7 are the low bytes of registers.
func (a *Asm) byteRex(reg byte, rm any) {
	x, b, _ := high(rm)
	a.emit(0x40 | reg>>3&1<<2 | x<<1 | b)
}

// StoreImm emits m = v, v sign extended.
func (a *Asm) StoreImm(w bool, m Mem, v int32) {
	a.rex(w, 0, m)
	a.emit(0xc7)
	a.modrm(0, m, 4, 1)
	a.imm32(uint32(v))
}

// Imm emits r = v.
func (a *Asm) Imm(r Reg, v uint64) {
	switch {
	case v == 0:
		a.Op(XOR, false, r, r)
	case v <= 0xffffffff:
		a.rex(false, 0, r)
		a.emit(0xb8 | byte(r)&7)
		a.imm32(uint32(v))
	default:
		a.rex(true, 0, r)
		a.emit(0xb8 | byte(r)&7)
		a.imm32(uint32(v))
		a.imm32(uint32(v >> 32))
	}
}

// Shift is one of the shifts.
type Shift byte

// The shifts, by their number in the opcode.
const (
	ROR Shift = 1
	SHL Shift = 4
	SHR Shift = 5
	SAR Shift = 7
)

// ShiftCL emits r = r shift CL.
func (a *Asm) ShiftCL(s Shift, w bool, r Reg) {
	a.rex(w, 0, r)
	a.emit(0xd3)
	a.modrm(byte(s), r, 0, 1)
}

// ShiftImm emits r = r shift n.
func (a *Asm) ShiftImm(s Shift, w bool, r Reg, n byte) {
	a.rex(w, 0, r)
	a.emit(0xc1)
	a.modrm(byte(s), r, 1, 1)
	a.emit(n)
}

// Not emits r = ^r.
func (a *Asm) Not(w bool, r Reg) {
	a.rex(w, 0, r)
	a.emit(0xf7)
	a.modrm(2, r, 0, 1)
}

// SwapBytes emits r = its bytes in the other order.
func (a *Asm) SwapBytes(w bool, r Reg) {
	a.rex(w, 0, r)
	a.emit(0x0f, 0xc8|byte(r)&7)
}

// SignExtend emits r = its low 32 bits, sign extended to 64.
func (a *Asm) SignExtend(r Reg) {
	a.rex(true, byte(r), r)
	a.emit(0x63)
	a.modrm(byte(r), r, 0, 1)
}

// LoadSigned emits r = the dword at m, sign extended to 64 bits.
func (a *Asm) LoadSigned(r Reg, m Mem) {
	a.rex(true, byte(r), m)
	a.emit(0x63)
	a.modrm(byte(r), m, 0, 1)
}

// Mul emits r = r × rm.
func (a *Asm) Mul(w bool, r Reg, rm any) { a.two(0xaf, w, r, rm) }

// BitTest sets the carry flag to bit n of r, n modulo the size of r.
func (a *Asm) BitTest(w bool, r, n Reg) { a.two(0xa3, w, n, r) }

func (a *Asm) two(op byte, w bool, r Reg, rm any) {
	a.rex(w, byte(r), rm)
	a.emit(0x0f, op)
	a.modrm(byte(r), rm, 0, 1)
}

func (a *Asm) counting(op byte, w bool, r Reg, rm any) {
	a.emit(0xf3)
	a.two(op, w, r, rm)
}

// Popcnt emits r = number of bits set in rm.
func (a *Asm) Popcnt(w bool, r Reg, rm any) { a.counting(0xb8, w, r, rm) }

// Lzcnt emits r = number of zeros above the highest bit set.
func (a *Asm) Lzcnt(w bool, r Reg, rm any) { a.counting(0xbd, w, r, rm) }

// Tzcnt emits r = number of zeros below the lowest bit set.
func (a *Asm) Tzcnt(w bool, r Reg, rm any) { a.counting(0xbc, w, r, rm) }

// Cond is a condition of the flags.
type Cond byte

// Conditions, by their number in the opcode.
const (
	O  Cond = 0
	B  Cond = 2 // unsigned less; carry
	AE Cond = 3
	E  Cond = 4
	NE Cond = 5
	BE Cond = 6
	A  Cond = 7
	L  Cond = 12
	GE Cond = 13
	LE Cond = 14
	G  Cond = 15
)

// Set emits r = 1 if the condition holds, otherwise 0. r is one of the first four.
func (a *Asm) Set(c Cond, r Reg) {
	if r >= R8 {
		a.emit(0x41)
	}
	a.emit(0x0f, 0x90|byte(c))
	a.modrm(0, r, 0, 1)
	a.two(0xb6, false, r, r)
}

// Cmov emits r = rm if the condition holds.
func (a *Asm) Cmov(c Cond, w bool, r Reg, rm any) { a.two(0x40|byte(c), w, r, rm) }

// leave makes lowered registers what the code expects that is gone to.
func (a *Asm) leave() {
	if a.low != nil {
		a.low.flush()
	}
}

// Jump goes to the label.
func (a *Asm) Jump(l Label) {
	a.leave()
	a.emit(0xe9)
	a.jump(l)
}

// JumpTo goes to the address at m.
func (a *Asm) JumpTo(m Mem) {
	a.leave()
	a.rex(false, 0, m)
	a.emit(0xff)
	a.modrm(4, m, 0, 1)
}

// JumpReg goes to the address in r.
func (a *Asm) JumpReg(r Reg) {
	a.leave()
	a.rex(false, 0, r)
	a.emit(0xff)
	a.modrm(4, r, 0, 1)
}

// LoadAddress emits r = the address of the label.
func (a *Asm) LoadAddress(r Reg, l Label) {
	a.emit(0x48|byte(r)>>3<<2, 0x8d, byte(r)&7<<3|5)
	a.jump(l)
}

// JumpIf goes to the label if the condition holds.
func (a *Asm) JumpIf(c Cond, l Label) {
	a.leave()
	a.emit(0x0f, 0x80|byte(c))
	a.jump(l)
}

func (a *Asm) jump(l Label) {
	a.jumps = append(a.jumps, fix{at: len(a.code), end: len(a.code) + 4, to: int(l)})
	a.imm32(0)
}

// Ret returns, with the upper halves of the vector registers zeroed.
func (a *Asm) Ret() { a.emit(0xc5, 0xf8, 0x77, 0xc3) }

// Prefetch asks for the cache line of m. It never faults.
func (a *Asm) Prefetch(m Mem) {
	a.rex(false, 0, m)
	a.emit(0x0f, 0x18)
	a.modrm(1, m, 0, 1)
}
