package exec

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Every value of the 8-bit formats, and the middle between neighbours.
func TestToSmall8(t *testing.T) {
	for _, f := range []struct {
		name           string
		from           func(uint32) float32
		mantissa, bias int
	}{{"fp8", fp8, 3, 8}, {"bf8", bf8, 2, 16}} {
		to := func(x float32) uint32 { return toSmall8(x, f.mantissa, f.bias) }
		for b := range uint32(256) {
			x := f.from(b)
			if got := to(x); got != b {
				t.Fatalf("%s: %#x is %g, which becomes %#x", f.name, b, x, got)
			}
			if b&0x7f == 0x7f || b == 0x80 {
				continue
			}
			next := f.from(b + 1)
			mid := (x + next) / 2
			if got, even := to(mid), b+b&1; got != even {
				t.Fatalf("%s: %g between %#x and %#x becomes %#x, want %#x", f.name, mid, b, b+1, got, even)
			}
			if got := to(math.Nextafter32(mid, next)); got != b+1 {
				t.Fatalf("%s: just beyond the middle of %#x: %#x", f.name, b, got)
			}
		}
		large := f.from(0x7f)
		for _, x := range []float32{large * 2, -large * 2, float32(math.Inf(1)), float32(math.NaN())} {
			if got := to(x); got != 0x80 {
				t.Errorf("%s: %g becomes %#x", f.name, x, got)
			}
		}
		if to(float32(math.Copysign(0, -1))) != 0 || to(-1e-30) != 0 {
			t.Errorf("%s has no negative zero", f.name)
		}
	}
	m := newMachine(t, gcn.GFX942)
	m.V[0], m.V[2], m.V[6] = Vec{math32(1)}, Vec{math32(-2)}, Vec{0x12345678}
	m.inst("v_cvt_pk_fp8_f32 v6, v0, v2 op_sel:[0,0,1]", 0xd2a24006, 0x00020500)
	if m.V[6][0] != 0xc8405678 {
		t.Errorf("v_cvt_pk_fp8_f32: %#x", m.V[6][0])
	}
	m.inst("v_cvt_pk_f32_fp8_sdwa v[8:9], v6 src0_sel:WORD_1", 0x7e10acf9, 0x00050606)
	m.inst("v_cvt_f32_fp8_sdwa v10, v6 src0_sel:BYTE_3", 0x7e14a8f9, 0x00030606)
	if m.V[8][0] != math32(1) || m.V[9][0] != math32(-2) || m.V[10][0] != math32(-2) {
		t.Errorf("from fp8: %#x %#x %#x", m.V[8][0], m.V[9][0], m.V[10][0])
	}
}

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
