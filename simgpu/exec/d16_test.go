package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Every D16 load of both targets clears the half that it does not load, as
// cards with SRAM ECC do: from memory, LDS and scratch, and beyond a buffer.
// No compiler relies on it, rocBLAS does.
func TestD16LoadsClearTheOtherHalf(t *testing.T) {
	// What is in memory is 0x89 0x9a; the opcodes are the encoding's own.
	kinds := []struct {
		name, ds string
		op, dsOp uint32
		want     uint32
	}{
		{"ubyte_d16", "u8_d16", 32, 86, 0x89},
		{"ubyte_d16_hi", "u8_d16_hi", 33, 87, 0x890000},
		{"sbyte_d16", "i8_d16", 34, 88, 0xff89},
		{"sbyte_d16_hi", "i8_d16_hi", 35, 89, 0xff890000},
		{"short_d16", "u16_d16", 36, 90, 0x9a89},
		{"short_d16_hi", "u16_d16_hi", 37, 91, 0x9a890000},
	}
	for _, arch := range gcn.Archs() {
		if arch.Has(gcn.KeepsHalf) {
			continue
		}
		m := newMachine(t, arch)
		addr, data := m.alloc(4096)
		vaddr := uint32(0) // with architected scratch a bit says that a scratch address has a vector register
		if arch.Has(gcn.ArchitectedScratch) {
			vaddr = 1 << 13
		}
		m.setS64(4, addr)
		m.S[8], m.S[9], m.S[10], m.S[11] = uint32(addr), uint32(addr>>32), 64*4, 0
		for i := range 64 {
			copy(data[4*i:], []byte{0x89, 0x9a, 0xab, 0xbc})
			copy(m.wg.lds[4*i:], []byte{0x89, 0x9a, 0xab, 0xbc})
			copy(m.wave.scratch[swizzle(16, i):], []byte{0x89, 0x9a, 0xab, 0xbc})
			m.V[0][i] = uint32(4 * i)
			m.V[1][i] = 16
			m.V[4][i] = 1 << 20
			m.set64(2, i, addr+uint64(4*i))
		}
		seen := 0
		for _, k := range kinds {
			for _, c := range []struct {
				asm  string
				code []uint32
				want uint32
			}{
				{"flat_load_" + k.name + " v6, v[2:3]", []uint32{0xdc000000 | k.op<<18, 0x06000002}, k.want},
				{"global_load_" + k.name + " v6, v0, s[4:5]", []uint32{0xdc008000 | k.op<<18, 0x06040000}, k.want},
				{"scratch_load_" + k.name + " v6, v1, off", []uint32{0xdc004000 | vaddr | k.op<<18, 0x067f0001}, k.want},
				{"buffer_load_" + k.name + " v6, v0, s[8:11], 0 offen", []uint32{0xe0001000 | k.op<<18, 0x80020600}, k.want},
				{"buffer_load_" + k.name + " v6, v4, s[8:11], 0 offen", []uint32{0xe0001000 | k.op<<18, 0x80020604}, 0},
				{"ds_read_" + k.ds + " v6, v0", []uint32{0xd8000000 | k.dsOp<<17, 0x06000000}, k.want},
			} {
				seen++
				for _, mask := range []uint64{^uint64(0), 0x5555555555555555, 1 << 63} {
					for i := range 64 {
						m.V[6][i] = 0xdeadbeef
					}
					m.setMask(mask)
					m.inst(c.asm, c.code...)
					for i, got := range m.V[6] {
						want := uint32(0xdeadbeef)
						if mask>>i&1 != 0 {
							want = c.want
						}
						if got != want {
							t.Fatalf("%v %s, mask %#x, lane %d: %#x, want %#x", arch, c.asm, mask, i, got, want)
						}
					}
				}
			}
		}
		if seen != len(kinds)*6 {
			t.Fatal(seen)
		}
	}
	// What executes and is called D16 is above, or in TestTypedBufferHalves: nothing new goes by unseen.
	known := map[string]bool{"buffer_load_format_d16_hi_x": true}
	for _, c := range []string{"x", "xy", "xyz", "xyzw"} {
		known["buffer_load_format_d16_"+c] = true
		known["tbuffer_load_format_d16_"+c] = true
	}
	for _, k := range kinds {
		known["ds_read_"+k.ds] = true
		for _, e := range []string{"flat", "global", "scratch", "buffer"} {
			known[fmt.Sprintf("%s_load_%s", e, k.name)] = true
		}
	}
	for name := range handlers {
		if strings.Contains(name, "_d16") && (strings.Contains(name, "_load_") || strings.Contains(name, "_read_")) && !known[name] {
			t.Errorf("%s executes and is not tried here", name)
		}
	}
}
