package gcn

import "math/rand"

// rdnaEncodings are those of RDNA with an opcode space of their own.
var rdnaEncodings = []Encoding{SOP1, SOP2, SOPC, SOPK, SOPP, SMEM, VOP1, VOP2, VOPC, VOP3, VOP3P, VOPD,
	DS, FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF, MIMG, VINTERP, LDSDIR, EXPORT}

// baseWordsRDNA returns an opcode's words with all operand fields zero. The opcode of VOPD is
// that of both operations: x:4 y:5.
func baseWordsRDNA(enc Encoding, op uint32) []uint32 {
	switch enc {
	case SMEM:
		return []uint32{0xf4000000 | op<<18, 0}
	case VOP3:
		return []uint32{0xd4000000 | op<<16, 0}
	case VOP3P:
		return []uint32{0xcc000000 | op<<16, 0}
	case VOPD:
		return []uint32{0xc8000000 | op>>5<<22 | op&31<<17, 0}
	case DS:
		return []uint32{0xd8000000 | op<<18, 0}
	case FLAT:
		return []uint32{0xdc000000 | op<<18, 0}
	case SCRATCH:
		return []uint32{0xdc010000 | op<<18, 0}
	case GLOBAL:
		return []uint32{0xdc020000 | op<<18, 0}
	case VINTERP:
		return []uint32{0xcd000000 | op<<16, 0}
	case LDSDIR:
		return []uint32{0xce000000 | op<<20}
	case EXPORT:
		return []uint32{0xf8000000, 0}
	}
	return baseWordsCDNA(enc, op)
}

// freeBitsRDNA are the bits of the first word that are neither encoding nor opcode.
func freeBitsRDNA(enc Encoding) uint32 {
	switch enc {
	case VINTERP:
		return 0x0080ffff
	case LDSDIR:
		return 0x00cfffff
	case EXPORT:
		return 0x03ffffff
	case VOPD:
		return 0x0001ffff
	case DS:
		return 0x0203ffff
	case FLAT, SCRATCH, GLOBAL:
		return 0x0200ffff
	case MUBUF, MIMG:
		return 0x0003ffff
	case MTBUF:
		return 0x03f87fff
	}
	return freeBitsCDNA(enc)
}

func opcodeCountRDNA(enc Encoding) uint32 {
	switch enc {
	case VOP3:
		return 1024
	case VOPD:
		return 512
	case MUBUF, MIMG:
		return 256
	case LDSDIR:
		return 4
	case EXPORT:
		return 1
	}
	return opcodeCountCDNA(enc)
}

// rdnaForms are the numbers of source 0 that another word follows.
var rdnaForms = [4]uint32{srcDPP, srcDPP8, srcDPP8FI, 255}

// randomRDNA fills an opcode's fields with random bits. i says which form a vector operation has.
func randomRDNA(r *rand.Rand, enc Encoding, op uint32, i int) []uint32 {
	b := baseWordsRDNA(enc, op)
	b[0] |= r.Uint32() & freeBitsRDNA(enc)
	if len(b) > 1 {
		b[1] = r.Uint32()
	}
	literal := func() uint32 { return sampleLiterals[r.Intn(len(sampleLiterals))] }
	switch enc {
	case SOP1, SOP2, SOPC, SOPK:
		b = append(b, literal())
	case VOPD:
		b = append(b, literal())
	case VOP1, VOP2, VOPC:
		if k := i % 5; k < len(rdnaForms) {
			b[0] = b[0]&^0x1ff | rdnaForms[k]
			b = append(b, r.Uint32())
			if k == 3 {
				b[1] = literal()
			}
		}
	case VOP3, VOP3P:
		if k := i % 5; k < len(rdnaForms) {
			b[1] = b[1]&^0x1ff | rdnaForms[k]
			b = append(b, r.Uint32())
			if k == 3 {
				b[2] = literal()
			}
		} else {
			b = append(b, literal())
		}
		if i%3 != 0 { // unused sources are zero in what is valid
			for k := 2; k > r.Intn(3); k-- {
				b[1] &^= 0x1ff << (9 * k)
			}
		}
	case MIMG:
		if b[0]&1 != 0 {
			b = append(b, r.Uint32())
		}
	case LDSDIR:
		if i%3 != 0 {
			b[0] &^= 0x00c0ff00
		}
	case EXPORT:
		if i%3 != 0 {
			b[0] &^= 0x03fff000
		}
	}
	return b
}

