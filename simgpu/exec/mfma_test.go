package exec

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// at is where an element lies.
type at struct{ reg, lane, shift int }

// inputLayout is where A's element (i, k) of a block lies, and B's (k, i). The layouts are written
// down as AMD's matrix instruction calculator prints them.
type inputLayout = func(i, k, blk int) at

// matrixLayouts are the instructions' shapes.
var matrixLayouts = []struct {
	names           string // of gfx90a and gfx942
	m, k, blocks    int
	a               inputLayout
	sparseA, sparse inputLayout // of SMFMAC: A's element that stands in column k, and its index
}{
	{"f32_32x32x1f32 f32_32x32x1_2b_f32", 32, 1, 2, func(i, k, b int) at { return at{0, 32*b + i, 0} }, nil, nil},
	{"f32_16x16x1f32 f32_16x16x1_4b_f32", 16, 1, 4, func(i, k, b int) at { return at{0, 16*b + i, 0} }, nil, nil},
	{"f32_4x4x1f32 f32_4x4x1_16b_f32", 4, 1, 16, func(i, k, b int) at { return at{0, 4*b + i, 0} }, nil, nil},
	{"f32_32x32x2f32 f32_32x32x2_f32", 32, 2, 1, func(i, k, b int) at { return at{0, 32*k + i, 0} }, nil, nil},
	{"f32_16x16x4f32 f32_16x16x4_f32", 16, 4, 1, func(i, k, b int) at { return at{0, 16*k + i, 0} }, nil, nil},
	{"f32_32x32x4f16 f32_32x32x4bf16_1k f32_32x32x4_2b_f16 f32_32x32x4_2b_bf16", 32, 4, 2, func(i, k, b int) at { return at{k / 2, 32*b + i, 16 * (k % 2)} }, nil, nil},
	{"f32_16x16x4f16 f32_16x16x4bf16_1k f32_16x16x4_4b_f16 f32_16x16x4_4b_bf16", 16, 4, 4, func(i, k, b int) at { return at{k / 2, 16*b + i, 16 * (k % 2)} }, nil, nil},
	{"f32_4x4x4f16 f32_4x4x4bf16_1k f32_4x4x4_16b_f16 f32_4x4x4_16b_bf16", 4, 4, 16, func(i, k, b int) at { return at{k / 2, 4*b + i, 16 * (k % 2)} }, nil, nil},
	{"f32_32x32x8f16 f32_32x32x8bf16_1k f32_32x32x8_f16 f32_32x32x8_bf16", 32, 8, 1, func(i, k, b int) at { return at{k / 2 % 2, 32*(k/4) + i, 16 * (k % 2)} }, nil, nil},
	{"f32_16x16x16f16 f32_16x16x16bf16_1k f32_16x16x16_f16 f32_16x16x16_bf16", 16, 16, 1, func(i, k, b int) at { return at{k / 2 % 2, 16*(k/4) + i, 16 * (k % 2)} }, nil, nil},
	{"i32_32x32x4i8 i32_32x32x4_2b_i8", 32, 4, 2, func(i, k, b int) at { return at{0, 32*b + i, 8 * k} }, nil, nil},
	{"i32_16x16x4i8 i32_16x16x4_4b_i8", 16, 4, 4, func(i, k, b int) at { return at{0, 16*b + i, 8 * k} }, nil, nil},
	{"i32_4x4x4i8 i32_4x4x4_16b_i8", 4, 4, 16, func(i, k, b int) at { return at{0, 4*b + i, 8 * k} }, nil, nil},
	{"i32_32x32x8i8", 32, 8, 1, func(i, k, b int) at { return at{0, 32*(k/4) + i, 8 * (k % 4)} }, nil, nil},
	{"i32_16x16x16i8", 16, 16, 1, func(i, k, b int) at { return at{0, 16*(k/4) + i, 8 * (k % 4)} }, nil, nil},
	{"f32_32x32x2bf16", 32, 2, 2, func(i, k, b int) at { return at{0, 32*b + i, 16 * k} }, nil, nil},
	{"f32_16x16x2bf16", 16, 2, 4, func(i, k, b int) at { return at{0, 16*b + i, 16 * k} }, nil, nil},
	{"f32_4x4x2bf16", 4, 2, 16, func(i, k, b int) at { return at{0, 4*b + i, 16 * k} }, nil, nil},
	{"f32_32x32x4bf16", 32, 4, 1, func(i, k, b int) at { return at{0, 32*(k/2) + i, 16 * (k % 2)} }, nil, nil},
	{"f32_16x16x8bf16", 16, 8, 1, func(i, k, b int) at { return at{0, 16*(k/2) + i, 16 * (k % 2)} }, nil, nil},
	{"f64_16x16x4f64 f64_16x16x4_f64", 16, 4, 1, func(i, k, b int) at { return at{0, 16*k + i, 0} }, nil, nil},
	{"f64_4x4x4f64 f64_4x4x4_4b_f64", 4, 4, 4, func(i, k, b int) at { return at{0, 4*b + 16*k + i, 0} }, nil, nil},
	{"f32_16x16x8_xf32", 16, 8, 1, func(i, k, b int) at { return at{k % 2, 16*(k/2) + i, 0} }, nil, nil},
	{"f32_32x32x4_xf32", 32, 4, 1, func(i, k, b int) at { return at{k % 2, 32*(k/2) + i, 0} }, nil, nil},
	{"i32_32x32x16_i8 f32_32x32x16_bf8_bf8 f32_32x32x16_bf8_fp8 f32_32x32x16_fp8_bf8 f32_32x32x16_fp8_fp8", 32, 16, 1,
		func(i, k, b int) at { return at{k / 4 % 2, 32*(k/8) + i, 8 * (k % 4)} }, nil, nil},
	{"i32_16x16x32_i8 f32_16x16x32_bf8_bf8 f32_16x16x32_bf8_fp8 f32_16x16x32_fp8_bf8 f32_16x16x32_fp8_fp8", 16, 32, 1,
		func(i, k, b int) at { return at{k / 4 % 2, 16*(k/8) + i, 8 * (k % 4)} }, nil, nil},
	{"f32_32x32x16_f16 f32_32x32x16_bf16", 32, 16, 1, func(i, k, b int) at { return at{k / 2 % 4, 32*(k/8) + i, 16 * (k % 2)} }, nil, nil},
	{"f32_16x16x32_f16 f32_16x16x32_bf16", 16, 32, 1, func(i, k, b int) at { return at{k / 2 % 4, 16*(k/8) + i, 16 * (k % 2)} }, nil, nil},
	{"i32_32x32x32_i8", 32, 32, 1, func(i, k, b int) at { return at{k / 4 % 4, 32*(k/16) + i, 8 * (k % 4)} }, nil, nil},
	{"i32_16x16x64_i8", 16, 64, 1, func(i, k, b int) at { return at{k / 4 % 4, 16*(k/16) + i, 8 * (k % 4)} }, nil, nil},
	// Of four columns, two elements are kept: of 16 bits, in one register, of 8, in
	// one half. An index has two bits; A's function says where the first of two is.
	{"smfmac_f32_16x16x32_f16 smfmac_f32_16x16x32_bf16", 16, 32, 1,
		func(i, k, b int) at { return at{k / 2 % 4, 16*(k/8) + i, 16 * (k % 2)} },
		func(i, k, b int) at { return at{k / 4 % 2, 16*(k/8) + i, 0} },
		func(i, k, b int) at { return at{0, 16*(k/8) + i, 4 * (k / 4 % 2)} }},
	{"smfmac_f32_32x32x16_f16 smfmac_f32_32x32x16_bf16", 32, 16, 1,
		func(i, k, b int) at { return at{k / 2 % 4, 32*(k/8) + i, 16 * (k % 2)} },
		func(i, k, b int) at { return at{k / 4 % 2, 32*(k/8) + i, 0} },
		func(i, k, b int) at { return at{0, 32*(k/8) + i, 4 * (k / 4 % 2)} }},
	{"smfmac_i32_16x16x64_i8 smfmac_f32_16x16x64_bf8_bf8 smfmac_f32_16x16x64_bf8_fp8 smfmac_f32_16x16x64_fp8_bf8 smfmac_f32_16x16x64_fp8_fp8", 16, 64, 1,
		func(i, k, b int) at { return at{k / 4 % 4, 16*(k/16) + i, 8 * (k % 4)} },
		func(i, k, b int) at { return at{k / 8 % 2, 16*(k/16) + i, 16 * (k / 4 % 2)} },
		func(i, k, b int) at { return at{0, 16*(k/16) + i, 4 * (k / 4 % 4)} }},
	// Of double depth: of more than four registers, the first four are as if there were no others.
	{"smfmac_f32_16x16x64_f16 smfmac_f32_16x16x64_bf16", 16, 64, 1,
		func(i, k, b int) at { return at{k/32*4 + k/2%4, 16*(k%32/8) + i, 16 * (k % 2)} },
		func(i, k, b int) at { return at{k / 4 % 4, 16*(k/16) + i, 0} },
		func(i, k, b int) at { return at{0, 16*(k/16) + i, 4 * (k / 4 % 4)} }},
	{"smfmac_f32_32x32x32_f16 smfmac_f32_32x32x32_bf16", 32, 32, 1,
		func(i, k, b int) at { return at{k/16*4 + k/2%4, 32*(k%16/8) + i, 16 * (k % 2)} },
		func(i, k, b int) at { return at{k / 4 % 4, 32*(k/16) + i, 0} },
		func(i, k, b int) at { return at{0, 32*(k/16) + i, 4 * (k / 4 % 4)} }},
	{"smfmac_i32_16x16x128_i8 smfmac_f32_16x16x128_bf8_bf8 smfmac_f32_16x16x128_bf8_fp8 smfmac_f32_16x16x128_fp8_bf8 smfmac_f32_16x16x128_fp8_fp8", 16, 128, 1,
		func(i, k, b int) at { return at{k/64*4 + k/4%4, 16*(k%64/16) + i, 8 * (k % 4)} },
		func(i, k, b int) at { return at{k / 8 % 4, 16*(k/32) + i, 16 * (k / 4 % 2)} },
		func(i, k, b int) at { return at{0, 16*(k/32) + i, 4 * (k / 4 % 8)} }},
	{"smfmac_i32_32x32x64_i8 smfmac_f32_32x32x64_bf8_bf8 smfmac_f32_32x32x64_bf8_fp8 smfmac_f32_32x32x64_fp8_bf8 smfmac_f32_32x32x64_fp8_fp8", 32, 64, 1,
		func(i, k, b int) at { return at{k/32*4 + k/4%4, 32*(k%32/16) + i, 8 * (k % 4)} },
		func(i, k, b int) at { return at{k / 8 % 4, 32*(k/32) + i, 16 * (k / 4 % 2)} },
		func(i, k, b int) at { return at{0, 32*(k/32) + i, 4 * (k / 4 % 8)} }},
	{"smfmac_i32_32x32x32_i8 smfmac_f32_32x32x32_bf8_bf8 smfmac_f32_32x32x32_bf8_fp8 smfmac_f32_32x32x32_fp8_bf8 smfmac_f32_32x32x32_fp8_fp8", 32, 32, 1,
		func(i, k, b int) at { return at{k / 4 % 4, 32*(k/16) + i, 8 * (k % 4)} },
		func(i, k, b int) at { return at{k / 8 % 2, 32*(k/16) + i, 16 * (k / 4 % 2)} },
		func(i, k, b int) at { return at{0, 32*(k/16) + i, 4 * (k / 4 % 4)} }},
}

