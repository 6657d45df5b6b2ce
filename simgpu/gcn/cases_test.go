package gcn

import "math/rand"

// pad follows every pattern, so that a wrong length shows as a wrong
// instruction after it.
var pad = []uint32{0xbf800001, 0xbf800002, 0xbf800003}

func padded(w ...uint32) []uint32 { return append(append([]uint32(nil), w...), pad...) }

// baseWords returns an opcode's words with all operand fields zero.
func baseWords(arch Arch, enc Encoding, op uint32) []uint32 {
	if arch.Has(RDNA) {
		return baseWordsRDNA(enc, op)
	}
	return baseWordsCDNA(enc, op)
}

func baseWordsCDNA(enc Encoding, op uint32) []uint32 {
	switch enc {
	case SOP1:
		return []uint32{0xbe800000 | op<<8}
	case SOP2:
		return []uint32{0x80000000 | op<<23}
	case SOPC:
		return []uint32{0xbf000000 | op<<16}
	case SOPK:
		return []uint32{0xb0000000 | op<<23}
	case SOPP:
		return []uint32{0xbf800000 | op<<16}
	case SMEM:
		return []uint32{0xc0000000 | op<<18, 0}
	case VOP1:
		return []uint32{0x7e000000 | op<<9}
	case VOP2:
		return []uint32{op << 25}
	case VOPC:
		return []uint32{0x7c000000 | op<<17}
	case VOP3:
		return []uint32{0xd0000000 | op<<16, 0}
	case VOP3P, MFMA:
		return []uint32{0xd3800000 | op<<16, 0}
	case DS:
		return []uint32{0xd8000000 | op<<17, 0}
	case FLAT:
		return []uint32{0xdc000000 | op<<18, 0}
	case SCRATCH:
		return []uint32{0xdc004000 | op<<18, 0}
	case GLOBAL:
		return []uint32{0xdc008000 | op<<18, 0}
	case MUBUF:
		return []uint32{0xe0000000 | op<<18, 0}
	case MTBUF:
		return []uint32{0xe8000000 | op<<15, 0}
	case MIMG:
		return []uint32{0xf0000000 | op<<18, 0}
	}
	return nil
}

// freeBitsCDNA are the bits of the first word that are neither encoding nor opcode.
func freeBitsCDNA(enc Encoding) uint32 {
	switch enc {
	case SOP1:
		return 0x007f00ff
	case SOP2:
		return 0x007fffff
	case SOPC:
		return 0x0000ffff
	case SOPK:
		return 0x007fffff
	case SOPP:
		return 0x0000ffff
	case SMEM:
		return 0x0003ffff
	case VOP1:
		return 0x01fe01ff
	case VOP2:
		return 0x01ffffff
	case VOPC:
		return 0x0001ffff
	case VOP3, VOP3P, MFMA:
		return 0x0000ffff
	case DS:
		return 0x0201ffff
	case FLAT, SCRATCH, GLOBAL:
		return 0x02033fff
	case MUBUF:
		return 0x0203ffff
	case MTBUF:
		return 0x03f87fff
	case MIMG:
		return 0x0203ffff
	}
	return 0
}

// opcodeCount is the number of opcodes that fit an encoding.
func opcodeCount(arch Arch, enc Encoding) uint32 {
	if arch.Has(RDNA) {
		return opcodeCountRDNA(enc)
	}
	return opcodeCountCDNA(enc)
}

func opcodeCountCDNA(enc Encoding) uint32 {
	switch enc {
	case SOP1, SMEM, VOP1, VOPC, DS:
		return 256
	case SOPK:
		return 32
	case VOP2:
		return 62 // the rest are VOPC and VOP1
	case SOP2:
		return 96 // the rest are SOPK, SOP1, SOPC, SOPP
	case VOP3:
		return 896 // the rest is VOP3P
	case MTBUF:
		return 16
	}
	return 128
}

// encodings are those of a target with an opcode space of their own.
func encodings(arch Arch) []Encoding {
	if arch.Has(RDNA) {
		return rdnaEncodings
	}
	return cdnaEncodings
}

var cdnaEncodings = []Encoding{SOP1, SOP2, SOPC, SOPK, SOPP, SMEM, VOP1, VOP2, VOPC, VOP3, VOP3P,
	DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF, MIMG}

