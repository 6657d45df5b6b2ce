//go:build linux && amd64

package exec

import (
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/exec/internal/x64"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Matrix instructions, as matrix_amd64.go describes them, bit for bit what multiply does. Code of each shape and type stands once
// in a region, behind its blocks. It is given where D, C, A and B are in memory, and goes back to an address that the wave has.
//
// Chunk q of a register is the quarter q of its lanes. D is computed in pieces of eight chunks, which are what accumulates over all k,
// in order: so what A and B are read from must not be D. Registers: RAX A, RCX B, R9 C, R10 D; Z0 to Z7 the piece, those from
// matrixFirst on what lasts a step; K5.
//
// With AVX2 a piece is four chunks, which is as much as its registers hold, and bytes become pairs of words first.

const (
	matrixPinned = 5                            // most pinned registers of a region with matrix instructions
	matrixFirst  = firstPinned + 4*matrixPinned // Z28 to Z31
)

// matrixCode is what code of matrix instructions is for.
type matrixCode struct {
	m, k, blocks int
	typ          string
	regs         int // of A and of B
	flush        bool
	constant     bool // C is value, for all elements
	value        uint32
	aside        bool // A and B are copied before D is written
	backwards    bool // D's last registers are written first: C overlaps it from below
}

// multiplies are the matrix instructions that are translated.
var multiplies = map[string]bool{}

// canMatrix says what code an instruction needs, and whether that can be.
func (g *nativeGen) canMatrix(in *gcn.Inst) (*matrixOp, matrixCode, bool) {
	s, ok := matrixShape(in)
	if !ok || s.sparse || s.typ != s.typB || in.CBSZ|in.BLGP != 0 || g.blk.unusual {
		return nil, matrixCode{}, false
	}
	switch s.typ {
	case "f32", "f16", "bf16":
	case "i8":
		if hasAVX512 && !useVNNI {
			return nil, matrixCode{}, false
		}
	default:
		return nil, matrixCode{}, false
	}
	c := matrixCode{m: s.m, k: s.k, blocks: s.blocks, typ: s.typ, regs: max(1, int(in.Src[0].Width)), constant: in.Src[2].IsConst()}
	op := &matrixOp{multiply: &multiply{shape: s}}
	operands := []struct {
		to *vdst
		o  *gcn.Operand
	}{{&op.d, &in.Dst}, {&op.x, &in.Src[0]}, {&op.y, &in.Src[1]}, {&op.c, &in.Src[2]}}
	if c.constant {
		c.value, operands = uint32(in.Src[2].Value), operands[:3]
	}
	for _, p := range operands {
		if !isVec(p.o) {
			return nil, c, false
		}
		*p.to = vdst{acc: p.o.Kind == gcn.AccVGPR, reg: p.o.Index, n: uint8(max(1, p.o.Width))}
	}
	c.backwards = !c.constant && op.c.overlaps(op.d) && op.c.reg < op.d.reg
	c.flush = g.p.arch.Has(gcn.MatrixFlush) && s.a.least != 0
	c.aside = op.x.overlaps(op.d) || op.y.overlaps(op.d)
	return op, c, true
}

func matrixEmitter(g *nativeGen, in *gcn.Inst) bool {
	op, code, ok := g.canMatrix(in)
	if !ok {
		return false
	}
	g.r.matrix = true
	g.r.modal = g.r.modal || g.p.arch.Has(gcn.MatrixMode) && code.typ == "f32"
	g.callMatrix(in, code, op.flops, func() { g.matrixCode(&code) })
	return true
}

// callMatrix goes to the code of a matrix instruction and comes back. generate makes it, once in the region for all instructions with the same key.
func (g *nativeGen) callMatrix(in *gcn.Inst, key any, flops uint64, generate func()) {
	a, done := &g.a, g.a.Label()
	l, ok := g.matrices[key]
	if !ok {
		l = a.Label()
		if g.matrices == nil {
			g.matrices = map[any]x64.Label{}
		}
		g.matrices[key] = l
		g.stubs = append(g.stubs, func() {
			a.Bind(l)
			generate()
		})
	}
	a.LoadAddress(x64.RAX, done)
	a.Store(true, x64.At(rW, waveBack), x64.RAX)
	g.pointAt(x64.RAX, &in.Src[0])
	g.pointAt(x64.RCX, &in.Src[1])
	if isVec(&in.Src[2]) {
		g.pointAt(x64.R9, &in.Src[2])
	}
	g.pointAt(x64.R10, &in.Dst)
	if flops != 0 {
		a.OpImm(x64.ADD, true, x64.At(rW, waveFLOPs), int32(flops))
	}
	a.Jump(l)
	a.Bind(done)
	if in.Dst.Kind == gcn.VGPR {
		g.loadPins(g.pins.of(int(in.Dst.Index), max(1, int(in.Dst.Width))))
	}
}

// pointAt makes r the address of a vector register, or an accumulation register.
func (g *nativeGen) pointAt(r x64.Reg, o *gcn.Operand) {
	base := rV
	if o.Kind == gcn.AccVGPR {
		base = rA
	}
	g.a.Load(true, r, base)
	g.a.OpImm(x64.ADD, true, r, int32(o.Index)*4*WaveSize-vectorsFrom)
}

// pieceChunks is how many chunks of D are computed together.
func pieceChunks() int {
	if hasAVX512 {
		return 8
	}
	return 4
}

// expandHalves makes t and u the f32 of the low and the high halves of the dwords in z, f16 or bf16.
func (g *nativeGen) expandHalves(typ string, t, u, z x64.Z) {
	if typ == "bf16" {
		g.a.VShift(x64.VPSLLD, t, z, 0, 16)
		g.a.V(x64.VPANDD, u, z, g.con(0xffff0000), 0)
		return
	}
	g.widenHalf(t, z, z, false)
	g.widenHalf(u, z, z, true)
}

// matrixSide is A or B, where the steps read it: a vector for each element or pair or four of them, see tileSource.
type matrixSide struct {
	base x64.Reg
	disp int
}

func (s matrixSide) at(disp int) x64.Mem { return x64.At(s.base, s.disp+disp) }

// pairs reports whether bytes are multiplied as pairs of words: where no instruction multiplies four of them.
func (c *matrixCode) pairs() bool { return c.typ == "i8" && !hasAVX512 }

// prepare expands A or B from r to the wave's memory at disp, or leaves it where it is. flip: integers become ones without a sign, 128 more.
func (g *nativeGen) prepare(c *matrixCode, r x64.Reg, disp int, flip bool) matrixSide {
	a, there := &g.a, matrixSide{rW, disp}
	const z, t, u = x64.Z(0), x64.Z(1), x64.Z(2)
	if c.typ == "f32" || c.typ == "i8" && !flip && !c.pairs() {
		if !c.aside {
			return matrixSide{r, 0}
		}
	}
	for i := range 4 * c.regs {
		from := x64.At(r, 64*i)
		to := there.at(64 * i)
		if c.typ == "f16" || c.typ == "bf16" || c.pairs() {
			to = there.at(64*(i&3) + 512*(i>>2))
		}
		upper := x64.At(to.Base, int(to.Disp)+256)
		a.V1(x64.VMOVDQU32, z, from, 0)
		if c.flush && hasAVX512 {
			exponent := map[string]uint32{"f16": 0x7c007c00, "bf16": 0x7f807f80}[c.typ]
			a.V(x64.VPANDD, t, z, g.con(0x80008000), 0)
			g.to(u, g.con(exponent))
			a.VTestNotWords(5, z, u)
			a.V1(x64.VMOVDQU16, z, t, 5)
		}
		switch c.typ {
		case "f16", "bf16":
			g.expandHalves(c.typ, t, u, z)
			g.flushExpanded(c, t)
			a.VStore(to, t, 0)
			g.flushExpanded(c, u)
			a.VStore(upper, u, 0)
		case "i8":
			if c.pairs() {
				g.pairOfWords(t, z, 24, 16)
				a.VStore(to, t, 0)
				g.pairOfWords(t, z, 8, 0)
				a.VStore(upper, t, 0)
				break
			}
			if flip {
				a.V(x64.VPXORD, z, z, g.con(0x80808080), 0)
			}
			a.VStore(to, z, 0)
		default:
			a.VStore(to, z, 0)
		}
	}
	return there
}

// flushExpanded makes zeros of what was denormal before it became a float32, where prepare has not done so before.
func (g *nativeGen) flushExpanded(c *matrixCode, z x64.Z) {
	if !c.flush || hasAVX512 {
		return
	}
	const size = x64.Z(3)
	g.a.V(x64.VPANDD, size, z, g.con(1<<31-1), 0)
	g.a.VCmp(x64.VPCMPUD, 5, size, g.con(expansions[c.typ].least), 0, x64.LT)
	g.a.V(x64.VPANDD, z, z, g.con(1<<31), 5)
}

// pairOfWords emits d = two bytes of each dword of s as words with their signs. The shifts bring the first and the second one to the end.
func (g *nativeGen) pairOfWords(d, s x64.Z, first, second byte) {
	const t = x64.Z(2)
	g.a.VShift(x64.VPSLLD, d, s, 0, first)
	g.a.VShift(x64.VPSRAD, d, d, 0, 24)
	g.a.V(x64.VPANDD, d, d, g.con(0xffff), 0)
	g.a.VShift(x64.VPSLLD, t, s, 0, second)
	g.a.VShift(x64.VPSRAD, t, t, 0, 8)
	g.a.V(x64.VPANDD, t, t, g.con(0xffff0000), 0)
	g.a.V(x64.VPORD, d, d, t, 0)
}

// matrixCode generates the code.
func (g *nativeGen) matrixCode(c *matrixCode) {
	a := &g.a
	groups := WaveSize / (c.m * c.blocks)
	step := 256 / groups // bytes from one group of k's to the next
	per := c.k / groups
	x := g.prepare(c, x64.RAX, waveTileA, false)
	pairs := c.pairs()
	integer := c.typ == "i8" && !pairs
	y := g.prepare(c, x64.RCX, waveTileB, integer)
	switch {
	case integer:
		per /= 4
	case pairs:
		per /= 2
	}
	// ks calls f for each step with where its elements are, in order.
	ks := func(f func(at int)) {
		for group := range groups {
			for e := range per {
				f(256*e + step*group)
			}
		}
	}
	if integer { // 128 times the sums of A's rows are too much
		g.to(matrixFirst, g.con(0x80808080))
		for chunk := range step / 64 {
			a.V(x64.VPXORD, 0, 0, x64.Z(0), 0)
			ks(func(at int) { a.V(x64.VPDPBUSD, 0, matrixFirst, x.at(at+64*chunk), 0) })
			a.VStore(x64.At(rW, waveTileSums+64*chunk), 0, 0)
		}
	}
	// mac emits d += s*rm. Of bytes, those of s have no sign.
	mac := func(d, s x64.Z, rm any) {
		switch {
		case integer:
			a.V(x64.VPDPBUSD, d, s, rm, 0)
		case pairs:
			const product = x64.Z(matrixFirst + 3)
			if one, ok := rm.(x64.Bcast); ok {
				a.V1(x64.VPBCASTD, product, one.Mem, 0)
				rm = product
			}
			a.V(x64.VPMADDWD, product, s, rm, 0)
			a.V(x64.VPADDD, d, d, product, 0)
		default:
			a.V(x64.VFMA231PS, d, s, rm, 0)
		}
	}
	size := pieceChunks()
	pieces := c.m * c.m * c.blocks / (16 * size)
	for piece := range pieces {
		at := piece
		if c.backwards {
			at = pieces - 1 - piece
		}
		all := c.pieceOf(at * size / 8)
		chunks := all[at*size%8:][:size]
		for z, ch := range chunks {
			switch {
			case c.constant:
				g.to(x64.Z(z), g.con(c.value))
			default:
				g.to(x64.Z(z), x64.At(x64.R9, ch.disp))
			}
			switch {
			case !integer:
			case c.m == 4:
				a.VImm(x64.VPSHUFD, matrixFirst, 0, x64.At(rW, waveTileSums+ch.a), 0, byte(ch.row*0x55))
				a.V(x64.VPSUBD, x64.Z(z), x64.Z(z), x64.Z(matrixFirst), 0)
			default:
				a.V(x64.VPSUBD, x64.Z(z), x64.Z(z), x64.Bcast{Mem: x64.At(rW, waveTileSums+ch.a)}, 0)
			}
		}
		ks(func(at int) {
			lastA, lastB := -1, -1
			for z, ch := range chunks {
				d := x64.Z(z)
				if c.m == 4 {
					const row, aa, bb = x64.Z(matrixFirst), x64.Z(matrixFirst + 1), x64.Z(matrixFirst + 2)
					if ch.b != lastB {
						g.to(aa, x.at(at+ch.a))
						g.to(bb, y.at(at+ch.b))
						lastB = ch.b
					}
					a.VImm(x64.VPSHUFD, row, 0, aa, 0, byte(ch.row*0x55))
					mac(d, bb, row)
					continue
				}
				b := x64.Z(matrixFirst) + x64.Z(ch.b>>6&1)
				if c.m == 16 {
					b = matrixFirst
				}
				if z == 0 || c.m == 32 && z == 1 {
					g.to(b, y.at(at+ch.b))
				}
				if c.m == 16 {
					mac(d, b, x64.Bcast{Mem: x.at(at + ch.a)})
					continue
				}
				const row = x64.Z(matrixFirst + 2)
				if ch.a != lastA {
					g.to(row, x64.Bcast{Mem: x.at(at + ch.a)})
					lastA = ch.a
				}
				mac(d, b, row)
			}
		})
		if c.typ != "i8" {
			g.canonical(size, c.flush)
		}
		for z, ch := range chunks {
			a.VStore(x64.At(x64.R10, ch.disp), x64.Z(z), 0)
		}
	}
	a.JumpTo(x64.At(rW, waveBack))
}

// canonical gives the NaNs of the first n registers their one form, and makes zeros of denormals. There are hardly ever any.
func (g *nativeGen) canonical(n int, flush bool) {
	a, none := &g.a, g.a.Label()
	const quiet, denormal, signalling = 0x01, 0x20, 0x80
	if flush {
		for z := range n {
			if z == 0 {
				a.VClass(5, 0, quiet|denormal|signalling)
				continue
			}
			a.VClass(6, x64.Z(z), quiet|denormal|signalling)
			a.K(x64.KOR, 5, 5, 6)
		}
	} else {
		for z := range n / 2 {
			k := x64.K(5 + btoi(z > 0))
			a.VCmp(x64.VCMPPS, k, x64.Z(2*z), x64.Z(2*z+1), 0, x64.FUN)
			if z > 0 {
				a.K(x64.KOR, 5, 5, 6)
			}
		}
	}
	a.KTestOr(5, 5)
	a.JumpIf(x64.E, none)
	for z := range x64.Z(n) {
		a.VCmp(x64.VCMPPS, 5, z, z, 0, x64.FUN)
		a.V1(x64.VPBCASTD, z, g.con(0x7fc00000).Mem, 5)
		if flush {
			a.VClass(5, z, denormal)
			a.V(x64.VPANDD, z, z, g.con(1<<31), 5)
		}
	}
	a.Bind(none)
}

// matrixChunk is a chunk of D: where it is, and which elements of A and chunk of B make it, for the first k. a is the place of A's
// row, b that of B's columns.
type matrixChunk struct {
	disp, a, b int
	row        int // 4x4: which of the rows at a
}

// pieceOf are the chunks of a piece of D: eight, in the order that needs the fewest loads. See matrix_amd64.s.
func (c *matrixCode) pieceOf(piece int) (chunks [8]matrixChunk) {
	for i := range chunks {
		reg, q := 2*piece+i>>2, i&3
		ch := matrixChunk{disp: 256*reg + 64*q}
		switch tile, r := reg/4, reg%4; c.m {
		case 16:
			ch.a = 64*tile + 4*(4*q+r)
			ch.b = 64 * tile
		case 32:
			ch.a = 128*(tile/4) + 4*(8*(tile%4)+4*(q>>1)+r)
			ch.b = 128*(tile/4) + 64*(q&1)
		case 4: // two quarters of all registers
			r, q = i&3, 2*piece+i>>2
			ch = matrixChunk{disp: 256*r + 64*q, a: 64 * q, b: 64 * q, row: r}
		}
		chunks[i] = ch
	}
	return chunks
}

// Where the memory of matrix instructions lies in a wave.
var (
	waveTiles    = int(unsafe.Offsetof(wave{}.tiles))
	waveTileA    = waveTiles + int(unsafe.Offsetof(tileMemory{}.a)+unsafe.Offsetof(sourceMemory{}.expanded))
	waveTileB    = waveTiles + int(unsafe.Offsetof(tileMemory{}.b)+unsafe.Offsetof(sourceMemory{}.expanded))
	waveTileSums = waveTiles + int(unsafe.Offsetof(tileMemory{}.a)+unsafe.Offsetof(sourceMemory{}.permuted))
	waveBack     = waveTiles + int(unsafe.Offsetof(tileMemory{}.back))
	waveFLOPs    = int(unsafe.Offsetof(wave{}.stats) + unsafe.Offsetof(Stats{}.FLOPs))
)

var _ = define(func() {
	for _, name := range matrixNames {
		nativeVector["v_mfma_"+name] = matrixEmitter
		multiplies["v_mfma_"+name] = true
	}
})
