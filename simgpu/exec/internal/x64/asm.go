// Package x64 assembles the few amd64 and AVX-512 instructions that package
// exec translates kernels to.
//
// It knows encodings and nothing else: what may be wrong with the program is
// the caller's business, and a mistake there is a panic. Encodings are those of
// Intel's Software Developer's Manual, volume 2.
package x64

import (
	"encoding/binary"
)

// Reg is a general register.
type Reg uint8

// The general registers.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// Z is a vector register of 64 bytes.
type Z uint8

// K is a mask register. As the mask of an instruction K0 means all elements.
type K uint8

// Label is a place in the code; see Asm.Label.
type Label int

// Mem is a place in memory: Base + Index<<Scale + Disp, or a constant of the pool.
type Mem struct {
	Base  Reg
	Disp  int32
	Index Reg // RSP: none
	Scale byte
	Vec   bool
	VecIx Z // index vector of a gather or scatter, if Vec
	pool  int
	con   bool
}

// At is base + disp.
func At(base Reg, disp int) Mem { return Mem{Base: base, Disp: int32(disp), Index: RSP} }

// AtIndex is base + index + disp.
func AtIndex(base, index Reg, disp int) Mem { return Mem{Base: base, Index: index, Disp: int32(disp)} }

// Scaled is base + index<<scale + disp.
func Scaled(base, index Reg, scale byte, disp int) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: int32(disp)}
}

// AtVec is base + each dword of the vector + disp.
func AtVec(base Reg, index Z, disp int) Mem {
	return Mem{Base: base, Vec: true, VecIx: index, Disp: int32(disp)}
}

// Asm is code that is being assembled.
type Asm struct {
	code   []byte
	pool   []byte
	consts map[string]int

	labels []int // offset of each, -1 if not known yet
	jumps  []fix // to labels
	loads  []fix // from the pool

	low *lowering // nil: AVX-512
}

// fix is a 32-bit displacement at offset at, relative to end.
type fix struct{ at, end, to int }

// Label makes a label that stands nowhere yet.
func (a *Asm) Label() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Bind puts the label here.
func (a *Asm) Bind(l Label) {
	if a.labels[l] >= 0 {
		panic("x64: a label stands at two places")
	}
	if a.low != nil {
		a.low.flush()
		a.low.forget()
	}
	a.labels[l] = len(a.code)
}

// Offset is where a label stands.
func (a *Asm) Offset(l Label) int { return a.labels[l] }

// Const32 is a constant of 4 bytes, Const64 one of 8.
func (a *Asm) Const32(v uint32) Mem { return a.Const(binary.LittleEndian.AppendUint32(nil, v)) }

// Const64 is a constant of 8 bytes.
func (a *Asm) Const64(v uint64) Mem { return a.Const(binary.LittleEndian.AppendUint64(nil, v)) }

// Const is a constant of any size that is a power of two, aligned to it.
func (a *Asm) Const(b []byte) Mem {
	if a.consts == nil {
		a.consts = map[string]int{}
	}
	at, ok := a.consts[string(b)]
	if !ok {
		for len(a.pool)%len(b) != 0 {
			a.pool = append(a.pool, 0)
		}
		at = len(a.pool)
		a.pool = append(a.pool, b...)
		a.consts[string(b)] = at
	}
	return Mem{con: true, pool: at, Index: RSP}
}

// Finish returns the code followed by its constants.
func (a *Asm) Finish() []byte {
	for len(a.code)%64 != 0 {
		a.code = append(a.code, 0xcc)
	}
	for _, f := range a.jumps {
		if a.labels[f.to] < 0 {
			panic("x64: a label that stands nowhere")
		}
		binary.LittleEndian.PutUint32(a.code[f.at:], uint32(a.labels[f.to]-f.end))
	}
	base := len(a.code)
	for _, f := range a.loads {
		binary.LittleEndian.PutUint32(a.code[f.at:], uint32(base+f.to-f.end))
	}
	return append(a.code, a.pool...)
}

func (a *Asm) emit(b ...byte) { a.code = append(a.code, b...) }
func (a *Asm) imm32(v uint32) { a.code = binary.LittleEndian.AppendUint32(a.code, v) }

// modrm emits the operand bytes: reg, and rm, which is a Mem or the number of a
// register. after is how many bytes of the instruction follow, and unit what a displacement of one byte counts.
func (a *Asm) modrm(reg byte, rm any, after int, unit int32) {
	reg &= 7
	m, ok := rm.(Mem)
	if !ok {
		a.emit(0xc0 | reg<<3 | number(rm)&7)
		return
	}
	if m.con {
		a.emit(reg<<3 | 5)
		a.loads = append(a.loads, fix{at: len(a.code), end: len(a.code) + 4 + after, to: m.pool})
		a.imm32(0)
		return
	}
	base := byte(m.Base) & 7
	short := m.Disp%unit == 0 && m.Disp/unit == int32(int8(m.Disp/unit))
	mod := byte(0x80)
	if short {
		mod = 0x40
	}
	switch {
	case m.Vec:
		a.emit(mod|reg<<3|4, byte(m.VecIx)&7<<3|base)
	case m.Index != RSP:
		a.emit(mod|reg<<3|4, m.Scale<<6|byte(m.Index)&7<<3|base)
	case base == 4:
		a.emit(mod|reg<<3|4, 4<<3|base)
	default:
		a.emit(mod | reg<<3 | base)
	}
	if short {
		a.emit(byte(m.Disp / unit))
		return
	}
	a.imm32(uint32(m.Disp))
}

func number(v any) byte {
	switch v := v.(type) {
	case Reg:
		return byte(v)
	case Z:
		return byte(v)
	case ymm:
		return byte(v)
	case K:
		return byte(v)
	}
	panic("x64: an operand that is none") // its type is not said: an operand that is would have to be allocated, each of them
}

// high are bits 3 and 4 of the register numbers in rm, as prefixes want them:
// x is of the index, or bit 4 of a register; b of the base or the register.
func high(rm any) (x, b, v4 byte) {
	m, ok := rm.(Mem)
	if !ok {
		n := number(rm)
		return n >> 4 & 1, n >> 3 & 1, 0
	}
	if m.con {
		return 0, 0, 0
	}
	b = byte(m.Base) >> 3 & 1
	if m.Vec {
		return byte(m.VecIx) >> 3 & 1, b, byte(m.VecIx) >> 4 & 1
	}
	if m.Index != RSP {
		x = byte(m.Index) >> 3 & 1
	}
	return x, b, 0
}
