//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
)

// z512 is a vector register of the model.
type z512 [64]byte

func (z *z512) words() *[32]uint16  { return (*[32]uint16)(unsafe.Pointer(z)) }
func (z *z512) dwords() *[16]uint32 { return (*[16]uint32)(unsafe.Pointer(z)) }
func (z *z512) qwords() *[8]uint64  { return (*[8]uint64)(unsafe.Pointer(z)) }

// sources512 are what an instruction computes from: the old destination, the register of the prefix and the last operand.
type sources512 struct {
	d, s, r z512
	imm     byte
	round   rounding
}

// vector512 is an instruction whose result is a register.
type vector512 struct {
	size   int // of an element, in bytes, which is what a mask counts
	memory int // how many bytes the last operand has, if it is in memory
	imm    bool
	low    bool // the result has 32 bytes
	across bool // elements stand elsewhere in the result: all are read, whatever the mask
	do     func(o *sources512) z512
}

// Makers of instructions that do the same for each element.
func on16(f func(d, s, r uint16) uint16) vector512 {
	return vector512{size: 2, memory: 64, do: func(o *sources512) (z z512) {
		for i := range z.words() {
			z.words()[i] = f(o.d.words()[i], o.s.words()[i], o.r.words()[i])
		}
		return z
	}}
}

func on32(f func(d, s, r uint32) uint32) vector512 {
	return with32(false, func(o *sources512, d, s, r uint32) uint32 { return f(d, s, r) })
}

func with32(imm bool, f func(o *sources512, d, s, r uint32) uint32) vector512 {
	return vector512{size: 4, memory: 64, imm: imm, do: func(o *sources512) (z z512) {
		for i := range z.dwords() {
			z.dwords()[i] = f(o, o.d.dwords()[i], o.s.dwords()[i], o.r.dwords()[i])
		}
		return z
	}}
}

func on64(f func(d, s, r uint64) uint64) vector512 {
	return with64(false, func(o *sources512, d, s, r uint64) uint64 { return f(d, s, r) })
}

func with64(imm bool, f func(o *sources512, d, s, r uint64) uint64) vector512 {
	return vector512{size: 8, memory: 64, imm: imm, do: func(o *sources512) (z z512) {
		for i := range z.qwords() {
			z.qwords()[i] = f(o, o.d.qwords()[i], o.s.qwords()[i], o.r.qwords()[i])
		}
		return z
	}}
}

// widen64 is one whose dwords become qwords, narrow32 the other way round.
func widen64(f func(r uint32) uint64) vector512 {
	return vector512{size: 8, memory: 32, do: func(o *sources512) (z z512) {
		for i := range z.qwords() {
			z.qwords()[i] = f(o.r.dwords()[i])
		}
		return z
	}}
}

func narrow32(f func(o *sources512, r uint64) uint32) vector512 {
	return vector512{size: 4, memory: 64, low: true, do: func(o *sources512) (z z512) {
		for i, x := range o.r.qwords() {
			z.dwords()[i] = f(o, x)
		}
		return z
	}}
}

// widen32 is one whose words or bytes, size of them, become dwords.
func widen32(size int, f func(x uint16) uint32) vector512 {
	return vector512{size: 4, memory: 16 * size, do: func(o *sources512) (z z512) {
		for i := range z.dwords() {
			x := uint16(o.r[i])
			if size == 2 {
				x = o.r.words()[i]
			}
			z.dwords()[i] = f(x)
		}
		return z
	}}
}

// within512 is x within limits.
func within512(x, least, most int) uint16 { return uint16(max(least, min(most, x))) }

func signedWords(f func(a, b int) int) vector512 {
	return on16(func(_, s, r uint16) uint16 { return within512(f(int(int16(s)), int(int16(r))), -1<<15, 1<<15-1) })
}

func unsignedWords(f func(a, b int) int) vector512 {
	return on16(func(_, s, r uint16) uint16 { return within512(f(int(s), int(r)), 0, 1<<16-1) })
}

func plus512(a, b int) int  { return a + b }
func minus512(a, b int) int { return a - b }
func least512(a, b int) int { return min(a, b) }
func most512(a, b int) int  { return max(a, b) }

// broadcast512 takes one element for all.
func broadcast512(size int) vector512 {
	return vector512{size: size, memory: size, do: func(o *sources512) (z z512) {
		for i := range z {
			z[i] = o.r[i%size]
		}
		return z
	}}
}

