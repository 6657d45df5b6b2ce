//go:build linux && amd64

package exec

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sameInCode executes a program by functions and as machine code, from the machine's state on, and compares what becomes of that.
func (m *machine) sameInCode(t *testing.T, text string) {
	t.Helper()
	w := m.eachWay(t, assemble(t, m.prog.arch, text), nil)
	if fmt.Sprint(w.err) != fmt.Sprint(w.translatedErr) {
		t.Fatalf("%s: %v, translated %v", text, w.err, w.translatedErr)
	}
	if d := w.differs(); d != "" {
		t.Fatalf("%s: %s; EXEC %#x", text, d, w.before.S[regEXEC:regEXEC+2])
	}
}

// TestLDSAtomicsTogether: lanes that do an atomic on the same place do it one after the other, and each is told what the one before it left.
// Results may go where the address and the data are. An address that is not inside the LDS, or no multiple, is left to Go.
func TestLDSAtomicsTogether(t *testing.T) {
	if !useNative {
		return
	}
	r := rand.New(rand.NewPCG(21, 22))
	m := newMachine(t, gcn.GFX90A)
	for _, bits := range []uint{32, 64} {
		for _, name := range strings.Fields("add_u sub_u rsub_u inc_u dec_u min_i max_i min_u max_u and_b or_b xor_b wrxchg_b cmpst_b add_f") {
			data, result := span(2, bits), []int{6, 2, 0}
			if name == "cmpst_b" {
				data += ", " + span(4, bits)
			}
			texts := []string{fmt.Sprintf("ds_%s%d v0, %s", name, bits, data)}
			if name == "wrxchg_b" || name == "add_f" && bits == 64 {
				texts = nil
			}
			for _, d := range result {
				i := strings.LastIndex(name, "_")
				texts = append(texts, fmt.Sprintf("ds_%s_rtn%s%d %s, v0, %s offset:16", name[:i], name[i:], bits, span(d, bits), data))
			}
			for _, text := range texts {
				in, err := gcn.Decode(gcn.GFX90A, bytesOf(assemble(t, gcn.GFX90A, text)), 0)
				if try := (nativeGen{p: m.prog, r: &region{}}); err != nil || !try.inst(&in) {
					t.Fatalf("%s is not translated, %v", text, err)
				}
				for n := range 12 {
					small := uint32(r.IntN(5)) // few values, so that comparisons are equal
					for l := range WaveSize {
						m.V[0][l] = uint32(8 * r.IntN(1+n))
						for v := 1; v < 8; v++ {
							m.V[v][l] = r.Uint32()
							if n%2 == 0 {
								m.V[v][l] %= 2 + small
							}
							if name == "add_f" { // what NaNs there are is not defined
								m.V[v][l] = m.V[v][l]&0x3fffffff | 0x20000000
							}
						}
					}
					for i := range len(m.wg.lds) / 4 {
						v := r.Uint32()
						if n%2 == 0 {
							v %= 2 + small
						}
						if name == "add_f" {
							v = v&0x3fffffff | 0x20000000
						}
						binary.LittleEndian.PutUint32(m.wg.lds[4*i:], v)
					}
					switch n {
					case 9:
						m.V[0][r.IntN(WaveSize)] = uint32(len(m.wg.lds) - 16*r.IntN(2))
					case 10:
						m.V[0][r.IntN(WaveSize)]++
					case 11:
						m.V[0][r.IntN(WaveSize)] = r.Uint32()
					}
					m.setS64(regEXEC, []uint64{^uint64(0), r.Uint64(), 1 << r.IntN(64), 0xffff0000}[n%4])
					m.sameInCode(t, text)
				}
			}
		}
	}
}

