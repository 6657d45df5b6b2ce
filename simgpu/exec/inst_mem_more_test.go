package exec

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Stores of parts of registers and loads of parts of dwords, by every way to
// memory, each lane at a place of its own.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, arch := range arches {
		m := newMachine(t, arch)
		addr, mem := m.alloc(4096)
		m.setS64(8, addr)
		m.S[10], m.S[11] = 4096, 0
		ways := []struct {
			store, load string // with the mnemonic's end and the data
			byte        func(lane, k int) *byte
		}{
			{"flat_store_%s v[20:21], %s", "flat_load_%s %s, v[20:21]", func(i, k int) *byte { return &mem[16*i+k] }},
			{"global_store_%s v[20:21], %s, off", "global_load_%s %s, v[20:21], off", func(i, k int) *byte { return &mem[16*i+k] }},
			{"scratch_store_%s off, %s, s4", "scratch_load_%s %s, off, s4", func(i, k int) *byte { return &m.wave.scratch[swizzle(uint64(32+k), i)] }},
			{"buffer_store_%s %[2]s, v0, s[8:11], 0 offen", "buffer_load_%s %s, v0, s[8:11], 0 offen", func(i, k int) *byte { return &mem[16*i+k] }},
		}
		for _, way := range ways {
			for i := range 64 {
				m.V[0][i] = uint32(16 * i)
				m.set64(20, i, addr+uint64(16*i))
			}
			m.S[4] = 32
			for _, k := range []struct {
				name       string
				shift, len int // of the register's bytes
			}{{"byte", 0, 1}, {"byte_d16_hi", 2, 1}, {"short", 0, 2}, {"short_d16_hi", 2, 2}, {"dword", 0, 4}, {"dwordx2", 0, 8}, {"dwordx3", 0, 12}, {"dwordx4", 0, 16}} {
				mask := r.Uint64()
				for i := range 64 {
					for b := range 16 {
						*way.byte(i, b) = 0xee
					}
					for n := range 4 {
						m.V[2+n][i] = r.Uint32()
					}
				}
				m.setMask(mask)
				text := fmt.Sprintf(way.store, k.name, span(2, uint(8*k.len)))
				m.run(text)
				for i := range 64 {
					var data [16]byte
					for n := range 4 {
						binary.LittleEndian.PutUint32(data[4*n:], m.V[2+n][i])
					}
					for b := range 16 {
						want := byte(0xee)
						if mask>>i&1 != 0 && b < k.len {
							want = data[k.shift+b]
						}
						if got := *way.byte(i, b); got != want {
							t.Fatalf("%v %s: lane %d of %#x, byte %d is %#x, want %#x", arch, text, i, mask, b, got, want)
						}
					}
				}
			}
			for _, k := range []struct {
				name   string
				bytes  int
				signed bool
			}{{"ubyte", 1, false}, {"sbyte", 1, true}, {"ushort", 2, false}, {"sshort", 2, true}, {"dword", 4, false}, {"dwordx2", 8, false}, {"dwordx3", 12, false}, {"dwordx4", 16, false}} {
				mask := r.Uint64()
				for i := range 64 {
					for b := range 16 {
						*way.byte(i, b) = byte(r.Uint32())
					}
					for n := range 4 {
						m.V[2+n][i] = 77
					}
				}
				m.setMask(mask)
				text := fmt.Sprintf(way.load, k.name, span(2, uint(8*k.bytes)))
				m.run(text)
				for i := range 64 {
					for n := range 4 {
						want := uint32(77)
						if mask>>i&1 != 0 && 4*n < k.bytes {
							want = 0
							for b := range min(4, k.bytes-4*n) {
								want |= uint32(*way.byte(i, 4*n+b)) << (8 * b)
							}
							if k.signed {
								want = uint32(sx(uint64(want), uint(8*k.bytes)))
							}
						}
						if m.V[2+n][i] != want {
							t.Fatalf("%v %s: lane %d of %#x, register %d is %#x, want %#x", arch, text, i, mask, n, m.V[2+n][i], want)
						}
					}
				}
			}
		}
	}
}

