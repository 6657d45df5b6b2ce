//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// sameCounted executes an instruction by its function and as machine code, from the machine's state on, and compares what they leave and how many bytes of device
// memory they count.
func sameCounted(t *testing.T, m *machine, mem []byte, words []uint32, text string) {
	t.Helper()
	w := m.eachWay(t, words, mem)
	if w.err != nil || w.translatedErr != nil {
		t.Fatalf("%v %s: %v, translated %v", m.prog.arch, text, w.err, w.translatedErr)
	}
	if d := w.differs(); d != "" || w.gotBytes != w.wantBytes {
		t.Fatalf("%v %s: %s; %d bytes, want %d; scalars %#x, EXEC %#x", m.prog.arch, text, d, w.gotBytes, w.wantBytes, w.before.S[:12], w.before.S[regEXEC:regEXEC+2])
	}
}

// sameForms does that for an instruction from many states. prepare makes the registers of a state what the instruction needs.
func sameForms(t *testing.T, m *machine, mem []byte, data uint64, r *rand.Rand, text string, prepare func(n int)) {
	t.Helper()
	m.prog.options.Profile = &Profile{}
	words := assemble(t, m.prog.arch, text)
	for n := range 60 {
		m.fill(r, data)
		m.setMode(0xf0)
		if n%3 == 0 {
			m.setS64(regEXEC, m.wave.ones)
		}
		prepare(n)
		sameCounted(t, m, mem, words, text)
	}
}

// notLeft fails if instructions were left to Go by their code.
func notLeft(t *testing.T, m *machine, text string) {
	t.Helper()
	for _, x := range m.prog.options.Profile.Instructions() {
		if x.Why == leftByCode.String() {
			t.Errorf("%v %s was left to Go %d times", m.prog.arch, text, x.Times)
		}
	}
}

// TestBeyondBuffers: machine code loads 0 for lanes that are beyond a buffer, does not store theirs, and counts the bytes of the others, as functions do. Libraries
// rely on that at the edges of matrices. Only accesses of which a part is inside are left to Go.
func TestBeyondBuffers(t *testing.T) {
	if !translates(t) {
		return
	}
	for arch, texts := range map[gcn.Arch][]string{
		gcn.GFX90A: {
			"buffer_load_dword v6, v4, s[8:11], 0 offen", "buffer_load_dword v4, v4, s[8:11], s3 offen offset:12", "buffer_load_dword v6, off, s[8:11], s3",
			"buffer_load_dwordx2 v[4:5], v4, s[8:11], s3 offen", "buffer_load_dwordx3 v[4:6], v2, s[8:11], 0 offen offset:8", "buffer_load_dwordx4 v[2:5], v4, s[8:11], s3 offen",
			"buffer_load_ushort v6, v4, s[8:11], s3 offen", "buffer_load_short_d16_hi v4, v4, s[8:11], 0 offen offset:2", "buffer_load_sbyte v6, v4, s[8:11], s3 offen",
			"buffer_store_dword v6, v4, s[8:11], s3 offen", "buffer_store_dwordx2 v[4:5], v4, s[8:11], 0 offen", "buffer_store_dwordx3 v[4:6], v2, s[8:11], s3 offen",
			"buffer_store_dwordx4 v[2:5], v2, s[8:11], 0 offen offset:4", "buffer_store_short v6, v4, s[8:11], s3 offen", "buffer_store_byte v6, v4, s[8:11], 0 offen", "buffer_store_short_d16_hi v6, off, s[8:11], s3",
		},
		gcn.GFX1100: {
			"buffer_load_b32 v6, v4, s[8:11], 0 offen", "buffer_load_d16_b16 v4, v4, s[8:11], s3 offen", "buffer_load_d16_hi_b16 v6, v4, s[8:11], 0 offen offset:2",
			"buffer_load_b64 v[4:5], v4, s[8:11], s3 offen", "buffer_load_b128 v[2:5], v2, s[8:11], 0 offen", "buffer_store_b16 v6, v4, s[8:11], 0 offen", "buffer_store_b128 v[2:5], v2, s[8:11], s3 offen",
		},
	} {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(30, 11))
		for _, text := range texts {
			sameForms(t, m, mem, data, r, text, func(n int) {
				m.setS64(8, data+uint64(4*r.IntN(8)))
				m.setS64(10, uint64(r.IntN(300))) // swizzled and the like it is not
				m.S[3] = uint32(4 * r.IntN(1+n))
				for _, v := range []int{2, 4} {
					for l := range m.V[v] {
						m.V[v][l] = uint32(4 * r.IntN(1+2*n))
						if strings.Contains(text, "store") { // what overlaps has no order
							m.V[v][l] = uint32(16 * (l ^ n%64))
						}
						if n%7 == 0 && r.IntN(8) == 0 {
							m.V[v][l] = -m.V[v][l] // far beyond
						}
					}
				}
			})
			if !strings.Contains(text, "x") && !strings.Contains(text, "b64") && !strings.Contains(text, "b128") {
				notLeft(t, m, text)
			}
		}
	}
}