// move512 is the last operand.
func move512(size int) vector512 {
	return vector512{size: size, memory: 64, do: func(o *sources512) z512 { return o.r }}
}

// integers512 are the instructions on integers, and moves.
var integers512 = map[x64.VOp]vector512{
	x64.VPADDD:    on32(func(_, s, r uint32) uint32 { return s + r }),
	x64.VPSUBD:    on32(func(_, s, r uint32) uint32 { return s - r }),
	x64.VPANDD:    on32(func(_, s, r uint32) uint32 { return s & r }),
	x64.VPORD:     on32(func(_, s, r uint32) uint32 { return s | r }),
	x64.VPXORD:    on32(func(_, s, r uint32) uint32 { return s ^ r }),
	x64.VPMULLD:   on32(func(_, s, r uint32) uint32 { return s * r }),
	x64.VPMINUD:   on32(func(_, s, r uint32) uint32 { return min(s, r) }),
	x64.VPMAXUD:   on32(func(_, s, r uint32) uint32 { return max(s, r) }),
	x64.VPMINSD:   on32(func(_, s, r uint32) uint32 { return uint32(min(int32(s), int32(r))) }),
	x64.VPMAXSD:   on32(func(_, s, r uint32) uint32 { return uint32(max(int32(s), int32(r))) }),
	x64.VPSLLVD:   on32(func(_, s, r uint32) uint32 { return s << r }),
	x64.VPSRLVD:   on32(func(_, s, r uint32) uint32 { return s >> r }),
	x64.VPSRAVD:   on32(func(_, s, r uint32) uint32 { return uint32(int32(s) >> r) }),
	x64.VPLZCNTD:  on32(func(_, _, r uint32) uint32 { return leading512(r) }),
	x64.VPOPCNTD:  on32(func(_, _, r uint32) uint32 { return set512(r) }),
	x64.VMOVDQU8:  move512(1),
	x64.VMOVDQU16: move512(2),
	x64.VMOVDQU32: move512(4),
	x64.VMOVDQU64: move512(8),
	x64.VPMADDWD: on32(func(_, s, r uint32) uint32 {
		return uint32(int32(int16(s))*int32(int16(r)) + int32(s)>>16*(int32(r)>>16))
	}),
	x64.VPDPBUSD: on32(func(d, s, r uint32) uint32 {
		for i := 0; i < 32; i += 8 {
			d += uint32(int32(s>>i&0xff) * int32(int8(r>>i)))
		}
		return d
	}),
	x64.VPTERNLOGD: with32(true, func(o *sources512, d, s, r uint32) (x uint32) {
		for i := range 32 {
			x |= uint32(o.imm>>(d>>i&1<<2|s>>i&1<<1|r>>i&1)&1) << i
		}
		return x
	}),

	x64.VPADDQ:  on64(func(_, s, r uint64) uint64 { return s + r }),
	x64.VPSUBQ:  on64(func(_, s, r uint64) uint64 { return s - r }),
	x64.VPANDQ:  on64(func(_, s, r uint64) uint64 { return s & r }),
	x64.VPORQ:   on64(func(_, s, r uint64) uint64 { return s | r }),
	x64.VPXORQ:  on64(func(_, s, r uint64) uint64 { return s ^ r }),
	x64.VPSLLVQ: on64(func(_, s, r uint64) uint64 { return s << r }),
	x64.VPSRLVQ: on64(func(_, s, r uint64) uint64 { return s >> r }),
	x64.VPSRAVQ: on64(func(_, s, r uint64) uint64 { return uint64(int64(s) >> r) }),
	x64.VPMULUDQ: on64(func(_, s, r uint64) uint64 {
		return uint64(uint32(s)) * uint64(uint32(r))
	}),
	x64.VPMULDQ: on64(func(_, s, r uint64) uint64 { return uint64(int64(int32(s)) * int64(int32(r))) }),

	x64.VPADDW:   on16(func(_, s, r uint16) uint16 { return s + r }),
	x64.VPSUBW:   on16(func(_, s, r uint16) uint16 { return s - r }),
	x64.VPMULLW:  on16(func(_, s, r uint16) uint16 { return s * r }),
	x64.VPSLLVW:  on16(func(_, s, r uint16) uint16 { return s << r }),
	x64.VPSRLVW:  on16(func(_, s, r uint16) uint16 { return s >> r }),
	x64.VPSRAVW:  on16(func(_, s, r uint16) uint16 { return uint16(int16(s) >> r) }),
	x64.VPADDUSW: unsignedWords(plus512), x64.VPSUBUSW: unsignedWords(minus512), x64.VPADDSW: signedWords(plus512), x64.VPSUBSW: signedWords(minus512),
	x64.VPMINUW: unsignedWords(least512), x64.VPMAXUW: unsignedWords(most512), x64.VPMINSW: signedWords(least512), x64.VPMAXSW: signedWords(most512),

	x64.VPMOVZXDQ: widen64(func(r uint32) uint64 { return uint64(r) }),
	x64.VPMOVZXBD: widen32(1, func(x uint16) uint32 { return uint32(x) }),
	x64.VPMOVSXBD: widen32(1, func(x uint16) uint32 { return uint32(int32(int8(x))) }),
	x64.VPMOVZXWD: widen32(2, func(x uint16) uint32 { return uint32(x) }),
	x64.VPMOVSXWD: widen32(2, func(x uint16) uint32 { return uint32(int32(int16(x))) }),
	x64.VPBCASTD:  broadcast512(4),
	x64.VPBCASTQ:  broadcast512(8),

	x64.VPUNPCKLDQ: dwords512(false, func(o *sources512, block, i int) uint32 {
		return [2]*z512{&o.s, &o.r}[i&1].dwords()[block+i>>1]
	}),
	x64.VPUNPCKHDQ: dwords512(false, func(o *sources512, block, i int) uint32 {
		return [2]*z512{&o.s, &o.r}[i&1].dwords()[block+2+i>>1]
	}),
	x64.VSHUFPS: dwords512(true, func(o *sources512, block, i int) uint32 {
		return [2]*z512{&o.s, &o.r}[i>>1].dwords()[block+int(o.imm>>(2*i)&3)]
	}),
	x64.VPSHUFD: dwords512(true, func(o *sources512, block, i int) uint32 { return o.r.dwords()[block+int(o.imm>>(2*i)&3)] }),
	x64.VPERMD:  dwords512(false, func(o *sources512, block, i int) uint32 { return o.r.dwords()[o.s.dwords()[block+i]&15] }),
	x64.VPERMI2D: dwords512(false, func(o *sources512, block, i int) uint32 {
		n := o.d.dwords()[block+i]
		return [2]*z512{&o.s, &o.r}[n>>4&1].dwords()[n&15]
	}),
	x64.VPSHUFB: {size: 1, memory: 64, across: true, do: func(o *sources512) (z z512) {
		for i, n := range o.r {
			if n < 0x80 {
				z[i] = o.s[i&^15|int(n&15)]
			}
		}
		return z
	}},
	x64.VINSERTI64X4: {size: 8, memory: 32, imm: true, across: true, do: func(o *sources512) z512 {
		z := o.s
		copy(z[int(o.imm&1)*32:], o.r[:32])
		return z
	}},
}

