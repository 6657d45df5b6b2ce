package exec

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/gcn"
)

// image is a T#, the 256-bit resource descriptor of an image, taken apart.
// Images of the simulated card are linear: rows of pitch elements, slices of
// height rows. They have one level: on gfx90a there are no others, and AMD's runtime on Linux makes none.
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
		base: uint64(s[0])<<8 | uint64(s[1]&0xff)<<40,
		kind: imageKind(s[3] >> 28),
		sel:  selectionOf(s[3]),
	}
	n, layered := m.kind.dims()
	if n == 0 {
		w.badImage("kind %d", m.kind)
	}
	if swizzle := s[3] >> 20 & 31; swizzle != 0 {
		w.badImage("layout %d; the simulated card's are linear", swizzle)
	}
	if w.d.Program.arch.Has(gcn.RDNA) {
		m.readRDNA(w, s)
	} else {
		m.width, m.height = uint64(s[2]&0x3fff)+1, uint64(s[2]>>14&0x3fff)+1
		m.depth, m.pitch, m.first = uint64(s[4]&0x1fff)+1, uint64(s[4]>>13&0xffff)+1, uint64(s[5]&0x1fff)
		m.setFormat(w, texelFormat{uint8(s[1] >> 20 & 63), uint8(s[1] >> 26 & 15)})
	}
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

// readRDNA takes from the words what lies elsewhere on RDNA. Where there are slices or layers, a row is as long as it has to be.
func (m *image) readRDNA(w *wave, s []uint32) {
	if levels := s[1]>>16&15 | s[3]>>12&0xff; levels != 0 {
		w.badImage("levels; the simulated card's images have one")
	}
	m.width, m.height = uint64(s[1]>>30|s[2]&0xfff<<2)+1, uint64(s[2]>>14&0x3fff)+1
	m.first = uint64(s[4] >> 16 & 0x1fff)
	m.setFormat(w, unifiedFormat(uint8(s[1]>>20)))
	if m.kind == image1D || m.kind == image2D {
		m.pitch = uint64(s[4]&0x3fff) + 1
		return
	}
	if descriptor.RowAlign%m.size != 0 {
		w.badImage("layers of elements of %d bytes", m.size)
	}
	m.depth, m.pitch = uint64(s[4]&0x1fff)+1, descriptor.Pitch(m.width, m.size)/m.size
}

// setFormat is the format of the elements, which has to be one.
func (m *image) setFormat(w *wave, f texelFormat) {
	if !f.valid() {
		w.badImage("data format %d with number format %d", f.data, f.num)
	}
	m.format, m.size = f, f.size()
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

// imageAddress binds the registers of coordinates. How many there are is said on RDNA by the instruction; on CDNA the
// image's kind decides when it is executed.
type imageAddress struct {
	reg   []uint16 // of each address, from the first coordinate on; on CDNA of as many as there can be
	kind  imageKind
	t     uint8    // T#
	half  bool     // 16 bits each
	array bool     // the coordinates have a layer
	extra []uint16 // RDNA: the addresses before the coordinates
}

// imageDims are the kinds of images as instructions of RDNA number them.
var imageDims = [8]imageKind{image1D, image2D, image3D, imageCube, image1DArray, image2DArray}

func (b *binder) imageAddress(in *gcn.Inst) (a imageAddress, err error) {
	if in.Addr.Kind != gcn.VGPR || b.indexed != 0 {
		return a, &badOperand{in.Addr}
	}
	if in.Image&(gcn.LWE|gcn.R128) != 0 {
		return a, errNotExecutable
	}
	b.need(&in.Addr)
	r := in.Addr.Index
	a = imageAddress{reg: []uint16{r, r + 1, r + 2, r + 3}, half: in.Image&gcn.A16 != 0, array: in.Image&gcn.DA != 0}
	if in.Arch.Has(gcn.RDNA) {
		if a.kind = imageDims[in.Dim]; a.kind == 0 {
			return a, errNotExecutable // several samples a texel
		}
		first, n := in.ImageCoordinates()
		if a.half {
			n = (n + 1) / 2
		}
		if first+n > int(in.Addresses) {
			return a, errNotExecutable // there is no such form
		}
		all := make([]uint16, first+n)
		for i := range all {
			o := gcn.Operand{Kind: gcn.VGPR, Type: gcn.I32, Width: 1, Index: uint16(in.ImageAddress(i))}
			b.need(&o)
			all[i] = o.Index
		}
		a.extra, a.reg = all[:first], all[first:]
	}
	a.t, err = sdst(&in.Base, 8)
	return a, err
}

// registers checks that the wave has n coordinates.
func (a *imageAddress) registers(w *wave, n int) {
	if a.kind != 0 {
		return // the program's are known
	}
	if a.half {
		n = (n + 1) / 2
	}
	if int(a.reg[0])+n > len(w.V) {
		panic(&Fault{Kind: RegisterFault, Lane: -1,
			Detail: fmt.Sprintf("image coordinates in registers %d to %d, the kernel asked for %d", a.reg[0], int(a.reg[0])+n-1, len(w.V))})
	}
}

// coordinate is component i of a lane: 16 or 32 bits.
func (a *imageAddress) coordinate(w *wave, lane, i int) uint32 {
	at, shift := i, 0
	if a.half {
		at, shift = i/2, 16*(i&1)
	}
	v := w.V[a.reg[at]][lane] >> shift
	if a.half {
		v &= 0xffff
	}
	return v
}

// shape are the coordinates within a layer of an image, and whether another one says which.
func (a *imageAddress) shape(m *image) (n int, layered bool) {
	if a.kind != 0 {
		return a.kind.dims()
	}
	n, layered = m.kind.dims()
	return n, layered && (a.array || m.kind == imageCube)
}

// coordinates is how many there are for an image.
func (a *imageAddress) coordinates(m *image) int {
	n, layered := a.shape(m)
	if layered {
		n++
	}
	return n
}

// texel is the element that a lane's integer coordinates name.
func (a *imageAddress) texel(w *wave, m *image, lane int) (x, y, z uint64) {
	var c [3]uint64
	n, layered := a.shape(m)
	for i := range n {
		c[i] = uint64(a.coordinate(w, lane, i))
	}
	if layered {
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