// resultAt is where D's element (i, j) lies.
func resultAt(name string, m, i, j, b int) at {
	switch {
	case strings.HasPrefix(name, "f64_16x16"):
		return at{2 * (i / 4), 16*(i%4) + j, 0}
	case strings.HasPrefix(name, "f64_4x4"):
		return at{0, 16*(i%4) + 4*b + j, 0}
	case m == 32:
		return at{16*b + 4*(i/8) + i%4, 32*(i/4)%64 + j, 0}
	case m == 16:
		return at{4*b + i%4, 16*(i/4) + j, 0}
	}
	return at{i, 4*b + j, 0}
}

// encodings of whole numbers in the types of elements.
func elementOf(arch gcn.Arch, typ string, x int) uint32 {
	own := 0 // gfx942's bias is one more than OCP's
	if arch == gcn.GFX942 {
		own = 1
	}
	small := func(mantissa, bias int) uint32 {
		for c := range uint32(128) {
			e, m := int(c)>>mantissa, float64(c&(1<<mantissa-1))/float64(int(1)<<mantissa)
			if e > 0 && math.Ldexp(1+m, e-bias) == math.Abs(float64(x)) {
				if x < 0 {
					c |= 0x80
				}
				return c
			}
		}
		if x != 0 {
			panic("not a number of the format")
		}
		return 0
	}
	switch typ {
	case "i8":
		return uint32(uint8(int8(x)))
	case "f16":
		return uint32(f64to16(float64(x)))
	case "bf16":
		return math32(float64(x)) >> 16
	case "fp8":
		return small(3, 7+own)
	case "bf8":
		return small(2, 15+own)
	}
	return math32(float64(x))
}

