package exec

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// The spaces that a flat address may mean, and how a test reads their bytes.
func (m *machine) spaceBytes(space int, data []byte, lane, off int) []byte {
	switch space {
	case 0:
		return data[lane*32+off:]
	case 1:
		return m.wg.lds[lane*16+off:]
	}
	b := make([]byte, 16) // scratch: gathered
	for i := range b {
		if at := swizzle(uint64(off+i), lane); at < uint64(len(m.wave.scratch)) {
			b[i] = m.wave.scratch[at]
		}
	}
	return b
}

// Loads and stores of every width, to all three spaces at once through flat
// addresses, at aligned and unaligned places.
func TestFlatWidths(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(41, 42))
	addr, data := m.alloc(64 * 32)
	for _, c := range []struct {
		size, regs   int
		load, store  []uint32
		signed, half int // half: 1 low, 2 high
	}{
		{1, 1, words("flat_load_ubyte v6, v[0:1]", 0xdc400000, 0x06000000), words("flat_store_byte v[0:1], v2", 0xdc600000, 0x00000200), 0, 0},
		{1, 1, words("flat_load_sbyte v6, v[0:1]", 0xdc440000, 0x06000000), words("flat_store_byte v[0:1], v2", 0xdc600000, 0x00000200), 1, 0},
		{2, 1, words("flat_load_ushort v6, v[0:1]", 0xdc480000, 0x06000000), words("flat_store_short v[0:1], v2", 0xdc680000, 0x00000200), 0, 0},
		{2, 1, words("flat_load_sshort v6, v[0:1]", 0xdc4c0000, 0x06000000), words("flat_store_short v[0:1], v2", 0xdc680000, 0x00000200), 1, 0},
		{2, 1, words("flat_load_short_d16 v6, v[0:1]", 0xdc900000, 0x06000000), words("flat_store_short v[0:1], v2", 0xdc680000, 0x00000200), 0, 1},
		{2, 1, words("flat_load_short_d16_hi v6, v[0:1]", 0xdc940000, 0x06000000), words("flat_store_short v[0:1], v2", 0xdc680000, 0x00000200), 0, 2},
		{1, 1, words("flat_load_ubyte_d16_hi v6, v[0:1]", 0xdc840000, 0x06000000), words("flat_store_byte v[0:1], v2", 0xdc600000, 0x00000200), 0, 2},
		{1, 1, words("flat_load_sbyte_d16 v6, v[0:1]", 0xdc880000, 0x06000000), words("flat_store_byte v[0:1], v2", 0xdc600000, 0x00000200), 1, 1},
		{4, 1, words("flat_load_dword v6, v[0:1]", 0xdc500000, 0x06000000), words("flat_store_dword v[0:1], v2", 0xdc700000, 0x00000200), 0, 0},
		{8, 2, words("flat_load_dwordx2 v[6:7], v[0:1]", 0xdc540000, 0x06000000), words("flat_store_dwordx2 v[0:1], v[2:3]", 0xdc740000, 0x00000200), 0, 0},
		{12, 3, words("flat_load_dwordx3 v[6:8], v[0:1]", 0xdc580000, 0x06000000), words("flat_store_dwordx3 v[0:1], v[2:4]", 0xdc780000, 0x00000200), 0, 0},
		{16, 4, words("flat_load_dwordx4 v[6:9], v[0:1]", 0xdc5c0000, 0x06000000), words("flat_store_dwordx4 v[0:1], v[2:5]", 0xdc7c0000, 0x00000200), 0, 0},
	} {
		for _, mask := range masks(r) {
			for off := range 4 {
				if 16-off < c.size { // the lanes' parts of the LDS do not overlap
					continue
				}
				space := func(i int) int { return i * 5 % 3 }
				for i := range 64 {
					switch space(i) {
					case 0:
						m.set64(0, i, addr+uint64(i*32+off))
					case 1:
						m.set64(0, i, sharedBase+uint64(i*16+off))
					default:
						m.set64(0, i, privateBase+uint64(64+off))
					}
					for k := range 4 {
						m.V[2+k][i] = r.Uint32()
						m.V[6+k][i] = 0xabcdef01
					}
				}
				at := func(i int) []byte {
					o := off
					if space(i) == 2 {
						o = 64 + off
					}
					return m.spaceBytes(space(i), data, i, o)[:c.size]
				}
				m.setMask(mask)
				if err := m.exec(c.store...); err != nil {
					t.Fatal(err)
				}
				if err := m.exec(c.load...); err != nil {
					t.Fatal(err)
				}
				for i := range 64 {
					var want [4]uint32
					for k := range want {
						want[k] = 0xabcdef01
					}
					if mask>>i&1 != 0 {
						src := make([]byte, 16)
						for k := range 4 {
							binary.LittleEndian.PutUint32(src[4*k:], m.V[2+k][i])
						}
						if got := at(i); string(got) != string(src[:c.size]) {
							t.Fatalf("size %d, offset %d, lane %d, space %d: memory is % x, want % x", c.size, off, i, space(i), got, src[:c.size])
						}
						for k := range c.regs {
							want[k] = binary.LittleEndian.Uint32(src[4*k:])
						}
						if c.size < 4 {
							v := uint64(want[0]) & (1<<(8*c.size) - 1)
							if c.signed == 1 {
								v = uint64(sx(v, uint(8*c.size)))
							}
							switch c.half {
							case 1:
								v = v & 0xffff // SRAM ECC clears the other half
							case 2:
								v = v << 16
							}
							want[0] = uint32(v)
						}
					}
					for k := range want {
						if m.V[6+k][i] != want[k] {
							t.Fatalf("size %d, offset %d, lane %d, register %d: %#x, want %#x", c.size, off, i, k, m.V[6+k][i], want[k])
						}
					}
				}
			}
		}
	}
}

