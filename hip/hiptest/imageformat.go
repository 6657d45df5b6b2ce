package hiptest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rocwire/rocwire/hip"
)

// imageFormat is a format of an image's components.
type imageFormat struct {
	format hip.ArrayFormat
	name   string
	bytes  int
	signed bool
	float  bool
}

var imageFormats = []imageFormat{
	{hip.DrvAdFormatUnsignedInt8, "u8", 1, false, false},
	{hip.DrvAdFormatSignedInt8, "s8", 1, true, false},
	{hip.DrvAdFormatUnsignedInt16, "u16", 2, false, false},
	{hip.DrvAdFormatSignedInt16, "s16", 2, true, false},
	{hip.DrvAdFormatUnsignedInt32, "u32", 4, false, false},
	{hip.DrvAdFormatSignedInt32, "s32", 4, true, false},
	{hip.DrvAdFormatHalf, "f16", 2, true, true},
	{hip.DrvAdFormatFloat, "f32", 4, true, true},
}

// halves are numbers that a half is, with its bits.
var halves = []struct {
	bits  uint16
	value float32
}{{0x3c00, 1}, {0xc000, -2}, {0x7bff, 65504}, {0x3555, 0.333251953125}, {0, 0}, {0x3800, 0.5}, {0xd640, -100}}

// component is the i'th component as it lies in memory, the extremes among them.
func (f *imageFormat) component(i int) []byte {
	v := uint32(i) * 0x9e3779b9 >> 3
	switch {
	case f.float && f.bytes == 2:
		v = uint32(halves[i%len(halves)].bits)
	case f.float:
		v = math.Float32bits(float32(i)*1.25 - 7)
	case i%5 == 1:
		v = 0xffffffff // -1, or the largest
	case i%5 == 2:
		v = 1 << (8*f.bytes - 1) // the least
	case i%5 == 3:
		v = 1<<(8*f.bytes-1) - 1 // the largest
	}
	return binary.LittleEndian.AppendUint32(nil, v)[:f.bytes]
}

// read is what a texture makes of a component: bits, or a number to compare.
func (f *imageFormat) read(b []byte, normalized bool) (word uint32, number float64, isNumber bool) {
	var wide [4]byte
	copy(wide[:], b)
	v := binary.LittleEndian.Uint32(wide[:])
	shift := 32 - 8*f.bytes
	s := int32(v<<shift) >> shift
	switch {
	case f.float && f.bytes == 2:
		for _, h := range halves {
			if uint32(h.bits) == v {
				return math.Float32bits(h.value), 0, false
			}
		}
	case normalized && f.bytes < 4 && f.signed:
		return 0, max(float64(s)/float64(int(1)<<(8*f.bytes-1)-1), -1), true
	case normalized && f.bytes < 4:
		return 0, float64(v) / float64(int(1)<<(8*f.bytes)-1), true
	case f.signed:
		return uint32(s), 0, false
	}
	return v, 0, false
}

// sameTexel compares what a kernel read with an element of memory, whose missing components are 0, 0, 1.
func (e *env) sameTexel(what string, f *imageFormat, got [4]uint32, element []byte, channels int, normalized bool) {
	e.Helper()
	for c := range 4 {
		if c < channels {
			word, number, is := f.read(element[c*f.bytes:][:f.bytes], normalized)
			if x := float64(math.Float32frombits(got[c])); is && !(math.Abs(x-number) < 1e-6) {
				e.Errorf("%s: component %d is %v, want %v", what, c, x, number)
			} else if !is && got[c] != word {
				e.Errorf("%s: component %d is %#x, want %#x", what, c, got[c], word)
			}
			continue
		}
		want := uint32(0)
		if c == 3 {
			if want = 1; f.float || normalized && f.bytes < 4 {
				want = math.Float32bits(1)
			}
		}
		if got[c] != want {
			e.Errorf("%s: component %d, which the image has not, is %#x, want %#x", what, c, got[c], want)
		}
	}
}

// addressed is the element that a texture of n elements has at i, -1 for the border.
func addressed(mode hip.DrvAddressModeEnum, i, n int) int {
	switch mode {
	case hip.DrvTrAddressModeWrap:
		return (i%n + n) % n
	case hip.DrvTrAddressModeMirror:
		if i = (i%(2*n) + 2*n) % (2 * n); i >= n {
			i = 2*n - 1 - i
		}
		return i
	case hip.DrvTrAddressModeClamp:
		return min(max(i, 0), n-1)
	}
	if i < 0 || i >= n {
		return -1
	}
	return i
}

