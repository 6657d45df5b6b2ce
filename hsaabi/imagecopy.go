//go:build linux

package hsaabi

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
	"github.com/rocwire/rocwire/simgpu/exec"
)

// box is a part of memory that is rows of bytes: of an image, or of the program's.
type box struct{ base, pitch, slice uint64 }

// part is a part of an image, and its size in elements; false if the image has not all of it.
func (m *image) part(at, size dim3) (box, [3]uint64, bool) {
	from, n := [3]uint64{uint64(at.x), uint64(at.y), uint64(at.z)}, [3]uint64{uint64(size.x), uint64(size.y), uint64(size.z)}
	whole := [3]uint64{m.Width, m.Height, m.Depth}
	b := box{m.Base, m.Pitch, m.Slice()}
	if m.flat {
		whole = [3]uint64{m.Width, m.Depth, 1}
	}
	for i := range n {
		if i >= m.dims { // whatever a program says there
			from[i], n[i] = 0, 1
		}
		if n[i] == 0 || from[i] >= whole[i] || n[i] > whole[i]-from[i] {
			return b, n, false
		}
	}
	b.base += from[2]*b.slice + from[1]*b.pitch + from[0]*m.format.Size
	return b, n, true
}

// move copies n elements of a size between boxes.
func (l *library) move(to, from box, n [3]uint64, size uint64) status {
	t := l.who(to.base, from.base)
	e := hip.Success
	for z := uint64(0); z < n[2] && e == hip.Success; z++ {
		e = l.sim.Memcpy2D(t, hip.Ptr(to.base+z*to.slice), to.pitch, hip.Ptr(from.base+z*from.slice), from.pitch, n[0]*size, n[1], hip.MemcpyDefault)
	}
	return l.settle(t, e)
}

// linear is a box of the program's with these pitches, or larger ones if they are too small; false if there is no such memory.
func linear(base unsafe.Pointer, row, slice uint64, n [3]uint64, size uint64) (box, bool) {
	b := box{base: address(base), pitch: max(row/size*size, n[0]*size)}
	if b.pitch > math.MaxInt64/n[1] {
		return b, false
	}
	b.slice = max(slice/size*size, b.pitch*n[1])
	return b, b.slice <= math.MaxInt64/n[2]
}

// partOf is a part of an image that an agent is asked to do something with.
func (l *library) partOf(agent, h uint64, region *extImageRegion) (m *image, b box, n [3]uint64, st status) {
	if _, st = l.agent(agent); st != HSA_STATUS_SUCCESS {
		return nil, box{}, n, st
	}
	if m, st = l.image(h); st != HSA_STATUS_SUCCESS {
		return nil, box{}, n, st
	}
	b, n, ok := m.part(region.offset, region.range_)
	if !ok {
		st = HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return m, b, n, st
}

// transfer copies a part of an image from or to the program's memory.
func transfer(agent, h uint64, region *extImageRegion, mem unsafe.Pointer, row, slice uint64, in bool) status {
	l := current.Load()
	m, image, n, st := l.partOf(agent, h, region)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	other, ok := linear(mem, row, slice, n, m.format.Size)
	switch {
	case !ok:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	case in:
		return l.move(image, other, n, m.format.Size)
	}
	return l.move(other, image, n, m.format.Size)
}

// hsaExtImageImport copies memory into a part of an image.
func hsaExtImageImport(agent uint64, mem unsafe.Pointer, row, slice, h uint64, region *extImageRegion) status {
	return transfer(agent, h, region, mem, row, slice, true)
}

// hsaExtImageExport copies a part of an image into memory.
func hsaExtImageExport(agent, h uint64, mem unsafe.Pointer, row, slice uint64, region *extImageRegion) status {
	return transfer(agent, h, region, mem, row, slice, false)
}

// hsaExtImageCopy copies between images of one format, or between RGBA and sRGBA, whose numbers it converts.
func hsaExtImageCopy(agent, src uint64, srcAt *dim3, dst uint64, dstAt, size *dim3) status {
	l := current.Load()
	if _, st := l.agent(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	from, st := l.image(src)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	to, st := l.image(dst)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	a, n, ok := from.part(*srcAt, *size)
	b, n2, ok2 := to.part(*dstAt, *size)
	if !ok || !ok2 || n != n2 || from.card != to.card {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	if from.format == to.format {
		return l.move(b, a, n, from.format.Size)
	}
	if !curved(from.format, to.format) && !curved(to.format, from.format) {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return l.staged(n, from.format.Size, func(rows []byte, s box) status {
		if st := l.move(s, a, n, from.format.Size); st != HSA_STATUS_SUCCESS {
			return st
		}
		for i := uint64(0); i < uint64(len(rows)); i += from.format.Size {
			exec.WriteTexel(to.format, rows[i:], exec.ReadTexel(from.format, rows[i:]))
		}
		return l.move(b, s, n, to.format.Size)
	})
}

// curved says whether one is RGBA and the other sRGBA of bytes.
func curved(f, g descriptor.Format) bool {
	return f.Order == HSA_EXT_IMAGE_CHANNEL_ORDER_RGBA && g.Order == HSA_EXT_IMAGE_CHANNEL_ORDER_SRGBA && f.Type == g.Type
}

// stagedMost bounds the memory that staged takes, which is Go's.
const stagedMost = 1 << 32

// staged has do work in memory of this process for n elements of a size.
func (l *library) staged(n [3]uint64, size uint64, do func([]byte, box) status) status {
	total := n[0] * n[1] * n[2] * size
	if total > stagedMost {
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES
	}
	rows := make([]byte, total)
	st := do(rows, box{address(unsafe.Pointer(unsafe.SliceData(rows))), n[0] * size, n[0] * n[1] * size})
	runtime.KeepAlive(rows)
	return st
}

// hsaExtImageClear writes one colour to a part of an image: four numbers, or integers if its channels are.
func hsaExtImageClear(agent, h uint64, data unsafe.Pointer, region *extImageRegion) status {
	if data == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	l := current.Load()
	m, b, n, st := l.partOf(agent, h, region)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	size := m.format.Size
	one := make([]byte, size)
	exec.WriteTexel(m.format, one, *(*[4]uint32)(data))
	return l.staged([3]uint64{n[0], n[1], 1}, size, func(slice []byte, s box) status {
		for i := uint64(0); i < uint64(len(slice)); i += size {
			copy(slice[i:], one)
		}
		s.slice = 0 // the same for all
		return l.move(b, s, n, size)
	})
}
