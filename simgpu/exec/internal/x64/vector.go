package x64

import "fmt"

// AVX-512 instructions on 64-byte registers, in the form
//
//	d{k} = s op rm
//
// where rm is a Z, a Mem of 64 bytes, or a Bcast of one element; elements that k
// has not keep what d had. K0 stands for all elements.

// Bcast is one element in memory, taken for all elements of a source.
type Bcast struct{ Mem }

// VOp is the encoding of an instruction.
type VOp struct {
	Map, PP, W, Op byte
}

const (
	m0f, m38, m3a = 1, 2, 3
	map5, map6    = 5, 6
	p66, pf3, pf2 = 1, 2, 3
)

// Instructions on dwords.
var (
	VPADDD    = VOp{m0f, p66, 0, 0xfe}
	VPSUBD    = VOp{m0f, p66, 0, 0xfa}
	VPANDD    = VOp{m0f, p66, 0, 0xdb}
	VPORD     = VOp{m0f, p66, 0, 0xeb}
	VPXORD    = VOp{m0f, p66, 0, 0xef}
	VPMULLD   = VOp{m38, p66, 0, 0x40}
	VPMINUD   = VOp{m38, p66, 0, 0x3b}
	VPMAXUD   = VOp{m38, p66, 0, 0x3f}
	VPMINSD   = VOp{m38, p66, 0, 0x39}
	VPMAXSD   = VOp{m38, p66, 0, 0x3d}
	VPSLLVD   = VOp{m38, p66, 0, 0x47}
	VPSRLVD   = VOp{m38, p66, 0, 0x45}
	VPSRAVD   = VOp{m38, p66, 0, 0x46}
	VPBLENDMD = VOp{m38, p66, 0, 0x64} // k ? rm : s
	VADDPS    = VOp{m0f, 0, 0, 0x58}
	VSUBPS    = VOp{m0f, 0, 0, 0x5c}
	VMULPS    = VOp{m0f, 0, 0, 0x59}
	VDIVPS    = VOp{m0f, 0, 0, 0x5e}
	VFMA213PS = VOp{m38, p66, 0, 0xa8} // d = s*d + rm
	VFMA231PS = VOp{m38, p66, 0, 0xb8} // d = s*rm + d
	VMINPS    = VOp{m0f, 0, 0, 0x5d}   // of zeros and with a NaN: rm
	VMAXPS    = VOp{m0f, 0, 0, 0x5f}
	VPMULDQ   = VOp{m38, p66, 1, 0x28}
	VPDPBUSD  = VOp{m38, p66, 0, 0x50} // d += the products of s's bytes without a sign by rm's with, on processors with VNNI
	VPDPWSSD  = VOp{m38, p66, 0, 0x52} // d += the products of words with signs, likewise
	VPMADDWD  = VOp{m0f, p66, 0, 0xf5} // d = sums of the products of both words of dwords

	VPUNPCKLDQ = VOp{m0f, p66, 0, 0x62} // dwords 0, 1 of s and rm in turn, of each 16 bytes
	VPUNPCKHDQ = VOp{m0f, p66, 0, 0x6a} // dwords 2, 3
	VPERMI2D   = VOp{m38, p66, 0, 0x76} // d = dwords of s and rm, by their numbers in d
	VPERMI2B   = VOp{m38, p66, 0, 0x75} // the same of bytes, on processors with VBMI
	VPSHUFB    = VOp{m38, p66, 0, 0x00} // d = bytes of s, by their numbers in rm, of each 16 bytes
	VPERMD     = VOp{m38, p66, 0, 0x36} // d = dwords of rm, by their numbers in s
)

// Instructions on words.
var (
	VPADDW   = VOp{m0f, p66, 0, 0xfd}
	VPSUBW   = VOp{m0f, p66, 0, 0xf9}
	VPADDUSW = VOp{m0f, p66, 0, 0xdd} // saturating, without and with signs
	VPSUBUSW = VOp{m0f, p66, 0, 0xd9}
	VPADDSW  = VOp{m0f, p66, 0, 0xed}
	VPSUBSW  = VOp{m0f, p66, 0, 0xe9}
	VPMULLW  = VOp{m0f, p66, 0, 0xd5}
	VPMINUW  = VOp{m38, p66, 0, 0x3a}
	VPMAXUW  = VOp{m38, p66, 0, 0x3e}
	VPMINSW  = VOp{m0f, p66, 0, 0xea}
	VPMAXSW  = VOp{m0f, p66, 0, 0xee}
	VPSLLVW  = VOp{m38, p66, 1, 0x12}
	VPSRLVW  = VOp{m38, p66, 1, 0x10}
	VPSRAVW  = VOp{m38, p66, 1, 0x11}
)