// dwords512 makes dword i of each 16 bytes, which begin with dword block.
func dwords512(imm bool, f func(o *sources512, block, i int) uint32) vector512 {
	return vector512{size: 4, memory: 64, imm: imm, across: true, do: func(o *sources512) (z z512) {
		for i := range z.dwords() {
			z.dwords()[i] = f(o, i&^3, i&3)
		}
		return z
	}}
}

// narrowing512 are those whose destination is the last operand.
var narrowing512 = map[x64.VOp]struct {
	bytes int // of the result
	imm   bool
	do    func(s *z512, imm byte) z512
}{
	{Map: 2, PP: 2, Op: 0x31}: {16, false, func(s *z512, _ byte) (z z512) { // VPMOVDB
		for i, x := range s.dwords() {
			z[i] = byte(x)
		}
		return z
	}},
	{Map: 2, PP: 2, Op: 0x33}: {32, false, func(s *z512, _ byte) (z z512) { // VPMOVDW
		for i, x := range s.dwords() {
			z.words()[i] = uint16(x)
		}
		return z
	}},
	{Map: 2, PP: 2, Op: 0x35}: {32, false, func(s *z512, _ byte) (z z512) { // VPMOVQD
		for i, x := range s.qwords() {
			z.dwords()[i] = uint32(x)
		}
		return z
	}},
	{Map: 3, PP: 1, W: 1, Op: 0x3b}: {32, true, func(s *z512, imm byte) (z z512) { // VEXTRACTI64X4
		copy(z[:32], s[32*(imm&1):])
		return z
	}},
	{Map: 1, PP: 2, Op: 0x7f}: {64, false, func(s *z512, _ byte) z512 { return *s }}, // VMOVDQU32
	x64.VCVTPS2PH: {32, true, func(s *z512, imm byte) (z z512) {
		for i, x := range s.dwords() {
			z.words()[i] = halfOf(x, [4]rounding{roundEven, roundDown, roundUp, roundZero}[imm&3])
		}
		return z
	}},
}

