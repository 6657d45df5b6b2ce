package exec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// bufferModel is where a lane's access begins and how many of its bytes are
// inside, by the formulas of AMD's CDNA documents. ok: something is.
type bufferModel struct {
	stride, records, indexStride  uint64
	swizzle, addTid, idxen, offen bool
	imm, soffset                  uint64
}

func (b *bufferModel) at(lane int, index, offset uint64) (at uint64) {
	if !b.idxen {
		index = 0
	}
	if b.addTid {
		index += uint64(lane)
	}
	if !b.offen {
		offset = 0
	}
	offset += b.imm
	if !b.swizzle {
		return b.soffset + index*b.stride + offset
	}
	msb, lsb := index/b.indexStride, index%b.indexStride
	return b.soffset + (msb*b.stride+offset/4*4)*b.indexStride + lsb*4 + offset%4
}

func (b *bufferModel) inside(lane int, index, offset, size uint64) (n uint64) {
	switch {
	case b.addTid && !b.idxen:
		return size
	case b.idxen && b.stride != 0:
		if b.addTid {
			index += uint64(lane)
		}
		if index < b.records {
			return size
		}
		return 0
	}
	if !b.offen {
		offset = 0
	}
	for n < size && b.soffset+b.imm+offset+n+min(size, 4) <= b.records { // each dword for itself
		n += min(size, 4)
	}
	if b.swizzle && n < size {
		return 0
	}
	return n
}

// Buffers of all kinds: raw, with a stride, swizzled, with lane numbers; loads and
// stores of all sizes.
func TestBufferAddresses(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	const guard = 1 << 16
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(3 << 19)
		for i := 0; i < len(mem); i += 8 {
			binary.LittleEndian.PutUint64(mem[i:], r.Uint64())
		}
		for n := range 900 {
			b := bufferModel{
				stride: uint64(r.IntN(5)) * 8, records: uint64(r.IntN(600)), indexStride: 8 << r.IntN(4),
				swizzle: r.IntN(3) == 0, addTid: r.IntN(4) == 0, idxen: r.IntN(2) == 0, offen: r.IntN(2) == 0,
				imm: []uint64{0, 8, 20}[r.IntN(3)], soffset: uint64(r.IntN(8)) * 64,
			}
			if n%50 == 0 && b.addTid {
				b.stride |= 1 << 14 // the extended stride
				b.swizzle, b.idxen = false, false
			}
			w1 := uint32((addr+guard)>>32) | uint32(b.stride&0x3fff)<<16
			w3 := uint32(b.stride>>14) << 15
			for i, k := uint64(8), uint32(0); i <= b.indexStride; i, k = i*2, k+1 {
				w3 = w3&^(3<<21) | k<<21
			}
			if b.swizzle {
				w1 |= 1 << 31
			}
			if b.addTid {
				w3 |= 1 << 23
			}
			m.S[8], m.S[9], m.S[10], m.S[11] = uint32(addr+guard), w1, uint32(b.records), w3
			m.S[4] = uint32(b.soffset)
			var index, offset [64]uint64
			for i := range 64 {
				index[i], offset[i] = uint64(r.IntN(64)), uint64(r.IntN(80))*4
				switch {
				case b.idxen:
					m.V[0][i], m.V[1][i] = uint32(index[i]), uint32(offset[i])
				default:
					m.V[0][i] = uint32(offset[i])
				}
				for k := range 4 {
					m.V[2+k][i], m.V[6+k][i] = r.Uint32(), 0xdeadbeef
				}
			}
			kinds := []struct {
				load, store string
				size        uint64
			}{{"ubyte", "byte", 1}, {"ushort", "short", 2}, {"dword", "dword", 4}, {"dwordx2", "dwordx2", 8}, {"dwordx3", "dwordx3", 12}, {"dwordx4", "dwordx4", 16}}
			k := kinds[n%len(kinds)]
			if b.swizzle { // an access does not go beyond an element
				k = kinds[n%3]
			}
			operand := func(first, n uint64) string {
				if n <= 1 {
					return fmt.Sprintf("v%d", first)
				}
				return fmt.Sprintf("v[%d:%d]", first, first+n-1)
			}
			vaddr, mods := "off", ""
			switch {
			case b.idxen && b.offen:
				vaddr, mods = "v[0:1]", " idxen offen"
			case b.idxen:
				vaddr, mods = "v0", " idxen"
			case b.offen:
				vaddr, mods = "v0", " offen"
			}
			if b.imm != 0 {
				mods += fmt.Sprintf(" offset:%d", b.imm)
			}
			mask := masks(r)[n%8]
			m.setMask(mask)
			// Load, then store: the model does the same to a copy.
			m.run(fmt.Sprintf("buffer_load_%s %s, %s, s[8:11], s4%s", k.load, operand(6, k.size/4), vaddr, mods))
			for i := range 64 {
				want := [4]uint32{0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef}
				if mask>>i&1 != 0 {
					var buf [16]byte
					at := guard + b.at(i, index[i], offset[i])
					copy(buf[:b.inside(i, index[i], offset[i], k.size)], mem[at:])
					for j := range max(1, k.size/4) {
						want[j] = binary.LittleEndian.Uint32(buf[4*j:])
					}
				}
				for j := range 4 {
					if m.V[6+j][i] != want[j] {
						t.Fatalf("%v %+v %s lane %d, index %d, offset %d, dword %d: %#x, want %#x", arch, b, k.load, i, index[i], offset[i], j, m.V[6+j][i], want[j])
					}
				}
			}
			model := append([]byte(nil), mem[:guard*3]...)
			for i := range 64 {
				if mask>>i&1 == 0 {
					continue
				}
				var buf [16]byte
				for j := range 4 {
					binary.LittleEndian.PutUint32(buf[4*j:], m.V[2+j][i])
				}
				at := guard + b.at(i, index[i], offset[i])
				if at < uint64(len(model))-16 {
					copy(model[at:], buf[:b.inside(i, index[i], offset[i], k.size)])
				}
			}
			if b.stride>>14 != 0 || overlaps(&b, &index, &offset, k.size) {
				continue // lanes that write to the same place have no order; or the model's copy is too short
			}
			m.run(fmt.Sprintf("buffer_store_%s %s, %s, s[8:11], s4%s", k.store, operand(2, k.size/4), vaddr, mods))
			for i := range model {
				if bytes.Equal(model, mem[:len(model)]) {
					break
				}
				if model[i] != mem[i] {
					t.Fatalf("%v %+v %s: byte %d is %#x, want %#x", arch, b, k.store, i-guard, mem[i], model[i])
				}
			}
		}
	}
}

