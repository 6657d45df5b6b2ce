//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// avx512 is a model of a processor with AVX-512: it executes the machine code that package x64 emits, as Intel's Software
// Developer's Manual, volume 2, describes encodings and instructions. What is lowered to AVX2 is compared with it on all
// processors, and it is compared with those that have AVX-512. An access to anything but the code and the memory, and an
// instruction that it does not know, end the test.
type avx512 struct {
	t    *testing.T
	regs [16]uint64
	z    [32]z512
	k    [8]uint64
	zero bool // the flags
	less bool // carry
	code []byte
	pc   int
	mem  []byte // at memory512
}

// Where the model has its memory and code.
const (
	memory512 = 1 << 20
	code512   = 1 << 30
)

// run512 executes code that is called with RBX the address of memory.
func run512(t *testing.T, code, memory []byte) {
	p := &avx512{t: t, code: code, mem: memory}
	p.regs[x64.RBX] = memory512
	for steps := 0; p.step(); steps++ {
		if steps == 100000 {
			t.Fatal("the model does not come to an end")
		}
	}
}

// at are n bytes of memory.
func (p *avx512) at(addr uint64, n int) []byte {
	p.t.Helper()
	for _, m := range []struct {
		from uint64
		b    []byte
	}{{memory512, p.mem}, {code512, p.code}} {
		if addr >= m.from && addr-m.from <= uint64(len(m.b)) && uint64(n) <= uint64(len(m.b))-(addr-m.from) {
			return m.b[addr-m.from:][:n]
		}
	}
	p.t.Fatalf("the model accesses %d bytes at %#x", n, addr)
	return nil
}

func (p *avx512) byte() byte {
	p.pc++
	return p.code[p.pc-1]
}

// imm is a number of n bytes, sign extended.
func (p *avx512) imm(n int) uint64 {
	var b [8]byte
	for i := range n {
		b[i] = p.byte()
	}
	shift := 64 - 8*n
	return uint64(int64(binary.LittleEndian.Uint64(b[:])) << shift >> shift)
}

// operand512 is what ModRM says: a register or an address.
type operand512 struct {
	reg   int // of the field reg
	is    bool
	n     int    // the register
	addr  uint64 // without the vector
	vec   int    // VSIB: the vector
	scale int
}

// modrm decodes it. r, x and b are bits 3 of the numbers; after is how many bytes follow, unit what a short displacement counts.
func (p *avx512) modrm(r, x, b int, vsib bool, after int, unit int) (o operand512) {
	m := p.byte()
	mod, rm := int(m>>6), int(m&7)
	o.reg = int(m>>3&7) | r<<3
	if mod == 3 {
		o.is, o.n = true, rm|b<<3
		return o
	}
	if mod == 0 {
		if rm != 5 {
			p.t.Fatalf("the model knows no address %#x", m)
		}
		disp := p.imm(4)
		o.addr = code512 + uint64(p.pc+after) + disp
		return o
	}
	if rm == 4 {
		sib := p.byte()
		rm = int(sib & 7)
		if index := int(sib>>3&7) | x<<3; vsib {
			o.vec, o.scale = index, int(sib>>6)
		} else if index != 4 {
			o.addr = p.regs[index] << (sib >> 6)
		}
	}
	o.addr += p.regs[rm|b<<3]
	if mod == 1 {
		o.addr += p.imm(1) * uint64(unit)
	} else {
		o.addr += p.imm(4)
	}
	return o
}

// step executes an instruction and reports whether there is another one.
func (p *avx512) step() bool {
	rex, word := byte(0), false
	op := p.byte()
	for ; ; op = p.byte() {
		if op == 0x66 {
			word = true
			continue
		}
		if op&0xf0 != 0x40 {
			break
		}
		rex = op
	}
	size := 4
	switch {
	case rex&8 != 0:
		size = 8
	case word:
		size = 2
	}
	modrm := func(after int) operand512 {
		return p.modrm(int(rex>>2&1), int(rex>>1&1), int(rex&1), false, after, 1)
	}
	switch op {
	case 0x62:
		p.evex()
	case 0xc4:
		p.mask()
	case 0xc5: // VZEROUPPER, RET
		if string(p.code[p.pc:p.pc+3]) != "\xf8\x77\xc3" {
			p.unknown(op)
		}
		return false
	case 0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x33, 0x3b:
		o := modrm(0)
		p.put(o.reg, size, p.arithmetic(x64.Op(op>>3), size, p.regs[o.reg], p.get(o, size)), op>>3 != byte(x64.CMP))
	case 0x83, 0x81:
		n := 1
		if op == 0x81 {
			n = 4
		}
		o := modrm(n)
		p.put(o.n, size, p.arithmetic(x64.Op(o.reg&7), size, p.get(o, size), p.imm(n)), o.reg != int(x64.CMP))
		if !o.is {
			p.unknown(op)
		}
	case 0x8b:
		o := modrm(0)
		p.put(o.reg, size, p.get(o, size), true)
	case 0x89:
		p.store(modrm(0), size)
	case 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf:
		p.put(int(op&7)|int(rex&1)<<3, size, p.imm(size), true)
	case 0xc1:
		o := modrm(1)
		n := p.imm(1)
		if o.reg != int(x64.SHL) || !o.is {
			p.unknown(op)
		}
		p.put(o.n, size, p.regs[o.n]<<n, true)
	case 0xe9:
		to := p.imm(4)
		p.pc += int(to)
	case 0x0f:
		switch op = p.byte(); {
		case op&0xf0 == 0x80:
			if to := int(p.imm(4)); p.holds(x64.Cond(op & 15)) {
				p.pc += to
			}
		case op&0xf0 == 0x90:
			o := modrm(0)
			p.regs[o.n] &^= 0xff
			if p.holds(x64.Cond(op & 15)) {
				p.regs[o.n]++
			}
		case op == 0xb6:
			o := modrm(0)
			p.regs[o.reg] = p.get(o, 1)
		case op == 0xb7:
			o := modrm(0)
			p.regs[o.reg] = p.get(o, 2)
		default:
			p.unknown(op)
		}
	default:
		p.unknown(op)
	}
	return true
}