// matrixForm is a matrix instruction with its layout.
type matrixForm struct {
	arch                gcn.Arch
	name                string // without v_, and mfma_ if it is that
	op, m, k, blocks    int
	b, sparseA, sparse  inputLayout
	typeA, typeB, typeC string
	regsA, regsB, regsC int
}

// matrixForms finds all matrix instructions in the decoder's tables. Every one must have
// a layout, and every layout an instruction.
func matrixForms(t testing.TB) (all []matrixForm) {
	t.Helper()
	layouts, found := map[string]int{}, map[string]bool{}
	for i, l := range matrixLayouts {
		for _, n := range strings.Fields(l.names) {
			layouts[n] = i
		}
	}
	for _, arch := range gcn.Archs() {
		for op := range 128 {
			f := matrixForm{arch: arch, op: op}
			code := f.encode(0, 0, 0, 256, matrixFields{})
			in, err := gcn.Decode(arch, code, 0)
			if err != nil || in.Enc != gcn.MFMA || strings.HasPrefix(in.Info.Name, "v_accvgpr") || Reason(arch, in.Info) != "" || in.Info.Flags&gcn.Formats != 0 {
				continue
			}
			f.name = strings.TrimPrefix(strings.TrimPrefix(in.Info.Name, "v_"), "mfma_")
			i, ok := layouts[f.name]
			if !ok {
				t.Errorf("%s has no layout", in.Info.Name)
				continue
			}
			found[f.name] = true
			l := matrixLayouts[i]
			f.m, f.k, f.blocks, f.b, f.sparseA, f.sparse = l.m, l.k, l.blocks, l.a, l.sparseA, l.sparse
			f.regsA, f.regsB, f.regsC = int(in.Src[0].Width), int(in.Src[1].Width), int(in.Dst.Width)
			types := strings.Split(strings.TrimSuffix(f.name, "_1k"), "_")
			for _, typ := range []string{"bf16", "xf32", "f16", "f32", "f64", "fp8", "bf8", "i8"} {
				if strings.HasSuffix(types[len(types)-1], typ) {
					f.typeB = typ
					break
				}
			}
			f.typeA, f.typeC = f.typeB, "f32"
			if prev := types[len(types)-2]; prev == "fp8" || prev == "bf8" {
				f.typeA = prev
			}
			if strings.Contains(f.name, "i32_") {
				f.typeC = "i32"
			} else if f.typeB == "f64" {
				f.typeC = "f64"
			}
			all = append(all, f)
		}
	}
	for n := range layouts {
		if !found[n] {
			t.Errorf("no instruction %s", n)
		}
	}
	return all
}

