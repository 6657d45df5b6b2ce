package exec

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Matrix instructions: D = A × B + C for blocks of M×K by K×N matrices that are
// spread over the registers of all 64 lanes; EXEC does not matter.
//
// The order in which the hardware sums up the products of an element is not
// documented; here it is the order of k, each step fused.

// element is the type of A's and B's elements.
type element struct {
	bits   int
	value  func(x uint32) float32 // nil: i8, f64
	denorm bool                   // gfx90a takes denormal values for zero
}

var elements = map[string]element{
	"f32":  {32, func(x uint32) float32 { return f32(x) }, false},
	"xf32": {32, roundXF32, false},
	"f16":  {16, func(x uint32) float32 { return f16to32(uint16(x)) }, true},
	"bf16": {16, func(x uint32) float32 { return f32(x << 16) }, true},
	"fp8":  {8, fp8, false},
	"bf8":  {8, bf8, false},
	"i8":   {8, nil, false},
	"f64":  {64, nil, false},
}

// roundXF32 rounds to the 10 mantissa bits of xf32, to nearest even.
func roundXF32(x uint32) float32 {
	if x&0x7f800000 != 0x7f800000 {
		x = (x + 0xfff + x>>13&1) &^ 0x1fff
	}
	return f32(x)
}

// fp8 and bf8 are the 8-bit formats of gfx942: no infinity, one NaN, no
// negative zero; exponent biases 8 and 16.
func fp8(x uint32) float32 { return small8(x, 3, 8) }
func bf8(x uint32) float32 { return small8(x, 2, 16) }

func small8(x uint32, mantissa, bias int) float32 {
	if x == 0x80 {
		return float32(math.NaN())
	}
	m, e := int(x)&(1<<mantissa-1), int(x&0x7f)>>mantissa
	if e > 0 {
		m |= 1 << mantissa
	} else {
		e = 1
	}
	v := float32(math.Ldexp(float64(m), e-bias-mantissa))
	if x&0x80 != 0 {
		v = -v
	}
	return v
}

// shape is an instruction's matrices.
type shape struct {
	m, n, k, blocks int
	a, b            element
	acc             string // f32, i32, f64
	flops           uint64
}

// input is where element (i, k) of block b of A lies (for B: column and k).
func (s *shape) input(dim, i, k, b int) (lane, elem int) {
	lanesPerBlock := 64 / (dim * s.blocks)
	per := s.k / lanesPerBlock
	return b*dim + k/per*dim*s.blocks + i, k % per
}

// output is where element (i, j) of block b of C and D lies.
func (s *shape) output(i, j, b int) (reg, lane int) {
	rows := 64 / s.n
	if s.acc == "f64" {
		per := (64 + s.m*s.n - 1) / (s.m * s.n)
		return 2 * (b*(s.m*s.n/64) + i/rows), b%per*s.n + i%rows*per*s.n + j
	}
	q := s.m * s.n / 4
	per := (64 + q - 1) / q
	return b*(s.m*s.n/64) + i/(4*rows)*4 + i%4, b%per*s.n + i/4%rows*per*s.n + j
}

var mfmaName = regexp.MustCompile(`^v_mfma_(f32|i32|f64)_(\d+)x(\d+)x(\d+)(?:_\d+b)?_?(xf32|f32|f16|bf16|i8|f64|fp8|bf8)(?:_1k)?(?:_(fp8|bf8))?$`)

// mfmaShape takes the name apart; the number of blocks follows from the size
// of the result.
func mfmaShape(in *gcn.Inst) (*shape, bool) {
	f := mfmaName.FindStringSubmatch(in.Info.Name)
	if f == nil {
		return nil, false
	}
	s := &shape{acc: f[1], a: elements[f[5]], b: elements[f[5]]}
	if f[6] != "" {
		s.b = elements[f[6]]
	}
	s.m, _ = strconv.Atoi(f[2])
	s.n, _ = strconv.Atoi(f[3])
	s.k, _ = strconv.Atoi(f[4])
	regs := int(in.Dst.Width)
	if s.acc == "f64" {
		regs /= 2
	}
	s.blocks = regs * 64 / (s.m * s.n)
	if s.acc != "i32" {
		s.flops = uint64(2 * s.m * s.n * s.k * s.blocks)
	}
	return s, s.blocks > 0
}

// place is an element's lane and position in a register file.
type place struct{ reg, lane, shift int }

// matrix is where the elements of a source lie, in the order block, row (of B:
// column), k.
func (s *shape) matrix(dim, bits int, lane func(l, b int) int) []place {
	var p []place
	for b := range s.blocks {
		for i := range dim {
			for k := range s.k {
				l, e := s.input(dim, i, k, b)
				p = append(p, place{e * bits / 32, lane(l, b), e * bits % 32})
			}
		}
	}
	return p
}