// elements512 is how many elements what narrows has.
func elements512(o x64.VOp) int {
	if o.W == 1 || o.Op == 0x35 {
		return 8
	}
	return 16
}

// evex executes an instruction with the prefix EVEX.
func (p *avx512) evex() {
	b1, b2, b3 := p.byte(), p.byte(), p.byte()
	op := x64.VOp{Map: b1 & 7, PP: b2 & 3, W: b2 >> 7, Op: p.byte()}
	r, x, b, r4 := int(^b1>>7&1), int(^b1>>6&1), int(^b1>>5&1), int(^b1>>4&1)
	s := int(^b2>>3&15) | int(^b3>>3&1)<<4
	zeroing, length, one, k := b3>>7 != 0, int(b3>>5&3), b3>>4&1 != 0, int(b3&7)
	decode := func(vsib bool, after, unit int) operand512 {
		o := p.modrm(r, x, b, vsib, after, unit)
		o.reg |= r4 << 4
		if vsib {
			o.vec |= s & 16
		}
		if o.is {
			o.n |= x << 4
		}
		return o
	}
	if length == 0 && !one { // 16 bytes
		p.short(op, decode)
		return
	}
	switch {
	case op.Map == 2 && op.PP == 1 && op.Op&^0x31 == 0x80 && op.Op >= 0x90: // gathers and scatters
		p.elements(op, decode(true, 0, 4<<op.W), k)
		return
	case op.Map == 1 && op.PP == 1 && op.Op >= 0x71 && op.Op <= 0x73:
		p.shift(op, s, k, one, zeroing, decode)
		return
	case op == x64.VOp{Map: 2, PP: 1, Op: 0x7c} || op == x64.VOp{Map: 2, PP: 1, W: 1, Op: 0x7c}: // VPBROADCAST of a general register
		o := decode(false, 0, 1)
		for i := range p.z[o.reg].qwords() {
			v := p.regs[o.n]
			if op.W == 0 {
				v = v&0xffffffff | v<<32
			}
			p.z[o.reg].qwords()[i] = v
		}
		return
	}
	if c, ok := compares512[op]; ok {
		after := 0
		if c.imm {
			after = 1
		}
		o := decode(false, after, sizeOr(one, c.size, 64))
		from := p.source(o, c.size, 64, one, 0)
		var imm byte
		if c.imm {
			imm = p.byte()
		}
		var result uint64
		for i := range 64 / c.size {
			if p.has(k, i) && c.holds(p.z[s][i*c.size:], from[i*c.size:], imm) {
				result |= 1 << i
			}
		}
		p.k[o.reg&7] = result
		return
	}
	if n, ok := narrowing512[op]; ok {
		after := 0
		if n.imm {
			after = 1
		}
		o := decode(false, after, n.bytes)
		var imm byte
		if n.imm {
			imm = p.byte()
		}
		v := n.do(&p.z[o.reg], imm)
		if count := elements512(op); !o.is {
			size := n.bytes / count
			for i := range count {
				if p.has(k, i) {
					copy(p.at(o.addr+uint64(i*size), size), v[i*size:])
				}
			}
		} else if k == 0 {
			p.z[o.n] = v
		} else {
			p.unknown(op.Op)
		}
		return
	}
	in, ok := integers512[op]
	if !ok {
		in, ok = floats512[op]
	}
	if !ok {
		p.unknown(op.Op)
	}
	after := 0
	if in.imm {
		after = 1
	}
	o := decode(false, after, sizeOr(one, 4<<op.W, in.memory))
	q := sources512{d: p.z[o.reg], s: p.z[s]}
	if one && o.is {
		q.round = [4]rounding{roundEven, roundDown, roundUp, roundZero}[length]
		one = false
	}
	read := k
	if in.across || op == x64.VPBLENDMD {
		read = 0
	}
	q.r = p.source(o, in.size, in.memory, one, read)
	if in.imm {
		q.imm = p.byte()
	}
	v := in.do(&q)
	for i := range 64 / in.size {
		switch {
		case in.low && i*in.size >= 32, p.has(k, i):
		case op == x64.VPBLENDMD:
			copy(v[i*in.size:][:in.size], q.s[i*in.size:])
		case zeroing:
			clear(v[i*in.size:][:in.size])
		default:
			copy(v[i*in.size:][:in.size], q.d[i*in.size:])
		}
	}
	p.z[o.reg] = v
}