// Instructions on f16, on processors with AVX512-FP16. They compute with denormals, and in their usual time.
var (
	VADDPH    = VOp{map5, 0, 0, 0x58}
	VSUBPH    = VOp{map5, 0, 0, 0x5c}
	VMULPH    = VOp{map5, 0, 0, 0x59}
	VFMA213PH = VOp{map6, p66, 0, 0xa8}
)

// Instructions on qwords.
var (
	VPADDQ    = VOp{m0f, p66, 1, 0xd4}
	VPSUBQ    = VOp{m0f, p66, 1, 0xfb}
	VPMINUQ   = VOp{m38, p66, 1, 0x3b}
	VPORQ     = VOp{m0f, p66, 1, 0xeb}
	VPMULUDQ  = VOp{m0f, p66, 1, 0xf4}
	VPSLLVQ   = VOp{m38, p66, 1, 0x47}
	VPSRLVQ   = VOp{m38, p66, 1, 0x45}
	VPSRAVQ   = VOp{m38, p66, 1, 0x46}
	VPANDQ    = VOp{m0f, p66, 1, 0xdb}
	VADDPD    = VOp{m0f, p66, 1, 0x58}
	VMULPD    = VOp{m0f, p66, 1, 0x59}
	VFMA213PD = VOp{m38, p66, 1, 0xa8}
	VMINPD    = VOp{m0f, p66, 1, 0x5d}
	VMAXPD    = VOp{m0f, p66, 1, 0x5f}
	VSUBPD    = VOp{m0f, p66, 1, 0x5c}
	VSCALEFPD = VOp{m38, p66, 1, 0x2c} // d = s times two to the power of rm
	VDIVPD    = VOp{m0f, p66, 1, 0x5e}
	VPXORQ    = VOp{m0f, p66, 1, 0xef}
)

// Instructions of one source.
var (
	VCVTDQ2PS = VOp{m0f, 0, 0, 0x5b}
	VCVTUD2PS = VOp{m0f, pf2, 0, 0x7a}
	VPLZCNTD  = VOp{m38, p66, 0, 0x44}
	VPMOVZXDQ = VOp{m38, p66, 0, 0x35} // rm has 32 bytes
	VPBCASTD  = VOp{m38, p66, 0, 0x58} // rm has one element
	VPBCASTQ  = VOp{m38, p66, 1, 0x59}
	VMOVDQU32 = VOp{m0f, pf3, 0, 0x6f}
	VMOVDQU8  = VOp{m0f, pf2, 0, 0x6f}
	VMOVDQU16 = VOp{m0f, pf2, 1, 0x6f}
	VMOVDQU64 = VOp{m0f, pf3, 1, 0x6f}
	VPOPCNTD  = VOp{m38, p66, 0, 0x55}
	VPMOVZXBD = VOp{m38, p66, 0, 0x31} // rm has 16 bytes
	VPMOVSXBD = VOp{m38, p66, 0, 0x21}
	VPMOVZXWD = VOp{m38, p66, 0, 0x33} // rm has 32 bytes
	VPMOVSXWD = VOp{m38, p66, 0, 0x23}
	VCVTPS2PD = VOp{m0f, 0, 0, 0x5a}   // rm has 32 bytes
	VCVTPD2PS = VOp{m0f, p66, 1, 0x5a} // d has 32 bytes
	VSQRTPD   = VOp{m0f, p66, 1, 0x51}
	VCVTDQ2PD = VOp{m0f, pf3, 0, 0xe6} // rm has 32 bytes
	VCVTUD2PD = VOp{m0f, pf3, 0, 0x7a}
	VCVTTPS2D = VOp{m0f, pf3, 0, 0x5b}
	VCVTTPS2U = VOp{m0f, 0, 0, 0x78}
	VCVTPH2PS = VOp{m38, p66, 0, 0x13} // rm has 32 bytes
	VCVTTPD2D = VOp{m0f, p66, 1, 0xe6} // d has 32 bytes
	VCVTTPD2U = VOp{m0f, 0, 1, 0x78}   // likewise
	VCVTQQ2PD = VOp{m0f, pf3, 1, 0xe6}
	VGETEXPPS = VOp{m38, p66, 0, 0x42} // exponents as floats
	VGETEXPPD = VOp{m38, p66, 1, 0x42}
)