// laneOfB is the lane whose data stands for B's lane l, by BLGP.
func laneOfB(blgp uint8, l int) int {
	switch {
	case blgp == 1:
		return l & 31
	case blgp == 2:
		return l&31 | 32
	case blgp == 3:
		return (l + 16) & 63
	case blgp >= 4:
		return l&15 | int(blgp-4)*16
	}
	return l
}

func mfma(b *binder, in *gcn.Inst) (func(*wave), error) {
	s, ok := mfmaShape(in)
	if !ok {
		return nil, errNotExecutable
	}
	d, err := b.dest(&in.Dst)
	if err != nil {
		return nil, err
	}
	x, err := b.dest(&in.Src[0])
	if err != nil {
		return nil, err
	}
	y, err := b.dest(&in.Src[1])
	if err != nil {
		return nil, err
	}
	var c vdst
	constant := in.Src[2].IsConst()
	if !constant {
		if c, err = b.dest(&in.Src[2]); err != nil {
			return nil, err
		}
	}
	// A block of A may stand for a group of blocks.
	cbsz, abid, blgp := 1<<in.CBSZ, int(in.ABID), in.BLGP
	if cbsz > s.blocks || s.acc == "f64" {
		cbsz = 1
	}
	neg := uint8(0)
	if s.acc == "f64" {
		neg, blgp = blgp, 0
	}
	pa := s.matrix(s.m, s.a.bits, func(l, blk int) int {
		if cbsz == 1 {
			return l
		}
		from := blk&^(cbsz-1) | abid&(cbsz-1)
		return l + (from-blk)*s.m
	})
	pb := s.matrix(s.n, s.b.bits, func(l, _ int) int { return laneOfB(blgp, l) })
	var pc []place
	for blk := range s.blocks {
		for i := range s.m {
			for j := range s.n {
				reg, lane := s.output(i, j, blk)
				pc = append(pc, place{reg, lane, 0})
			}
		}
	}
	flush := b.p.arch == gcn.GFX90A && s.a.denorm
	m := &multiply{s, pa, pb, pc, flush, neg}
	value := in.Src[2].Value
	return func(w *wave) {
		src := regs{constant: constant, value: value}
		if !constant {
			src.file, src.base = c.file(w)
		}
		dst := regs{}
		dst.file, dst.base = d.file(w)
		ra, rb := regs{}, regs{}
		ra.file, ra.base = x.file(w)
		rb.file, rb.base = y.file(w)
		switch s.acc {
		case "f32":
			m.f32(&w.mat, &dst, &ra, &rb, &src)
		case "i32":
			m.i32(&dst, &ra, &rb, &src)
		default:
			m.f64(&dst, &ra, &rb, &src)
		}
		w.stats.FLOPs += s.flops
	}, nil
}

// file is the register file a destination lies in, and where.
func (d vdst) file(w *wave) ([]Vec, int) {
	if d.acc {
		return w.A, int(d.reg)
	}
	return w.V, int(d.reg)
}

// regs are the registers of a matrix, or a constant for all its elements.
type regs struct {
	file     []Vec
	base     int
	constant bool
	value    uint64
}

func (r *regs) at(p place) uint32 {
	if r.constant {
		return uint32(r.value)
	}
	return r.file[r.base+p.reg][p.lane] >> p.shift
}

func (r *regs) at64(p place) float64 {
	if r.constant {
		if v := uint32(r.value); r.value>>32 == 0 && v > 64 { // a float constant in single precision
			return float64(f32(v))
		}
		return math.Float64frombits(r.value)
	}
	return f64(r.file[r.base+p.reg][p.lane], r.file[r.base+p.reg+1][p.lane])
}

// multiply is a bound matrix instruction.
type multiply struct {
	*shape
	pa, pb, pc []place
	flush      bool
	neg        uint8 // f64: which of A, B, C are negated
}

// matrices is memory for the operands of matrix instructions, kept by a wave.
type matrices struct {
	a, b []float32
	out  []uint32
}

// load reads the elements of a source into v.
func (m *multiply) load(v []float32, e element, r *regs, p []place) []float32 {
	v = slices.Grow(v[:0], len(p))[:len(p)]
	mask := uint32(1)<<e.bits - 1
	if e.bits == 32 {
		mask = ^uint32(0)
	}
	for i := range p {
		x := r.at(p[i]) & mask
		v[i] = e.value(x)
		if m.flush && subnormal(e, x) {
			v[i] = 0
		}
	}
	return v
}

// subnormal reports whether a 16-bit element is denormal.
func subnormal(e element, x uint32) bool {
	v := math.Abs(float64(e.value(x)))
	if e.value(0x3f80) == 1 { // bf16
		return v < 0x1p-126
	}
	return v < 0x1p-14
}

