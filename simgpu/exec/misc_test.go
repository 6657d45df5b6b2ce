package exec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// A direction's face, and the coordinates on it: rebuilt from them, the
// direction is the same.
func TestCube(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 64 {
		for _, k := range []int{0, 2, 4} {
			m.V[k][i] = math32(r.Float64()*2 - 1)
		}
	}
	m.inst("v_cubeid_f32 v6, v0, v2, v4", 0xd1c40006, 0x04120500)
	m.inst("v_cubema_f32 v7, v0, v2, v4", 0xd1c70007, 0x04120500)
	m.inst("v_cubesc_f32 v8, v0, v2, v4", 0xd1c50008, 0x04120500)
	m.inst("v_cubetc_f32 v9, v0, v2, v4", 0xd1c60009, 0x04120500)
	for i := range 64 {
		x, y, z := f32(m.V[0][i]), f32(m.V[2][i]), f32(m.V[4][i])
		ma, sc, tc := f32(m.V[7][i])/2, f32(m.V[8][i]), f32(m.V[9][i])
		faces := [][3]float32{{ma, -tc, -sc}, {ma, -tc, sc}, {sc, ma, tc}, {sc, ma, -tc}, {sc, -tc, ma}, {-sc, -tc, ma}}
		id := int(f32(m.V[6][i]))
		if got := faces[id]; got != [3]float32{x, y, z} {
			t.Fatalf("(%g, %g, %g): face %d gives %v", x, y, z, id, got)
		}
		if (ma < 0) != (id&1 == 1) || max(math.Abs(float64(x)), math.Abs(float64(y)), math.Abs(float64(z))) != math.Abs(float64(ma)) {
			t.Fatalf("(%g, %g, %g): face %d with %g", x, y, z, id, ma)
		}
	}
}

func TestLDSCounters(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	m.S[regM0] = 64
	binary.LittleEndian.PutUint32(m.wg.lds[68:], 100)
	m.setMask(0xff)
	m.inst("ds_append v6 offset:4", 0xd97c0004, 0x06000000)
	m.setMask(0x7)
	m.inst("ds_consume v7 offset:4", 0xd97a0004, 0x07000000)
	if got := binary.LittleEndian.Uint32(m.wg.lds[68:]); got != 105 || m.V[6][7] != 100 || m.V[6][8] != 0 || m.V[7][0] != 108 {
		t.Errorf("counter %d, %d %d", got, m.V[6][7], m.V[7][0])
	}
	// All lanes exchange with the same two places, one after the other.
	m.setMask(^uint64(0))
	m.V[0] = Vec{}
	binary.LittleEndian.PutUint32(m.wg.lds[0:], 1000)
	binary.LittleEndian.PutUint32(m.wg.lds[8:], 2000)
	for i := range 64 {
		m.V[2][i], m.V[3][i] = uint32(i), uint32(100+i)
	}
	m.inst("ds_wrxchg2_rtn_b32 v[8:9], v0, v2, v3 offset1:2", 0xd85c0200, 0x08030200)
	if m.V[8][0] != 1000 || m.V[9][0] != 2000 || m.V[8][5] != 4 || m.V[9][63] != 162 || binary.LittleEndian.Uint32(m.wg.lds[8:]) != 163 {
		t.Errorf("ds_wrxchg2: %d %d %d %d", m.V[8][0], m.V[9][0], m.V[8][5], m.V[9][63])
	}
}
