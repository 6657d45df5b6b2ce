//go:build linux

package hsaabi

import (
	"sync"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/descriptor"
)

// imaged are images and samplers. A handle is the address of the words that kernels, and AMD's runtime, read.
type imaged struct {
	imageMu  sync.Mutex
	images   map[uint64]*image
	samplers map[uint64]bool
	slots    []uint64 // free room for words
}

// image is memory that is read and written as one.
type image struct {
	descriptor.Image
	card   *card
	format descriptor.Format
	dims   int
	flat   bool // layers are rows
}

const (
	slotSize  = 64      // the most words
	slotsRoom = 1 << 16 // bytes that are made at a time
)

// keepWords puts words where kernels reach them, which is their handle, and has it noted under imageMu.
func (l *library) keepWords(words []uint32, out *uint64, note func(h uint64)) status {
	l.imageMu.Lock()
	defer l.imageMu.Unlock()
	if len(l.slots) == 0 {
		p, e := l.sim.HostMalloc(hip.Thread{}, slotsRoom, 0)
		if e != hip.Success {
			return HSA_STATUS_ERROR_OUT_OF_RESOURCES
		}
		for at := uint64(0); at < slotsRoom; at += slotSize {
			l.slots = append(l.slots, uint64(p)+at)
		}
	}
	h := l.slots[len(l.slots)-1]
	l.slots = l.slots[:len(l.slots)-1]
	copy(unsafe.Slice((*uint32)(pointer(h)), slotSize/4), words)
	note(h)
	*out = h
	return HSA_STATUS_SUCCESS
}

// measured is an image that a description asks for, without memory. linear says that the program gives the pitches, 0 for the least.
func (l *library) measured(h uint64, d *extImageDescriptor, linear bool, row, slice uint64) (*image, status) {
	a, st := l.agent(h)
	if st != HSA_STATUS_SUCCESS {
		return nil, st
	}
	c, _ := a.(*card)
	f, access := formatOf(d.geometry, d.format)
	if c == nil || !c.images || access == 0 {
		return nil, HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED
	}
	g := geometries[d.geometry]
	if d.width > g.most[0] || d.height > g.most[1] || d.depth > g.most[2] || d.arraySize > g.layers {
		return nil, HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED
	}
	if d.width == 0 || g.most[1] > 1 && d.height == 0 || g.most[2] > 1 && d.depth == 0 || g.layers > 1 && d.arraySize == 0 {
		return nil, HSA_STATUS_ERROR
	}
	m := &image{card: c, format: f, dims: g.dims, flat: d.geometry == HSA_EXT_IMAGE_GEOMETRY_1DA,
		Image: descriptor.Image{Kind: g.kind, Width: d.width, Height: max(d.height, 1), Depth: max(d.depth, d.arraySize, 1)}}
	least := descriptor.Pitch(d.width, f.Size)
	m.Pitch = least
	if !linear || g.kind == descriptor.NoImage {
		return m, HSA_STATUS_SUCCESS
	}
	if row == 0 {
		row = d.width * f.Size
	}
	if m.Pitch = row; row < least || row%descriptor.RowAlign != 0 || !descriptor.CDNA.Fits(&m.Image, f.Size) || slice != 0 && slice != m.Slice() {
		return nil, HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED
	}
	return m, HSA_STATUS_SUCCESS
}