// TestLDSWritesOverlap: of two writes of one instruction the second one is there at last, whichever lane does it.
func TestLDSWritesOverlap(t *testing.T) {
	if !useNative {
		return
	}
	r := rand.New(rand.NewPCG(23, 24))
	m := newMachine(t, gcn.GFX90A)
	for _, text := range []string{"ds_write2_b32 v0, v2, v3 offset1:16", "ds_write2_b32 v0, v2, v3 offset0:16", "ds_write2_b32 v0, v2, v3 offset0:20 offset1:3",
		"ds_write2st64_b32 v0, v2, v3 offset1:1", "ds_write2_b32 v0, v2, v3 offset0:5 offset1:5"} {
		for n := range 9 {
			for l := range WaveSize {
				m.V[0][l] = uint32([]int{4 * l, l / 16 * 64, 20 * l % 256}[n%3])
				m.V[2][l], m.V[3][l] = r.Uint32(), r.Uint32()
			}
			m.setS64(regEXEC, []uint64{^uint64(0), r.Uint64(), 0xffffffff}[n/3])
			m.sameInCode(t, text)
		}
	}
}

// TestLDSRows: several dwords a lane, which lie in rows or do not, up to the end of the LDS. What is read may go where the address is. With another access
// from there, which no lane does, not all are inside.
func TestLDSRows(t *testing.T) {
	if !useNative {
		return
	}
	r := rand.New(rand.NewPCG(25, 26))
	for _, arch := range []gcn.Arch{gcn.GFX90A, gcn.GFX1100} {
		m := newMachine(t, arch)
		read, write := "ds_read", "ds_write"
		if arch == gcn.GFX1100 {
			read, write = "ds_load", "ds_store"
		}
		two := map[string]string{"ds_read": "ds_read2", "ds_write": "ds_write2", "ds_load": "ds_load_2addr", "ds_store": "ds_store_2addr"}
		steps := []int{8, 16, 4, 12, 32, 0}
		for _, text := range []string{
			read + "_b64 v[2:3], v0", read + "_b64 v[0:1], v0 offset:24", read + "_b128 v[2:5], v0 offset:16", read + "_b128 v[0:3], v0",
			two[read] + "_b32 v[2:3], v0 offset0:2 offset1:3", two[read] + "_b32 v[2:3], v0 offset0:2 offset1:4", two[read] + "_b64 v[2:5], v0 offset0:1 offset1:2",
			two[read] + "_b64 v[2:5], v0 offset0:6 offset1:2", two[read] + "_b64 v[0:3], v0 offset1:1",
			read + "_b32 v2, v0 offset:4", write + "_b32 v0, v2 offset:8", two[write] + "_b32 v0, v2, v7 offset0:2 offset1:3",
			write + "_b64 v0, v[2:3] offset:8", write + "_b128 v0, v[2:5]", two[write] + "_b32 v0, v2, v7 offset0:2 offset1:3", two[write] + "_b32 v0, v2, v7 offset0:3 offset1:2",
			two[write] + "_b64 v0, v[2:3], v[6:7] offset0:1 offset1:2", two[write] + "_b64 v0, v[2:3], v[6:7] offset0:2 offset1:1", two[write] + "_b64 v0, v[2:3], v[6:7] offset0:9 offset1:1",
		} {
			for n := range 4 * len(steps) {
				step, size := steps[n%len(steps)], m.prog.arch.WaveSize()
				if step > 0 && step < 16 && strings.Contains(text, write) && (step < 8 || strings.Contains(text, "128") || strings.Contains(text, "v[6:7]")) {
					continue // lanes write over each other's
				}
				base := []int{0, 52, len(m.wg.lds) - step*(size-1) - 16, len(m.wg.lds) - step*(size-1) - 8}[n/len(steps)%4]
				for l := range size {
					m.V[0][l] = uint32(base + step*l)
					for v := 1; v < 8; v++ {
						m.V[v][l] = r.Uint32()
					}
				}
				if n%7 == 3 { // one lane's is another's
					m.V[0][r.IntN(size)] = m.V[0][r.IntN(size)]
				}
				for i := range len(m.wg.lds) / 4 {
					binary.LittleEndian.PutUint32(m.wg.lds[4*i:], r.Uint32())
				}
				m.setS64(regEXEC, []uint64{^uint64(0), ^uint64(0), r.Uint64()}[r.IntN(3)]>>(64-size))
				m.sameInCode(t, text)
				m.sameInCode(t, text+"; s_mov_b64 exec, 0; "+read+"_b32 v9, v0 offset:65000")
			}
		}
	}
}