// matrixFields are the fields of a matrix instruction besides its registers.
type matrixFields struct{ accCD, acc, cbsz, abid, blgp uint32 }

func (f *matrixForm) encode(d, a, b, c int, m matrixFields) []byte {
	code := binary.LittleEndian.AppendUint32(nil, 0xd3800000|uint32(f.op)<<16|m.accCD<<15|m.abid<<11|m.cbsz<<8|uint32(d))
	return binary.LittleEndian.AppendUint32(code, m.blgp<<29|m.acc<<27|uint32(256+a)|uint32(256+b)<<9|uint32(c)<<18)
}

func (m *machine) matrix(f *matrixForm, code []byte) {
	m.t.Helper()
	if err := m.exec(binary.LittleEndian.Uint32(code), binary.LittleEndian.Uint32(code[4:])); err != nil {
		m.t.Fatalf("%s: %v", f.name, err)
	}
}

// sets is how many sets of sparse indices a register holds: one takes 8 bits for 16-bit elements and 16
// for those of 8 bits.
func (f *matrixForm) sets() int {
	sets := 2
	if f.typeA == "f16" || f.typeA == "bf16" {
		sets = 4
	}
	if f.regsB == 8 {
		sets /= 2
	}
	return sets
}

// Registers of the operands in tests.
const atA, atB, atIndex, atC = 0, 4, 15, 32