// The LDS instructions that no other test has: parts, pairs, exchanges of pairs,
// and places by lane.
func TestMoreLDS(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, arch := range arches {
		m := newMachine(t, arch)
		lds := func(at, n int) (v uint64) {
			for k := range n {
				v |= uint64(m.wg.lds[at+k]) << (8 * k)
			}
			return
		}
		fill := func() {
			for i := range m.wg.lds {
				m.wg.lds[i] = byte(r.Uint32())
			}
			for i := range 64 {
				m.V[0][i] = uint32(16 * i)
				for k := 2; k < 14; k++ {
					m.V[k][i] = r.Uint32()
				}
			}
		}
		fail := func(what string, lane int) { t.Helper(); t.Fatalf("%v %s: lane %d", arch, what, lane) }
		fill()
		before := append([]byte(nil), m.wg.lds...)
		m.run("ds_read_i8 v20, v0 offset:3; ds_read_u16 v21, v0 offset:2; ds_write_b96 v0, v[2:4]; ds_write_b8_d16_hi v0, v5 offset:12; ds_write_b8 v0, v6 offset:13; ds_nop")
		for i := range 64 {
			if m.V[20][i] != uint32(int8(before[16*i+3])) || m.V[21][i] != uint32(before[16*i+2])|uint32(before[16*i+3])<<8 {
				fail("reads", i)
			}
			if lds(16*i, 8) != m.get64(2, i) || lds(16*i+8, 4) != uint64(m.V[4][i]) || lds(16*i+12, 1) != uint64(m.V[5][i]>>16&255) || lds(16*i+13, 1) != uint64(m.V[6][i]&255) || lds(16*i+14, 1) != uint64(before[16*i+14]) {
				fail("writes", i)
			}
		}
		m.run("ds_write2_b64 v0, v[2:3], v[4:5] offset0:1")
		for i := range 64 {
			if lds(16*i+8, 8) != m.get64(2, i) || lds(16*i, 8) != m.get64(4, i) {
				fail("ds_write2_b64", i)
			}
		}
		// 64 elements apart: one lane, for the LDS has 1024 bytes.
		fill()
		m.setMask(2)
		m.V[0][1] = 8
		old := [2]uint64{lds(8, 8), lds(8+512, 8)}
		m.run("ds_read2st64_b64 v[20:23], v0 offset1:1; ds_write2st64_b64 v0, v[2:3], v[4:5] offset1:1")
		if m.get64(20, 1) != old[0] || m.get64(22, 1) != old[1] || lds(8, 8) != m.get64(2, 1) || lds(520, 8) != m.get64(4, 1) {
			fail("st64", 1)
		}
		m.run("ds_wrxchg2st64_rtn_b64 v[20:23], v0, v[6:7], v[8:9] offset1:1; ds_wrxchg2st64_rtn_b32 v[24:25], v0, v10, v11 offset0:1")
		if m.get64(20, 1) != m.get64(2, 1) || m.get64(22, 1) != m.get64(4, 1) || lds(520, 8) != m.get64(8, 1) ||
			m.V[25][1] != m.V[6][1] || lds(8, 4) != uint64(m.V[11][1]) || lds(8+256, 4) != uint64(m.V[10][1]) {
			fail("exchange st64", 1)
		}
		m.setMask(^uint64(0))
		fill()
		before = append([]byte(nil), m.wg.lds...)
		m.run("ds_wrxchg2_rtn_b64 v[20:23], v0, v[6:7], v[8:9] offset1:1")
		for i := range 64 {
			if m.get64(20, i) != binary.LittleEndian.Uint64(before[16*i:]) || m.get64(22, i) != binary.LittleEndian.Uint64(before[16*i+8:]) || lds(16*i, 8) != m.get64(6, i) || lds(16*i+8, 8) != m.get64(8, i) {
				fail("ds_wrxchg2_rtn_b64", i)
			}
		}
		m.S[regM0] = 100
		m.run("ds_write_addtid_b32 v2 offset:20; ds_read_addtid_b32 v20 offset:24")
		for i := range 64 {
			if lds(120+4*i, 4) != uint64(m.V[2][i]) || i < 63 && m.V[20][i] != m.V[2][i+1] {
				fail("addtid", i)
			}
		}
		m.run("buffer_wbl2; " + map[bool]string{true: "buffer_inv", false: "buffer_invl2; buffer_wbinvl1; buffer_wbinvl1_vol"}[arch.String() == "gfx942"])
	}
}

// Elements of images as they lie in memory, and with a level, of which there is
// one.
func TestPackedImages(t *testing.T) {
	m := newMachine(t, arches[0])
	for _, c := range []struct{ components, bits int }{{1, 8}, {1, 16}, {1, 32}, {2, 32}} {
		p := m.picture(9, 8, 8, 1, c.components, c.bits, numUint)
		p.fillRandom(rand.New(rand.NewPCG(27, 28)))
		m.describe(p)
		for i := range 64 {
			m.V[0][i], m.V[1][i], m.V[2][i] = uint32(i%8), uint32(i/8), uint32(i/60) // some ask for level 1
		}
		data, dmask := span(6, uint(32*c.components)), 1<<c.components-1
		for _, o := range []struct {
			name        string
			signed, mip bool
		}{{"image_load_pck", false, false}, {"image_load_pck_sgn", true, false}, {"image_load_mip_pck", false, true}, {"image_load_mip_pck_sgn", true, true}} {
			addr := "v[0:1]"
			if o.mip {
				addr = "v[0:2]"
			}
			m.run(fmt.Sprintf("%s %s, %s, s[0:7] dmask:%#x unorm", o.name, data, addr, dmask))
			for i := range 64 {
				for k := range c.components {
					want := p.raw(i%8, i/8, 0, k)
					if o.signed {
						want = uint32(sx(uint64(want), uint(c.bits)))
					}
					if o.mip && i >= 60 {
						want = 0
					}
					if m.V[6+k][i] != want {
						t.Fatalf("%s of %v: lane %d, register %d: %#x, want %#x", o.name, c, i, k, m.V[6+k][i], want)
					}
				}
			}
		}
		for _, o := range []struct {
			name string
			mip  bool
		}{{"image_store_pck", false}, {"image_store_mip_pck", true}, {"image_store_mip", true}} {
			addr := "v[0:1]"
			if o.mip {
				addr = "v[0:2]"
			}
			clear(p.bytes)
			for i := range 64 {
				for k := range c.components {
					m.V[6+k][i] = uint32(17*i+k) & (1<<c.bits - 1)
				}
			}
			m.run(fmt.Sprintf("%s %s, %s, s[0:7] dmask:%#x unorm", o.name, data, addr, dmask))
			for i := range 64 {
				for k := range c.components {
					want := uint32(17*i+k) & (1<<c.bits - 1)
					if o.mip && i >= 60 {
						want = 0
					}
					if got := p.raw(i%8, i/8, 0, k); got != want {
						t.Fatalf("%s of %v: lane %d, component %d: %#x, want %#x", o.name, c, i, k, got, want)
					}
				}
			}
		}
	}
}
