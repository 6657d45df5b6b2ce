package exec

import (
	"errors"
	"math"
	"slices"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Matrix instructions: D = A × B + C for blocks of M×K by K×N matrices that are
// spread over the registers of all 64 lanes; EXEC does not matter. Of the sparse
// ones (v_smfmac), C is D, and the third source says which two of four elements
// in a row of A are there.
//
// The order in which the hardware sums up the products of an element is not
// documented; here it is the order of k, each step fused and rounded to nearest
// even. A result that is NaN is the quiet one without a sign or payload.
//
// What MODE says: FP16_OVFL limits sums to the finite numbers, and to those of 32
// bits. On gfx942, f32 matrices A and B have their denormals flushed as other
// operations' sources; nothing else does. gfx90a takes denormals in A and B and in the
// result for zero where A and B have 16-bit elements, whatever the mode.

var errMatrixIndexed = errors.New("matrix instructions are not executable in GPR index mode")

// matrixOp is a bound matrix instruction.
type matrixOp struct {
	*multiply
	d, x, y, c vdst
	constant   bool // C is the same for all elements
	value      uint64
	index      vdst // sparse: which elements of A there are
}

func matrix(b *binder, in *gcn.Inst) (func(*wave), error) {
	s, ok := matrixShape(in)
	if !ok {
		return nil, errNotExecutable
	}
	if b.indexed != 0 {
		return nil, errMatrixIndexed
	}
	m := &matrixOp{constant: in.Src[2].IsConst(), value: in.Src[2].Value}
	operands := []struct {
		to *vdst
		o  *gcn.Operand
	}{{&m.d, &in.Dst}, {&m.x, &in.Src[0]}, {&m.y, &in.Src[1]}, {&m.c, &in.Src[2]}}
	if m.constant {
		operands = operands[:3]
	}
	for _, p := range operands {
		var err error
		if *p.to, err = b.dest(p.o); err != nil {
			return nil, err
		}
	}
	if s.sparse {
		m.index, m.c = m.c, m.d
	}
	m.multiply = newMultiply(s, in, b.p.arch)
	var err error
	if m.scales, err = b.matrixScales(in); err != nil {
		return nil, err
	}
	tiles := m.bindTiles(b, in)
	return func(w *wave) {
		w.stats.FLOPs += s.flops
		if tiles != nil && !w.fp.ovfl16 && !(m.modal && w.fp.flushIn32) && useTiles {
			tiles(w)
			return
		}
		o := operandsOf(m, w)
		switch s.acc {
		case "f32":
			m.f32(w, &o)
		case "i32":
			m.i32(w, &o)
		default:
			m.f64(w, &o)
		}
	}, nil
}

// file is the register file a destination lies in, and where.
func (d vdst) file(w *wave) regs {
	if d.acc {
		return regs{file: w.A, base: int(d.reg)}
	}
	return regs{file: w.V, base: int(d.reg)}
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
		return math.Float64frombits(r.value)
	}
	return f64(r.file[r.base+p.reg][p.lane], r.file[r.base+p.reg+1][p.lane])
}

func (r *regs) put(p place, x uint32) { r.file[r.base+p.reg][p.lane] = x }

// operands are the registers of a matrix instruction in a wave.
type operands struct{ d, x, y, c, index regs }

func operandsOf(m *matrixOp, w *wave) operands {
	o := operands{d: m.d.file(w), x: m.x.file(w), y: m.y.file(w), index: m.index.file(w)}
	if o.c = (regs{constant: true, value: m.value}); !m.constant {
		o.c = m.c.file(w)
	}
	return o
}

// matrixNames are the matrix instructions that are not sparse and not of 8-bit floats, without v_mfma_.
var matrixNames = []string{
	// gfx90a; those that it calls something else than gfx942 stand there
	"i32_32x32x8i8", "i32_16x16x16i8", "f32_32x32x2bf16", "f32_16x16x2bf16", "f32_4x4x2bf16", "f32_32x32x4bf16", "f32_16x16x8bf16",
	// gfx942
	"f32_16x16x8_xf32", "f32_32x32x4_xf32", "f32_32x32x1_2b_f32", "f32_16x16x1_4b_f32", "f32_4x4x1_16b_f32",
	"f32_32x32x2_f32", "f32_16x16x4_f32", "f32_32x32x4_2b_f16", "f32_16x16x4_4b_f16", "f32_4x4x4_16b_f16",
	"f32_32x32x8_f16", "f32_16x16x16_f16", "i32_32x32x4_2b_i8", "i32_16x16x4_4b_i8", "i32_4x4x4_16b_i8",
	"i32_32x32x16_i8", "i32_16x16x32_i8", "f32_32x32x4_2b_bf16", "f32_16x16x4_4b_bf16", "f32_4x4x4_16b_bf16",
	"f32_32x32x8_bf16", "f32_16x16x16_bf16", "f64_16x16x4_f64", "f64_4x4x4_4b_f64",
	// gfx950
	"f32_16x16x32_f16", "f32_32x32x16_f16", "f32_16x16x32_bf16", "f32_32x32x16_bf16", "i32_16x16x64_i8", "i32_32x32x32_i8",
}

var _ = define(func() {
	for _, name := range slices.Concat(matrixNames, []string{
		"f32_16x16x128_f8f6f4", "f32_32x32x64_f8f6f4", "scale_f32_16x16x128_f8f6f4", "scale_f32_32x32x64_f8f6f4",
	}) {
		on("v_mfma_"+name, matrix)
	}
	for _, name := range []string{
		"f32_16x16x32_f16", "f32_32x32x16_f16", "f32_16x16x32_bf16", "f32_32x32x16_bf16", "i32_16x16x64_i8", "i32_32x32x32_i8",
		// gfx950
		"f32_16x16x64_f16", "f32_32x32x32_f16", "f32_16x16x64_bf16", "f32_32x32x32_bf16", "i32_16x16x128_i8", "i32_32x32x64_i8",
	} {
		on("v_smfmac_"+name, matrix)
	}
	for _, shape := range []string{"mfma_f32_16x16x32", "mfma_f32_32x32x16", "smfmac_f32_16x16x64", "smfmac_f32_32x32x32", "smfmac_f32_16x16x128", "smfmac_f32_32x32x64"} {
		for _, a := range []string{"fp8", "bf8"} {
			for _, b := range []string{"fp8", "bf8"} {
				on("v_"+shape+"_"+a+"_"+b, matrix)
			}
		}
	}
})
