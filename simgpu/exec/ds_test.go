package exec

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Each half is exchanged where the data's highest bit says so.
func TestConditionalExchange(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, arch := range arches {
		m := newMachine(t, arch)
		for _, mask := range masks(r) {
			var mem [128]uint32
			for i := range mem {
				mem[i] = r.Uint32()
				binary.LittleEndian.PutUint32(m.wg.lds[16+4*i:], mem[i])
			}
			for i := range 64 {
				m.V[0][i] = uint32(8*i + i%8) // the lowest bits do not count
				m.V[2][i], m.V[3][i] = r.Uint32(), r.Uint32()
				m.V[6][i], m.V[7][i] = 1, 2
			}
			m.setMask(mask)
			m.run("ds_condxchg32_rtn_b64 v[6:7], v0, v[2:3] offset:16")
			for i := range 64 {
				for k := range 2 {
					old, want, data := uint32(1+k), mem[2*i+k], m.V[2+k][i]
					if mask>>i&1 != 0 {
						if old = want; data >= 1<<31 {
							want = data - 1<<31
						}
					}
					if got := binary.LittleEndian.Uint32(m.wg.lds[16+8*i+4*k:]); got != want || m.V[6+k][i] != old {
						t.Fatalf("%v lane %d, half %d: memory %#x, want %#x; old %#x, want %#x", arch, i, k, got, want, m.V[6+k][i], old)
					}
				}
			}
		}
		m.setMask(^uint64(0))
		m.V[0] = Vec{1 << 20}
		m.V[2], m.V[3] = Vec{}, Vec{}
		m.run("ds_condxchg32_rtn_b64 v[6:7], v0, v[2:3]")
		if m.V[6][0] != 0 || m.V[7][0] != 0 {
			t.Errorf("%v: beyond the LDS: %#x %#x", arch, m.V[6][0], m.V[7][0])
		}
	}
}

// The butterfly order of a fast Fourier transform, from its definition: lane
// numbers are written from the other end, once for each step.
func TestSwizzleFFT(t *testing.T) {
	for _, arch := range arches {
		m := newMachine(t, arch)
		for mask := range 32 {
			for i := range 64 {
				m.V[0][i] = uint32(100 + i)
			}
			m.run(fmt.Sprintf("ds_swizzle_b32 v6, v0 offset:%d", 0xe000+mask))
			for i := range 64 {
				reversed := 0
				for b := range 5 {
					reversed |= i >> b & 1 << (4 - b)
				}
				for range bits.OnesCount(uint(mask)) {
					reversed /= 2
				}
				if want := uint32(100 + i/32*32 + (reversed | i&mask)); m.V[6][i] != want {
					t.Fatalf("%v mask %d, lane %d: %d, want %d", arch, mask, i, m.V[6][i], want)
				}
			}
		}
		// Without mask bits all 32 lanes are bit-reversed; with all, nothing moves.
		m.run("ds_swizzle_b32 v6, v0 offset:0xe000; ds_swizzle_b32 v7, v0 offset:0xe01f")
		if m.V[6][1] != 116 || m.V[6][33] != 148 || m.V[7] != m.V[0] {
			t.Errorf("%v: %d %d", arch, m.V[6][1], m.V[6][33])
		}
	}
}
