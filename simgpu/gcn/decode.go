package gcn

import (
	"encoding/binary"
	"fmt"
)

// MaxLen is the length in bytes of the longest instruction.
const MaxLen = 16

// Error says that bytes are no instruction of the target.
type Error struct {
	Arch   Arch
	PC     uint64 // offset of the instruction
	Bytes  []byte // up to 8 bytes found there
	Reason string
}

// Error names the target, the place, the bytes and the reason.
func (e *Error) Error() string {
	return fmt.Sprintf("gcn: no %s instruction at 0x%x: bytes % x: %s", e.Arch, e.PC, e.Bytes, e.Reason)
}

// decoder is the state of decoding one instruction.
type decoder struct {
	in     *Inst
	w      [4]uint32
	avail  int // words that are there
	litPos int // index of the word that a literal would take
	hasLit bool
	err    string
}

// Decode takes apart the instruction at code[off:]. The error, if any, is an
// [*Error].
func Decode(arch Arch, code []byte, off int) (Inst, error) {
	var in Inst
	if arch.Target() >= numArch {
		return in, &Error{Arch: arch, Reason: "unknown target"}
	}
	if off < 0 || off > len(code) {
		return in, &Error{Arch: arch, PC: uint64(off), Reason: "offset outside the code"}
	}
	in.Arch = arch
	in.PC = uint64(off)
	d := decoder{in: &in}
	rest := code[off:]
	for d.avail < 4 && len(rest) >= 4*(d.avail+1) {
		d.w[d.avail] = binary.LittleEndian.Uint32(rest[4*d.avail:])
		d.avail++
	}
	d.decode()
	if d.err == "" && int(in.Len) > 4*d.avail {
		d.err = "truncated"
	}
	if d.err != "" {
		n := min(len(rest), 8)
		return Inst{}, &Error{Arch: arch, PC: uint64(off), Bytes: append([]byte(nil), rest[:n]...), Reason: d.err}
	}
	copy(in.Words[:], d.w[:in.Len/4])
	return in, nil
}

// decode finds the encoding by the leading bits and fills in the instruction.
func (d *decoder) decode() {
	if d.avail == 0 {
		d.err = "truncated"
		return
	}
	w := d.w[0]
	if d.in.Arch.Has(RDNA) && w>>30 == 3 {
		d.decodeRDNA()
		return
	}
	switch {
	case w>>31 == 0:
		switch w >> 25 {
		case 0x3f:
			d.vop1()
		case 0x3e:
			d.vopc()
		default:
			d.vop2()
		}
	case w>>30 == 2:
		switch {
		case w>>23 == 0x17d:
			d.sop1()
		case w>>23 == 0x17e:
			d.sopc()
		case w>>23 == 0x17f:
			d.sopp()
		case w>>28 == 0xb:
			d.sopk()
		default:
			d.sop2()
		}
	default:
		switch w >> 26 {
		case 0x30:
			d.smem()
		case 0x34:
			if w>>23 == 0x1a7 {
				d.vop3p()
			} else {
				d.vop3()
			}
		case 0x36:
			d.ds()
		case 0x37:
			d.flat()
		case 0x38:
			d.mubuf()
		case 0x3a:
			d.mtbuf()
		case 0x3c:
			d.mimg()
		default:
			d.err = "unknown encoding"
		}
	}
}

// row finds the table row of an opcode and starts the instruction with it.
// words is the length without a literal.
func (d *decoder) row(enc Encoding, opcode uint32, words int) bool {
	if words > d.avail {
		d.err = "truncated"
		return false
	}
	info := lookup(d.in.Arch, enc, opcode)
	if info == nil {
		d.err = fmt.Sprintf("no %s opcode %d", enc, opcode)
		return false
	}
	d.in.Info, d.in.Op, d.in.Enc = info, info.Op, enc
	d.in.Opcode = uint16(opcode)
	d.in.Len = uint8(4 * words)
	d.litPos = words
	z := info.Zero[d.in.Arch.Target()]
	if d.w[0]&uint32(z) != 0 || words > 1 && d.w[1]&uint32(z>>32) != 0 {
		d.err = "reserved bits are set"
		return false
	}
	return true
}

// maxOpcode bounds opcodes of every encoding (VOP3 has 10 bits).
const maxOpcode = 1024

// opIndex leads from target, encoding and opcode to a row of opTable, plus one.
var opIndex = buildIndex()

func buildIndex() *[numArch][numEnc][maxOpcode]uint16 {
	t := new([numArch][numEnc][maxOpcode]uint16)
	for i := range opTable {
		for a, n := range opTable[i].Opcode {
			if n >= 0 {
				t[a][opTable[i].Enc][n] = uint16(i + 1)
			}
		}
	}
	return t
}

func lookup(a Arch, e Encoding, opcode uint32) *OpInfo {
	if opcode >= maxOpcode {
		return nil
	}
	i := opIndex[a.Target()][e][opcode]
	if i == 0 {
		return nil
	}
	return &opTable[i-1]
}

// Ops lists the rows of a target's table, for programs that want to know what
// there is.
func Ops(a Arch) []*OpInfo {
	var out []*OpInfo
	if a = a.Target(); a >= numArch {
		return nil
	}
	for i := range opTable {
		if opTable[i].Opcode[a] >= 0 {
			out = append(out, &opTable[i])
		}
	}
	return out
}