// memory is how many bytes an instruction of one source reads or one with two reads of its second, where that is not a register.
func (o VOp) memory() int32 {
	switch o {
	case VPMOVZXBD, VPMOVSXBD:
		return 16
	case VPMOVZXDQ, VPMOVZXWD, VPMOVSXWD, VCVTPS2PD, VCVTDQ2PD, VCVTUD2PD, VCVTPH2PS, VINSERTI64X4:
		return 32
	case VPBCASTD, VPBCASTQ:
		return o.element()
	}
	return 64
}

// element is the size of an element.
func (o VOp) element() int32 {
	if o.Map >= map5 {
		return 2
	}
	return 4 << o.W
}

// broadcasts reports whether the last source can be a Bcast. Of words and bytes there is no such form, nor of what only moves.
func (o VOp) broadcasts() bool {
	switch o {
	case VPADDW, VPSUBW, VPADDUSW, VPSUBUSW, VPADDSW, VPSUBSW, VPMULLW, VPMINUW, VPMAXUW, VPMINSW, VPMAXSW, VPSLLVW, VPSRLVW, VPSRAVW,
		VPMADDWD, VPSHUFB, VPERMI2B, VPCMPUB, VPCMPB, VPMOVZXDQ, VPMOVZXBD, VPMOVSXBD, VPMOVZXWD, VPMOVSXWD, VPBCASTD, VPBCASTQ,
		VMOVDQU32, VMOVDQU8, VMOVDQU16, VMOVDQU64, VCVTPH2PS, VCVTPS2PH, VINSERTI64X4:
		return false
	}
	return true
}

// mayRead panics if o cannot read rm. It is asked where code is lowered, too: what is generated is right for both or for none.
func (o VOp) mayRead(rm any) {
	if _, ok := rm.(Bcast); ok && !o.broadcasts() {
		panic(fmt.Sprintf("x64: %#x broadcasts no element", o.Op))
	}
}

// evex emits an instruction. after is how many bytes of it follow.
func (a *Asm) evex(o VOp, reg, s byte, rm any, k K, zero bool, after int) {
	a.evexOn(o, reg, s, rm, k, zero, after, o.memory())
}

// evexOn is evex for one that is on so many bytes of memory, which displacements of one byte are counted in.
func (a *Asm) evexOn(o VOp, reg, s byte, rm any, k K, zero bool, after int, bytes int32) {
	bcast := byte(0)
	if b, ok := rm.(Bcast); ok {
		rm, bcast, bytes = b.Mem, 1, o.element()
	}
	x, b, v4 := high(rm)
	if _, ok := rm.(Mem); !ok || v4 == 0 {
		v4 = s >> 4 & 1
	}
	z := byte(0)
	if zero {
		z = 1
	}
	a.emit(0x62,
		(^(reg>>3)&1)<<7|(^x&1)<<6|(^b&1)<<5|(^(reg>>4)&1)<<4|o.Map,
		o.W<<7|(^s&15)<<3|1<<2|o.PP,
		z<<7|2<<5|bcast<<4|(^v4&1)<<3|byte(k),
		o.Op)
	a.modrm(reg, rm, after, bytes)
}

// V emits d{k} = s o rm.
func (a *Asm) V(o VOp, d, s Z, rm any, k K) {
	o.mayRead(rm)
	if a.low != nil {
		a.low.binary(o, d, s, rm, k)
		return
	}
	a.evex(o, byte(d), byte(s), rm, k, false, 0)
}

