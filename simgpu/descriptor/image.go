package descriptor

// Layout is where the fields of the words of images and typed buffers are.
type Layout uint8

const (
	CDNA  Layout = iota // GFX9, as gfx90a reads them
	RDNA3               // GFX11
)

// Kind is the type field of an image descriptor.
type Kind uint32

const (
	NoImage      Kind = 0
	Image1D      Kind = 8
	Image2D      Kind = 9
	Image3D      Kind = 10
	Image1DArray Kind = 12
	Image2DArray Kind = 13
)

// What an image may measure, in elements.
const (
	MaxImage  = 16384
	MaxSlices = 8192 // of a 3D image; layers of others
)

// RowAlign is the alignment of an image's rows, and of its memory, in bytes.
const RowAlign = 256

// Pitch is from one row of so many elements of size bytes to the next, in bytes.
func Pitch(width, size uint64) uint64 { return (width*size + RowAlign - 1) &^ (RowAlign - 1) }

// Image is an image in linear memory: rows of Pitch bytes, a slice or layer after another.
type Image struct {
	Kind   Kind
	Base   uint64
	Width  uint64
	Height uint64 // 1 if there is none
	Depth  uint64 // slices or layers, 1 if there are none
	Pitch  uint64 // bytes of a row
}

// Slice is the number of bytes of a slice or layer.
func (m *Image) Slice() uint64 { return m.Pitch * m.Height }

// ImageWords is how many words an image or a typed buffer has.
const ImageWords = 12

// Fits reports whether an image's words can say its pitch, with elements of size bytes. On RDNA slices and layers have rows that are no longer than they
// have to be.
func (l Layout) Fits(m *Image, size uint64) bool {
	switch {
	case l == CDNA:
		return m.Pitch/size <= 1<<16
	case m.Kind == Image1D || m.Kind == Image2D:
		return m.Pitch/size <= 1<<14
	}
	return m.Pitch == Pitch(m.Width, size)
}

// Words is the image as a descriptor (T#).
func (m *Image) Words(l Layout, f Format) (w [ImageWords]uint32) {
	w[0] = uint32(m.Base >> 8)
	w[1] = uint32(m.Base>>40) & 0xff
	w[3] = f.Select | uint32(m.Kind)<<28
	width, height, depth, pitch := uint32(m.Width-1), uint32(m.Height-1), uint32(m.Depth-1), uint32(m.Pitch/f.Size-1)
	switch l {
	case CDNA:
		w[1] |= f.Data<<20 | f.Number<<26
		w[2] = width | height<<14
		w[4] = depth | pitch<<13
	case RDNA3:
		w[1] |= f.unified()<<20 | width<<30
		w[2] = width>>2 | height<<14
		w[4] = depth
		if m.Kind == Image1D || m.Kind == Image2D {
			w[4] = pitch
		}
	}
	w[8], w[9], w[10] = f.Type, f.Order, uint32(m.Width)
	return w
}

// Buffer is n elements of linear memory as a typed buffer (V#).
func Buffer(l Layout, base, n uint64, f Format) (w [ImageWords]uint32) {
	w[0] = uint32(base)
	w[1] = uint32(base>>32) | uint32(f.Size)<<16
	w[2] = uint32(n) // what is read with an index counts elements
	w[3] = f.Select
	switch l {
	case CDNA:
		w[3] |= f.Number<<12 | f.Data<<15
	case RDNA3:
		w[3] |= f.unified() << 12
	}
	w[8], w[9], w[10] = f.Type, f.Order, uint32(n)
	return w
}
