//go:build linux && amd64

package exec

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// randomProgram is a loop of random instructions that can be translated, on few
// registers. EXEC changes in it, and so blocks end. v[6:7] and s[64:65] are
// addresses, which nothing writes; s70 counts.
func randomProgram(r *rand.Rand, p *Program, n, stride int, floats bool) (words []uint32, text string) {
	emit := func(w ...uint32) {
		words = append(words, w...)
		in, err := gcn.Decode(p.arch, bytesOf(append(w, 0, 0)), 0)
		if err != nil {
			panic(err)
		}
		text += in.String() + "\n"
	}
	emit(0xbec60000 | 0x80 + 3) // s_mov_b32 s70, 3
	top := len(words)
	for range n {
		if r.IntN(6) == 0 {
			emit([]uint32{
				0xbefe0160 | uint32(r.IntN(2))<<1, // s_mov_b64 exec, s[96:97] or s[98:99]
				0xbefe01c1,                        // s_mov_b64 exec, -1
				0xbee02060,                        // s_and_saveexec_b64 s[96:97], s[96:97]
				0x877e627e,                        // s_or_b64 exec, exec, s[98:99]
			}[r.IntN(4)])
			continue
		}
		if r.IntN(16) == 0 {
			mode, dst, src := []uint32{1, 8, 9}[r.IntN(3)], uint32(r.IntN(6)), 256+uint32(r.IntN(7))
			if mode&8 != 0 {
				dst /= 2
			}
			emit(0xbf110000 | mode<<8 | 0x80 + uint32(r.IntN(4))) // s_set_gpr_idx_on 0 to 3, gpr_idx(SRC0), gpr_idx(DST) or both
			emit(0x7e000200 | dst<<17 | src)                      // v_mov_b32
			emit(0xbf9c0000)                                      // s_set_gpr_idx_off
			continue
		}
		emit(randomTranslated(r, p, stride, floats)...)
	}
	emit(0x80c68146) // s_sub_u32 s70, s70, 1
	emit(0xbf078046) // s_cmp_lg_u32 s70, 0
	emit(0xbf850000 | uint32(top-len(words)-1)&0xffff)
	return words, text
}