// product is D = A × B + C of whole numbers, by block, row and column, and what a test sees of it.
type product struct {
	f    *matrixForm
	mach *machine
	want map[[3]int]int
}

// randomProduct fills the registers of a machine for an instruction: C and D are accumulation
// registers if accCD says so.
func randomProduct(t *testing.T, f *matrixForm, r *rand.Rand, accCD bool, set int) *product {
	p := &product{f, newMachine(t, f.arch), map[[3]int]int{}}
	num := func() int { return r.IntN(15) - 7 }
	put := func(base int, x at, typ string, v int) {
		if typ == "f64" {
			p.mach.set64(base+x.reg, x.lane, bits64(float64(v)))
			return
		}
		p.mach.V[base+x.reg][x.lane] |= elementOf(f.arch, typ, v) << x.shift
	}
	bits := map[string]int{"i8": 8, "fp8": 8, "bf8": 8, "f16": 16, "bf16": 16}[f.typeA]
	a, b := map[[3]int]int{}, map[[3]int]int{}
	for blk := range f.blocks {
		for i := range f.m {
			for k := range f.k {
				at := [3]int{blk, i, k}
				b[at] = num()
				put(atB, f.b(i, k, blk), f.typeB, b[at])
				if f.sparse == nil {
					a[at] = num()
					put(atA, f.b(i, k, blk), f.typeA, a[at])
				}
			}
			for k := 0; k < f.k && f.sparse != nil; k += 4 {
				first := r.IntN(3)
				second := first + 1 + r.IntN(3-first)
				x, q := f.sparseA(i, k, blk), f.sparse(i, k, blk)
				p.mach.V[atIndex][q.lane] |= uint32(first|second<<2) << (q.shift + set*32/f.sets())
				for n, k4 := range []int{first, second} {
					v := num()
					a[[3]int{blk, i, k + k4}] = v
					put(atA, at{x.reg, x.lane, x.shift + n*bits}, f.typeA, v)
				}
			}
		}
		for i := range f.m {
			for j := range f.m {
				s := num()
				x := resultAt(f.name, f.m, i, j, blk)
				switch {
				case f.typeC == "f64":
					p.mach.set64(atC+x.reg, x.lane, bits64(float64(s)))
				case f.typeC == "i32":
					p.mach.V[atC+x.reg][x.lane] = uint32(s)
				default:
					p.mach.V[atC+x.reg][x.lane] = math32(float64(s))
				}
				for k := range f.k {
					s += a[[3]int{blk, i, k}] * b[[3]int{blk, j, k}]
				}
				p.want[[3]int{blk, i, j}] = s
			}
		}
	}
	if accCD {
		copy(p.mach.A[atC:], p.mach.V[atC:][:f.regsC])
		clear(p.mach.V[atC:][:f.regsC])
	}
	return p
}