func TestGlobalAddressing(t *testing.T) {
	m := newMachine(t, gcn.GFX942)
	addr, data := m.alloc(4096)
	for i := range 1024 {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(i))
	}
	for i := range 64 {
		m.V[0][i] = uint32(i * 8)
		m.set64(2, i, addr+2048)
	}
	m.setS64(4, addr)
	m.inst("global_load_dword v6, v0, s[4:5] offset:16", 0xdc508010, 0x06040000)
	m.inst("global_load_dword v7, v[2:3], off offset:-2048", 0xdc509800, 0x077f0002)
	m.inst("global_load_dwordx2 v[8:9], v0, s[4:5] offset:4", 0xdc548004, 0x08040000)
	for i := range 64 {
		if m.V[6][i] != uint32(4+2*i) || m.V[7][i] != 0 || m.V[8][i] != uint32(1+2*i) || m.V[9][i] != uint32(2+2*i) {
			t.Fatalf("lane %d: %d %d %d %d", i, m.V[6][i], m.V[7][i], m.V[8][i], m.V[9][i])
		}
	}
	m.inst("s_load_dwordx4 s[8:11], s[4:5], 0x20", 0xc00a0202, 0x00000020)
	m.S[12] = 0x40
	m.inst("s_load_dwordx2 s[14:15], s[4:5], s12 offset:0x8", 0xc0064382, 0x18000008)
	if m.S[8] != 8 || m.S[11] != 11 || m.S[14] != 18 || m.S[15] != 19 {
		t.Errorf("scalar loads: %d", m.S[8:16])
	}
	// To the LDS.
	m.S[regM0] = 256
	m.inst("global_load_lds_dword v0, s[4:5]", 0xdca88000, 0x00040000)
	if got := binary.LittleEndian.Uint32(m.wg.lds[256+4*5:]); got != 10 {
		t.Errorf("global_load_lds: %d", got)
	}
}