func (m *multiply) f32(mem *matrices, d, x, y, c *regs) {
	mem.a, mem.b = m.load(mem.a, m.a, x, m.pa), m.load(mem.b, m.b, y, m.pb)
	mem.out = slices.Grow(mem.out[:0], len(m.pc))[:len(m.pc)]
	a, b, out := mem.a, mem.b, mem.out
	n := 0
	for blk := range m.blocks {
		for i := range m.m {
			row := a[(blk*m.m+i)*m.k:][:m.k]
			for j := range m.n {
				col := b[(blk*m.n+j)*m.k:][:m.k]
				sum := f32(c.at(m.pc[n]))
				for k := range row {
					s := float64(row[k])*float64(col[k]) + float64(sum)
					if u := math.Float64bits(s); u<<35 == 1<<63 || u<<1-1 < 0x381<<53-1 { // see fma32
						sum = fma32Exact(row[k], col[k], sum)
						continue
					}
					sum = float32(s)
				}
				out[n] = b32(sum)
				if m.flush {
					out[n] = flush32(out[n])
				}
				n++
			}
		}
	}
	for i, p := range m.pc {
		d.file[d.base+p.reg][p.lane] = out[i]
	}
}

func (m *multiply) i32(d, x, y, c *regs) {
	load := func(r *regs, p []place) []int32 {
		v := make([]int32, len(p))
		for i := range p {
			v[i] = int32(int8(r.at(p[i])))
		}
		return v
	}
	a, b := load(x, m.pa), load(y, m.pb)
	out := make([]uint32, len(m.pc))
	n := 0
	for blk := range m.blocks {
		for i := range m.m {
			row := a[(blk*m.m+i)*m.k:][:m.k]
			for j := range m.n {
				col := b[(blk*m.n+j)*m.k:][:m.k]
				sum := int32(c.at(m.pc[n]))
				for k := range row {
					sum += row[k] * col[k]
				}
				out[n] = uint32(sum)
				n++
			}
		}
	}
	for i, p := range m.pc {
		d.file[d.base+p.reg][p.lane] = out[i]
	}
}

func (m *multiply) f64(d, x, y, c *regs) {
	load := func(r *regs, p []place, negate bool) []float64 {
		v := make([]float64, len(p))
		for i := range p {
			if v[i] = r.at64(p[i]); negate {
				v[i] = -v[i]
			}
		}
		return v
	}
	a, b := load(x, m.pa, m.neg&1 != 0), load(y, m.pb, m.neg&2 != 0)
	out := load(c, m.pc, m.neg&4 != 0)
	n := 0
	for blk := range m.blocks {
		for i := range m.m {
			row := a[(blk*m.m+i)*m.k:][:m.k]
			for j := range m.n {
				col := b[(blk*m.n+j)*m.k:][:m.k]
				for k := range row {
					out[n] = math.FMA(row[k], col[k], out[n])
				}
				n++
			}
		}
	}
	for i, p := range m.pc {
		put64(&d.file[d.base+p.reg][p.lane], &d.file[d.base+p.reg+1][p.lane], out[i])
	}
}

var _ = define(func() {
	for _, name := range []string{
		// gfx90a
		"f32_32x32x1f32", "f32_16x16x1f32", "f32_4x4x1f32", "f32_32x32x2f32", "f32_16x16x4f32",
		"f32_32x32x4f16", "f32_16x16x4f16", "f32_4x4x4f16", "f32_32x32x8f16", "f32_16x16x16f16",
		"i32_32x32x4i8", "i32_16x16x4i8", "i32_4x4x4i8", "i32_32x32x8i8", "i32_16x16x16i8",
		"f32_32x32x4bf16_1k", "f32_16x16x4bf16_1k", "f32_4x4x4bf16_1k", "f32_32x32x8bf16_1k", "f32_16x16x16bf16_1k",
		"f32_32x32x2bf16", "f32_16x16x2bf16", "f32_4x4x2bf16", "f32_32x32x4bf16", "f32_16x16x8bf16",
		"f64_16x16x4f64", "f64_4x4x4f64",
		// gfx942
		"f32_16x16x8_xf32", "f32_32x32x4_xf32", "f32_32x32x1_2b_f32", "f32_16x16x1_4b_f32", "f32_4x4x1_16b_f32",
		"f32_32x32x2_f32", "f32_16x16x4_f32", "f32_32x32x4_2b_f16", "f32_16x16x4_4b_f16", "f32_4x4x4_16b_f16",
		"f32_32x32x8_f16", "f32_16x16x16_f16", "i32_32x32x4_2b_i8", "i32_16x16x4_4b_i8", "i32_4x4x4_16b_i8",
		"i32_32x32x16_i8", "i32_16x16x32_i8", "f32_32x32x4_2b_bf16", "f32_16x16x4_4b_bf16", "f32_4x4x4_16b_bf16",
		"f32_32x32x8_bf16", "f32_16x16x16_bf16", "f64_16x16x4_f64", "f64_4x4x4_4b_f64",
	} {
		on("v_mfma_"+name, mfma)
	}
	for _, shape := range []string{"16x16x32", "32x32x16"} {
		for _, a := range []string{"fp8", "bf8"} {
			for _, b := range []string{"fp8", "bf8"} {
				on("v_mfma_f32_"+shape+"_"+a+"_"+b, mfma)
			}
		}
	}
})