// randomBlocks gives n random fillings of every opcode, known or not.
func randomBlocks(r *rand.Rand, arch Arch, enc Encoding, n int) [][]uint32 {
	var out [][]uint32
	for op := uint32(0); op < opcodeCount(arch, enc); op++ {
		for i := 0; i < n; i++ {
			if arch.Has(RDNA) {
				b := randomRDNA(r, enc, op, i)
				tameRDNA(b)
				out = append(out, padded(b...))
				continue
			}
			b := baseWordsCDNA(enc, op)
			b[0] |= r.Uint32() & freeBitsCDNA(enc)
			switch {
			case len(b) > 1:
				b[1] = r.Uint32()
			case enc == VOP1 || enc == VOP2 || enc == VOPC:
				if i%3 != 0 { // a form with a second word
					b[0] = b[0]&^0x1ff | uint32(srcSDWA+i%3-1)
				}
				b = append(b, r.Uint32())
				if b[0]&0x1ff == srcSDWA {
					b[1] = knownSelectors(b[1])
				}
			case enc == SOP1 || enc == SOP2 || enc == SOPC || enc == SOPK:
				b = append(b, sampleLiterals[r.Intn(len(sampleLiterals))])
			}
			tame(b)
			out = append(out, padded(b...))
		}
	}
	return out
}

// knownSelectors replaces what selects nothing in an SDWA word, on which
// llvm-mc crashes.
func knownSelectors(w uint32) uint32 {
	for _, shift := range []uint{8, 16, 24} {
		if w>>shift&7 == 7 {
			w &^= 1 << shift
		}
	}
	if w>>11&3 == 3 {
		w &^= 1 << 11
	}
	return w
}

// tame replaces what llvm-mc-21 does not take apart as any processor would: literals in
// encodings that have none, which it reads from what follows, constants for groups
// of registers, on which it crashes, and groups of six registers at the end, which it takes for eight.
func tame(w []uint32) {
	if len(w) < 2 {
		return
	}
	switch w[0] >> 26 {
	case 0x34:
		op := w[0] >> 16 & 0x3ff
		if op == 0x3ad || op == 0x3ae { // v_mfma_…_f8f6f4
			for _, shift := range []uint{0, 9} {
				w[1] |= 256 << shift
				if w[1]>>shift&0xff > 248 {
					w[1] &^= 8 << shift
				}
			}
		}
		for _, shift := range []uint{0, 9, 18} {
			switch n := w[1] >> shift & 0x1ff; {
			case op >= 594 && op <= 611 && (n != 0 || shift != 18): // v_cvt_scalef32_…pk32 and 2xpk16
				w[1] |= 256 << shift
			case n == 255:
				w[1] &^= 1 << shift
			}
		}
	case 0x38, 0x3a:
		if w[1]>>24 == 255 {
			w[1] &^= 1 << 24
		}
	}
}

// sampleSources are 9-bit source numbers worth trying.
var sampleSources = []uint32{0, 2, 7, 100, 102, 103, 104, 106, 107, 108, 112, 120, 122, 124, 126, 127,
	128, 129, 130, 150, 192, 193, 200, 208, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248,
	251, 252, 253, 254, 255, 256, 258, 261, 300, 510}

// sampleLiterals are literals that print in different ways.
var sampleLiterals = []uint32{0, 1, 64, 65, 0xffff, 0x10000, 0x3c00, 0x3800, 0xfffffff0, 0xffffffff, 0x80000000,
	0x3f800000, 0xbf800000, 0x3e22f983, 0x3118, 0x40490fdb, 0x12345678, 0x3ff00000}

