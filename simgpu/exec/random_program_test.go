package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// randProgram is a program of many blocks: straight code, branches by SCC, VCC
// and EXEC, changes of EXEC around blocks, loops with one and with many ends,
// calls, accesses of memory, the LDS and scratch. Every loop ends, every access
// is inside; a program uses no registers but those of random_inst_test.go.
type randProgram struct {
	arch  gcn.Arch
	r     *rand.Rand
	ops   *randOps
	words []uint32
	at    []int           // where instructions begin
	names map[string]bool // mnemonics
	frame int             // depth, for registers of the frame
	room  int             // instructions that may still be made
}

func newRandProgram(r *rand.Rand, arch gcn.Arch, ops *randOps, size int) *randProgram {
	p := &randProgram{arch: arch, r: r, ops: ops, names: map[string]bool{}, room: size}
	for p.room > 0 {
		p.piece()
	}
	p.emit(endpgm)
	return p
}

func (p *randProgram) emit(words ...uint32) {
	p.at = append(p.at, len(p.words))
	p.words = append(p.words, words...)
	p.room--
}

// Instructions that make the frame.
func asmSOP1(op, d, s uint32) uint32      { return 0x17d<<23 | d<<16 | op<<8 | s }
func asmSOP2(op, d, s0, s1 uint32) uint32 { return 2<<30 | op<<23 | d<<16 | s1<<8 | s0 }
func asmSOPP(op, imm uint32) uint32       { return 0x17f<<23 | op<<16 | imm&0xffff }

const (
	sMov32, sMov64, sAndSaveexec = 0, 1, 32 // SOP1
	sSubU32, sAnd64, sOr64       = 1, 13, 15
	sBranch                      = 2 // SOPP; then by SCC 0 and 1, VCC zero or not, EXEC zero or not
	sBarrier                     = 10
)

// branch makes a branch whose target is set later.
func (p *randProgram) branch(op uint32) (at int) {
	at = len(p.words)
	p.emit(asmSOPP(op, 0))
	return at
}

func (p *randProgram) target(branch int) { p.jump(branch, len(p.words)) }

func (p *randProgram) jump(branch, to int) {
	p.words[branch] |= uint32(to-branch-1) & 0xffff
}

// inst makes a random instruction that touches no memory.
func (p *randProgram) inst() {
	for range 50 {
		info := randPick(p.r, p.ops.alu, p.ops.commonALU)
		if info.Enc == gcn.MFMA && p.r.IntN(10) != 0 { // they take long
			continue
		}
		w := randALU(p.r, p.arch, info)
		in, ok := randInst(p.arch, w)
		if !ok || writesEXEC(&in) && p.r.IntN(6) != 0 {
			continue
		}
		p.names[info.Name] = true
		p.emit(w[:in.Len/4]...)
		return
	}
}

// access makes an access of memory, and the address before it.
func (p *randProgram) access() {
	info := randPick(p.r, p.ops.memory, p.ops.commonMemory)
	width := uint8(0)
	for _, o := range info.Operands {
		if o.Role == gcn.RoleData || o.Role == gcn.RoleDst {
			width = max(width, o.Type.Width())
		}
	}
	var w []uint32
	for tries, ok := 0, false; !ok; tries++ {
		if tries == 20 {
			return
		}
		w = randMemory(p.r, p.arch, info)
		var in gcn.Inst
		in, ok = randInst(p.arch, w)
		w = w[:max(in.Len/4, 1)]
	}
	vop2 := func(op, d, s0, s1 uint32) uint32 { return op<<25 | d<<17 | s1<<9 | s0 }
	stores := info.Flags&(gcn.IsStore|gcn.IsAtomic) != 0
	switch {
	case info.Enc == gcn.SMEM:
	case info.Enc == gcn.SCRATCH:
		p.emit(vop2(0x13, randAddr, 128+32, randVector(p.r, 1))) // v_and_b32 v0, 32, a register
	case stores && (width > 1 || info.Flags&gcn.TwoAddr != 0) || p.r.IntN(2) == 0:
		// Each lane has 16 bytes of its own: where stores of two lanes meet in parts, which is last is not defined.
		p.emit(vop2(0x15, randAddr, 255, randLane), uint32(p.r.IntN(randSpan/16))<<4) // v_xor_b32
	default:
		p.emit(vop2(0x13, randAddr, 255, randVector(p.r, 1)), (randSpan-1)&^7) // v_and_b32
	}
	switch {
	case info.Enc == gcn.MUBUF || info.Enc == gcn.MTBUF:
		if w[0]>>13&1 != 0 { // an index, not an offset
			p.emit(vop2(0x10, randAddr, 128+4, randAddr)) // v_lshrrev_b32 v0, 4, v0
		}
	case info.Enc == gcn.FLAT:
		base := uint32(randData)
		if p.r.IntN(3) == 0 {
			base = randShared
		}
		p.emit(vop2(0x34, randAddr, base, randAddr))            // v_add_u32: a page does not lie across 4 GiB
		p.emit(0x3f<<25 | (randAddr+1)<<17 | 1<<9 | (base + 1)) // v_mov_b32
	}
	p.names[info.Name] = true
	p.emit(w...)
}

