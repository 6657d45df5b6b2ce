package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Matrix instructions of RDNA3 (v_wmma): D = A × B + C of 16×16 elements each; EXEC does not
// matter. Lane i holds row i of A, and column i of B, one behind the other in its registers; each 16 lanes behind those have to hold
// the same as the first, which are the ones that are looked at. Of C and D, register r of lane l is the element
// of row 2r + l/16, in a wave of 64 lanes 4r + l/16, and column l mod 16 (as AMD's matrix instruction calculator says); if it
// has 16 bits, op_sel says in which half, and the other half of D stays.
//
// The order in which the hardware sums up is not documented; here it is the order of k, in float32, each step fused and
// rounded to nearest even.

// wmmaOf is what an instruction multiplies, and the sum.
type wmmaOf struct {
	bits  int                             // of an element of A and B
	value func(x uint32) float32          // of one that is a float
	half  bool                            // C and D have 16 bits
	wide  func(x uint32) float32          // of such an element of C
	round func(x float32) (bits16 uint16) // and of D
}

var wmmaKinds = map[string]wmmaOf{
	"f32_16x16x16_f16":   {bits: 16, value: halfValue},
	"f32_16x16x16_bf16":  {bits: 16, value: bfloatValue},
	"f16_16x16x16_f16":   {bits: 16, value: halfValue, half: true, wide: halfValue, round: f32to16},
	"bf16_16x16x16_bf16": {bits: 16, value: bfloatValue, half: true, wide: bfloatValue, round: f32toBF16},
	"i32_16x16x16_iu8":   {bits: 8},
	"i32_16x16x16_iu4":   {bits: 4},
}

func halfValue(x uint32) float32   { return f16to32(uint16(x)) }
func bfloatValue(x uint32) float32 { return f32(x << 16) }

const wmmaSize = 16 // rows, columns, and k

// wmma binds a matrix instruction.
func wmma(b *binder, in *gcn.Inst) (func(*wave), error) {
	of, ok := wmmaKinds[strings.TrimPrefix(in.Op.String(), "v_wmma_")]
	if !ok {
		return nil, errNotExecutable
	}
	m := wmmaOp{wmmaOf: of, rows: b.p.arch.WaveSize() / wmmaSize, negLow: in.Neg, negHigh: in.NegHi, clamp: in.Clamp, shift: uint32(in.OpSel>>2&1) * 16}
	for _, p := range []struct {
		to *vdst
		o  *gcn.Operand
	}{{&m.d, &in.Dst}, {&m.x, &in.Src[0]}, {&m.y, &in.Src[1]}, {&m.c, &in.Src[2]}} {
		if p.o.IsConst() && p.to == &m.c {
			m.constant, m.con = true, uint32(p.o.Value)
			continue
		}
		var err error
		if *p.to, err = b.dest(p.o); err != nil {
			return nil, err
		}
	}
	if of.value == nil {
		return m.integers, nil
	}
	return m.floats, nil
}

// wmmaOp is a bound matrix instruction.
type wmmaOp struct {
	wmmaOf
	d, x, y, c      vdst
	constant        bool // C is the same for all elements
	con             uint32
	negLow, negHigh uint8
	clamp           bool
	rows            int    // of C and D in one register
	shift           uint32 // of elements of C and D in their registers
}

// element is the bits of element k of a lane's row or column, as they lie in registers.
func (m *wmmaOp) element(from vdst, w *wave, lane, k int) uint32 {
	at := k * m.bits
	return w.V[int(from.reg)+at/32][lane] >> (at % 32) & (1<<m.bits - 1)
}

// at is where an element of C or D lies.
func (m *wmmaOp) at(row, column int) (reg, lane int) {
	return row / m.rows, row%m.rows*wmmaSize + column
}

// floats multiplies floats. Negations are of the even and the odd elements of A and B; those of C are its sign and, in place of the
// odd ones, its absolute value.
func (m *wmmaOp) floats(w *wave) {
	load := func(from vdst, source uint8) (v [wmmaSize][wmmaSize]float32) {
		neg := [2]bool{m.negLow>>source&1 != 0, m.negHigh>>source&1 != 0}
		for i := range v {
			for k := range v[i] {
				if v[i][k] = m.value(m.element(from, w, i, k)); neg[k&1] {
					v[i][k] = -v[i][k]
				}
			}
		}
		return v
	}
	x, y := load(m.x, 0), load(m.y, 1)
	var out [wmmaSize][wmmaSize]float32
	for i := range out {
		for j := range out[i] {
			sum := m.sum(w, i, j)
			for k := range wmmaSize {
				sum = fma32(x[i][k], y[j][k], sum)
			}
			if sum != sum {
				sum = f32(binary32.nan)
			}
			out[i][j] = sum
		}
	}
	for i := range out {
		for j, sum := range out[i] {
			reg, lane := m.at(i, j)
			p := &w.V[int(m.d.reg)+reg][lane]
			if !m.half {
				*p = b32(sum)
				continue
			}
			*p = *p&^(0xffff<<m.shift) | uint32(m.round(sum))<<m.shift
		}
	}
	w.stats.FLOPs += 2 * wmmaSize * wmmaSize * wmmaSize
}

// sum is an element of C.
func (m *wmmaOp) sum(w *wave, i, j int) float32 {
	x := m.con
	if !m.constant {
		reg, lane := m.at(i, j)
		if x = w.V[int(m.c.reg)+reg][lane]; m.half {
			x >>= m.shift
		}
	}
	c := f32(x)
	if m.half {
		c = m.wide(x & 0xffff)
	}
	if m.negHigh>>2&1 != 0 {
		c = f32(b32(c) &^ (1 << 31))
	}
	if m.negLow>>2&1 != 0 {
		c = -c
	}
	return c
}

// integers multiplies integers; the negations of A and B say that their elements have signs.
func (m *wmmaOp) integers(w *wave) {
	load := func(from vdst, source uint8) (v [wmmaSize][wmmaSize]int64) {
		for i := range v {
			for k := range v[i] {
				v[i][k] = dotElement(m.element(from, w, i, k), 0, uint32(m.bits), m.negLow>>source&1 != 0)
			}
		}
		return v
	}
	x, y := load(m.x, 0), load(m.y, 1)
	var out [wmmaSize][wmmaSize]uint32
	for i := range out {
		for j := range out[i] {
			c := m.con
			if reg, lane := m.at(i, j); !m.constant {
				c = w.V[int(m.c.reg)+reg][lane]
			}
			sum := int64(int32(c))
			for k := range wmmaSize {
				sum += x[i][k] * y[j][k]
			}
			if m.clamp {
				sum = int64(int32(uint32(sat32(sum))))
			}
			out[i][j] = uint32(sum)
		}
	}
	for i := range out {
		for j, sum := range out[i] {
			reg, lane := m.at(i, j)
			w.V[int(m.d.reg)+reg][lane] = sum
		}
	}
}

var _ = define(func() {
	for name := range wmmaKinds {
		on("v_wmma_"+name, wmma)
	}
})