// ordinaryBlocks fills the fields of an opcode with the operands that
// compilers emit, each in turn.
func ordinaryBlocks(r *rand.Rand, arch Arch, enc Encoding, op uint32) [][]uint32 {
	var out [][]uint32
	b := baseWords(arch, enc, op)
	var zero uint64
	info := lookup(arch, enc, op)
	if info == nil && enc == VOP3P {
		info = lookup(arch, MFMA, op)
	}
	if info != nil {
		zero = info.Zero[arch.Target()]
		switch {
		case info.Flags&IsGWS != 0 && arch.Has(RDNA):
			b[0] |= 1 << 17
		case info.Flags&IsGWS != 0 || info.Flags&LDSDest != 0 && enc == MUBUF:
			b[0] |= 1 << 16
		}
	}
	n := 0
	add := func(w ...uint32) {
		if info == nil && n > 12 {
			return // enough to see that it is no instruction
		}
		// Mostly without the bits that must be zero: else hardly any
		// operation with few operands would ever be valid.
		if n++; n%4 != 0 {
			w[0] &^= uint32(zero)
			if len(b) > 1 {
				w[1] &^= uint32(zero >> 32)
			}
		}
		if arch.Has(RDNA) {
			tameRDNA(w)
		} else {
			tame(w)
		}
		out = append(out, padded(w...))
	}
	if arch.Has(RDNA) && ordinaryRDNA(r, enc, b, info, add) {
		return out
	}
	lit := func() uint32 { return sampleLiterals[r.Intn(len(sampleLiterals))] }
	even := func() uint32 { return uint32(r.Intn(60)) * 4 }
	sreg := func() uint32 { return uint32(r.Intn(24)) * 4 }
	switch enc {
	case SOP1, SOP2, SOPC, SOPK:
		for _, s := range sampleSources {
			if s > 255 {
				continue
			}
			switch enc {
			case SOP1:
				add(b[0]|4<<16|s, lit())
				add(b[0]|(s&0x7f)<<16|8, lit())
			case SOP2:
				add(b[0]|8<<16|s|4<<8, lit())
				add(b[0]|8<<16|4|s<<8, lit())
				add(b[0]|s&0x7f<<16|4|12<<8, lit())
			case SOPC:
				add(b[0]|s|4<<8, lit())
				add(b[0]|4|s<<8, lit())
			case SOPK:
				add(b[0]|s&0x7f<<16|lit()&0xffff, lit())
			}
		}
		if enc == SOPK {
			for hw := uint32(0); hw < 64; hw++ {
				add(b[0]|4<<16|hw|uint32(r.Intn(1024))<<6, lit())
			}
		}
	case SOPP:
		for i := 0; i < 64; i++ {
			add(b[0] | uint32(i))
			add(b[0] | uint32(r.Intn(65536)))
		}
	case SMEM:
		for i := 0; i < 12; i++ {
			add(b[0]|1<<17|sreg()<<6|sreg()/2, uint32(r.Intn(1<<21)))
			add(b[0]|1<<17|1<<16|sreg()<<6|sreg()/2, uint32(r.Intn(1<<20)))
			add(b[0]|sreg()<<6|sreg()/2, sreg()) // register offset
			add(b[0]|3<<14|1<<16|sreg()<<6|sreg()/2, uint32(r.Intn(1<<7))<<25)
			add(b[0]|1<<14|1<<17|sreg()<<6|sreg()/2, sreg()<<25|uint32(r.Intn(1<<20)))
		}
	case VOP1, VOP2, VOPC:
		reg := func() uint32 {
			if enc == VOPC {
				return even() << 9
			}
			if enc == VOP1 {
				return even() << 17
			}
			return even()<<17 | even()<<9
		}
		for _, s := range sampleSources {
			add(b[0]|reg()|s, lit())
		}
		for i := 0; i < 24; i++ {
			sel := uint32(r.Intn(7))<<8 | uint32(r.Intn(3))<<11
			w := even() | sel | uint32(r.Intn(7))<<16 | uint32(r.Intn(7))<<24
			if enc == VOPC {
				w &^= 0xff00
				if i%2 == 0 {
					w |= 1<<15 | sreg()<<8
				}
			}
			if i%3 == 1 {
				w |= r.Uint32() & 0x3838e000
				if enc == VOPC {
					w &^= 0x6000
				}
			}
			if i%4 == 3 {
				w |= r.Uint32() & 0x80800000
			}
			add(b[0]|reg()|srcSDWA, w)
		}
		for i := 0; i < 24; i++ {
			ctrl := []uint32{uint32(r.Intn(256)), 0x100 + uint32(r.Intn(0x60)), 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143}[i%10]
			w := even() | ctrl<<8 | 0xff000000
			if i%2 == 1 {
				w = w&^0xff000000 | r.Uint32()&0xff080000
			}
			if i%4 == 3 {
				w |= r.Uint32() & 0x00f00000
			}
			add(b[0]|reg()|srcDPP, w)
		}
	case VOP3, VOP3P, MFMA:
		if enc == VOP3P && op == opLoadScale && info != nil {
			for i := 0; i < 64; i++ { // scaled matrix instructions
				w := []uint32{b[0] | r.Uint32()&0x5800, 256 + even() | (256+even())<<9 | r.Uint32()&0x18000000,
					baseWordsCDNA(VOP3P, opFormats+uint32(i%2))[0] | 1<<11 | uint32(r.Intn(4)*32), 256 + even() | (256+even())<<9 | (256+even())<<18}
				if i >= 16 {
					w[2] |= r.Uint32() & 0x8700
					w[3] |= r.Uint32() & 0xf8000000
				}
				if i >= 48 {
					w[0] |= r.Uint32() & 0xffff
					w[1] = sampleSources[r.Intn(len(sampleSources))]&0xff&^1 | r.Uint32()&0xfffe0000
				}
				add(w...)
			}
		}
		add(b[0]|8, 256+12|(256+16)<<9|(256+20)<<18)
		src := func() uint32 {
			s := sampleSources[r.Intn(len(sampleSources))]
			if s == 255 || s > 258 {
				s = 256 + even()
			}
			return s
		}
		for i := 0; i < 3; i++ {
			for _, s := range sampleSources {
				if s == 255 {
					continue
				}
				w := uint32(256+12) | (256+16)<<9 | (256+20)<<18
				w = w&^(0x1ff<<(9*i)) | s<<(9*i)
				add(b[0]|even(), w)
			}
		}
		for bit := 8; bit < 16; bit++ {
			add(b[0]|8|1<<bit, 256+12|(256+16)<<9|(256+20)<<18)
		}
		for bit := 27; bit < 32; bit++ {
			add(b[0]|8, 256+12|(256+16)<<9|(256+20)<<18|1<<bit)
		}
		for i := 0; i < 32; i++ {
			add(b[0]|even()|r.Uint32()&0xff00, 256+even()|(256+even())<<9|(256+even())<<18|r.Uint32()&0xf8000000)
			add(b[0]|even(), src()|src()<<9|src()<<18)
		}
	case DS:
		for i := 0; i < 24; i++ {
			w := b[0] | uint32(r.Intn(3))<<4
			if i%3 == 0 {
				w |= uint32(r.Intn(65536))
			}
			if i%5 == 4 {
				w |= 1 << 16
			}
			if i%2 == 1 {
				w |= 1 << 25
			}
			add(w, even()|even()<<8|even()<<16|even()<<24)
		}
	case FLAT, GLOBAL, SCRATCH:
		for i := 0; i < 48; i++ {
			w := b[0]
			if i%3 == 0 {
				w |= uint32(r.Intn(4096))
			}
			if i%4 == 0 {
				w |= uint32(r.Intn(8192))
			}
			if i%2 == 1 {
				w |= r.Uint32() & 0x02030000
			}
			if enc == SCRATCH && i%8 < 4 {
				w |= 1 << 13
			}
			h := even() | even()<<8 | even()<<24
			switch i % 4 {
			case 0, 1:
				h |= 0x7f << 16
			case 2:
				if enc != FLAT {
					h |= sreg() << 16
				}
			}
			if i%5 == 4 {
				h |= 1 << 23
			}
			add(w, h)
		}
	case MIMG:
		for i := 0; i < 48; i++ {
			w, h := b[0]|r.Uint32()&0x0203ff80, even()|even()<<8|uint32(r.Intn(24))<<16|uint32(r.Intn(24))<<21
			if i%4 != 0 && info != nil && info.Op != IMAGE_SAMPLE {
				h &^= 0x1f << 21
			}
			if i%8 == 7 {
				h |= 1 << 31
			}
			add(w, h)
		}
	case MUBUF, MTBUF:
		for i := 0; i < 64; i++ {
			w := b[0]
			if i%2 == 0 {
				w |= uint32(r.Intn(4096))
			}
			w |= uint32(i%4) << 12
			if i%3 == 1 {
				w |= r.Uint32() & 0x4000
			}
			if i%5 == 1 {
				w |= r.Uint32() & 0x28000
			}
			if enc == MTBUF {
				w = w&^0x03f80000 | b[0] | uint32(i)<<19
			}
			h := even() | even()<<8 | uint32(r.Intn(24))<<16
			if i%3 == 0 {
				h |= sreg() << 24
			} else {
				h |= (128 + uint32(r.Intn(3))) << 24
			}
			if i%7 == 6 {
				h |= r.Uint32() & 0x00e00000
			}
			add(w, h)
		}
	}
	return out
}