func (p *product) check(accCD bool) {
	f := p.f
	file := p.mach.V
	if accCD {
		file = p.mach.A
	}
	for e, w := range p.want {
		x := resultAt(f.name, f.m, e[1], e[2], e[0])
		reg := atC + x.reg
		var got float64
		switch f.typeC {
		case "f64":
			got = f64(file[reg][x.lane], file[reg+1][x.lane])
		case "i32":
			got = float64(int32(file[reg][x.lane]))
		default:
			got = float64(f32(file[reg][x.lane]))
		}
		if got != float64(w) {
			p.mach.t.Fatalf("%v %s: block %d, element (%d, %d) is %g, want %d", f.arch, f.name, e[0], e[1], e[2], got, w)
		}
	}
}

// TestMatrixLayouts multiplies small whole numbers, for which no order of summing up
// matters, by every instruction, with C and D in either register file.
func TestMatrixLayouts(t *testing.T) {
	forms := matrixForms(t)
	if len(forms) != 27+32+14+28+6+8+8+14 {
		t.Errorf("%d matrix instructions", len(forms))
	}
	for _, f := range forms {
		r := rand.New(rand.NewPCG(uint64(f.op), uint64(f.arch)))
		for _, acc := range []bool{false, true} {
			c, fields, set := atC, matrixFields{}, 0
			if acc {
				fields.accCD = 1
			}
			if f.sparse != nil {
				c, set = atIndex, r.IntN(f.sets())
				if fields.abid = uint32(set); r.IntN(3) == 0 { // the first set, whatever abid says
					fields.cbsz, set = 1, 0
				}
			}
			p := randomProduct(t, &f, r, acc, set)
			p.mach.setMask(0) // does not matter
			p.mach.matrix(&f, f.encode(atC, atA, atB, 256+c, fields))
			p.check(acc)
		}
	}
}

// A and B may be accumulation registers, too.
func TestMatrixAccumulationSources(t *testing.T) {
	for _, f := range matrixForms(t) {
		if f.sparse != nil {
			continue
		}
		p := randomProduct(t, &f, rand.New(rand.NewPCG(1, uint64(f.op))), true, 0)
		copy(p.mach.A[:], p.mach.V[:8])
		clear(p.mach.V[:8])
		p.mach.matrix(&f, f.encode(atC, atA, atB, 256+atC, matrixFields{accCD: 1, acc: 3}))
		p.check(true)
	}
}

// The order of summing up is that of k; each step is rounded once.
func TestMatrixRounding(t *testing.T) {
	for _, f := range matrixForms(t) {
		if f.typeC != "f32" || f.sparse != nil || f.m != 16 || f.blocks != 1 || f.typeA != "f32" && f.typeA != "f16" && f.typeA != "bf16" {
			continue
		}
		m := newMachine(t, f.arch)
		r := rand.New(rand.NewPCG(3, uint64(f.op)))
		decode := map[string]func(x uint32) float32{"f32": f32, "bf16": func(x uint32) float32 { return f32(x << 16) }, "f16": func(x uint32) float32 { return f16to32(uint16(x)) }}[f.typeA]
		a, b, c := map[[2]int]float32{}, map[[2]int]float32{}, map[[2]int]float32{}
		for i := range 16 {
			for k := range f.k {
				p := f.b(i, k, 0)
				for base, to := range map[int]map[[2]int]float32{atA: a, atB: b} {
					e := math32(r.NormFloat64())
					switch f.typeA {
					case "bf16":
						e >>= 16
					case "f16":
						e = uint32(f64to16(float64(f32(e))))
					}
					m.V[base+p.reg][p.lane] |= e << p.shift
					to[[2]int{i, k}] = decode(e)
				}
			}
			for j := range 16 {
				p, x := resultAt(f.name, 16, i, j, 0), math32(r.NormFloat64()*16)
				m.V[atC+p.reg][p.lane], c[[2]int{i, j}] = x, f32(x)
			}
		}
		m.matrix(&f, f.encode(atC, atA, atB, 256+atC, matrixFields{}))
		for at, sum := range c {
			for k := range f.k {
				x := new(big.Float).SetPrec(600).SetFloat64(float64(a[[2]int{at[0], k}]))
				x.Mul(x, big.NewFloat(float64(b[[2]int{at[1], k}])))
				x.Add(x, big.NewFloat(float64(sum)))
				sum, _ = x.Float32()
			}
			p := resultAt(f.name, 16, at[0], at[1], 0)
			if got := f32(m.V[atC+p.reg][p.lane]); got != sum {
				t.Fatalf("%s: %v is %v, want %v", f.name, at, got, sum)
			}
		}
	}
}

