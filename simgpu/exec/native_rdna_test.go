//go:build linux && amd64

package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Random instructions of RDNA, by its table: where the fields of an encoding are.

// rdnaBase is an opcode's words with all fields zero.
func rdnaBase(info *gcn.OpInfo) []uint32 {
	op := uint32(info.Opcode[gcn.GFX1100])
	switch info.Enc {
	case gcn.SOP1:
		return []uint32{0xbe800000 | op<<8}
	case gcn.SOP2:
		return []uint32{0x80000000 | op<<23}
	case gcn.SOPC:
		return []uint32{0xbf000000 | op<<16}
	case gcn.SOPK:
		return []uint32{0xb0000000 | op<<23}
	case gcn.SOPP:
		return []uint32{0xbf800000 | op<<16}
	case gcn.SMEM:
		return []uint32{0xf4000000 | op<<18, 0}
	case gcn.VOP1:
		return []uint32{0x7e000000 | op<<9}
	case gcn.VOP2:
		return []uint32{op << 25}
	case gcn.VOPC:
		return []uint32{0x7c000000 | op<<17}
	case gcn.VOP3:
		return []uint32{0xd4000000 | op<<16, 0}
	case gcn.VOP3P:
		return []uint32{0xcc000000 | op<<16, 0}
	case gcn.VOPD:
		return []uint32{0xc8000000 | op&15<<22 | op<<17, 0}
	case gcn.DS:
		return []uint32{0xd8000000 | op<<18, 0}
	case gcn.FLAT:
		return []uint32{0xdc000000 | op<<18, 0}
	case gcn.SCRATCH:
		return []uint32{0xdc010000 | op<<18, 0}
	case gcn.GLOBAL:
		return []uint32{0xdc020000 | op<<18, 0}
	case gcn.MUBUF:
		return []uint32{0xe0000000 | op<<18, 0}
	}
	return nil
}

// rdnaRegs says which registers a random instruction may name.
type rdnaRegs struct {
	src    func() uint32 // of nine bits
	dst    func() uint32 // a vector register, as a source of eight bits is
	vector func() uint32 // likewise, one to read
	scalar func() uint32 // a scalar register
}

