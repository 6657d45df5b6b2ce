package exec

import (
	"regexp"
	"strconv"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// element is the type of A's and B's elements.
type element struct {
	bits  int
	value func(x uint32) float32 // nil: i8, f64
	least uint32                 // the smallest number that is not denormal; gfx90a takes those for zero. 0: it does not
}

var elements = map[string]element{
	"f32":  {32, f32, 0},
	"xf32": {32, roundXF32, 0},
	"f16":  {16, func(x uint32) float32 { return f16to32(uint16(x)) }, 0x0400},
	"bf16": {16, func(x uint32) float32 { return f32(x << 16) }, 0x0080},
	"i8":   {8, nil, 0},
	"f64":  {64, nil, 0},
	// Of the target's own format where it has one: see elementOn.
	"fp8": {8, e4m3.values(), 0},
	"bf8": {8, e5m2.values(), 0},
	"fp6": {6, e2m3.values(), 0},
	"bf6": {6, e3m2.values(), 0},
	"fp4": {4, e2m1.values(), 0},
}

// ownFloats are the 8-bit floats of a target with [gcn.FloatsNUZ].
var ownFloats = map[string]element{"fp8": {8, fp8.value, 0}, "bf8": {8, bf8.value, 0}}

func elementOn(arch gcn.Arch, typ string) element {
	if e, ok := ownFloats[typ]; ok && arch.Has(gcn.FloatsNUZ) {
		return e
	}
	return elements[typ]
}

// formatNames are the types of elements that an instruction with [gcn.Formats] chooses from.
var formatNames = [...]string{gcn.FormatFP8: "fp8", gcn.FormatBF8: "bf8", gcn.FormatFP6: "fp6", gcn.FormatBF6: "bf6", gcn.FormatFP4: "fp4"}

// roundXF32 rounds to the 10 mantissa bits of xf32, to nearest even.
func roundXF32(x uint32) float32 {
	if x&0x7f800000 != 0x7f800000 {
		x = (x + 0xfff + x>>13&1) &^ 0x1fff
	}
	return f32(x)
}

// shape is an instruction's matrices: blocks products of an M×K by a K×N one.
type shape struct {
	m, n, k, blocks int
	sparse          bool // of A's elements, two of four are kept
	typ, typB       string
	a, b            element
	acc             string // f32, i32, f64
	flops           uint64
	formats         bool // A's and B's types are chosen by the instruction's fields
}

var matrixName = regexp.MustCompile(`^v_(mfma|mfma_scale|smfmac)_(f32|i32|f64)_(\d+)x(\d+)x(\d+)(?:_\d+b)?_?(xf32|f32|f16|bf16|i8|f64|fp8|bf8|f8f6f4)(?:_1k)?(?:_(fp8|bf8))?$`)

// matrixShape takes the name apart; the number of blocks follows from the size
// of the result.
func matrixShape(in *gcn.Inst) (*shape, bool) {
	f := matrixName.FindStringSubmatch(in.Info.Name)
	if f == nil {
		return nil, false
	}
	s := &shape{sparse: f[1] == "smfmac", acc: f[2], typ: f[6], typB: f[6], formats: f[6] == "f8f6f4"}
	if f[7] != "" {
		s.typB = f[7]
	}
	if s.formats {
		if int(in.CBSZ) >= len(formatNames) || int(in.BLGP) >= len(formatNames) {
			return nil, false
		}
		s.typ, s.typB = formatNames[in.CBSZ], formatNames[in.BLGP]
	}
	s.a, s.b = elementOn(in.Arch, s.typ), elementOn(in.Arch, s.typB)
	s.m, _ = strconv.Atoi(f[3])
	s.n, _ = strconv.Atoi(f[4])
	s.k, _ = strconv.Atoi(f[5])
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

// kept is how many elements of a row of A there are.
func (s *shape) kept() int {
	if s.sparse {
		return s.k / 2
	}
	return s.k
}

// place is an element's lane and position in a register file.
type place struct{ reg, lane, shift int }

// input is where element (i, k) of block b of a source lies (of A: row i, of B:
// column i) that has depth elements of some bits in each row. A lane has neighbours, of which
// there are more than four registers in two parts, each as if it were all; but elements
// of 6 and 4 bits lie together.
func (s *shape) input(dim, depth, bits, i, k, b int) (lane, elem int) {
	lanesPerBlock := 64 / (dim * s.blocks)
	per := depth / lanesPerBlock
	first := 0
	if most := 128 / bits; bits >= 8 && per > most {
		first, k = k/(most*lanesPerBlock)*most, k%(most*lanesPerBlock)
		per = most
	}
	return b*dim + k/per*dim*s.blocks + i, first + k%per
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

// matrix is where the elements of a source lie, in the order block, row (of B:
// column), k.
func (s *shape) matrix(dim, depth, bits int, lane func(l int) int) []place {
	var p []place
	for b := range s.blocks {
		for i := range dim {
			for k := range depth {
				l, e := s.input(dim, depth, bits, i, k, b)
				p = append(p, place{e * bits / 32, lane(l), e * bits % 32})
			}
		}
	}
	return p
}

// result is where the elements of C and D lie, in the order block, row, column.
func (s *shape) result() []place {
	var p []place
	for b := range s.blocks {
		for i := range s.m {
			for j := range s.n {
				reg, lane := s.output(i, j, b)
				p = append(p, place{reg, lane, 0})
			}
		}
	}
	return p
}

// laneOfA is the lane whose data stands for A's lane l: by CBSZ and ABID, one block stands
// for a group of neighbours.
func (s *shape) laneOfA(cbsz, abid uint8) func(l int) int {
	group := 1 << cbsz
	if group == 1 || group > s.blocks || s.acc == "f64" || s.sparse || s.formats {
		return func(l int) int { return l }
	}
	return func(l int) int {
		b := l / s.m % s.blocks
		return l + (b&^(group-1)|int(abid)&(group-1)-b)*s.m
	}
}

// laneOfB is the lane whose data stands for B's lane l, by BLGP.
func (s *shape) laneOfB(blgp uint8) func(l int) int {
	if s.acc == "f64" || s.sparse || s.formats {
		blgp = 0
	}
	return func(l int) int {
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
}
