package exec

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestRDNAEveryHalf: an instruction that names the high half of a source computes what it does with the low half of a register whose halves are
// exchanged, and one that names the high half of its destination writes there what it otherwise writes to the low one.
func TestRDNAEveryHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	forms := 0
	for _, info := range gcn.Ops(gcn.GFX1100) {
		op := info.Opcode[gcn.GFX1100]
		base, vector := map[gcn.Encoding]int16{gcn.VOPC: 0, gcn.VOP3: 0, gcn.VOP2: 256, gcn.VOP1: 384}[info.Enc]
		if !vector || op < 0 || !Executable(gcn.GFX1100, info) || info.Flags&gcn.WritesEXEC != 0 || info.Op == gcn.V_FMAC_F16 { // it adds to the half it names: TestRDNAAccumulatorHalves
			continue
		}
		sources := uint32(258 | 259<<9 | 260<<18)
		if info.Op == gcn.V_CNDMASK_B16 { // its third is a mask
			sources = 258 | 259<<9 | regVCC<<18
		}
		words := func(sel uint32) []uint32 { return []uint32{0xd4000000 | uint32(base+op)<<16 | sel<<11 | 6, sources} }
		for _, fewer := range []uint32{258 | 259<<9, 258} {
			if _, err := gcn.Decode(gcn.GFX1100, bytesOf(words(0)), 0); err != nil {
				sources = fewer
			}
		}
		for bit := range uint32(4) {
			in, err := gcn.Decode(gcn.GFX1100, bytesOf(words(1<<bit)), 0)
			if err != nil || in.OpSel != 1<<bit || !strings.Contains(in.String(), ".h") { // others ignore the bit, or it means something else
				continue
			}
			plain, named := newMachine(t, gcn.GFX1100), newMachine(t, gcn.GFX1100)
			for _, m := range []*machine{plain, named} {
				m.setMask(1<<32 - 1)
			}
			for v := range 8 {
				for lane := range 32 {
					x := r.Uint32()
					if lane%3 == 0 { // numbers of which floats have some left
						x = uint32(f64to16(float64(r.IntN(64)))) | uint32(f64to16(float64(r.IntN(64))))<<16
					}
					plain.V[v][lane], named.V[v][lane] = x, x
					if bit < 3 && v == 2+int(bit) {
						plain.V[v][lane] = x>>16 | x<<16
					}
				}
			}
			if err := plain.exec(words(0)...); err != nil {
				t.Errorf("%s: %v", info.Name, err)
				continue
			}
			old := named.V[6]
			if err := named.exec(words(1 << bit)...); err != nil {
				t.Errorf("%s: %v", in.String(), err)
				continue
			}
			forms++
			want := plain.V[6]
			if bit == 3 {
				for lane := range 32 {
					want[lane] = high(old[lane], want[lane]&0xffff)
				}
			}
			if named.V[6] != want || named.S != plain.S {
				t.Errorf("%s: v6 is\n%#x, want\n%#x (v2 %#x v3 %#x)\ns6 %#x, want %#x", in.String(), named.V[6][:4], want[:4], named.V[2][:4], named.V[3][:4], named.S[6], plain.S[6])
			}
		}
	}
	if forms < 300 {
		t.Errorf("%d forms name a high half", forms)
	}
}