// rdnaInst fills the fields of an opcode. It is nil where that makes no instruction.
func rdnaInst(r *rand.Rand, arch gcn.Arch, info *gcn.OpInfo, at rdnaRegs) []uint32 {
	b := rdnaBase(info)
	if b == nil {
		return nil
	}
	sometimes := func(n int, bits uint32) uint32 {
		if r.IntN(n) == 0 {
			return r.Uint32() & bits
		}
		return 0
	}
	half := func(reg uint32, t int) uint32 { // registers of 16 bits have seven bits for their number, and one for the half
		if r.IntN(4) == 0 {
			return reg&127 | uint32(t)<<7
		}
		return reg & 127
	}
	form := []uint32{0, 0, 0, 0, 0, 250, 233, 234}[r.IntN(8)]
	lanes := func() uint32 {
		if form != 250 {
			return at.vector() | r.Uint32()<<8
		}
		ctrl := []uint32{r.Uint32() & 0xff, 0x101 + uint32(r.IntN(15)), 0x111 + uint32(r.IntN(15)), 0x121 + uint32(r.IntN(15)), 0x140, 0x141, 0x150 + uint32(r.IntN(16)), 0x160 + uint32(r.IntN(16))}[r.IntN(8)]
		return at.vector() | ctrl<<8 | []uint32{0xff000000, r.Uint32() & 0xff000000}[r.IntN(2)] | r.Uint32()&(3<<18)
	}
	short := false // operands of 16 bits
	for _, o := range info.Operands {
		short = short || o.Type == gcn.F16 || o.Type == gcn.I16
	}
	vop := func(w uint32) uint32 { return w }
	if short {
		vop = func(w uint32) uint32 { return half(w, r.IntN(2)) }
	}
	first := func() uint32 {
		if form != 0 {
			return form
		}
		if s := at.src(); s < 256 || !short {
			return s
		} else {
			return 256 + vop(s-256)
		}
	}
	tail := func(literal bool) {
		if form != 0 {
			b = append(b, lanes())
		} else if literal {
			b = append(b, r.Uint32())
		}
	}
	switch info.Enc {
	case gcn.SOP1:
		b[0] |= at.scalar()<<16 | at.src()&0xff
		tail(true)
	case gcn.SOP2:
		b[0] |= at.scalar()<<16 | at.src()&0xff<<8 | at.src()&0xff
		form = 0
		tail(true)
	case gcn.SOPC:
		b[0] |= at.src()&0xff<<8 | at.src()&0xff
		form = 0
		tail(true)
	case gcn.SOPK:
		b[0] |= at.scalar()<<16 | r.Uint32()&0xffff
		form = 0
		tail(true)
	case gcn.SOPP:
		b[0] |= []uint32{r.Uint32() & 0xffff, 3}[r.IntN(2)]
	case gcn.SMEM:
		b[0] |= at.scalar()&^1<<6 | at.scalar()>>1
		b[1] = r.Uint32()&0x3ff | []uint32{124, at.scalar()}[r.IntN(2)]<<25
	case gcn.VOP1:
		b[0] |= vop(at.dst())<<17 | first()
		tail(true)
	case gcn.VOP2:
		b[0] |= vop(at.dst())<<17 | vop(at.vector())<<9 | first()
		tail(true)
	case gcn.VOPC:
		b[0] |= vop(at.vector())<<9 | first()
		tail(true)
	case gcn.VOP3:
		dst := at.dst()
		if len(info.Operands) > 0 && info.Operands[0].Class == gcn.ClassS {
			dst = at.scalar()
		}
		second := uint32(0)
		if len(info.Operands) > 1 && info.Operands[1].Role == gcn.RoleSDst {
			second = []uint32{124, at.scalar()}[r.IntN(2)] << 8
		}
		b[0] |= dst | second | sometimes(3, 7<<8) | sometimes(6, 1<<15) | sometimes(2, 15<<11)
		if second != 0 {
			b[0] &^= 15<<11 | 1<<15
			b[0] |= second
		}
		s0 := form
		if s0 == 0 {
			s0 = at.src()
		}
		b[1] = s0 | at.src()<<9 | at.src()<<18 | sometimes(3, 31<<27)
		for _, o := range info.Operands {
			if o.Role >= gcn.RoleSrc0 && o.Role <= gcn.RoleSrc2 && (o.Class == gcn.ClassS || o.Class == gcn.ClassSS) {
				shift := 9 * (o.Role - gcn.RoleSrc0)
				b[1] = b[1]&^(0x1ff<<shift) | at.scalar()<<shift
			}
		}
		tail(true)
	case gcn.VOP3P:
		form = 0
		b[0] |= at.dst() | sometimes(3, 7<<8) | sometimes(6, 1<<15) | sometimes(2, 15<<11) | 1<<14
		b[1] = at.src() | at.src()<<9 | at.src()<<18 | 3<<27
		if r.IntN(3) == 0 {
			b[1] ^= r.Uint32() & (31 << 27)
			b[0] ^= r.Uint32() & (1 << 14)
		}
		tail(true)
	case gcn.VOPD:
		form = 0
		b[0] = b[0]&^(31<<17) | []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 17, 18}[r.IntN(16)]<<17
		if r.IntN(2) == 0 {
			b[0] = b[0]&^(0x1f<<17|15<<22) | uint32(r.IntN(14))<<22 | uint32(info.Opcode[gcn.GFX1100])<<17
		}
		b[0] |= at.src() | at.vector()<<9
		b[1] = at.src() | at.vector()<<9 | at.dst()>>1<<17 | at.dst()<<24
		if b[0]>>22&15 == 8 { // v_dual_mov_b32 has one source
			b[0] &^= 0xff << 9
		}
		if b[0]>>17&31 == 8 {
			b[1] &^= 0xff << 9
		}
		tail(true)
	case gcn.DS:
		b[0] |= r.Uint32() & 0x7f
		b[1] = at.vector() | at.vector()<<8 | at.vector()<<16 | at.dst()<<24
	case gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH:
		b[0] |= r.Uint32()&0x7c | sometimes(3, 7<<13)
		b[1] = at.vector() | at.vector()<<8 | at.dst()<<24 | 124<<16
		if info.Enc != gcn.FLAT && r.IntN(2) == 0 {
			b[1] = b[1]&^(127<<16) | at.scalar()&^1<<16
		}
		if info.Enc == gcn.SCRATCH {
			b[1] |= sometimes(1, 1<<23)
		}
	case gcn.MUBUF:
		b[0] |= r.Uint32()&0x7c | sometimes(3, 1<<14)
		b[1] = at.vector() | at.dst()<<8 | at.scalar()>>2<<16 | []uint32{128, at.scalar()}[r.IntN(2)]<<24 | uint32(r.IntN(2))<<22
	}
	zero := info.Zero[gcn.GFX1100]
	b[0] &^= uint32(zero)
	if len(b) > 1 && info.Enc != gcn.VOP1 && info.Enc != gcn.VOP2 && info.Enc != gcn.VOPC {
		b[1] &^= uint32(zero >> 32)
	}
	in, err := gcn.Decode(arch, bytesOf(append(slices.Clone(b), 0)), 0)
	if err != nil || int(in.Len)/4 > len(b) {
		return nil
	}
	return b[:in.Len/4]
}