var imageFormatTests = []test{
	{"TextureFormats", func(e *env) {
		if !e.images() {
			return
		}
		const w, h = 5, 3
		for i := range imageFormats {
			f := &imageFormats[i]
			for _, channels := range []int{1, 2, 4} {
				size := f.bytes * channels
				var b []byte
				for k := range w * h * channels {
					b = append(b, f.component(k)...)
				}
				a := e.array(w, h, 0, f.format, uint32(channels), 0)
				e.fill(a, b, w*size, h, 1)
				p := e.upload(b)
				var linear hip.DrvResourceDesc
				linear.SetLinear(p, f.format, uint32(channels), uint64(len(b)))
				var at, index [][4]uint32
				for k := range w * h {
					at = append(at, bits(float32(k%w)+0.5, float32(k/w)+0.5))
					index = append(index, [4]uint32{uint32(k)})
				}
				for _, normalized := range []bool{false, true} {
					tex := hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{hip.DrvTrAddressModeClamp, hip.DrvTrAddressModeClamp, hip.DrvTrAddressModeClamp}}
					if !normalized {
						tex.Flags = hip.TRSFReadAsInteger
					}
					what := fmt.Sprintf("%d of %s, normalized %v", channels, f.name, normalized)
					o := e.texture(a, tex)
					for k, got := range e.read("texture_sample", uint64(o), at)[:w*h] {
						e.sameTexel(fmt.Sprintf("%s, element %d", what, k), f, got, b[k*size:][:size], channels, normalized)
					}
					e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, o))
					l, err := e.TexObjectCreate(e.th, &linear, &tex, nil)
					e.ok("TexObjectCreate", err)
					for k, got := range e.read("texture_fetch", uint64(l), index)[:w*h] {
						e.sameTexel(fmt.Sprintf("%s, linear element %d", what, k), f, got, b[k*size:][:size], channels, normalized)
					}
					e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, l))
				}
				e.ok("Free", e.Free(e.th, p))
				e.ok("ArrayDestroy", e.ArrayDestroy(e.th, a))
			}
		}
	}},
	{"TextureAddressModes", func(e *env) {
		if !e.images() {
			return
		}
		const n = 4 // elements of each dimension: coordinates are exact
		modes := map[string]hip.DrvAddressModeEnum{"wrap": hip.DrvTrAddressModeWrap, "mirror": hip.DrvTrAddressModeMirror, "clamp": hip.DrvTrAddressModeClamp, "border": hip.DrvTrAddressModeBorder}
		for dims := 1; dims <= 3; dims++ {
			extent, count := [3]uint64{n, 0, 0}, n
			for d := 1; d < dims; d++ {
				extent[d], count = n, count*n
			}
			var b []byte
			for k := range count {
				b = append(b, f32s([]float32{float32(k + 1)})...)
			}
			a := e.array(extent[0], extent[1], extent[2], hip.DrvAdFormatFloat, 1, 0)
			e.fill(a, b, n*4, int(max(extent[1], 1)), int(max(extent[2], 1)))
			for name, mode := range modes {
				for _, normalized := range []bool{false, true} {
					if !normalized && (mode == hip.DrvTrAddressModeWrap || mode == hip.DrvTrAddressModeMirror) {
						continue // needs coordinates from 0 to 1
					}
					tex, scale := hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{mode, mode, mode}, Flags: hip.TRSFReadAsInteger}, float32(1)
					if normalized {
						tex.Flags |= hip.TRSFNormalizedCoordinates
						scale = n
					}
					o := e.texture(a, tex)
					for axis := range dims {
						var at [][4]uint32
						var want []float32
						for i := -2*n - 1; i < 3*n; i++ {
							place := [3]int{1, 2, 3}
							place[axis] = i
							at = append(at, bits((float32(place[0])+0.5)/scale, (float32(place[1])+0.5)/scale, (float32(place[2])+0.5)/scale))
							k, out := 0, false
							for d, stride := 0, 1; d < dims; d, stride = d+1, stride*n {
								x := addressed(mode, place[d], n)
								out = out || x < 0
								k += x * stride
							}
							if out {
								want = append(want, 0)
							} else {
								want = append(want, float32(k+1))
							}
						}
						for i, got := range e.read("texture_sample", uint64(o), at)[:len(at)] {
							if x := math.Float32frombits(got[0]); x != want[i] {
								e.Errorf("%d dimensions, %s, normalized %v: at %d of dimension %d is %v, want %v", dims, name, normalized, i-2*n-1, axis, x, want[i])
							}
						}
					}
					e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, o))
				}
			}
			e.ok("ArrayDestroy", e.ArrayDestroy(e.th, a))
		}
		// Rows in layers: the layer is not wrapped.
		l := e.array(n, 0, 3, hip.DrvAdFormatFloat, 1, hip.ArrayLayered)
		var b []byte
		for k := range 3 * n {
			b = append(b, f32s([]float32{float32(k)})...)
		}
		e.fill(l, b, n*4, 3, 1)
		o := e.texture(l, hip.DrvTextureDesc{Flags: hip.TRSFReadAsInteger | hip.TRSFNormalizedCoordinates})
		for i, got := range e.read("texture_sample_layer", uint64(o), [][4]uint32{bits(0.125, 0), bits(1.375, 2), bits(-0.125, 1)})[:3] {
			if x, want := math.Float32frombits(got[0]), [...]float32{0, 2*n + 1, n + 3}[i]; x != want {
				e.Errorf("row %d of a layer: %v, want %v", i, x, want)
			}
		}
	}},
}
