//go:build linux && amd64

package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// TestUnalignedShorts: bytes and shorts at any addresses, odd ones and the last of a page, too, are loaded and stored by machine code, as by functions. Compilers
// make shorts of two bytes, wherever those are.
func TestUnalignedShorts(t *testing.T) {
	if !translates(t) {
		return
	}
	for arch, texts := range map[gcn.Arch][]string{
		gcn.GFX90A: {
			"global_load_ushort v6, v4, s[20:21]", "global_load_sshort v4, v4, s[20:21]", "global_load_short_d16 v6, v4, s[20:21]", "global_load_short_d16_hi v6, v4, s[20:21]",
			"global_load_ubyte v6, v4, s[20:21]", "global_load_sbyte v4, v4, s[20:21]", "buffer_load_ushort v6, v4, s[8:11], 0 offen", "global_store_short v4, v3, s[20:21]",
			"ds_read_u16 v6, v4", "ds_read_i16 v4, v4", "ds_read_u16_d16_hi v6, v4", "ds_read_u8 v6, v4", "ds_read_i8 v4, v4", "ds_write_b16 v4, v3", "ds_write_b16_d16_hi v4, v3",
		},
		gcn.GFX1100: {
			"global_load_u16 v6, v4, s[20:21]", "global_load_i16 v4, v4, s[20:21]", "global_load_d16_b16 v6, v4, s[20:21]", "global_load_d16_hi_b16 v6, v4, s[20:21]",
			"global_load_d16_hi_u8 v6, v4, s[20:21]", "ds_load_u16 v6, v4", "ds_load_u16_d16 v6, v4", "ds_load_u16_d16_hi v6, v4", "ds_store_b16 v4, v3",
		},
	} {
		m := newMachine(t, arch)
		m.blind = true
		data, mem := m.alloc(page)
		r := rand.New(rand.NewPCG(29, 11))
		for _, text := range texts {
			m.prog.options.Profile = &Profile{}
			sameTranslated(t, m, mem, data, r, text, 40, func() {
				m.setS64(20, data)
				m.setS64(8, data)
				m.setS64(10, page)
				end := page
				if text[0] == 'd' {
					end = len(m.wg.lds)
				}
				for l := range m.V[4] {
					if m.V[4][l] = uint32(r.IntN(end - 1)); r.IntN(16) == 0 {
						m.V[4][l] = uint32(end - 2)
					}
				}
			})
			notLeft(t, m, text)
		}
	}
}
