package exec

import (
	"math"
	"slices"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// multiply is the arithmetic of a matrix instruction: this is what it means, and what
// kernels are compared with.
type multiply struct {
	*shape
	pa, pb, pc []place
	pi         []place // of the indices of A's elements, if it is sparse
	flush      bool    // denormals of A, B and the result are zero
	modal      bool    // those of A and B, if MODE says so
	neg        uint8   // f64: which of A, B, C are negated
	scales     *[2]matrixScale
}

func newMultiply(s *shape, in *gcn.Inst, arch gcn.Arch) *multiply {
	m := &multiply{
		shape: s, pc: s.result(),
		pa:    s.matrix(s.m, s.kept(), s.a.bits, s.laneOfA(in.CBSZ, in.ABID)),
		pb:    s.matrix(s.n, s.k, s.b.bits, s.laneOfB(in.BLGP)),
		flush: arch.Has(gcn.MatrixFlush) && s.a.least != 0,
		modal: arch.Has(gcn.MatrixMode) && s.typ == "f32",
	}
	if s.acc == "f64" {
		m.neg = in.BLGP
	}
	if s.sparse {
		// Two bits an element, in a lane 8, 16 or 32 bits. ABID says which of these sets.
		sets, set := 16/(s.kept()*s.m/64), 0
		if in.CBSZ&3 == 0 {
			set = int(in.ABID) & (sets - 1)
		}
		m.pi = s.matrix(s.m, s.kept(), 2, func(l int) int { return l })
		for i := range m.pi {
			m.pi[i].shift += set * 32 / sets
		}
	}
	return m
}

// matrices is memory for the operands of matrix instructions, kept by a wave.
type matrices struct {
	a, b    []float32
	scaleA  []float64
	scaleB  []float64
	columns []int
	out     []uint32
}

// load reads the elements of a source into v.
func (m *multiply) load(v []float32, e element, r *regs, p []place, flush bool) []float32 {
	v = slices.Grow(v[:0], len(p))[:len(p)]
	mask := ^uint32(0) >> (32 - e.bits)
	least := e.least
	if e.bits == 32 {
		least = 0x00800000
	}
	sign := uint32(1) << (e.bits - 1)
	for i := range p {
		x := r.at(p[i])
		if p[i].shift+e.bits > 32 { // of 6 bits, from two registers
			x |= r.at(place{p[i].reg + 1, p[i].lane, 0}) << (32 - p[i].shift)
		}
		x &= mask
		if flush && x&^sign < least {
			x &= sign
		}
		v[i] = e.value(x)
	}
	return v
}

// columns says for each element of A which column of A it stands in: the pairs of a sparse one stand in four
// columns each.
func (m *multiply) columns(v []int, index *regs) []int {
	v = v[:0]
	for i := range m.pa {
		k := i % m.kept()
		if m.sparse {
			k = k/2*4 + int(index.at(m.pi[i])&3)
		}
		v = append(v, k)
	}
	return v
}

func (m *multiply) f32(w *wave, o *operands) {
	mem, flush, limit := &w.mat, m.flush || m.modal && w.fp.flushIn32, w.fp.ovfl16
	mem.a, mem.b = m.load(mem.a, m.a, &o.x, m.pa, flush), m.load(mem.b, m.b, &o.y, m.pb, flush)
	mem.out = slices.Grow(mem.out[:0], len(m.pc))[:len(m.pc)]
	mem.columns = m.columns(mem.columns, &o.index)
	a, b, out, n, kept := mem.a, mem.b, mem.out, 0, m.kept()
	scaled := m.scales != nil
	if scaled {
		mem.scaleA, mem.scaleB = m.scales[0].load(mem.scaleA, w, m.m), m.scales[1].load(mem.scaleB, w, m.n)
	}
	for blk := range m.blocks {
		for i := range m.m {
			at := (blk*m.m + i) * kept
			row, columns := a[at:][:kept], mem.columns[at:][:kept]
			for j := range m.n {
				col := b[(blk*m.n+j)*m.k:][:m.k]
				sum := f32(o.c.at(m.pc[n]))
				for k, x := range row {
					y := col[columns[k]]
					var s float32
					if scaled {
						factor := mem.scaleA[i*m.k/32+k/32] * mem.scaleB[j*m.k/32+k/32]
						s = float32(sumOdd(float64(x)*float64(y)*factor, float64(sum)))
					} else {
						s = fma32(x, y, sum)
					}
					if limit && isInf32(s) && !isInf32(x) && !isInf32(y) && !isInf32(sum) {
						s = float32(math.Copysign(math.MaxFloat32, float64(s)))
					}
					sum = s
				}
				r := b32(sum)
				switch {
				case sum != sum:
					r = 0x7fc00000
				case m.flush:
					r = flush32(r)
				}
				out[n] = r
				n++
			}
		}
	}
	for i, p := range m.pc {
		o.d.put(p, out[i])
	}
}

func isInf32(x float32) bool { return b32(x)&0x7fffffff == 0x7f800000 }

func (m *multiply) i32(w *wave, o *operands) {
	load := func(r *regs, p []place) []int32 {
		v := make([]int32, len(p))
		for i := range p {
			v[i] = int32(int8(r.at(p[i])))
		}
		return v
	}
	a, b := load(&o.x, m.pa), load(&o.y, m.pb)
	w.mat.columns = m.columns(w.mat.columns, &o.index)
	out := make([]uint32, len(m.pc))
	n, kept := 0, m.kept()
	for blk := range m.blocks {
		for i := range m.m {
			at := (blk*m.m + i) * kept
			row, columns := a[at:][:kept], w.mat.columns[at:][:kept]
			for j := range m.n {
				col := b[(blk*m.n+j)*m.k:][:m.k]
				sum := int64(int32(o.c.at(m.pc[n])))
				for k, x := range row {
					sum += int64(x * col[columns[k]])
				}
				if w.fp.ovfl16 {
					sum = max(min(sum, math.MaxInt32), math.MinInt32)
				}
				out[n] = uint32(sum)
				n++
			}
		}
	}
	for i, p := range m.pc {
		o.d.put(p, out[i])
	}
}

func (m *multiply) f64(_ *wave, o *operands) {
	load := func(r *regs, p []place, negate bool) []float64 {
		v := make([]float64, len(p))
		for i := range p {
			if v[i] = r.at64(p[i]); negate {
				v[i] = -v[i]
			}
		}
		return v
	}
	a, b := load(&o.x, m.pa, m.neg&1 != 0), load(&o.y, m.pb, m.neg&2 != 0)
	out := load(&o.c, m.pc, m.neg&4 != 0)
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
		if out[i] != out[i] {
			out[i] = math.Float64frombits(0x7ff8000000000000)
		}
		put64(&o.d.file[o.d.base+p.reg][p.lane], &o.d.file[o.d.base+p.reg+1][p.lane], out[i])
	}
}
