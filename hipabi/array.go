package hipabi

import "C"

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// arrays are the process's arrays: HIP tells what they are, and copies are
// judged by it.
var arrays table[hip.Array, *array]

// array is one.
type array struct {
	hip.DrvArray3dDescriptor
	device int32
}

// row is the bytes of a row.
func (a *array) row() uint64 { return a.Width * a.ElementSize() }

// layered1D reports whether its layers are rows.
func (a *array) layered1D() bool { return a.Flags&hip.ArrayLayered != 0 && a.Height == 0 }

// images reports whether the thread's device has images.
func images(t hip.Thread) bool {
	v, err := runtime().DeviceGetAttribute(hip.DeviceAttributeImageSupport, t.Device)
	return err == hip.Success && v != 0
}

// formats are HIP's formats by what a channel description says of them.
var formats = map[hip.ChannelFormatDesc]hip.ArrayFormat{
	{F: hip.ChannelFormatKindUnsigned, X: 8}:  hip.DrvAdFormatUnsignedInt8,
	{F: hip.ChannelFormatKindUnsigned, X: 16}: hip.DrvAdFormatUnsignedInt16,
	{F: hip.ChannelFormatKindUnsigned, X: 32}: hip.DrvAdFormatUnsignedInt32,
	{F: hip.ChannelFormatKindSigned, X: 8}:    hip.DrvAdFormatSignedInt8,
	{F: hip.ChannelFormatKindSigned, X: 16}:   hip.DrvAdFormatSignedInt16,
	{F: hip.ChannelFormatKindSigned, X: 32}:   hip.DrvAdFormatSignedInt32,
	{F: hip.ChannelFormatKindFloat, X: 16}:    hip.DrvAdFormatHalf,
	{F: hip.ChannelFormatKindFloat, X: 32}:    hip.DrvAdFormatFloat,
}

// formatOf is the format of a channel description, 0 if there is none, and how
// many channels it has.
func formatOf(d *hip.ChannelFormatDesc) (f hip.ArrayFormat, channels uint32) {
	for _, bits := range [...]int32{d.X, d.Y, d.Z, d.W} {
		if bits != 0 {
			channels++
		}
	}
	return formats[hip.ChannelFormatDesc{F: d.F, X: d.X}], channels
}

// channelsOf is the reverse.
func channelsOf(f hip.ArrayFormat, channels uint32) (d hip.ChannelFormatDesc) {
	for k, v := range formats {
		if v == f && (channels == 1 || channels == 2 || channels == 4) {
			d = k
			if channels > 1 {
				d.Y = d.X
			}
			if channels > 2 {
				d.Z, d.W = d.X, d.X
			}
		}
	}
	return d
}

// even reports whether the channels are of one size, without a gap.
func even(d *hip.ChannelFormatDesc) bool {
	bits := [...]int32{d.X, d.Y, d.Z, d.W}
	if d.X == 0 {
		return false
	}
	for i, b := range bits[1:] {
		if b != 0 && (b != d.X || bits[i] == 0) {
			return false
		}
	}
	return true
}

// rw_uneven says to C that a channel description has channels of several sizes, or
// a gap: what AMD's library refuses before its last error is told.
//
//export rw_uneven
func rw_uneven(desc unsafe.Pointer) int32 {
	if even((*hip.ChannelFormatDesc)(desc)) {
		return 0
	}
	return 1
}

// makeArray makes an array and keeps what it is.
func makeArray(thread uint64, out unsafe.Pointer, d hip.DrvArray3dDescriptor) int32 {
	if out == nil {
		return int32(hip.ErrorInvalidValue)
	}
	t := threadOf(thread)
	h, err := runtime().Array3DCreate(t, &d)
	if err == hip.Success {
		arrays.put(h, &array{d, t.Device})
		*(*hip.Array)(out) = h
	}
	return int32(err)
}

//export rw_hipArray3DCreate
func rw_hipArray3DCreate(thread uint64, out, desc unsafe.Pointer) int32 {
	if desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	return makeArray(thread, out, *(*hip.DrvArray3dDescriptor)(desc))
}

//export rw_hipArrayCreate
func rw_hipArrayCreate(thread uint64, out, desc unsafe.Pointer) int32 {
	if desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	d := (*hip.DrvArrayDescriptor)(desc)
	return makeArray(thread, out, hip.DrvArray3dDescriptor{Width: d.Width, Height: d.Height, Format: d.Format, NumChannels: d.NumChannels})
}