func TestScratch(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		r := rand.New(rand.NewPCG(51, 52))
		for i := range 64 {
			m.V[0][i] = uint32(4 * (i % 8))
			m.V[2][i], m.V[3][i] = r.Uint32(), r.Uint32()
		}
		m.S[4] = 32
		if arch.Has(gcn.ArchitectedScratch) {
			m.inst("scratch_store_dwordx2 v0, v[2:3], s4 offset:8", 0xdc746008, 0x00040200)
			m.inst("scratch_load_dwordx2 v[6:7], v0, s4 offset:8", 0xdc546008, 0x06040000)
			m.inst("scratch_store_short off, v2, s4 offset:126", 0xdc68407e, 0x00040200)
			m.inst("scratch_load_ushort v8, off, s4 offset:126", 0xdc48407e, 0x08040000)
		} else {
			m.inst("scratch_store_dwordx2 v0, v[2:3], off offset:40", 0xdc744028, 0x007f0200)
			m.inst("scratch_load_dwordx2 v[6:7], v0, off offset:40", 0xdc544028, 0x067f0000)
			m.inst("scratch_store_short off, v2, s4 offset:126", 0xdc68407e, 0x00040200)
			m.inst("scratch_load_ushort v8, off, s4 offset:126", 0xdc48407e, 0x08040000)
		}
		for i := range 64 {
			if m.V[6][i] != m.V[2][i] || m.V[7][i] != m.V[3][i] || m.V[8][i] != m.V[2][i]&0xffff {
				t.Fatalf("%s: lane %d: %#x %#x %#x", arch, i, m.V[6][i], m.V[7][i], m.V[8][i])
			}
			if got := binary.LittleEndian.Uint32(m.wave.scratch[swizzle(uint64(40+m.V[0][i]), i):]); got != m.V[2][i] {
				t.Fatalf("%s: lane %d's segment holds %#x", arch, i, got)
			}
		}
		// Beyond the 256 bytes of a lane.
		m.S[4] = 256
		err := m.exec(words("scratch_load_dword v8, off, s4", 0xdc504000, 0x08040000)...)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != ScratchFault || !errors.Is(err, ErrMemory) {
			t.Errorf("%s: load beyond scratch: %v", arch, err)
		}
		m.set64(0, 9, privateBase+254)
		m.setMask(1 << 9)
		if err := m.exec(words("flat_load_dword v8, v[0:1]", 0xdc500000, 0x08000000)...); !errors.As(err, &f) || f.Kind != ScratchFault || f.Lane != 9 {
			t.Errorf("%s: flat load beyond scratch: %v", arch, err)
		}
	}
}

// Scratch through its buffer descriptor, as gfx90a does it.
func TestScratchBuffer(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	m.setS64(0, scratchWindow|1<<63)
	m.S[2], m.S[3] = 256*64, 1<<23|3<<21|1<<19
	m.S[32] = 16 * 64 // the stack pointer counts for the whole wave
	for i := range 64 {
		m.V[0][i], m.V[2][i] = uint32(i%4*4), uint32(i*3)
	}
	m.inst("buffer_store_dword v2, off, s[0:3], s32 offset:4", 0xe0700004, 0x20000200)
	m.inst("buffer_load_dword v6, off, s[0:3], 0 offset:20", 0xe0500014, 0x80000600)
	m.inst("buffer_store_dword v2, v0, s[0:3], 0 offen offset:100", 0xe0701064, 0x80000200)
	m.inst("buffer_load_ubyte v7, v0, s[0:3], 0 offen offset:100", 0xe0401064, 0x80000700)
	for i := range 64 {
		if m.V[6][i] != uint32(i*3) || m.V[7][i] != uint32(i*3) {
			t.Fatalf("lane %d: %d %d", i, m.V[6][i], m.V[7][i])
		}
	}
	m.S[32] = 64 * 1024
	if err := m.exec(words("buffer_load_dword v6, off, s[0:3], s32", 0xe0500000, 0x20000600)...); !errors.Is(err, ErrMemory) {
		t.Errorf("beyond scratch: %v", err)
	}
}

