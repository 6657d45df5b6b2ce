package descriptor

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

// Words is the image as a descriptor (T#).
func (m *Image) Words(f Format) (w [ImageWords]uint32) {
	w[0] = uint32(m.Base >> 8)
	w[1] = uint32(m.Base>>40)&0xff | f.Data<<20 | f.Number<<26
	w[2] = uint32(m.Width-1) | uint32(m.Height-1)<<14
	w[3] = f.Select | uint32(m.Kind)<<28
	w[4] = uint32(m.Depth-1) | uint32(m.Pitch/f.Size-1)<<13
	w[8], w[9], w[10] = f.Type, f.Order, uint32(m.Width)
	return w
}

// Buffer is n elements of linear memory as a typed buffer (V#).
func Buffer(base, n uint64, f Format) (w [ImageWords]uint32) {
	w[0] = uint32(base)
	w[1] = uint32(base>>32) | uint32(f.Size)<<16
	w[2] = uint32(n) // what is read with an index counts elements
	w[3] = f.Select | f.Number<<12 | f.Data<<15
	w[8], w[9], w[10] = f.Type, f.Order, uint32(n)
	return w
}