func (p *avx512) unknown(op byte) {
	p.t.Helper()
	p.t.Fatalf("the model does not know the instruction with opcode %#x before %d: % x", op, p.pc, p.code[max(0, p.pc-8):p.pc])
}

func (p *avx512) get(o operand512, size int) uint64 {
	var b [8]byte
	if o.is {
		binary.LittleEndian.PutUint64(b[:], p.regs[o.n])
		clear(b[size:])
	} else {
		copy(b[:], p.at(o.addr, size))
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (p *avx512) put(r, size int, v uint64, write bool) {
	switch {
	case !write:
	case size == 8:
		p.regs[r] = v
	case size == 4:
		p.regs[r] = uint64(uint32(v))
	default:
		p.unknown(0)
	}
}

func (p *avx512) store(o operand512, size int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], p.regs[o.reg])
	copy(p.at(o.addr, size), b[:size])
}

// arithmetic also sets the flags.
func (p *avx512) arithmetic(op x64.Op, size int, x, y uint64) uint64 {
	limit := ^uint64(0) >> (64 - 8*size)
	x, y = x&limit, y&limit
	var r uint64
	p.less = false
	switch op {
	case x64.ADD:
		r = x + y
		p.less = r&limit < x
	case x64.SUB, x64.CMP:
		r = x - y
		p.less = x < y
	case x64.AND:
		r = x & y
	case x64.OR:
		r = x | y
	case x64.XOR:
		r = x ^ y
	default:
		p.unknown(byte(op))
	}
	r &= limit
	p.zero = r == 0
	return r
}

func (p *avx512) holds(c x64.Cond) bool {
	switch c {
	case x64.E:
		return p.zero
	case x64.NE:
		return !p.zero
	case x64.B:
		return p.less
	case x64.AE:
		return !p.less
	case x64.A:
		return !p.less && !p.zero
	case x64.BE:
		return p.less || p.zero
	}
	p.unknown(byte(c))
	return false
}

// mask executes an instruction on masks, which has the prefix VEX.
func (p *avx512) mask() {
	b1, b2, op := p.byte(), p.byte(), p.byte()
	space, w, pp, s := b1&31, b2>>7, b2&3, int(^b2>>3&15)
	after := 0
	if space == 3 {
		after = 1
	}
	o := p.modrm(int(^b1>>7&1), int(^b1>>6&1), int(^b1>>5&1), false, after, 1)
	x, y := p.k[s&7], p.k[o.n&7]
	width := 16
	switch {
	case space == 3 && op == 0x30 && w == 1:
		p.k[o.reg] = uint64(uint16(y)) >> p.byte()
		return
	case space != 1:
		p.unknown(op)
	}
	switch op {
	case 0x90:
		if v := uint64(0); o.is {
			p.k[o.reg] = uint64(uint16(y))
		} else {
			v = uint64(binary.LittleEndian.Uint16(p.at(o.addr, 2)))
			p.k[o.reg] = v
		}
		return
	case 0x91:
		binary.LittleEndian.PutUint16(p.at(o.addr, 2), uint16(p.k[o.reg]))
		return
	case 0x92:
		p.k[o.reg] = uint64(uint16(p.regs[o.n]))
		return
	case 0x93:
		if p.regs[o.reg] = uint64(uint16(y)); w == 1 {
			p.regs[o.reg] = y
		}
		return
	case 0x98:
		p.zero, p.less = uint16(p.k[o.reg]|y) == 0, uint16(p.k[o.reg]|y) == 0xffff
		return
	case 0x41:
		x &= y
	case 0x42:
		x = ^x & y
	case 0x45:
		x |= y
	case 0x46:
		x = ^(x ^ y)
	case 0x47:
		x ^= y
	case 0x4b:
		half := map[[2]byte]int{{1, 0}: 8, {0, 0}: 16, {0, 1}: 32}[[2]byte{pp, w}]
		if half == 0 {
			p.unknown(op)
		}
		x, width = x<<half|y&(1<<half-1), 2*half
	default:
		p.unknown(op)
	}
	p.k[o.reg] = x & (^uint64(0) >> (64 - width))
}

// ones512 are n set bits.
func ones512(n int) uint64 { return ^uint64(0) >> (64 - n) }

// has reports whether mask k, of which 0 is all, has element i.
func (p *avx512) has(k, i int) bool { return k == 0 || p.k[k]>>i&1 != 0 }

// leading512 and set512 count bits, as VPLZCNT and VPOPCNT.
func leading512(x uint32) uint32 { return uint32(bits.LeadingZeros32(x)) }
func set512(x uint32) uint32     { return uint32(bits.OnesCount32(x)) }
