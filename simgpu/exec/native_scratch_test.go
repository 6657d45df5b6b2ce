//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestScratchBuffers: instructions on the buffer that gfx90a has for scratch are translated for it: of bytes, shorts and dwords, at one
// offset or at one for each lane.
func TestScratchBuffers(t *testing.T) {
	if !translates(t) {
		return
	}
	m := newMachine(t, gcn.GFX90A)
	m.blind = true
	data, mem := m.alloc(page)
	r := rand.New(rand.NewPCG(2, 4))
	profile := &Profile{}
	m.prog.options.Profile = profile
	for _, text := range []string{
		"buffer_store_dword v3, off, s[8:11], 0 offset:8", "buffer_load_dword v3, off, s[8:11], 0 offset:8", "buffer_load_dword v3, off, s[8:11], s4 offset:16",
		"buffer_store_dword v3, v1, s[8:11], 0 offen", "buffer_load_dword v1, v1, s[8:11], 0 offen", "buffer_load_dword v3, v1, s[8:11], s4 offen offset:4",
		"buffer_store_dwordx4 v[4:7], off, s[8:11], 0 offset:32", "buffer_load_dwordx4 v[4:7], v1, s[8:11], 0 offen", "buffer_load_dwordx3 v[4:6], off, s[8:11], 0",
		"buffer_store_dwordx2 a[4:5], v1, s[8:11], s4 offen", "buffer_store_byte v3, off, s[8:11], 0 offset:7", "buffer_store_short v3, v2, s[8:11], 0 offen",
		"buffer_store_byte_d16_hi v3, v2, s[8:11], s4 offen", "buffer_store_short_d16_hi v3, off, s[8:11], 0 offset:2",
		"buffer_load_ubyte v3, off, s[8:11], 0 offset:5", "buffer_load_sbyte v2, v2, s[8:11], 0 offen", "buffer_load_sshort v3, v2, s[8:11], s4 offen",
		"buffer_load_short_d16_hi v3, v2, s[8:11], 0 offen", "buffer_load_sbyte_d16 v3, off, s[8:11], 0 offset:3",
	} {
		sameTranslated(t, m, mem, data, r, text, 20, func() {
			copy(m.S[8:], []uint32{512, 1<<31 | 1<<15, ^uint32(0), 1 << 23})
			m.S[4] = uint32(256 * r.IntN(4))
			for l := range WaveSize {
				m.V[1][l], m.V[2][l] = uint32(4*r.IntN(32))-8, uint32(2*r.IntN(64))-8
			}
			for i := range m.scratch {
				m.scratch[i] = byte(r.Uint32())
			}
		})
	}
	for _, x := range profile.Instructions() {
		if x.Why == leftByCode.String() {
			t.Errorf("%s is left to its function %d times", x.Example, x.Times)
		}
	}
}