// V1 emits d{k} = o rm.
func (a *Asm) V1(o VOp, d Z, rm any, k K) { a.oneSource(o, d, rm, k, false) }

// V1Zero emits d = o rm, zero where k is not set.
func (a *Asm) V1Zero(o VOp, d Z, rm any, k K) { a.oneSource(o, d, rm, k, true) }

func (a *Asm) oneSource(o VOp, d Z, rm any, k K, zero bool) {
	o.mayRead(rm)
	if a.low != nil {
		a.low.unary(o, d, rm, k, zero)
		return
	}
	a.evex(o, byte(d), 0, rm, k, zero, 0)
}

// Rounding of V's result, whatever the processor's mode is.
type Rounding byte

const (
	Down       Rounding = 1
	Up         Rounding = 2
	TowardZero Rounding = 3
)

// VRounded emits d = s o t, rounded as is said. Instructions of one source have no s.
func (a *Asm) VRounded(o VOp, d, s, t Z, r Rounding) {
	if a.low != nil {
		a.low.rounded(o, d, s, t, r)
		return
	}
	n := len(a.code)
	a.evex(o, byte(d), byte(s), t, 0, false, 0)
	a.code[n+3] = a.code[n+3]&^(3<<5) | byte(r)<<5 | 1<<4
}

// VImm emits d{k} = s o rm with an immediate.
func (a *Asm) VImm(o VOp, d, s Z, rm any, k K, imm byte) {
	o.mayRead(rm)
	if a.low != nil {
		a.low.withImm(o, d, s, rm, k, imm)
		return
	}
	a.evex(o, byte(d), byte(s), rm, k, false, 1)
	a.emit(imm)
}

// Instructions with an immediate.
var (
	VPTERNLOGD   = VOp{m3a, p66, 0, 0x25} // bit of imm numbered d:s:rm
	VRNDSCALEPS  = VOp{m3a, p66, 0, 0x08}
	VRANGEPS     = VOp{m3a, p66, 0, 0x50} // imm 4 the smaller, 5 the larger; -0 is less than 0
	VRANGEPD     = VOp{m3a, p66, 1, 0x50}
	VCVTPS2PH    = VOp{m3a, p66, 0, 0x1d} // reg and rm are the other way round; rm has 32 bytes
	VRNDSCALEPD  = VOp{m3a, p66, 1, 0x09}
	VINSERTI64X4 = VOp{m3a, p66, 1, 0x3a}
	VGETMANTPS   = VOp{m3a, p66, 0, 0x26} // imm 2: from a half up to 1, with the sign
	VGETMANTPD   = VOp{m3a, p66, 1, 0x26}
	VPSHUFD      = VOp{m0f, p66, 0, 0x70} // one source; dwords of each 16 bytes
	VSHUFPS      = VOp{m0f, 0, 0, 0xc6}   // two dwords of s, two of rm, of each 16 bytes
)

// VShift is a shift of all elements by the same number of bits.
type VShift struct{ W, Op, Ext byte }

// The shifts.
var (
	VPSLLQ = VShift{1, 0x73, 6}
	VPSRLQ = VShift{1, 0x73, 2}
	VPSLLW = VShift{0, 0x71, 6} // of words, as the next ones; no masks
	VPSRLW = VShift{0, 0x71, 2}
	VPSRAW = VShift{0, 0x71, 4}
	VPSLLD = VShift{0, 0x72, 6}
	VPSRLD = VShift{0, 0x72, 2}
	VPSRAD = VShift{0, 0x72, 4}
	VPSRAQ = VShift{1, 0x72, 4}
)

// VShift emits d{k} = rm shifted by n.
func (a *Asm) VShift(o VShift, d Z, rm any, k K, n byte) {
	if a.low != nil {
		a.low.shiftAll(o, d, rm, k, n)
		return
	}
	a.evex(VOp{m0f, p66, o.W, o.Op}, o.Ext, byte(d), rm, k, false, 1)
	a.emit(n)
}

// VStore emits m{k} = s.
func (a *Asm) VStore(m Mem, s Z, k K) {
	if a.low != nil {
		a.low.storeAll(m, s, k)
		return
	}
	a.evex(VOp{m0f, pf3, 0, 0x7f}, byte(s), 0, m, k, false, 0)
}

