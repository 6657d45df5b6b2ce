package exec

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Three and four dwords of a lane from memory to the LDS: 16 bytes from lane to lane, of
// which the last four stay as they are if there are three.
func TestWideToLDS(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 950))
	m := newMachine(t, gcn.GFX950)
	m.wg.lds = make([]byte, 160<<10)
	addr, mem := m.alloc(4096)
	for _, f := range []struct {
		asm   string
		code  []uint32
		size  int
		other bool // a lane beyond the buffer reads 0
	}{
		{"global_load_lds_dwordx4 v[2:3], off offset:8", []uint32{0xddf48008, 0x007f0002}, 16, false},
		{"global_load_lds_dwordx3 v0, s[8:9] offset:8", []uint32{0xddf88008, 0x00080000}, 12, false},
		{"buffer_load_dwordx4 v0, s[8:11], 0 offen offset:8 lds", []uint32{0xe05d1008, 0x80020000}, 16, true},
		{"buffer_load_dwordx3 v0, s[8:11], 0 offen offset:8 lds", []uint32{0xe0591008, 0x80020000}, 12, true},
	} {
		for _, m0 := range []uint32{32, 0x20010, 0xfffc0000 | 0x27c00} { // M0 has 18 bits; the last is near the end
			for i := range mem {
				mem[i] = byte(r.Uint32())
			}
			for i := range m.wg.lds {
				m.wg.lds[i] = byte(i * 7)
			}
			want := append([]byte(nil), m.wg.lds...)
			mask := r.Uint64()
			m.setMask(mask)
			m.S[regM0] = m0
			m.setS64(8, addr)
			m.S[10], m.S[11] = 1024, 4<<15
			for i := range 64 {
				from := r.IntN(240) * 4
				if f.other && i == 5 {
					from = 2048
				}
				m.V[0][i] = uint32(from)
				m.set64(2, i, addr+uint64(from))
				to := int(m0&0x3ffff) + 8 + 16*i
				if mask>>i&1 == 0 || to+f.size > len(want) {
					continue
				}
				data := mem[from+8 : from+8+f.size]
				if f.other && i == 5 {
					data = make([]byte, f.size)
				}
				copy(want[to:], data)
			}
			m.inst(f.asm, f.code...)
			if !bytes.Equal(m.wg.lds, want) {
				t.Errorf("%s, M0 %#x: the LDS is not what it should be", f.asm, m0)
			}
		}
	}
}

// Two bfloat16 are added to memory by buffer instructions, too.
func TestBufferAtomicPkAddBF16(t *testing.T) {
	m := newMachine(t, gcn.GFX950)
	addr, mem := m.alloc(4096)
	m.setS64(8, addr)
	m.S[10], m.S[11] = 4*63, 4<<15 // the last lane is outside
	for i := range 64 {
		binary.LittleEndian.PutUint32(mem[4*i:], math32(float64(i))>>16|math32(float64(-2*i))&0xffff0000)
		m.V[0][i], m.V[2][i] = uint32(4*i), math32(0.5)>>16|math32(3)&0xffff0000
	}
	m.inst("buffer_atomic_pk_add_bf16 v2, v0, s[8:11], 0 offen sc0", 0xe1485000, 0x80020200)
	for i := range 64 {
		old := math32(float64(i))>>16 | math32(float64(-2*i))&0xffff0000
		want := math32(float64(i)+0.5)>>16 | math32(float64(3-2*i))&0xffff0000
		if i == 63 {
			old, want = 0, old
		}
		if got := binary.LittleEndian.Uint32(mem[4*i:]); got != want || m.V[2][i] != old {
			t.Fatalf("lane %d: %#x, want %#x; before %#x, want %#x", i, got, want, m.V[2][i], old)
		}
	}
}