// tameRDNA replaces what llvm-mc-21 does not take apart as any processor would: it takes lanes of
// v_fma_mixlo_f16 and v_fma_mixhi_f16 for the number of a source, and writes the number of a constant in
// v_fmac_f32 and v_fmac_f16; neither buffers nor interpolations have literals; and the
// encoding of CDNA for VOP3 is none of RDNA.
func tameRDNA(w []uint32) {
	if w[0]>>26 == 0x34 {
		w[0] |= 1 << 26
	}
	if k := w[0] >> 26; (k == 0x38 || k == 0x3a) && len(w) > 1 && w[1]>>24 == 255 {
		w[1] &^= 1 << 24
	}
	if w[0]>>24 == 0xcd && len(w) > 1 {
		for at := 0; at < 27; at += 9 {
			if w[1]>>at&0x1ff == 255 {
				w[1] ^= 1 << at
			}
		}
	}
	if len(w) > 2 && (w[0]>>16 == 0xd52b || w[0]>>16 == 0xd536) { // v_fmac_f32, v_fmac_f16
		if form := w[1] & 0x1ff; form == srcDPP || form == srcDPP8 || form == srcDPP8FI {
			w[1] |= 256 << 9
		}
	}
	if len(w) > 2 && w[0]>>24 == 0xcc && w[1]&0x1ff == srcDPP {
		if op := w[0] >> 16 & 0x7f; op == 33 || op == 34 {
			w[2] &^= 0x18000
		}
	}
}

