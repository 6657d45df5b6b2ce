package exec

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// image is a T#, the 256-bit resource descriptor of an image, taken apart.
// Images of the simulated card are linear: rows of pitch elements, slices of
// height rows. They have one level, as on gfx90a.
type image struct {
	base                 uint64
	kind                 imageKind
	width, height, depth uint64 // depth: slices, layers or faces
	pitch                uint64 // elements
	first                uint64 // layer
	format               texelFormat
	size                 uint64 // bytes of an element
	sel                  selection
}

// imageKind is what a T# says an image is.
type imageKind uint8

const (
	image1D      imageKind = 8
	image2D      imageKind = 9
	image3D      imageKind = 10
	imageCube    imageKind = 11
	image1DArray imageKind = 12
	image2DArray imageKind = 13
)

// dims are the coordinates within a layer, layered whether another one says
// which.
func (k imageKind) dims() (n int, layered bool) {
	switch k {
	case image1D:
		return 1, false
	case image2D:
		return 2, false
	case image3D:
		return 3, false
	case image1DArray:
		return 1, true
	case image2DArray, imageCube:
		return 2, true
	}
	return 0, false
}

// image reads the T# in eight registers. One that the simulator cannot make
// sense of stops the wave: a kernel that uses it does not what it should.
func (w *wave) image(r uint8) (m image) {
	s := w.S[r : r+8]
	m = image{
		base:   uint64(s[0])<<8 | uint64(s[1]&0xff)<<40,
		kind:   imageKind(s[3] >> 28),
		width:  uint64(s[2]&0x3fff) + 1,
		height: uint64(s[2]>>14&0x3fff) + 1,
		depth:  uint64(s[4]&0x1fff) + 1,
		pitch:  uint64(s[4]>>13&0xffff) + 1,
		first:  uint64(s[5] & 0x1fff),
		format: texelFormat{uint8(s[1] >> 20 & 63), uint8(s[1] >> 26 & 15)},
		sel:    selectionOf(s[3]),
	}
	n, layered := m.kind.dims()
	switch swizzle := s[3] >> 20 & 31; {
	case n == 0:
		w.badImage("kind %d", m.kind)
	case swizzle != 0:
		w.badImage("layout %d; the simulated card's are linear", swizzle)
	case !m.format.valid():
		w.badImage("data format %d with number format %d", m.format.data, m.format.num)
	}
	m.size = m.format.size()
	if n == 1 {
		m.height = 1
	}
	if n < 3 {
		if !layered {
			m.depth = 1
		} else if m.depth > m.first { // the field is the last layer
			m.depth -= m.first
		}
	}
	return m
}

func (w *wave) badImage(format string, args ...any) {
	panic(&Fault{Kind: InstructionFault, Lane: -1, Detail: "image descriptor: " + fmt.Sprintf(format, args...)})
}

// inside reports whether there is such an element.
func (m *image) inside(x, y, z uint64) bool { return x < m.width && y < m.height && z < m.depth }

// at is where an element that is inside lies, checked.
func (m *image) at(w *wave, lane int, x, y, z uint64) unsafe.Pointer {
	addr := m.base + (((m.first+z)*m.height+y)*m.pitch+x)*m.size
	w.offs[lane] = addr - w.mem.Base
	if !w.mem.Contains(addr, m.size) {
		w.outside(1 << lane)
	}
	return w.mem.at(addr)
}

// imageAddress binds the registers of coordinates. How many there are the
// image's kind decides when the instruction is executed.
type imageAddress struct {
	reg   uint16
	t     uint8 // T#
	half  bool  // 16 bits each
	array bool  // the coordinates have a layer
}

func (b *binder) imageAddress(in *gcn.Inst) (a imageAddress, err error) {
	if in.Addr.Kind != gcn.VGPR || b.indexed != 0 {
		return a, &badOperand{in.Addr}
	}
	if in.Image&gcn.LWE != 0 {
		return a, errNotExecutable
	}
	b.need(&in.Addr)
	a = imageAddress{reg: in.Addr.Index, half: in.Image&gcn.A16 != 0, array: in.Image&gcn.DA != 0}
	a.t, err = sdst(&in.Base, 8)
	return a, err
}

// registers checks that the wave has n coordinates.
func (a *imageAddress) registers(w *wave, n int) {
	if a.half {
		n = (n + 1) / 2
	}
	if int(a.reg)+n > len(w.V) {
		panic(&Fault{Kind: RegisterFault, Lane: -1,
			Detail: fmt.Sprintf("image coordinates in registers %d to %d, the kernel asked for %d", a.reg, int(a.reg)+n-1, len(w.V))})
	}
}

// coordinate is component i of a lane: 16 or 32 bits.
func (a *imageAddress) coordinate(w *wave, lane, i int) uint32 {
	if a.half {
		return w.V[int(a.reg)+i/2][lane] >> (16 * (i & 1)) & 0xffff
	}
	return w.V[int(a.reg)+i][lane]
}

// coordinates is how many there are for an image.
func (a *imageAddress) coordinates(m *image) int {
	n, layered := m.kind.dims()
	if layered && (a.array || m.kind == imageCube) {
		n++
	}
	return n
}

// texel is the element that a lane's integer coordinates name.
func (a *imageAddress) texel(w *wave, m *image, lane int) (x, y, z uint64) {
	var c [3]uint64
	n, layered := m.kind.dims()
	for i := range n {
		c[i] = uint64(a.coordinate(w, lane, i))
	}
	if layered && (a.array || m.kind == imageCube) {
		c[2] = uint64(a.coordinate(w, lane, n))
	}
	return c[0], c[1], c[2]
}

// each calls f for every active lane.
func (w *wave) each(f func(lane int)) {
	for m := w.exec; m != 0; m &= m - 1 {
		f(bits.TrailingZeros64(m) & 63)
	}
}