// TestNativeRDNA executes instructions of waves of 32 and of 64 lanes by their functions and as machine code. Every operation that can be translated is
// tried.
func TestNativeRDNA(t *testing.T) {
	if !translates(t) {
		return
	}
	for _, arch := range rdnaWaves {
		t.Run(fmt.Sprint(arch.WaveSize()), func(t *testing.T) { nativeRDNA(t, arch) })
	}
}

func nativeRDNA(t *testing.T, arch gcn.Arch) {
	m := newMachine(t, arch)
	m.blind = true
	data, mem := m.alloc(page)
	m.V = registers(m.V, 256)
	m.setBases()
	r := rand.New(rand.NewPCG(11, 32))
	number := func() uint32 { return uint32(r.IntN(256)) }
	regs := rdnaRegs{
		src: func() uint32 {
			if r.IntN(3) == 0 {
				return uint32(r.IntN(256))
			}
			return 256 + number()
		}, dst: number, vector: number, scalar: func() uint32 { return uint32(r.IntN(108)) },
	}
	n := 16
	if testing.Short() {
		n = 4
	}
	seen, left := map[string]int{}, map[string]int{}
	for _, info := range gcn.Ops(arch) {
		name := info.Op.String()
		if !Translated(arch, name) || controls[name] != nil || Reason(arch, info) != "" || info.Enc == gcn.VOPD && arch.WaveSize() == 64 {
			continue
		}
		for i := range n {
			words := rdnaInst(r, arch, info, regs)
			if words == nil {
				continue
			}
			in, _ := gcn.Decode(arch, bytesOf(append(slices.Clone(words), 0)), 0)
			if controls[in.Op.String()] != nil {
				continue
			}
			if i%8 == 0 {
				m.fill(r, data)
			} else {
				m.setS64(regEXEC, execPatterns[r.IntN(len(execPatterns))])
			}
			switch in.Enc {
			case gcn.FLAT, gcn.GLOBAL, gcn.SCRATCH, gcn.SMEM:
				m.point(r, &in, data)
			case gcn.MUBUF:
				m.pointBuffer(r, &in, data)
			}
			if strings.HasPrefix(name, "ds_write") && !strings.HasSuffix(name, "_b32") && in.Addr.Kind == gcn.VGPR {
				// Which lane's dwords are there at last is not defined if they overlap.
				for l := range 64 {
					m.V[in.Addr.Index][l] = uint32(16*l - r.IntN(2)*16)
				}
			}
			both := m.eachWay(t, words, mem)
			if fmt.Sprint(both.err) != fmt.Sprint(both.translatedErr) {
				t.Fatalf("%s: %v, translated %v", in.String(), both.err, both.translatedErr)
			}
			if both.err != nil {
				continue
			}
			if d := both.differs(); d != "" {
				t.Fatalf("%s: %s; EXEC %#x", in.String(), d, both.before.S[regEXEC:regEXEC+2])
			}
			if seen[info.Enc.String()+" "+name]++; both.returns > 0 {
				left[info.Enc.String()+" "+name]++
			}
		}
		if seen[info.Enc.String()+" "+name] == 0 && !testing.Short() {
			t.Errorf("%s %s was never tried", info.Enc, info.Name)
		}
	}
	memory := func(name string) bool { return nativeMemory[name] != nil }
	for key, n := range seen {
		if _, name, _ := strings.Cut(key, " "); left[key] == n && !memory(name) && !mayLeave[name] && !strings.HasPrefix(name, "s_bfe_") && !testing.Short() {
			t.Errorf("%s: every form of it is left to Go", key)
		}
	}
}