// VStoreNarrow emits m{k} = the low n bytes of each dword of s, one or two, packed.
func (a *Asm) VStoreNarrow(n int, m Mem, s Z, k K) {
	if a.low != nil {
		a.low.storeNarrow(n, m, s, k)
		return
	}
	a.evexOn(VOp{m38, pf3, 0, 0x31 + byte(n/2)*2}, byte(s), 0, m, k, false, 0, int32(16*n))
}

// VNarrow emits the low 32 bytes of d = the low halves of the qwords of s.
func (a *Asm) VNarrow(d, s Z) {
	if a.low != nil {
		a.low.lowDwords(d, s)
		return
	}
	a.evex(VOp{m38, pf3, 0, 0x35}, byte(s), 0, d, 0, false, 0)
}

// VFromReg emits d = r in all elements, of 64 bits if w.
func (a *Asm) VFromReg(w bool, d Z, r Reg) {
	if a.low != nil {
		a.low.fromReg(w, d, r)
		return
	}
	o := VOp{m38, p66, 0, 0x7c}
	if w {
		o.W = 1
	}
	a.evex(o, byte(d), 0, r, 0, false, 0)
}

// VToReg emits r = the lowest dword of s, or qword if w.
func (a *Asm) VToReg(w bool, r Reg, s Z) {
	if a.low != nil {
		a.low.toReg(w, r, s)
		return
	}
	o := VOp{m0f, p66, 0, 0x7e}
	if w {
		o.W = 1
	}
	a.evex128(o, byte(s), r)
}

// evex128 emits an instruction of 128 bits.
func (a *Asm) evex128(o VOp, reg byte, rm any) {
	n := len(a.code)
	a.evexOn(o, reg, 0, rm, 0, false, 0, 16)
	a.code[n+3] &^= 3 << 5
}

// VLoad16 emits the low 16 bytes of d = those at m.
func (a *Asm) VLoad16(d Z, m Mem) {
	if a.low != nil {
		a.low.load16(d, m)
		return
	}
	a.evex128(VMOVDQU32, byte(d), m)
}

// VStore16 emits the 16 bytes at m = the low ones of s.
func (a *Asm) VStore16(m Mem, s Z) {
	if a.low != nil {
		a.low.store16(m, s)
		return
	}
	a.evex128(VOp{m0f, pf3, 0, 0x7f}, byte(s), m)
}

// Gather emits d{k} = the dwords at m; k is zero afterwards.
func (a *Asm) Gather(d Z, m Mem, k K) { a.gather(VOp{m38, p66, 0, 0x90}, d, m, k) }

// GatherQ is Gather with qwords as index: of 8 dwords, to the low half of d.
func (a *Asm) GatherQ(d Z, m Mem, k K) { a.gather(VOp{m38, p66, 0, 0x91}, d, m, k) }

// ScatterQ is Scatter with qwords as index: of 8 dwords, the low half of s.
func (a *Asm) ScatterQ(m Mem, s Z, k K) { a.scatter(VOp{m38, p66, 0, 0xa1}, m, s, k) }

// GatherPair is GatherQ of 8 qwords.
func (a *Asm) GatherPair(d Z, m Mem, k K) { a.gather(VOp{m38, p66, 1, 0x91}, d, m, k) }

// ScatterPair is ScatterQ of 8 qwords.
func (a *Asm) ScatterPair(m Mem, s Z, k K) { a.scatter(VOp{m38, p66, 1, 0xa1}, m, s, k) }

func (a *Asm) gather(o VOp, d Z, m Mem, k K) {
	if a.low != nil {
		a.low.gather(d, m, k, o.Op == 0x91, o.W == 1)
		return
	}
	a.evexOn(o, byte(d), 0, m, k, false, 0, int32(4<<o.W))
}

func (a *Asm) scatter(o VOp, m Mem, s Z, k K) {
	if a.low != nil {
		a.low.scatter(m, s, k, o.Op == 0xa1, o.W == 1)
		return
	}
	a.evexOn(o, byte(s), 0, m, k, false, 0, int32(4<<o.W))
}