// piece makes a part of a program: some instructions, or a structure around pieces.
func (p *randProgram) piece() {
	r := p.r
	if p.frame >= 4 || r.IntN(3) == 0 {
		for range 1 + r.IntN(8) {
			if r.IntN(4) == 0 {
				p.access()
			} else {
				p.inst()
			}
		}
		return
	}
	kept := uint32(randKept + 4*p.frame) // a counter, then a mask
	saved := kept + 2
	p.frame++
	defer func() { p.frame-- }()
	body := func() {
		for range 1 + r.IntN(2) {
			p.piece()
		}
	}
	const vcc, exec, minusOne = gcn.RegVCC, gcn.RegEXEC, 193
	switch r.IntN(8) {
	case 0: // if
		skip := p.branch(sBranch + 2 + uint32(r.IntN(6)))
		body()
		p.target(skip)
	case 1: // if, else
		other := p.branch(sBranch + 2 + uint32(r.IntN(6)))
		body()
		end := p.branch(sBranch)
		p.target(other)
		body()
		p.target(end)
	case 2, 3: // a loop, some of whose lanes may end before others
		diverges := r.IntN(2) == 0
		p.emit(asmSOP1(sMov32, kept, 128+1+uint32(r.IntN(6))))
		p.emit(asmSOP1(sMov64, saved, exec))
		top := len(p.words)
		body()
		var out int
		if diverges {
			p.emit(asmSOP2(sAnd64, exec, exec, vcc))
			out = p.branch(sBranch + 6) // s_cbranch_execz
		}
		p.emit(asmSOP2(sSubU32, kept, kept, 128+1))
		p.emit(0x17e<<23 | 7<<16 | 128<<8 | kept) // s_cmp_lg_u32
		p.jump(p.branch(sBranch+3), top)
		if diverges {
			p.target(out)
		}
		p.emit(asmSOP1(sMov64, exec, saved))
	case 4, 5: // some lanes, and perhaps the others after them
		p.emit(asmSOP1(sAndSaveexec, saved, vcc))
		skip := -1
		if r.IntN(2) == 0 {
			skip = p.branch(sBranch + 6)
		}
		body()
		if skip >= 0 {
			p.target(skip)
		}
		if r.IntN(2) == 0 {
			p.emit(asmSOP2(19, exec, saved, exec)) // s_andn2_b64
			body()
		}
		p.emit(asmSOP1(sMov64, exec, saved))
	case 6: // a call, over what is called
		p.emit(asmSOP1(28, saved, 0))            // s_getpc_b64
		p.emit(asmSOP2(0, saved, saved, 255), 0) // s_add_u32
		patch := len(p.words) - 1
		from := patch - 1
		p.emit(asmSOP2(4, saved+1, saved+1, 128)) // s_addc_u32
		over := p.branch(sBranch)
		p.words[patch] = uint32(4 * (len(p.words) - from))
		body()
		p.emit(asmSOP1(29, 0, kept)) // s_setpc_b64
		p.target(over)
		for range 1 + r.IntN(2) {
			p.emit(asmSOP1(30, kept, saved)) // s_swappc_b64
		}
	default: // lanes come back, the modes of arithmetic change, a wave waits
		switch r.IntN(4) {
		case 0, 1:
			p.emit(asmSOP1(sMov64, exec, minusOne))
		case 2:
			mode := uint32(0xf0)
			if r.IntN(2) == 0 {
				mode = uint32(r.IntN(256))
			}
			p.emit(0xb<<28|20<<23|7<<11|1, mode) // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8)
		default:
			p.emit(asmSOPP(sBarrier, 0))
		}
	}
}

func (p *randProgram) String() string {
	var b strings.Builder
	code := bytesOf(p.words)
	for i, at := range p.at {
		in, err := gcn.Decode(p.arch, code, 4*at)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%4d  %v\n", at, err)
		case p.words[at] == asmSOPP(0, 0) && i+1 < len(p.at):
		case in.Info.Flags&gcn.IsBranch != 0:
			fmt.Fprintf(&b, "%4d  %s  -> %d\n", at, in.String(), in.Target()/4)
		default:
			fmt.Fprintf(&b, "%4d  %s  %08x\n", at, in.String(), p.words[at:at+int(in.Len/4)])
		}
	}
	return b.String()
}