// Broadcasts of A's blocks and permutations of B's lanes, the constant as C,
// and accumulation registers.
func TestMFMAModifiers(t *testing.T) {
	m := newMachine(t, gcn.GFX90A)
	for i := range 64 {
		m.V[0][i], m.V[4][i] = math32(float64(i)), math32(float64(100+i))
	}
	// 4x4x1: block b has A in lanes 4b..4b+3, D[i][j] = A[i]*B[j] in register i.
	m.inst("v_mfma_f32_4x4x1f32 a[0:3], v0, v4, 1.0", 0xd3c28000, 0x03ca0900)
	m.inst("v_mfma_f32_4x4x1f32 v[32:35], v0, v4, 0 cbsz:2 abid:1", 0xd3c20a20, 0x02020900)
	for l := range 64 {
		blk, j := l/4, l%4
		for i := range 4 {
			a, b := float64(4*blk+i), float64(100+4*blk+j)
			if got := f32(m.A[i][l]); got != float32(a*b+1) {
				t.Fatalf("lane %d, row %d: %g", l, i, got)
			}
			if got := f32(m.V[32+i][l]); got != float32(float64(4*(blk&^3|1)+i)*b) {
				t.Fatalf("cbsz: lane %d, row %d: %g", l, i, got)
			}
		}
	}
	// BLGP: which lane stands for lane l.
	for blgp, lane := range []func(l int) int{
		func(l int) int { return l }, func(l int) int { return l % 32 }, func(l int) int { return l%32 + 32 }, func(l int) int { return (l + 16) % 64 },
		func(l int) int { return l % 16 }, func(l int) int { return l%16 + 16 }, func(l int) int { return l%16 + 32 }, func(l int) int { return l%16 + 48 },
	} {
		if err := m.exec(0xd3c20020, 0x02020900|uint32(blgp)<<29); err != nil {
			t.Fatal(err)
		}
		for l := range 64 {
			for i := range 4 {
				if got, want := f32(m.V[32+i][l]), float32((4*(l/4)+i)*(100+lane(l))); got != want {
					t.Fatalf("blgp %d: lane %d, row %d: %g, want %g", blgp, l, i, got, want)
				}
			}
		}
	}
	// f64: blgp negates, cbsz and abid do not matter; constants are doubles.
	for i := range 64 {
		m.set64(0, i, bits64(3))
		m.set64(4, i, bits64(5))
		m.set64(32, i, bits64(7))
	}
	m.inst("v_mfma_f64_4x4x4f64 v[34:35], v[0:1], v[4:5], v[32:33] cbsz:1 abid:1 blgp:5", 0xd3ef0922, 0xa4820900)
	m.inst("v_mfma_f64_4x4x4f64 v[36:37], v[0:1], v[4:5], -4.0 blgp:2", 0xd3ef0024, 0x43de0900)
	if got, c := float(m.get64(34, 17)), float(m.get64(36, 17)); got != 4*-15-7 || c != 4*-15-4 {
		t.Errorf("f64 with negations: %g, %g", got, c)
	}
	// Not with indexed registers.
	if err := m.exec(0xbf110000|8<<8, 0xd3ef0024, 0x43de0900, 0xbf9c0000); err == nil || !strings.Contains(err.Error(), "GPR index mode") {
		t.Errorf("GPR index mode: %v", err)
	}
}