// VToHalf emits the low half of d = s as 16-bit floats, rounded as imm says: 0 to
// nearest even, 3 to zero.
func (a *Asm) VToHalf(d, s Z, imm byte) {
	if a.low != nil {
		a.low.toHalf(d, s, imm)
		return
	}
	a.evex(VCVTPS2PH, byte(s), 0, d, 0, false, 1)
	a.emit(imm)
}

// VNarrowWords emits the low half of d = the low halves of the dwords of s.
func (a *Asm) VNarrowWords(d, s Z) {
	if a.low != nil {
		a.low.lowWords(d, s)
		return
	}
	a.evex(VOp{m38, pf3, 0, 0x33}, byte(s), 0, d, 0, false, 0)
}

// VUpper emits the low half of d = the upper half of s.
func (a *Asm) VUpper(d, s Z) {
	if a.low != nil {
		a.low.upper(d, s)
		return
	}
	a.evex(VOp{m3a, p66, 1, 0x3b}, byte(s), 0, d, 0, false, 1)
	a.emit(1)
}

// Scatter emits the dwords at m{k} = s, the lowest first; k is zero afterwards.
func (a *Asm) Scatter(m Mem, s Z, k K) { a.scatter(VOp{m38, p66, 0, 0xa0}, m, s, k) }

// VTest emits d = the elements of k for which s & rm is not zero.
func (a *Asm) VTest(d K, s Z, rm any, k K) {
	if a.low != nil {
		a.low.test(d, s, rm, k)
		return
	}
	a.evex(VOp{m38, p66, 0, 0x27}, byte(d), byte(s), rm, k, false, 0)
}

// VTestNotWords emits d = the words for which s & t is zero.
func (a *Asm) VTestNotWords(d K, s, t Z) {
	if a.low != nil {
		a.low.missing = true
		return
	}
	a.evex(VOp{m38, pf3, 1, 0x26}, byte(d), byte(s), t, 0, false, 0)
}

// VClass emits d = the floats of s that are of one of the classes: 1 quiet NaN, 2 and 4 zeros, 8 and 0x10 infinities, 0x20
// denormal, 0x40 negative, 0x80 signalling NaN.
func (a *Asm) VClass(d K, s Z, classes byte) {
	if a.low != nil {
		a.low.class(d, s, classes)
		return
	}
	a.evex(VOp{m3a, p66, 0, 0x66}, byte(d), 0, s, 0, false, 1)
	a.emit(classes)
}

// Predicates of VCmp.
const (
	EQ  = 0
	LT  = 1
	LEQ = 2
	NEQ = 4
	NLT = 5 // greater or equal, of integers
	NLE = 6 // greater, of integers
	// Of floats: ordered, quiet.
	FEQ  = 0x00
	FLT  = 0x11
	FLE  = 0x12
	FUN  = 0x03 // unordered
	FNEQ = 0x04 // unordered or not equal
	FGE  = 0x1d
	FGT  = 0x1e
	// And those that also hold for unordered ones, and the others that do not.
	FNLT = 0x15
	FNLE = 0x16
	FORD = 0x07
	FEQU = 0x08
	FNGE = 0x19
	FNGT = 0x1a
	FLG  = 0x0c
)

// Comparisons.
var (
	VPCMPD  = VOp{m3a, p66, 0, 0x1f}
	VPCMPUD = VOp{m3a, p66, 0, 0x1e}
	VPCMPUB = VOp{m3a, p66, 0, 0x3e} // of bytes, as the next one: 64 elements
	VPCMPB  = VOp{m3a, p66, 0, 0x3f}
	VPCMPQ  = VOp{m3a, p66, 1, 0x1f}
	VPCMPUQ = VOp{m3a, p66, 1, 0x1e}
	VCMPPS  = VOp{m0f, 0, 0, 0xc2}
	VCMPPD  = VOp{m0f, p66, 1, 0xc2}
)

// VCmp emits d = the elements of k for which s pred rm holds.
func (a *Asm) VCmp(o VOp, d K, s Z, rm any, k K, pred byte) {
	o.mayRead(rm)
	if a.low != nil {
		a.low.compare(o, d, s, rm, k, pred)
		return
	}
	a.evex(o, byte(d), byte(s), rm, k, false, 1)
	a.emit(pred)
}

