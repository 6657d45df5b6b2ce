//go:build linux && amd64

package exec

import (
	"strings"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Matrix instructions of RDNA, as wmma.go describes them, bit for bit what wmmaOp does. As with those of CDNA, code of each kind stands once in
// a region, behind its blocks; registers are as there.
//
// 16 lanes of a register of D are a row of it. For each k they add a column of A's element, the same for all of them, times the row of B, which is 16 lanes
// of what B's registers hold. A and B are expanded to the wave's memory first: floats to f32, bytes to pairs of words.

// wmmaCode is what code of matrix instructions is for.
type wmmaCode struct {
	wmmaForm
	constant  bool // C is value, for all elements
	value     uint32
	backwards bool // D's last registers are written first: C overlaps it from below
}

// wmmaForm is what an instruction does with its registers.
type wmmaForm struct {
	typ             string // of A and B
	half            bool   // C and D are f16, behind so many bits of their registers
	shift           byte
	negLow, negHigh uint8
}

// wmmaNative are the types of the matrix instructions that are translated.
var wmmaNative = map[string]wmmaForm{
	"v_wmma_f32_16x16x16_f16": {typ: "f16"}, "v_wmma_f32_16x16x16_bf16": {typ: "bf16"}, "v_wmma_f16_16x16x16_f16": {typ: "f16", half: true},
	"v_wmma_i32_16x16x16_iu8": {typ: "i8"},
}

func wmmaEmitter(g *nativeGen, in *gcn.Inst) bool {
	form := wmmaNative[in.Op.String()]
	d, x, y, c := &in.Dst, &in.Src[0], &in.Src[1], &in.Src[2]
	if !isVec(d) || !isVec(x) || !isVec(y) || !isVec(c) && !c.IsConst() || form.typ == "i8" && in.Clamp {
		return false
	}
	form.negLow, form.negHigh = in.Neg&7, in.NegHi&7
	if form.half {
		form.shift = 16 * (in.OpSel >> 2 & 1)
	}
	code := wmmaCode{wmmaForm: form}
	if code.constant = c.IsConst(); code.constant {
		code.value = uint32(c.Value)
	} else {
		code.backwards = c.Index < d.Index && overlap(c, max(1, int(c.Width)), d, max(1, int(d.Width)))
	}
	flops := uint64(2 * wmmaSize * wmmaSize * wmmaSize)
	if form.typ == "i8" {
		flops = 0
	}
	g.callMatrix(in, code, flops, func() { g.wmmaCode(&code) })
	return true
}

// wmmaCode generates the code.
func (g *nativeGen) wmmaCode(c *wmmaCode) {
	a, steps := &g.a, wmmaSize
	if c.typ == "i8" {
		steps /= 2
	}
	for i, r := range []x64.Reg{x64.RAX, x64.RCX} {
		g.expandWMMA(c, r, []int{waveTileA, waveTileB}[i], c.negLow>>i&1 != 0, c.negHigh>>i&1 != 0)
	}
	size := pieceChunks()
	pieces := wmmaSize / size
	for piece := range pieces {
		if c.backwards {
			piece = pieces - 1 - piece
		}
		at := func(z int) (row, disp int) {
			row = piece*size + z
			return row, 256*(row/g.quarterCount()) + 64*(row%g.quarterCount())
		}
		for z := range size {
			_, disp := at(z)
			g.sumWMMA(c, x64.Z(z), disp)
		}
		const b, product = x64.Z(matrixFirst), x64.Z(matrixFirst + 1)
		for k := range steps {
			g.to(b, x64.At(rW, waveTileB+64*k))
			for z := range size {
				row, _ := at(z)
				switch element := x64.At(rW, waveTileA+64*k+4*row); {
				case c.typ != "i8":
					a.V(x64.VFMA231PS, x64.Z(z), b, x64.Bcast{Mem: element}, 0)
				case useVNNI:
					a.V(x64.VPDPWSSD, x64.Z(z), b, x64.Bcast{Mem: element}, 0)
				default:
					a.V1(x64.VPBCASTD, product, element, 0)
					a.V(x64.VPMADDWD, product, b, product, 0)
					a.V(x64.VPADDD, x64.Z(z), x64.Z(z), product, 0)
				}
			}
		}
		if c.typ != "i8" {
			g.canonical(size, false)
		}
		for z := range size {
			_, disp := at(z)
			g.storeWMMA(c, x64.Z(z), disp)
		}
	}
	a.JumpTo(x64.At(rW, waveBack))
}

// expandWMMA makes vectors of the elements of A or B at r, for each k one, or for two of bytes, in the wave's memory at disp. low and high are the
// negations of even and odd elements; of bytes, low says that they have signs.
func (g *nativeGen) expandWMMA(c *wmmaCode, r x64.Reg, disp int, low, high bool) {
	a := &g.a
	const z, t, u = x64.Z(0), x64.Z(1), x64.Z(2)
	sign := func(z x64.Z, negative bool) x64.Z {
		if negative {
			a.V(x64.VPXORD, z, z, g.con(1<<31), 0)
		}
		return z
	}
	regs := 8
	if c.typ == "i8" {
		regs = 4
	}
	for i := range regs {
		to := func(odd int) x64.Mem { return x64.At(rW, disp+64*(2*i+odd)) }
		a.V1(x64.VMOVDQU32, z, x64.At(r, 256*i), 0)
		switch c.typ {
		case "f16", "bf16":
			g.expandHalves(c.typ, t, u, z)
			a.VStore(to(0), sign(t, low), 0)
			a.VStore(to(1), sign(u, high), 0)
		default:
			for odd := range 2 {
				if low {
					g.pairOfWords(t, z, byte(24-16*odd), byte(16-16*odd))
				} else {
					a.VShift(x64.VPSRLD, t, z, 0, byte(16*odd))
					a.V(x64.VPANDD, u, t, g.con(0xff00), 0)
					a.VShift(x64.VPSLLD, u, u, 0, 8)
					a.V(x64.VPANDD, t, t, g.con(0xff), 0)
					a.V(x64.VPORD, t, t, u, 0)
				}
				a.VStore(to(odd), t, 0)
			}
		}
	}
}

// sumWMMA makes z a row of C, which lies at R9 + disp.
func (g *nativeGen) sumWMMA(c *wmmaCode, z x64.Z, disp int) {
	a := &g.a
	if c.constant {
		g.to(z, g.con(c.value))
	} else {
		g.to(z, x64.At(x64.R9, disp))
	}
	if c.typ == "i8" {
		return
	}
	if c.half {
		g.widenHalf(z, z, z, c.shift != 0 && !c.constant)
	}
	if c.negHigh>>2&1 != 0 {
		a.V(x64.VPANDD, z, z, g.con(1<<31-1), 0)
	}
	if c.negLow>>2&1 != 0 {
		a.V(x64.VPXORD, z, z, g.con(1<<31), 0)
	}
}

// storeWMMA stores z as a row of D, at R10 + disp.
func (g *nativeGen) storeWMMA(c *wmmaCode, z x64.Z, disp int) {
	a, to := &g.a, x64.At(x64.R10, disp)
	if !c.half {
		a.VStore(to, z, 0)
		return
	}
	const old = x64.Z(matrixFirst)
	a.VToHalf(z, z, 0)
	a.V1(x64.VPMOVZXWD, z, z, 0)
	if c.shift != 0 {
		a.VShift(x64.VPSLLD, z, z, 0, c.shift)
	}
	g.to(old, to)
	a.V(x64.VPANDD, old, old, g.con(uint32(0xffff0000)>>c.shift), 0)
	a.V(x64.VPORD, z, z, old, 0)
	a.VStore(to, z, 0)
}

var _ = define(func() {
	for name := range wmmaNative {
		nativeVector[name] = wmmaEmitter
		multiplies[name] = true
	}
})

// isWMMA reports whether an instruction is one of these, which read lanes that are not active, too.
func isWMMA(in *gcn.Inst) bool { return strings.HasPrefix(in.Op.String(), "v_wmma_") }