func sizeOr(one bool, size, memory int) int {
	if one {
		return size
	}
	return memory
}

// source is the last operand: in memory, what mask k has of it.
func (p *avx512) source(o operand512, size, memory int, one bool, k int) (z z512) {
	switch {
	case o.is:
		return p.z[o.n]
	case one:
		size = max(size, 4)
		b := p.at(o.addr, size)
		for i := range z {
			z[i] = b[i%size]
		}
		return z
	}
	count := 64 / size
	if memory == size { // one for all
		for i := range count {
			if p.has(k, i) {
				copy(z[:], p.at(o.addr, size))
			}
		}
		return z
	}
	each := memory / count
	for i := range count {
		if p.has(k, i) {
			copy(z[i*each:], p.at(o.addr+uint64(i*each), each))
		}
	}
	return z
}

// short executes moves of 16 bytes and less.
func (p *avx512) short(op x64.VOp, decode func(vsib bool, after, unit int) operand512) {
	o := decode(false, 0, 16)
	switch (x64.VOp{Map: op.Map, PP: op.PP, Op: op.Op}) {
	case x64.VOp{Map: 1, PP: 1, Op: 0x7e}: // VMOVD, VMOVQ
		if p.regs[o.n] = p.z[o.reg].qwords()[0]; op.W == 0 {
			p.regs[o.n] &= 0xffffffff
		}
	case x64.VMOVDQU32:
		var z z512
		copy(z[:], p.at(o.addr, 16))
		p.z[o.reg] = z
	case x64.VOp{Map: 1, PP: 2, Op: 0x7f}:
		copy(p.at(o.addr, 16), p.z[o.reg][:])
	default:
		p.unknown(op.Op)
	}
}

// shift executes shifts by a number in the instruction.
func (p *avx512) shift(op x64.VOp, d, k int, one, zeroing bool, decode func(vsib bool, after, unit int) operand512) {
	size := map[byte]int{0x71: 2, 0x72: 4, 0x73: 8}[op.Op]
	o := decode(false, 1, sizeOr(one, size, 64))
	if op.Op == 0x72 && op.W == 1 {
		size = 8
	}
	z := p.source(o, size, 64, one, k)
	n := p.byte()
	for i := 0; i < 64; i += size {
		if !p.has(k, i/size) {
			if zeroing {
				clear(p.z[d][i:][:size])
			}
			continue
		}
		var b [8]byte
		copy(b[:size], z[i:])
		v, width := binary.LittleEndian.Uint64(b[:]), 64-8*size
		switch o.reg & 7 {
		case 6:
			v <<= n
		case 2:
			v >>= n
		case 4:
			v = uint64(int64(v) << width >> width >> n)
		default:
			p.unknown(op.Op)
		}
		binary.LittleEndian.PutUint64(b[:], v)
		copy(p.z[d][i:][:size], b[:])
	}
}

// elements executes gathers and scatters.
func (p *avx512) elements(op x64.VOp, o operand512, k int) {
	size, wide := 4<<op.W, op.Op&1 != 0
	count := 16
	if wide || op.W == 1 {
		count = 8
	}
	if !wide && op.W == 1 {
		p.unknown(op.Op)
	}
	gathers := op.Op < 0xa0
	z := p.z[o.reg]
	for i := range count {
		if !p.has(k, i) {
			continue
		}
		index := uint64(int64(int32(p.z[o.vec].dwords()[i])))
		if wide {
			index = p.z[o.vec].qwords()[i]
		}
		at := p.at(o.addr+index<<o.scale, size)
		if gathers {
			copy(z[size*i:], at)
		} else {
			copy(at, z[size*i:][:size])
		}
	}
	if gathers {
		clear(z[size*count:])
		p.z[o.reg] = z
	}
	p.k[k] = 0
}