// ordinaryRDNA is [ordinaryBlocks] for the encodings that RDNA has of its own. It reports whether enc is one.
func ordinaryRDNA(r *rand.Rand, enc Encoding, b []uint32, info *OpInfo, add func(...uint32)) bool {
	literal := func() uint32 { return sampleLiterals[r.Intn(len(sampleLiterals))] }
	even := func() uint32 { return uint32(r.Intn(60)) * 4 }
	sreg := func() uint32 { return uint32(r.Intn(24)) * 4 }
	offset := func(bits int) uint32 {
		if r.Intn(3) == 0 {
			return 0
		}
		return uint32(r.Intn(1 << bits))
	}
	src := func() uint32 {
		s := sampleSources[r.Intn(len(sampleSources))]
		if s == 255 || s > 258 {
			s = 256 + even()
		}
		return s
	}
	lanes := func(i int, s uint32) uint32 {
		ctrl := []uint32{uint32(r.Intn(256)), 0x100 + uint32(r.Intn(0x60)), 0x140, 0x141, 0x150 + uint32(r.Intn(16)), 0x160 + uint32(r.Intn(16))}[i%6]
		w := s | ctrl<<8 | 0xff000000
		if i%2 == 1 {
			w = w&^0xff000000 | r.Uint32()&0xff0c0000
		}
		if i%4 == 3 {
			w |= r.Uint32() & 0x00f00000
		}
		return w
	}
	switch enc {
	case SMEM:
		for i := 0; i < 12; i++ {
			add(b[0]|sreg()<<6|sreg()/2, 124<<25|uint32(r.Intn(1<<21)))
			add(b[0]|1<<14|sreg()<<6|sreg()/2, 124<<25|uint32(r.Intn(1<<20)))
			add(b[0]|1<<13|sreg()<<6|sreg()/2, sreg()<<25)
			add(b[0]|r.Uint32()&0x6000|sreg()<<6|sreg()/2, sreg()<<25|offset(20))
		}
	case VOP1, VOP2, VOPC:
		reg := func() uint32 {
			switch enc {
			case VOPC:
				return even() << 9
			case VOP1:
				return even() << 17
			}
			return even()<<17 | even()<<9
		}
		for _, s := range sampleSources {
			add(b[0]|reg()|s, literal())
		}
		for i := 0; i < 24; i++ {
			add(b[0]|reg()|srcDPP, lanes(i, even()))
			add(b[0]|reg()|srcDPP8+uint32(i%2), even()|r.Uint32()<<8)
		}
	case VOP3, VOP3P:
		n := 0
		if info != nil {
			for i := range info.Operands {
				if o := &info.Operands[i]; o.Role >= RoleSrc0 && o.Role <= RoleSrc2 && !o.Quiet {
					n++
				}
			}
		}
		regs := func() uint32 {
			w := uint32(0)
			for i := range n {
				w |= (256 + even()) << (9 * i)
			}
			return w
		}
		usual := uint32(0)
		if enc == VOP3P {
			b[0] |= 1 << 14
			usual = 3 << 27
		}
		for i := range n {
			for _, s := range sampleSources {
				add(b[0]|even(), regs()&^(0x1ff<<(9*i))|s<<(9*i)|usual, literal())
			}
		}
		for bit := 8; bit < 16; bit++ {
			add(b[0]^1<<bit|8, regs()|usual)
		}
		for bit := 27; bit < 32; bit++ {
			add(b[0]|8, regs()|usual^1<<bit)
		}
		for i := 0; i < 24; i++ {
			add(b[0]^r.Uint32()&0xff00|even(), regs()|r.Uint32()&0xf8000000)
			w := uint32(0)
			for k := range n {
				w |= src() << (9 * k)
			}
			add(b[0]|even(), w|usual)
			add(b[0]^r.Uint32()&0xff00|even(), regs()&^0x1ff|srcDPP|r.Uint32()&0xf8000000, lanes(i, even()))
			add(b[0]|even(), regs()&^0x1ff|srcDPP8+uint32(i%2)|usual, even()|r.Uint32()<<8)
			add(b[0]|even(), w&^0x1ff|srcDPP|usual, lanes(i, even()))
		}
	case VOPD:
		for _, s := range sampleSources {
			add(b[0]|s|even()<<9, src()|even()<<9|even()<<17|even()<<24, literal())
			add(b[0]|src()|even()<<9, s|even()<<9|even()<<17|even()<<24, literal())
			add(b[0]|256+even()|even()<<9, s|even()<<9|r.Uint32()&0x7f<<17|r.Uint32()&0xff<<24, literal())
		}
	case DS:
		for i := 0; i < 24; i++ {
			w := b[0] | uint32(r.Intn(3))<<4
			if i%3 == 0 {
				w |= uint32(r.Intn(65536))
			}
			if i%5 == 4 {
				w |= 1 << 17
			}
			add(w, even()|even()<<8|even()<<16|even()<<24)
		}
	case FLAT, GLOBAL, SCRATCH:
		for i := 0; i < 48; i++ {
			w := b[0] | offset(12+i%2)
			if i%2 == 1 {
				w |= r.Uint32() & 0xe000
			}
			h := even() | even()<<8 | even()<<24
			switch i % 4 {
			case 0, 1:
				h |= 124 << 16
			case 2:
				if enc != FLAT {
					h |= sreg() << 16
				}
			}
			if i%8 < 4 && (enc == SCRATCH || i == 0) {
				h |= 1 << 23
			}
			add(w, h)
		}
	case MUBUF, MTBUF:
		for i := 0; i < 64; i++ {
			w := b[0] | offset(12)
			if i%3 == 1 {
				w |= r.Uint32() & 0x7000
			}
			if enc == MTBUF {
				w |= uint32(i%128) << 19
			}
			h := even() | even()<<8 | uint32(r.Intn(24))<<16 | uint32(i%4)<<22
			if i%3 == 0 {
				h |= sreg() << 24
			} else {
				h |= []uint32{124, 125, 128, 129, 240}[r.Intn(5)] << 24
			}
			if i%7 == 6 {
				h |= 1 << 21
			}
			add(w, h)
		}
		if enc == MTBUF {
			for f := range uint32(128) {
				add(b[0]|f<<19, 4|8<<8|4<<16|124<<24)
			}
		}
	case MIMG:
		for i := 0; i < 64; i++ {
			w, h := b[0]|uint32(i%8)<<2|uint32(1+r.Intn(15))<<8, even()|even()<<8|uint32(r.Intn(24))<<16|uint32(r.Intn(24))<<26
			if i%2 == 1 {
				w |= r.Uint32() & 0x0003f080
			}
			if i%4 == 3 {
				h |= r.Uint32() & 0x00e00000
			}
			if i%8 == 0 { // an intersection has these, and no sampler
				w |= rayBits
				h &^= 0x1f << 26
			}
			if i%3 == 2 {
				add(w|1, h, even()|even()<<8|even()<<16|even()<<24)
			} else {
				add(w, h)
			}
		}
	case VINTERP:
		for i := 0; i < 48; i++ {
			add(b[0]|even()|r.Uint32()&0xff00, 256+even()|(256+even())<<9|(256+even())<<18|r.Uint32()&0xe0000000)
		}
		add(b[0]|8, 4|(256+8)<<9|128<<18)
	case LDSDIR:
		for i := 0; i < 48; i++ {
			add(b[0] | even() | r.Uint32()&0x000fff00)
		}
	case EXPORT:
		for i := uint32(0); i < 256; i++ {
			add(b[0]|i%64<<4|r.Uint32()&15|r.Uint32()&0x880, r.Uint32())
		}
	default:
		return false
	}
	return true
}