// TestFlatLDS: flat addresses may be in device memory in some lanes and in the LDS in others; machine code does both, and leaves to Go what is in neither. Compilers
// use them where they do not know what a pointer is of.
func TestFlatLDS(t *testing.T) {
	if !translates(t) {
		return
	}
	for arch, texts := range map[gcn.Arch][]string{
		gcn.GFX90A: {
			"flat_load_dword v6, v[4:5] glc", "flat_load_dword v4, v[4:5] offset:12", "flat_load_dwordx2 v[4:5], v[4:5]", "flat_load_dwordx3 v[2:4], v[4:5]", "flat_load_dwordx4 v[4:7], v[4:5] offset:4",
			"flat_load_ushort v6, v[4:5]", "flat_load_sbyte v6, v[4:5] offset:3", "flat_load_short_d16_hi v5, v[4:5]",
			"flat_store_dword v[4:5], v6", "flat_store_dwordx2 v[4:5], v[6:7] offset:8", "flat_store_dwordx3 v[4:5], v[6:8]", "flat_store_dwordx4 v[4:5], v[2:5]", "flat_store_byte v[4:5], v6", "flat_store_short v[4:5], v6 offset:1",
		},
		gcn.GFX1100: {"flat_load_b32 v6, v[4:5]", "flat_load_d16_b16 v6, v[4:5]", "flat_load_b128 v[2:5], v[4:5]", "flat_store_b32 v[4:5], v6", "flat_store_b16 v[4:5], v6"},
	} {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(2 * page)
		r := rand.New(rand.NewPCG(31, 11))
		for _, text := range texts {
			sameForms(t, m, mem, data, r, text, func(n int) {
				for l := range WaveSize {
					place := l ^ n%64
					at := data
					if place < len(m.wg.lds)/32-1 && (n%4 == 0 || n%4 < 3 && r.IntN(2) == 0) {
						at = sharedBase
					}
					at += uint64(32*place + r.IntN(4))
					m.V[4][l], m.V[5][l] = uint32(at), uint32(at>>32)
				}
			})
			notLeft(t, m, text)
		}
		// Beyond the LDS, and nowhere.
		for _, at := range []uint64{sharedBase + uint64(len(m.wg.lds)) - 3, sharedBase + 1<<31, sharedBase - 4} {
			m.fill(r, data)
			m.setS64(regEXEC, m.wave.ones)
			for l := range WaveSize {
				m.V[4][l], m.V[5][l] = uint32(data), uint32(data>>32)
			}
			m.V[4][9], m.V[5][9] = uint32(at), uint32(at>>32)
			w := m.eachWay(t, assemble(t, arch, texts[0]), mem)
			if (w.err == nil) != (w.translatedErr == nil) || w.err == nil && w.differs() != "" {
				t.Errorf("%v at %#x: %v, translated %v", arch, at, w.err, w.translatedErr)
			}
		}
	}
}