func TestBuffers(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	addr, data := m.alloc(4096)
	for i := range 1024 {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(1000+i))
	}
	// Raw: 128 bytes from the 256th on. What lies outside reads 0 and is not written.
	m.setS64(8, addr+256)
	m.S[10], m.S[11] = 128, 0x20000
	m.S[4] = 16
	for i := range 64 {
		m.V[0][i], m.V[2][i] = uint32(4*i), 7
	}
	m.inst("buffer_load_dword v6, v0, s[8:11], s4 offen offset:4", 0xe0501004, 0x04020600)
	m.inst("buffer_load_dwordx2 v[8:9], v0, s[8:11], 0 offen", 0xe0541000, 0x80020800)
	m.inst("buffer_store_dword v2, v0, s[8:11], 0 offen offset:120", 0xe0701078, 0x80020200)
	m.inst("buffer_atomic_add v2, v0, s[8:11], 0 offen offset:124 glc", 0xe108507c, 0x80020200)
	for i := range 64 {
		want, wantX2 := uint32(0), [2]uint32{}
		if 4*i+4+16+4 <= 128 { // the scalar offset counts
			want = uint32(1000 + 64 + 5 + i)
		}
		for k := range wantX2 { // each dword for itself
			if 4*(i+k)+4 <= 128 {
				wantX2[k] = uint32(1000 + 64 + i + k)
			}
		}
		if m.V[6][i] != want || m.V[8][i] != wantX2[0] || m.V[9][i] != wantX2[1] {
			t.Fatalf("lane %d: %d %d %d, want %d %d", i, m.V[6][i], m.V[8][i], m.V[9][i], want, wantX2)
		}
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(data[4*i:]) }
	if word(64+30) != 7 || word(64+31) != 14 || word(64+32) != 1000+64+32 {
		t.Errorf("stores: %d %d %d", word(94), word(95), word(96))
	}
	if m.V[2][0] != 7 || m.V[2][1] != 0 {
		t.Errorf("atomic: %d, outside %d", m.V[2][0], m.V[2][1])
	}
	// Indexed with a stride, without swizzling: structures count.
	m.setS64(8, addr|12<<48)
	m.S[10] = 40
	for i := range 64 {
		m.V[0][i] = uint32(i)
	}
	m.inst("buffer_load_dword v6, v0, s[8:11], 0 idxen offset:4", 0xe0502004, 0x80020600)
	if m.V[6][5] != 1000+5*3+1 || m.V[6][39] != 1000+39*3+1 || m.V[6][40] != 0 {
		t.Errorf("indexed: %d %d %d", m.V[6][5], m.V[6][39], m.V[6][40])
	}
	// Swizzled structures: elements of 4 bytes, 8 structures interleaved.
	m.setS64(8, addr|12<<48|1<<63)
	m.S[10], m.S[11] = 16, 0
	m.inst("buffer_load_dword v6, v0, s[8:11], 0 idxen offset:8", 0xe0502008, 0x80020600)
	if got, want := m.V[6][10], uint32(1000+8*3+2*8+2); got != want || m.V[6][16] != 0 {
		t.Errorf("swizzled: %d, want %d; outside %d", got, want, m.V[6][16])
	}
	// A descriptor does not reach beyond the device.
	m.setS64(8, 4096)
	m.S[10], m.S[11] = ^uint32(0), 0
	if err := m.exec(words("buffer_load_dword v6, v0, s[8:11], 0 offen", 0xe0501000, 0x80020600)...); !errors.Is(err, ErrMemory) {
		t.Errorf("buffer outside device memory: %v", err)
	}
	m.setS64(8, addr)
	m.S[10] = 24
	m.inst("s_buffer_load_dwordx8 s[16:23], s[8:11], 0x0", 0xc02e0404, 0x00000000)
	if m.S[16] != 1000 || m.S[21] != 1005 || m.S[22] != 0 || m.S[23] != 0 {
		t.Errorf("s_buffer_load: %d", m.S[16:24])
	}
}