//export rw_hipMalloc3DArray
func rw_hipMalloc3DArray(thread uint64, out, desc, extent unsafe.Pointer, flags uint32) int32 {
	if out == nil || desc == nil || !even((*hip.ChannelFormatDesc)(desc)) {
		return int32(hip.ErrorInvalidValue)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	e := (*hip.Extent)(extent)
	return makeArray(thread, out, hip.DrvArray3dDescriptor{Width: e.Width, Height: e.Height, Depth: e.Depth, Format: f, NumChannels: n, Flags: flags})
}

//export rw_hipMallocArray
func rw_hipMallocArray(thread uint64, out, desc unsafe.Pointer, width, height uint64, flags uint32) int32 {
	return rw_hipMalloc3DArray(thread, out, desc, unsafe.Pointer(&hip.Extent{Width: width, Height: height}), flags)
}

//export rw_hipArrayDestroy
func rw_hipArrayDestroy(thread uint64, h uint64) int32 {
	if h == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	a, ok := arrays.take(hip.Array(h))
	if !ok {
		return int32(hip.ErrorContextIsDestroyed)
	}
	err := runtime().ArrayDestroy(threadOf(thread), hip.Array(h))
	if err != hip.Success {
		arrays.put(hip.Array(h), a)
	}
	return int32(err)
}

//export rw_hipFreeArray
func rw_hipFreeArray(thread uint64, h uint64) int32 { return rw_hipArrayDestroy(thread, h) }

// described is the array of a handle, or what HIP answers if it is none.
func described(h uint64) (*array, hip.Error) {
	if a, ok := arrays.get(hip.Array(h)); ok {
		return a, hip.Success
	}
	return nil, hip.ErrorInvalidHandle
}

//export rw_hipArrayGetInfo
func rw_hipArrayGetInfo(_ uint64, desc, extent, flags unsafe.Pointer, h uint64) int32 {
	if h != 0 && desc == nil && extent == nil && flags == nil {
		return int32(hip.Success)
	}
	a, err := described(h)
	if err != hip.Success {
		return int32(err)
	}
	if desc != nil {
		*(*hip.ChannelFormatDesc)(desc) = channelsOf(a.Format, a.NumChannels)
	}
	if extent != nil {
		*(*hip.Extent)(extent) = hip.Extent{Width: a.Width, Height: a.Height, Depth: a.Depth}
	}
	if flags != nil {
		*(*uint32)(flags) = a.Flags
	}
	return int32(hip.Success)
}

//export rw_hipArrayGetDescriptor
func rw_hipArrayGetDescriptor(_ uint64, desc unsafe.Pointer, h uint64) int32 {
	if h != 0 && desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	a, err := described(h)
	if err == hip.Success {
		*(*hip.DrvArrayDescriptor)(desc) = hip.DrvArrayDescriptor{Width: a.Width, Height: a.Height, Format: a.Format, NumChannels: a.NumChannels}
	}
	return int32(err)
}

//export rw_hipArray3DGetDescriptor
func rw_hipArray3DGetDescriptor(_ uint64, desc unsafe.Pointer, h uint64) int32 {
	if h != 0 && desc == nil {
		return int32(hip.ErrorInvalidValue)
	}
	a, err := described(h)
	if err == hip.Success {
		*(*hip.DrvArray3dDescriptor)(desc) = a.DrvArray3dDescriptor
	}
	return int32(err)
}

//export rw_hipGetChannelDesc
func rw_hipGetChannelDesc(thread uint64, desc unsafe.Pointer, h uint64) int32 {
	switch {
	case desc == nil:
		return int32(hip.ErrorInvalidValue)
	case h == 0:
		return int32(hip.ErrorInvalidHandle)
	case !images(threadOf(thread)):
		return int32(hip.ErrorNotSupported)
	}
	a, err := described(h)
	if err == hip.Success {
		*(*hip.ChannelFormatDesc)(desc) = channelsOf(a.Format, a.NumChannels)
	}
	return int32(err)
}

//export rw_hipMallocMipmappedArray
func rw_hipMallocMipmappedArray(thread uint64, out, desc, extent unsafe.Pointer, levels, flags uint32) int32 {
	if out == nil || desc == nil || !even((*hip.ChannelFormatDesc)(desc)) {
		return int32(hip.ErrorInvalidValue)
	}
	f, n := formatOf((*hip.ChannelFormatDesc)(desc))
	e := (*hip.Extent)(extent)
	return rw_hipMipmappedArrayCreate(thread, out, unsafe.Pointer(&hip.DrvArray3dDescriptor{
		Width: e.Width, Height: e.Height, Depth: e.Depth, Format: f, NumChannels: n, Flags: flags}), levels)
}

//export rw_hipMipmappedArrayCreate
func rw_hipMipmappedArrayCreate(thread uint64, out, desc unsafe.Pointer, levels uint32) int32 {
	var d hip.DrvArray3dDescriptor // no array has it; a device without such arrays says so whatever is asked for
	if out != nil && desc != nil {
		d = *(*hip.DrvArray3dDescriptor)(desc)
	}
	t := threadOf(thread)
	m, err := runtime().MipmappedArrayCreate(t, &d, levels)
	if err == hip.Success && out == nil {
		runtime().MipmappedArrayDestroy(t, m)
		err = hip.ErrorInvalidValue
	}
	return give(out, m, err)
}

//export rw_hipMipmappedArrayDestroy
func rw_hipMipmappedArrayDestroy(thread uint64, m uint64) int32 {
	if m == 0 {
		return int32(hip.ErrorInvalidValue)
	}
	return int32(runtime().MipmappedArrayDestroy(threadOf(thread), hip.MipmappedArray(m)))
}

//export rw_hipFreeMipmappedArray
func rw_hipFreeMipmappedArray(thread uint64, m uint64) int32 {
	return rw_hipMipmappedArrayDestroy(thread, m)
}

//export rw_hipGetMipmappedArrayLevel
func rw_hipGetMipmappedArrayLevel(thread uint64, out unsafe.Pointer, m uint64, level uint32) int32 {
	return rw_hipMipmappedArrayGetLevel(thread, out, m, level)
}