// overlaps reports whether lanes share bytes.
func overlaps(b *bufferModel, index, offset *[64]uint64, size uint64) bool {
	seen := map[uint64]bool{}
	for i := range 64 {
		at := b.at(i, index[i], offset[i])
		for k := range size {
			if seen[at+k] {
				return true
			}
			seen[at+k] = true
		}
	}
	return false
}

// Between LDS and memory, past the vector registers: M0 and the offset say where
// in the LDS, four bytes a lane.
func TestMemoryToLDS(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		word := func(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
		forms := []struct {
			asm   string
			model func(lane int) uint32 // of the memory
		}{
			{"buffer_load_dword v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return word(mem, i*4/4+2) }},
			{"buffer_load_ubyte v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return uint32(mem[i*4+8]) }},
			{"buffer_load_sbyte v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return uint32(int8(mem[i*4+8])) }},
			{"buffer_load_ushort v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return word(mem, i+2) & 0xffff }},
			{"buffer_load_sshort v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return uint32(int16(word(mem, i+2))) }},
			{"buffer_load_format_x v0, s[8:11], 0 offen offset:8 lds", func(i int) uint32 { return word(mem, i+2) }},
		}
		if arch.String() == "gfx942" {
			for name, f := range map[string]func(i int) uint32{
				"ubyte": forms[1].model, "sbyte": forms[2].model, "ushort": forms[3].model, "sshort": forms[4].model, "dword": forms[0].model,
			} {
				forms = append(forms, struct {
					asm   string
					model func(lane int) uint32
				}{"global_load_lds_" + name + " v[2:3], off offset:8", f}, struct {
					asm   string
					model func(lane int) uint32
				}{"scratch_load_lds_" + name + " v4, off offset:8", f})
			}
		}
		for _, f := range forms {
			for i := range mem {
				mem[i] = byte(r.Uint32())
			}
			clear(m.wg.lds)
			m.S[regM0] = 0xabcd0000 | 32
			m.setS64(8, addr)
			m.S[10], m.S[11] = 4096, 4|4<<12|4<<15 // one component of 32 bits, integers
			for i := range 64 {
				m.V[0][i] = uint32(4 * i)
				m.set64(2, i, addr+uint64(4*i))
				m.V[4][i] = 16
				// The same bytes in scratch.
				for k := range 4 {
					m.wave.scratch[swizzle(uint64(24+k), i)] = mem[4*i+8+k]
				}
			}
			mask := r.Uint64()
			m.setMask(mask)
			m.run(f.asm)
			for i := range 64 {
				want := uint32(0)
				if mask>>i&1 != 0 {
					want = f.model(i)
				}
				if got := word(m.wg.lds, 8+2+i); got != want {
					t.Fatalf("%v %s lane %d: %#x, want %#x", arch, f.asm, i, got, want)
				}
			}
		}
		if arch.String() == "gfx942" { // it has no buffer_store_lds_dword
			continue
		}
		// And back.
		for i := range m.wg.lds {
			m.wg.lds[i] = byte(r.Uint32())
		}
		clear(mem)
		m.setMask(^uint64(0))
		m.S[11] = 1 << 23 // lane numbers
		m.S[9] |= 4 << 16 // and 4 bytes for each
		m.S[4] = 100
		m.run("buffer_store_lds_dword s[8:11], s4 offset:8 lds")
		for i := range 64 {
			if got, want := word(mem, 27+i), word(m.wg.lds, 10+i); got != want {
				t.Fatalf("%v buffer_store_lds_dword lane %d: %#x, want %#x", arch, i, got, want)
			}
		}
		clear(mem)
		m.S[regM0] = 1024 - 16 // four lanes' places are in the LDS, two of them after the offset
		m.run("buffer_store_lds_dword s[8:11], s4 offset:8 lds")
		if word(mem, 27) != word(m.wg.lds, 254) || word(mem, 28) != word(m.wg.lds, 255) || word(mem, 29) != 0 {
			t.Errorf("%v: at the end of the LDS", arch)
		}
		m.setS64(8, 4096)
		if err := m.try("buffer_store_lds_dword s[8:11], s4 offset:8 lds"); err != nil && !errors.Is(err, ErrMemory) {
			t.Errorf("%v: %v", arch, err)
		}
	}
}

// Formats: beyond the bounds what is selected to be 1 is 1; the instruction's own
// format selects nothing; no descriptor is no buffer.
func TestTypedBufferSelections(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		for i := range 16 {
			binary.LittleEndian.PutUint32(mem[4*i:], uint32(100+i))
		}
		m.setS64(8, addr|8<<48)
		m.S[10], m.S[11] = 2, 1|5<<3|4<<6|1<<9|4<<12|11<<15 // 1, y, x, 1 of two integers
		for i := range 64 {
			m.V[0][i] = uint32(i)
		}
		for _, c := range []struct {
			asm  string
			want [2][4]uint32 // of element 1, and beyond
		}{
			{"buffer_load_format_xyzw v[6:9], v0, s[8:11], 0 idxen", [2][4]uint32{{1, 103, 102, 1}, {1, 0, 0, 1}}},
			{"buffer_load_format_xyz v[6:8], v0, s[8:11], 0 idxen", [2][4]uint32{{1, 103, 102, 9}, {1, 0, 0, 9}}},
			{"buffer_load_format_xy v[6:7], v0, s[8:11], 0 idxen", [2][4]uint32{{1, 103, 9, 9}, {1, 0, 9, 9}}},
			{"buffer_load_format_x v6, v0, s[8:11], 0 idxen", [2][4]uint32{{1, 9, 9, 9}, {1, 9, 9, 9}}},
			{"tbuffer_load_format_xyzw v[6:9], v0, s[8:11], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] idxen", [2][4]uint32{{102, 103, 0, 0}, {0, 0, 0, 0}}},
			{"tbuffer_load_format_xyz v[6:8], v0, s[8:11], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] idxen", [2][4]uint32{{102, 103, 0, 9}, {0, 0, 0, 9}}},
			{"tbuffer_load_format_xy v[6:7], v0, s[8:11], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] idxen", [2][4]uint32{{102, 103, 9, 9}, {0, 0, 9, 9}}},
			{"tbuffer_load_format_x v6, v0, s[8:11], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] idxen", [2][4]uint32{{102, 9, 9, 9}, {0, 9, 9, 9}}},
		} {
			for k := range 4 {
				for i := range 64 {
					m.V[6+k][i] = 9
				}
			}
			m.run(c.asm)
			for k := range 4 {
				if m.V[6+k][1] != c.want[0][k] || m.V[6+k][2] != c.want[1][k] {
					t.Errorf("%v %s component %d: %d, beyond %d, want %d", arch, c.asm, k, m.V[6+k][1], m.V[6+k][2], c.want)
				}
			}
		}
		// Stores of the instruction's format go to their own components.
		for k := range 4 {
			for i := range 64 {
				m.V[6+k][i] = uint32(1000*(k+1) + i)
			}
		}
		for n, comps := range []string{"x", "xy", "xyz", "xyzw"} {
			for _, half := range []string{"", "d16_"} {
				binary.LittleEndian.PutUint64(mem[8:], 0)
				m.S[11] = 4 | 5<<3 | 6<<6 | 7<<9 | 4<<12 | 11<<15
				regs := []string{"v6", "v[6:7]", "v[6:8]", "v[6:9]"}[n]
				want := [2]uint32{1001, 2001}
				if half != "" {
					regs = []string{"v6", "v6", "v[6:7]", "v[6:7]"}[n]
					want[1] = 0 // the upper half of the first register
				}
				if n == 0 {
					want[1] = 0
				}
				for _, text := range []string{"tbuffer_store_format_" + half + comps + " " + regs + ", v0, s[8:11], 0 format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT] idxen",
					"buffer_store_format_" + half + comps + " " + regs + ", v0, s[8:11], 0 idxen"} {
					m.run(text)
					if got := [2]uint32{binary.LittleEndian.Uint32(mem[8:]), binary.LittleEndian.Uint32(mem[12:])}; got != want {
						t.Errorf("%v %s: %d, want %d", arch, text, got, want)
					}
				}
			}
		}
		m.S[8], m.S[9], m.S[10], m.S[11] = 0, 0, 0, 0
		m.run("buffer_load_format_xyzw v[6:9], v0, s[8:11], 0 idxen; buffer_store_format_xyzw v[6:9], v0, s[8:11], 0 idxen")
		if m.V[6] != (Vec{}) || m.V[9] != (Vec{}) {
			t.Errorf("%v: no buffer: %d", arch, m.V[9][0])
		}
	}
}
