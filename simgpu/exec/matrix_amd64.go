package exec

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Kernels of matrix instructions for processors with AVX-512. They do what multiply does, bit
// for bit, and are used where MODE says nothing unusual.
//
// A and B are expanded first: one vector for each element that a lane holds, of
// float32, or of pairs of 16-bit integers. The tiles of D are then what
// accumulates in 16 vector registers over all k, in order; a row's element of A meets 16
// columns of B.

var (
	useTiles = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	useVNNI  = useTiles && cpu.X86.HasAVX512VNNI
)

// tile is what the kernels are told.
type tile struct {
	d, c, a, b *Vec
	cStep      uintptr // from one tile of C to the next; 0: c is one chunk of the same number
	tiles      uintptr
	groups     uintptr // k's in different lanes
	per        uintptr // k's in the elements of a lane
	groupStep  uintptr // from one group to the next

	negA, negB, negC uint32 // f64: the sign, if it is to be changed
	scratch          *Vec   // f64: two
}

// tileMemory is a wave's memory for a kernel's arguments and sources.
type tileMemory struct {
	a, b sourceMemory
	t    tile
	back uintptr // where translated code goes on, see native_matrix.go
}

type sourceMemory struct {
	permuted [4]Vec // the registers
	expanded [8]Vec
}

// expansion is what makes float32 of the elements of a register, or for i8 pairs.
type expansion struct {
	f     func(dst, src *Vec, n int)
	vecs  int    // of one register
	least uint32 // the smallest number that is not denormal, after expansion
}

var expansions = map[string]expansion{
	"f32":  {nil, 1, 0},
	"xf32": {expandXF32, 1, 0},
	"f16":  {expandF16, 2, 0x38800000},
	"bf16": {expandBF16, 2, 0x00800000},
	"fp8":  {expandFP8, 4, 0},
	"bf8":  {expandBF8, 4, 0},
	"i8":   {expandI8, 2, 0},
}

// otherFloats reports whether the elements are 8-bit floats of another format than those that are expanded,
// gfx942's.
func otherFloats(s *shape, arch gcn.Arch) bool {
	_, is := ownFloats[s.typ]
	return is && !arch.Has(gcn.FloatsNUZ)
}

func copyRegisters(dst, src *Vec, n int) {
	copy(unsafe.Slice(dst, n), unsafe.Slice(src, n))
}

// tileSource is A or B for a kernel.
type tileSource struct {
	at    vdst
	n     int // registers
	e     expansion
	lanes []int // which lane stands for a lane; nil: itself
	flush bool
}

func newTileSource(at vdst, typ string, flush bool, lane func(l int) int) tileSource {
	s := tileSource{at: at, n: int(at.n), e: expansions[typ], flush: flush}
	for l := range WaveSize {
		if lane(l) != l && s.lanes == nil {
			s.lanes = make([]int, WaveSize)
		}
	}
	for l := range s.lanes {
		s.lanes[l] = lane(l)
	}
	return s
}

// load returns the expanded source, in mem unless the registers can be used as they are.
func (s *tileSource) load(w *wave, mem *sourceMemory) *Vec {
	v := s.at.get(w)
	if s.lanes != nil {
		p := &mem.permuted
		for i, src := range unsafe.Slice(v, s.n) {
			for l, from := range s.lanes {
				p[i][l] = src[from&(WaveSize-1)]
			}
		}
		v = &p[0]
	}
	if s.e.f == nil {
		return v
	}
	to := &mem.expanded[0]
	s.e.f(to, v, s.n)
	if s.flush {
		flushBelow(to, s.n*s.e.vecs, s.e.least)
	}
	return to
}

func (d vdst) overlaps(e vdst) bool {
	return d.acc == e.acc && d.reg < e.reg+uint16(e.n) && e.reg < d.reg+uint16(d.n)
}

// bindTiles returns what executes the instruction with a kernel, nil if there is none.
func (m *matrixOp) bindTiles(b *binder, in *gcn.Inst) func(*wave) {
	partly := !m.constant && m.c.overlaps(m.d) && m.c != m.d
	if !useTiles || m.sparse || m.formats || otherFloats(m.shape, b.p.arch) || partly || m.acc == "i32" && !useVNNI {
		return nil
	}
	run := map[string]func(*tile){
		"f32_32": tiles32F32, "f32_16": tiles16F32, "f32_4": tiles4F32, "i32_32": tiles32I32, "i32_16": tiles16I32, "i32_4": tiles4I32, "f64_16": tiles16F64, "f64_4": tiles4F64,
	}[m.acc+"_"+strconv.Itoa(m.m)]
	x := newTileSource(m.x, m.typ, m.flush, m.laneOfA(in.CBSZ, in.ABID))
	y := newTileSource(m.y, m.typB, m.flush, m.laneOfB(in.BLGP))
	// What is used as it lies must not be D.
	for _, s := range []*tileSource{&x, &y} {
		if m.acc == "f32" && s.e.f == nil && s.at.overlaps(m.d) {
			s.e.f = copyRegisters
		}
	}
	groups := WaveSize / (m.m * m.blocks)
	shape := tile{tiles: uintptr(m.d.n) / 4, groups: uintptr(groups), per: uintptr(m.k / groups), groupStep: uintptr(WaveSize / groups * 4), cStep: 1024}
	if m.acc == "i32" {
		shape.per /= 2
	}
	if m.acc == "f64" {
		shape.cStep = 512
		shape.negA, shape.negB, shape.negC = uint32(m.neg)<<31, uint32(m.neg)>>1<<31, uint32(m.neg)>>2<<31
	}
	if m.constant {
		shape.c, shape.cStep = &b.constant(m.value)[0], 0
	}
	return func(w *wave) {
		t := &w.tiles.t
		*t = shape
		t.a, t.b, t.d, t.scratch = x.load(w, &w.tiles.a), y.load(w, &w.tiles.b), m.d.get(w), &w.tiles.a.expanded[0]
		if t.cStep != 0 {
			t.c = m.c.get(w)
		}
		run(t)
		if m.flush {
			flushBelow(t.d, int(m.d.n), 0x00800000)
		}
	}
}

//go:noescape
func expandF16(dst, src *Vec, n int)

//go:noescape
func expandBF16(dst, src *Vec, n int)

//go:noescape
func expandI8(dst, src *Vec, n int)

//go:noescape
func expandXF32(dst, src *Vec, n int)

//go:noescape
func expandFP8(dst, src *Vec, n int)

//go:noescape
func expandBF8(dst, src *Vec, n int)

//go:noescape
func flushBelow(v *Vec, n int, least uint32)

//go:noescape
func tiles16F32(t *tile)

//go:noescape
func tiles16I32(t *tile)

//go:noescape
func tiles32F32(t *tile)

//go:noescape
func tiles32I32(t *tile)

//go:noescape
func tiles4F32(t *tile)

//go:noescape
func tiles4I32(t *tile)

//go:noescape
func tiles16F64(t *tile)

//go:noescape
func tiles4F64(t *tile)