// randomTranslated is an instruction that can be translated and writes none of
// the registers that randomProgram needs. What it stores is not larger than stride:
// which lane's dwords are there at last is not defined if they overlap.
func randomTranslated(r *rand.Rand, p *Program, stride int, floats bool) []uint32 {
	g := &nativeGen{p: p}
	for {
		w := []uint32{r.Uint32(), r.Uint32(), 0}
		src := func() uint32 { // mostly a vector register
			switch r.IntN(6) {
			case 0:
				return 96 + uint32(r.IntN(4))
			case 1:
				return uint32(r.IntN(256))
			}
			return 256 + uint32(r.IntN(10))
		}
		few := func(word, shift int, n uint32) {
			w[word] = w[word]&^(0xff<<shift) | r.Uint32()%n<<shift
		}
		switch r.IntN(11) {
		case 0: // VOP1
			w[0] = 0x3f<<25 | uint32(r.IntN(6))<<17 | w[0]&(0xff<<9) | src()
		case 1: // VOPC
			w[0] = 0x3e<<25 | w[0]&(0xff<<17) | uint32(r.IntN(10))<<9 | src()
		case 2, 3: // VOP2
			w[0] = w[0]&(0x3f<<25)&^(1<<31) | uint32(r.IntN(6))<<17 | uint32(r.IntN(10))<<9 | src()
		case 4, 5: // VOP3
			w[0] = 0x34<<26 | w[0]&(0x3ff<<16) | uint32(r.IntN(6))
			if r.IntN(3) == 0 {
				w[0] |= uint32(r.IntN(8))<<8 | uint32(r.IntN(2))<<15
			}
			w[1] = src() | src()<<9 | src()<<18 | uint32(r.IntN(2)*r.IntN(32))<<27
		case 6: // VOP3P
			w[0] = 0x1a7<<23 | w[0]&(0x7f<<16) | uint32(r.IntN(6)) | uint32(r.IntN(8))<<8 | uint32(r.IntN(2))<<14
			w[1] = src() | src()<<9 | src()<<18 | uint32(r.IntN(32))<<27
		case 7: // DS, small offsets
			w[0] = 0x36<<26 | w[0]&(0xff<<17) | w[0]&0x7f
			w[1] = uint32(r.IntN(3)) // its addresses
			few(1, 8, 10)
			few(1, 16, 10)
			few(1, 24, 6)
		case 8: // global, from v[6:7]
			w[0] = 0x37<<26 | w[0]&(0x7f<<18) | 2<<14 | uint32(r.IntN(64))*4
			w[1] = 6 | 0x7f<<16
			few(1, 8, 6)
			few(1, 24, 4)
		case 9: // global, from s[64:65] and v8
			w[0] = 0x37<<26 | w[0]&(0x7f<<18) | 2<<14 | uint32(r.IntN(64))*4
			w[1] = 8 | 64<<16
			few(1, 8, 6)
			few(1, 24, 4)
		case 10: // of the buffer s[68:71], from v8
			w[0] = 0x38<<26 | w[0]&(0x7f<<18) | 1<<12 | uint32(r.IntN(64))*4
			w[1] = 8 | 68/4<<16 | 128<<24
			few(1, 8, 6)
		}
		in, err := gcn.Decode(p.arch, bytesOf(w), 0)
		if err != nil || controls[in.Op.String()] != nil || writesEXEC(&in) || !g.can(&block{}, &in) {
			continue
		}
		name := in.Op.String()
		if floats && !isFloatArithmetic(&in) && !movesFloats[name] || !floats && makesFloats(&in) || floats && in.Form == gcn.FormSDWA {
			continue
		}
		bad := strings.HasPrefix(name, "flat_") // in the LDS perhaps
		switch {
		case strings.HasPrefix(name, "ds_write"):
			bad = in.Data.Width > 1
		case strings.Contains(name, "_byte"):
		case strings.Contains(name, "_short"):
			bad = bad || stride < 2
		case in.Data.Kind != gcn.None:
			bad = bad || 4*int(in.Data.Width) > stride
		}
		vectorUses(&in, func(reg, n int, write bool) { bad = bad || write && reg+n > 6 })
		for _, o := range []*gcn.Operand{&in.Dst, &in.SDst} {
			bad = bad || o.Kind == gcn.SGPR && int(o.Index) <= 71 && int(o.Index)+int(o.Width) > 64
		}
		if !bad {
			return w[:in.Len/4]
		}
	}
}

// isFloatArithmetic reports whether an instruction computes f32 of f32. Of NaNs only
// that they are is the same, so what else could read the results is kept apart.
func isFloatArithmetic(in *gcn.Inst) bool {
	if strings.HasPrefix(in.Op.String(), "v_pk_") {
		return in.Dst.Width == 2 && in.Op.String() != "v_pk_mov_b32"
	}
	v := vops[in.Op.String()]
	return v != nil && v.fl != notFloat && v.slow != nil && v.dst == 1 && in.Form != gcn.FormSDWA && in.Src[0].Type == gcn.F32 && in.Dst.Type == gcn.F32
}

// makesFloats reports whether an instruction's result may be any NaN.
func makesFloats(in *gcn.Inst) bool {
	v := vops[in.Op.String()]
	return v != nil && v.fl != notFloat || strings.HasPrefix(in.Op.String(), "v_div_") || strings.HasPrefix(in.Op.String(), "v_pk_") && in.Op.String() != "v_pk_mov_b32" || in.Info.Flags&gcn.MixMods != 0
}

// movesFloats are the instructions for programs of both kinds.
var movesFloats = map[string]bool{"v_mov_b32": true, "v_cndmask_b32": true, "v_cmp_lt_f32": true, "v_cmp_u_f32": true, "v_cmp_ge_f32": true}