// What becomes of denormal numbers, infinities, NaN and sums that are too large, by target,
// type and MODE.
func TestMatrixSpecialNumbers(t *testing.T) {
	const (
		none    = 0xf0 // MODE: denormals are kept
		flushed = 0xc0 // of f32 they are not
		ovfl    = none | 1<<23
		nan     = 0x7fc00000
		inf     = 0x7f800000
		large   = 0x7f7fffff
	)
	forms := matrixForms(t)
	for _, c := range []struct {
		what    string
		arch    gcn.Arch
		name    string // D = A*B for the first element; the rest is zero
		mode    uint32
		a, b, c uint32
		want    uint32
	}{
		{"f16 denormals", gcn.GFX942, "f32_16x16x16_f16", flushed, 0x0001, 0x3c00, 0, 0x33800000},
		{"f16 denormals", gcn.GFX90A, "f32_16x16x16f16", none, 0x83ff, 0x3c00, 0, 0},
		{"f16 denormals", gcn.GFX90A, "f32_16x16x16f16", none, 0x0400, 0x3c00, 0, 0x38800000},
		{"bf16 denormals", gcn.GFX942, "f32_16x16x16_bf16", flushed, 0x0001, 0x4b00, 0, 0x08800000},
		{"bf16 denormals", gcn.GFX90A, "f32_16x16x16bf16_1k", none, 0x007f, 0x4b00, 0, 0},
		{"bf16 denormal result", gcn.GFX942, "f32_16x16x16_bf16", flushed, 0x0080, 0x3f00, 0, 0x00400000},
		{"bf16 denormal result", gcn.GFX90A, "f32_16x16x8bf16", none, 0x8080, 0x3f00, 0, 0x80000000},
		{"f32 denormals", gcn.GFX942, "f32_16x16x4_f32", none, 1, 0x3f800000, 0, 1},
		{"f32 denormals by MODE", gcn.GFX942, "f32_16x16x4_f32", flushed, 1, 0x3f800000, 0, 0},
		{"f32 C and D by MODE", gcn.GFX942, "f32_16x16x4_f32", flushed, 0x00800000, 0x3f000000, 2, 0x00400002},
		{"f32 denormals", gcn.GFX90A, "f32_16x16x4f32", flushed, 1, 0x3f800000, 0, 1},
		{"xf32 denormals", gcn.GFX942, "f32_16x16x8_xf32", flushed, 0x00002000, 0x3f800000, 0, 0x00002000},
		{"xf32 rounds to even", gcn.GFX942, "f32_16x16x8_xf32", none, 0x3f801000, 0x3f803000, 0, 0x3f804000},
		{"fp8 NaN", gcn.GFX942, "f32_16x16x32_fp8_fp8", none, 0x80, 0x40, 0, nan},
		{"bf8 denormals", gcn.GFX942, "f32_16x16x32_bf8_bf8", flushed, 0x01, 0x40, 0, 0x37000000},
		{"infinity times zero", gcn.GFX942, "f32_16x16x4_f32", none, inf, 0, 0, nan},
		{"infinity less infinity", gcn.GFX942, "f32_16x16x4_f32", none, inf, 0x3f800000, 0xff800000, nan},
		{"NaN of C", gcn.GFX942, "f32_16x16x4_f32", none, 0, 0, 0xffc12345, nan},
		{"overflow", gcn.GFX942, "f32_16x16x4_f32", none, large, 0x40000000, 0, inf},
		{"overflow, limited", gcn.GFX942, "f32_16x16x4_f32", ovfl, large, 0xc0000000, 0, 0xff7fffff},
		{"infinity is not limited", gcn.GFX942, "f32_16x16x4_f32", ovfl, inf, 0x40000000, 0, inf},
		{"i8 wraps", gcn.GFX942, "i32_16x16x32_i8", none, 1, 1, 0x7fffffff, 0x80000000},
		{"i8, limited", gcn.GFX942, "i32_16x16x32_i8", ovfl, 1, 1, 0x7fffffff, 0x7fffffff},
		{"i8, limited", gcn.GFX942, "i32_16x16x32_i8", ovfl, 0x80, 0x7f, 0x80000001, 0x80000000},
	} {
		for _, f := range forms {
			if f.arch != c.arch || f.name != c.name {
				continue
			}
			m := newMachine(t, c.arch)
			m.setMode(c.mode)
			m.V[atA][0], m.V[atB][0], m.V[atC][0] = c.a, c.b, c.c
			m.matrix(&f, f.encode(atC, atA, atB, 256+atC, matrixFields{}))
			if got := m.V[atC][0]; got != c.want {
				t.Errorf("%s, %v %s: %#x, want %#x", c.what, c.arch, c.name, got, c.want)
			}
		}
	}
}