// randomProgramRDNA is randomProgram for RDNA.
func randomProgramRDNA(r *rand.Rand, p *Program, n, stride int, floats bool) (words []uint32, text string) {
	rows, hot := map[string]*gcn.OpInfo{}, []*gcn.OpInfo(nil)
	for _, info := range gcn.Ops(p.arch) {
		name := info.Op.String()
		if rows[info.Name] == nil {
			rows[info.Name] = info
		}
		if Translated(p.arch, name) && controls[name] == nil && Reason(p.arch, info) == "" {
			hot = append(hot, info)
			if slices.Contains(randCommon, name) || info.Enc == gcn.VOPD { // most of what there is
				for range 8 {
					hot = append(hot, info)
				}
			}
		}
	}
	emit := func(w ...uint32) {
		words = append(words, w...)
		in, err := gcn.Decode(p.arch, bytesOf(append(slices.Clone(w), 0, 0)), 0)
		if err != nil {
			panic(err)
		}
		text += in.String() + "\n"
	}
	scalar := func(name string, dst uint32, src ...uint32) {
		b := rdnaBase(rows[name])
		b[0] |= src[0]
		if len(src) > 1 {
			b[0] |= src[1] << 8
		}
		if dst < 256 {
			b[0] |= dst << 16
		}
		emit(b...)
	}
	g := &nativeGen{p: p}
	regs := rdnaRegs{
		src: func() uint32 { // mostly a vector register
			switch r.IntN(6) {
			case 0:
				return 96 + uint32(r.IntN(4))
			case 1:
				return uint32(r.IntN(256))
			}
			return 256 + uint32(r.IntN(10))
		},
		dst: func() uint32 { return uint32(r.IntN(6)) }, vector: func() uint32 { return uint32(r.IntN(10)) },
		scalar: func() uint32 { return []uint32{gcn.RegVCC, 80, 96, 98, 64, 68}[r.IntN(6)] },
	}
	random := func() []uint32 {
		for {
			info := hot[r.IntN(len(hot))]
			w := rdnaInst(r, p.arch, info, regs)
			if w == nil {
				continue
			}
			in, _ := gcn.Decode(p.arch, bytesOf(append(slices.Clone(w), 0)), 0)
			name := in.Op.String()
			if writesEXEC(&in) || !g.can(&block{}, &in) {
				continue
			}
			bad := strings.HasPrefix(name, "flat_") || in.Enc == gcn.SCRATCH || in.Enc == gcn.SMEM
			for _, one := range []*gcn.Inst{&in, in.Dual} {
				if one == nil {
					continue
				}
				arithmetic := isFloatArithmetic(one) && one.Form != gcn.FormDPP
				bad = bad || floats && !arithmetic && !movesFloats[one.Op.String()] || !floats && makesFloats(one)
			}
			switch {
			case in.Enc == gcn.DS:
				w[1] = w[1]&^0xff | uint32(r.IntN(3)) // its addresses
				bad = bad || strings.HasPrefix(name, "ds_write") && in.Data.Width > 1
			case in.Enc == gcn.GLOBAL && in.Base.Kind == gcn.SGPR:
				w[1] = w[1]&^(0x7f<<16|0xff) | 8 | 64<<16
			case in.Enc == gcn.GLOBAL:
				w[1] = w[1]&^0xff | 6
			case in.Enc == gcn.MUBUF:
				w[0] |= 0
				w[1] = w[1]&^(0xff<<24|0x1f<<16|0xff) | 8 | 68/4<<16 | 128<<24 | 1<<22
			}
			in, err := gcn.Decode(p.arch, bytesOf(append(slices.Clone(w), 0)), 0)
			if err != nil || !g.can(&block{}, &in) {
				continue
			}
			switch {
			case in.Enc == gcn.DS, strings.Contains(name, "_byte"):
			case strings.Contains(name, "_short"):
				bad = bad || stride < 2
			case in.Data.Kind != gcn.None:
				bad = bad || 4*int(in.Data.Width) > stride
			}
			vectorUses(&in, func(reg, n int, write bool) { bad = bad || write && reg+n > 6 })
			for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
				bad = bad || o.Kind == gcn.SGPR && int(o.Index) <= 71 && int(o.Index)+max(1, int(o.Width)) > 64
			}
			if !bad {
				return w
			}
		}
	}
	scalar("s_mov_b32", 70, 128+3)
	top := len(words)
	for range n {
		if r.IntN(6) == 0 {
			switch r.IntN(4) {
			case 0:
				scalar("s_mov_b32", regEXEC, 96+2*uint32(r.IntN(2)))
			case 1:
				scalar("s_mov_b32", regEXEC, 193) // -1
			case 2:
				scalar("s_and_saveexec_b32", 96, 96)
			case 3:
				scalar("s_or_b32", regEXEC, regEXEC, 98)
			}
			continue
		}
		if r.IntN(16) == 0 {
			scalar("s_mov_b32", 125, 128+uint32(r.IntN(4))) // M0
			move, dst := []string{"v_movrels_b32", "v_movreld_b32", "v_movrelsd_b32"}[r.IntN(3)], uint32(r.IntN(3))
			emit(0x7e000000 | dst<<17 | uint32(rows[move].Opcode[gcn.GFX1100])<<9 | 256 + uint32(r.IntN(7)))
			continue
		}
		emit(random()...)
	}
	scalar("s_sub_u32", 70, 70, 129)
	scalar("s_cmp_lg_u32", 256, 70, 128)
	emit(rdnaBase(rows["s_cbranch_scc1"])[0] | uint32(top-len(words)-1)&0xffff)
	return words, text
}