// TestNativeBlocks executes random programs of several blocks with the
// functions of the instructions and as machine code: everything a wave is, and
// memory, have to be the same, up to the instruction that faults if one does.
func TestNativeBlocks(t *testing.T) {
	if !translates(t) {
		return
	}
	defer func(cost, strip, few int) { useNative, leaveCost, leastOfStrip, leastOfFew = true, cost, strip, few }(leaveCost, leastOfStrip, leastOfFew)
	n := 1000
	if testing.Short() {
		n = 200
	}
	for _, arch := range append(slices.Clone(arches), rdnaWaves...) {
		n := n
		if arch.Has(gcn.RDNA) { // there are two of the same instructions
			n /= 2
		}
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		m.V, m.A = registers(m.V, 256), registers(m.A, 256)
		m.setBases()
		r := rand.New(rand.NewPCG(uint64(arch), 77))
		faults, pinned, turns, few := 0, 0, 0, 0
		for i := range n {
			leaveCost = []int{8, 0, -1000}[i/2%3] // what is worth a register, or everything
			leastOfStrip, leastOfFew = 1+i%4/3, 1+i%3
			m.fill(r, data)
			m.setMode(0x3f0)
			m.setS64(64, data)
			m.setS64(96, execPatterns[r.IntN(len(execPatterns))])
			m.setS64(98, r.Uint64())
			// The address of that lane is nowhere then. Fewer of RDNA's random instructions take it.
			wild, nowhere := r.IntN(4) <= btoi(arch.Has(gcn.RDNA)), r.IntN(arch.WaveSize())
			base, stride := data+uint64(r.IntN(page-600))&^3, []int{1, 2, 4, 8, 12, 16}[r.IntN(6)]
			for l := range 64 {
				at := base + uint64(l*stride)
				if r.IntN(200*arch.WaveSize()/64) == 0 { // as many in a small wave
					at = base + uint64(stride*r.IntN(64))
				}
				if wild && l == nowhere {
					at = r.Uint64()
				}
				m.set64(6, l, at)
				m.V[8][l] = uint32(at - data)
			}
			size := uint32(page)
			if wild {
				size = uint32(r.IntN(page))
			}
			for j, v := range []uint32{uint32(data), uint32(data >> 32), size, 0x00027fac} {
				m.S[68+j] = v
			}
			if i%2 == 1 {
				for j := range 10 {
					for l := range 64 {
						m.V[j][l] = math32(r.Float64()*4 - 2)
					}
				}
			}
			program := randomProgram
			if arch.Has(gcn.RDNA) {
				program = randomProgramRDNA
			}
			words, text := program(r, m.prog, 1+r.IntN(24), stride, i%2 == 1)
			before := m.save(mem)
			useNative = false
			err1 := m.exec(words...)
			want := m.save(mem)
			m.restore(&before, mem)
			useNative = true
			b := m.prog.block(m.code)
			m.prog.mu.Lock()
			m.prog.translate(b, len(m.V), len(m.A))
			m.prog.mu.Unlock()
			e := b.entry.Load()
			if e == nil {
				t.Fatalf("%s: not translated:\n%s", arch, text)
			}
			pinned, turns, few = pinned+e.r.pinned, turns+e.r.turns, few+e.r.few
			err2 := m.runCode()
			got := m.save(mem)
			if fmt.Sprint(err1) != fmt.Sprint(err2) {
				t.Fatalf("%s: %v, translated %v:\n%s", arch, err1, err2, text)
			}
			var f *Fault
			if errors.As(err1, &f) { // what it loaded before it faulted is not defined
				faults++
				in, _, _ := m.prog.instAt(f.PC)
				vectorUses(&in, func(reg, n int, write bool) {
					for r := reg; write && r < reg+n; r++ {
						got.V[r] = want.V[r]
					}
				})
				if in.Data.Kind != gcn.None {
					got.mem = want.mem
				}
			}
			if d := got.differsFor(&want, nans{f32: i%2 == 1}); d != "" { // other programs make none
				t.Fatalf("%s: program %d: %s; %v:\n%s", arch, i, d, err1, text)
			}
		}
		t.Logf("%s: %d faults, %.1f registers pinned, %.1f instructions in strips, %.1f blocks for few lanes", arch, faults, float64(pinned)/float64(n),
			float64(turns)/float64(n), float64(few)/float64(n))
		if faults == 0 || hasAVX512 && pinned < n || !hasAVX512 && turns < n || few < n {
			t.Errorf("%s: %d faults, %d pinned registers, %d instructions in strips, %d blocks for few lanes: not random enough", arch, faults, pinned, turns, few)
		}
	}
}