// create makes an image of memory.
func (l *library) create(m *image, data unsafe.Pointer, out *uint64) status {
	if m.Base = address(data); m.Base%descriptor.RowAlign != 0 {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	words := m.Words(descriptor.CDNA, m.format)
	if m.Kind == descriptor.NoImage {
		words = descriptor.Buffer(descriptor.CDNA, m.Base, m.Width, m.format)
	}
	return l.keepWords(words[:], out, func(h uint64) {
		if l.images == nil {
			l.images = map[uint64]*image{}
		}
		l.images[h] = m
	})
}

// image is that of a handle.
func (l *library) image(h uint64) (*image, status) {
	l.imageMu.Lock()
	defer l.imageMu.Unlock()
	if m := l.images[h]; m != nil {
		return m, HSA_STATUS_SUCCESS
	}
	return nil, HSA_STATUS_ERROR_INVALID_ARGUMENT
}

// hsaExtImageGetCapability is what kernels of an agent may do with images of a kind.
func hsaExtImageGetCapability(h uint64, shape uint32, f *extImageFormat, mask *uint32) status {
	a, st := current.Load().agent(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if _, ok := geometries[shape]; !ok {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	*mask = HSA_EXT_IMAGE_CAPABILITY_NOT_SUPPORTED
	if c, ok := a.(*card); ok && c.images {
		_, *mask = formatOf(shape, *f)
	}
	return HSA_STATUS_SUCCESS
}

// hsaExtImageGetCapabilityWithLayout is the same for the only layout that a program can know.
func hsaExtImageGetCapabilityWithLayout(h uint64, shape uint32, f *extImageFormat, layout uint32, mask *uint32) status {
	if layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return hsaExtImageGetCapability(h, shape, f, mask)
}

// hsaExtImageDataGetInfo is what memory an image needs.
func hsaExtImageDataGetInfo(h uint64, d *extImageDescriptor, access uint32, out *extImageDataInfo) status {
	return imageMemory(h, d, access, false, 0, 0, out)
}

// hsaExtImageDataGetInfoWithLayout is the same with rows and slices of the program's.
func hsaExtImageDataGetInfoWithLayout(h uint64, d *extImageDescriptor, access, layout uint32, row, slice uint64, out *extImageDataInfo) status {
	if layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return imageMemory(h, d, access, true, row, slice, out)
}

func imageMemory(h uint64, d *extImageDescriptor, access uint32, linear bool, row, slice uint64, out *extImageDataInfo) status {
	if access < HSA_ACCESS_PERMISSION_RO || access > HSA_ACCESS_PERMISSION_RW {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	*out = extImageDataInfo{}
	m, st := current.Load().measured(h, d, linear, row, slice)
	if st == HSA_STATUS_SUCCESS {
		*out = extImageDataInfo{size: m.Slice() * m.Depth, alignment: descriptor.RowAlign}
	}
	return st
}

// hsaExtImageCreate makes an image of memory that is as large as hsaExtImageDataGetInfo says.
func hsaExtImageCreate(h uint64, d *extImageDescriptor, data unsafe.Pointer, _ uint32, out *uint64) status {
	return newImage(h, d, data, false, 0, 0, out)
}

// hsaExtImageCreateWithLayout is the same with rows and slices of the program's.
func hsaExtImageCreateWithLayout(h uint64, d *extImageDescriptor, data unsafe.Pointer, _, layout uint32, row, slice uint64, out *uint64) status {
	if data == nil || layout != HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	return newImage(h, d, data, true, row, slice, out)
}

func newImage(h uint64, d *extImageDescriptor, data unsafe.Pointer, linear bool, row, slice uint64, out *uint64) status {
	*out = 0
	l := current.Load()
	m, st := l.measured(h, d, linear, row, slice)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	return l.create(m, data, out)
}

// hsaExtImageDestroy ends an image; its memory is the program's.
func hsaExtImageDestroy(agent, h uint64) status {
	l := current.Load()
	if _, st := l.agent(agent); st != HSA_STATUS_SUCCESS {
		return st
	}
	l.imageMu.Lock()
	defer l.imageMu.Unlock()
	if l.images[h] == nil {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	delete(l.images, h)
	l.slots = append(l.slots, h)
	return HSA_STATUS_SUCCESS
}

// hsaAMDImageGetInfoMaxDim is how large images may be: what hsa_agent_get_info tells, too.
func hsaAMDImageGetInfoMaxDim(h uint64, attribute uint32, value unsafe.Pointer) status {
	a, st := current.Load().agent(h)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if attribute > HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	c, ok := a.(*card)
	if st, ok := imageInfo(ok && c.images, attribute, value); ok {
		return st
	}
	return HSA_STATUS_ERROR_INVALID_ARGUMENT
}