// vex emits an instruction on masks.
func (a *Asm) vex(mm, pp, w, l, op, reg, s byte, rm any) { a.vexAfter(mm, pp, w, l, op, reg, s, rm, 0) }

// vexAfter is vex with after bytes of the instruction that follow.
func (a *Asm) vexAfter(mm, pp, w, l, op, reg, s byte, rm any, after int) {
	x, b, _ := high(rm)
	a.emit(0xc4, (^(reg>>3)&1)<<7|(^x&1)<<6|(^b&1)<<5|mm, w<<7|(^s&15)<<3|l<<2|pp, op)
	a.modrm(reg, rm, after, 1)
}

// KLoad emits d = the word at m, KMov that of another mask.
func (a *Asm) KLoad(d K, m Mem) {
	if a.low != nil {
		a.low.moveMask(d, m, 2)
		return
	}
	a.vex(m0f, 0, 0, 0, 0x90, byte(d), 0, m)
}

// KMov emits d = s, words.
func (a *Asm) KMov(d, s K) {
	if a.low != nil {
		a.low.moveMask(d, a.low.maskAt(s), 8)
		return
	}
	a.vex(m0f, 0, 0, 0, 0x90, byte(d), 0, s)
}

// KStore emits m = the word s.
func (a *Asm) KStore(m Mem, s K) {
	if a.low != nil {
		a.low.storeMask(m, s)
		return
	}
	a.vex(m0f, 0, 0, 0, 0x91, byte(s), 0, m)
}

// KFromReg emits d = the low word of r.
func (a *Asm) KFromReg(d K, r Reg) {
	if a.low != nil {
		a.low.maskFromReg(d, r)
		return
	}
	a.vex(m0f, 0, 0, 0, 0x92, byte(d), 0, r)
}

// KToReg64 emits r = s, all of it.
func (a *Asm) KToReg64(r Reg, s K) {
	if a.low != nil {
		a.Load(true, r, a.low.maskAt(s))
		return
	}
	a.vex(m0f, pf2, 1, 0, 0x93, byte(r), 0, s)
}

// KToReg emits r = the word s.
func (a *Asm) KToReg(r Reg, s K) {
	if a.low != nil {
		a.two(0xb7, false, r, a.low.maskAt(s))
		return
	}
	a.vex(m0f, 0, 0, 0, 0x93, byte(r), 0, s)
}

// KOp is an instruction on two masks.
type KOp struct{ PP, W, L, Op byte }

// Instructions on masks: words, except KUNPCKBW, bytes to a word, and KUNPCKWD and KUNPCKDQ, those to twice as much.
var (
	KAND     = KOp{0, 0, 1, 0x41}
	KANDN    = KOp{0, 0, 1, 0x42} // ^s & t
	KOR      = KOp{0, 0, 1, 0x45}
	KXOR     = KOp{0, 0, 1, 0x47}
	KXNOR    = KOp{0, 0, 1, 0x46}
	KUNPCKBW = KOp{p66, 0, 1, 0x4b} // s:t
	KUNPCKWD = KOp{0, 0, 1, 0x4b}
	KUNPCKDQ = KOp{0, 1, 1, 0x4b}
)

// K emits d = s op t.
func (a *Asm) K(o KOp, d, s, t K) {
	if a.low != nil {
		a.low.combine(o, d, s, t)
		return
	}
	a.vex(m0f, o.PP, o.W, o.L, o.Op, byte(d), byte(s), t)
}

// KShiftRight emits d = s >> n, words.
func (a *Asm) KShiftRight(d, s K, n byte) {
	if a.low != nil {
		a.low.shiftMask(d, s, n)
		return
	}
	a.vex(m3a, p66, 1, 0, 0x30, byte(d), 0, s)
	a.emit(n)
}

// KTestOr sets the flags: E if s|t is zero, B (carry) if it is all ones; words.
func (a *Asm) KTestOr(s, t K) {
	if a.low != nil {
		a.low.testMasks(s, t)
		return
	}
	a.vex(m0f, 0, 0, 0, 0x98, byte(s), 0, t)
}