func TestLDS(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(61, 62))
	for i := range 64 {
		m.V[0][i] = uint32(i * 8)
		for k := 2; k < 10; k++ {
			m.V[k][i] = r.Uint32()
		}
	}
	word := func(off int) uint32 { return binary.LittleEndian.Uint32(m.wg.lds[off:]) }
	m.inst("ds_write2_b32 v0, v2, v3 offset1:1", 0xd81c0100, 0x00030200)
	m.inst("ds_read2_b32 v[10:11], v0 offset1:1", 0xd86e0100, 0x0a000000)
	m.inst("ds_read_b64 v[12:13], v0", 0xd8ec0000, 0x0c000000)
	for i := range 64 {
		if word(i*8) != m.V[2][i] || word(i*8+4) != m.V[3][i] || m.V[10][i] != m.V[2][i] || m.V[11][i] != m.V[3][i] || m.V[13][i] != m.V[3][i] {
			t.Fatalf("lane %d", i)
		}
	}
	// The destination may be the address.
	m.V[14] = m.V[0]
	m.inst("ds_read2_b64 v[14:17], v14 offset0:2 offset1:1", 0xd8ee0102, 0x0e00000e)
	if m.V[14][3] != word(3*8+16) || m.V[17][3] != word(3*8+12) {
		t.Error("ds_read2_b64 into its address")
	}
	m.inst("ds_write2st64_b32 v0, v4, v5 offset0:1", 0xd81e0001, 0x00050400)
	if word(256+40*8) != m.V[4][40] || word(7*8) != m.V[5][7] {
		t.Error("ds_write2st64_b32")
	}
	for i := range 64 {
		m.V[1][i] = uint32(i * 16)
	}
	m.inst("ds_write_b128 v1, v[2:5]", 0xd9be0000, 0x00000201)
	m.inst("ds_read_b96 v[10:12], v1 offset:4", 0xd9fc0004, 0x0a000001)
	if m.V[12][9] != m.V[5][9] || word(9*16+12) != m.V[5][9] {
		t.Error("ds_write_b128, ds_read_b96")
	}
	m.inst("ds_write_b16_d16_hi v1, v2", 0xd8aa0000, 0x00000201)
	m.inst("ds_read_u8 v10, v1 offset:1", 0xd8740001, 0x0a000001)
	m.inst("ds_read_i16 v11, v1", 0xd8760000, 0x0b000001)
	if m.V[10][4] != m.V[2][4]>>24 || m.V[11][4] != uint32(int32(m.V[2][4])>>16) {
		t.Error("small LDS accesses")
	}
	// Beyond the 1024 bytes: reads 0, writes nothing.
	for i := range 64 {
		m.V[0][i] = uint32(1024 - 64 + 4*i)
		m.V[10][i] = 5
	}
	m.inst("ds_write_b32 v0, v2", 0xd81a0000, 0x00000200)
	m.inst("ds_read_b32 v10, v0", 0xd86c0000, 0x0a000000)
	m.inst("ds_add_rtn_u32 v11, v0, v3", 0xd8400000, 0x0b000300)
	for i := range 64 {
		want := m.V[2][i]
		if i >= 16 {
			want = 0
		}
		if m.V[10][i] != want || m.V[11][i] != want {
			t.Fatalf("lane %d: %#x %#x, want %#x", i, m.V[10][i], m.V[11][i], want)
		}
	}
	m.V[0] = Vec{0xfffffffc}
	m.setMask(1)
	m.inst("ds_read_b64 v[10:11], v0 offset:65535", 0xd8ecffff, 0x0a000000)
	if m.V[10][0] != 0 || m.V[11][0] != 0 {
		t.Error("an LDS address wrapped")
	}
}

// The sum of address and offset has 32 bits: what a compiler subtracted from an
// address an offset may add again.
func TestLDSAddressWraps(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	m.setMask(1)
	m.wg.lds[0], m.wg.lds[8] = 42, 0
	m.V[0][0] = ^uint32(3)
	m.inst("ds_read_b32 v10, v0 offset:4", 0xd86c0004, 0x0a000000)
	if got := m.V[10][0]; got != 42 {
		t.Errorf("read %d at -4 + 4, want 42", got)
	}
	m.V[1][0] = 7
	m.inst("ds_write_b32 v0, v1 offset:12", 0xd81a000c, 0x00000100)
	if got := m.wg.lds[8]; got != 7 {
		t.Errorf("wrote %d at -4 + 12, want 7", got)
	}
}
