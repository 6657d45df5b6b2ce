package hiptest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/rocwire/rocwire/hip"
)

// images ends a test of a device without images, after a look at what it says of them.
func (e *env) images() bool {
	e.Helper()
	v, err := e.DeviceGetAttribute(hip.DeviceAttributeImageSupport, 0)
	e.ok("DeviceGetAttribute", err)
	if v != 0 {
		return true
	}
	_, err = e.Array3DCreate(e.th, &hip.DrvArray3dDescriptor{Width: 8, Height: 8, Format: hip.DrvAdFormatFloat, NumChannels: 1})
	e.is("Array3DCreate without images", err, hip.ErrorNotSupported)
	var res hip.DrvResourceDesc
	res.SetLinear(e.malloc(4096), hip.DrvAdFormatFloat, 1, 4096)
	_, err = e.TexObjectCreate(e.th, &res, &hip.DrvTextureDesc{}, nil)
	e.is("TexObjectCreate without images", err, hip.ErrorNotSupported)
	_, err = e.CreateSurfaceObject(e.th, &hip.ResourceDesc{})
	e.is("CreateSurfaceObject without images", err, hip.ErrorNotSupported)
	return false
}

func (e *env) array(w, h, d uint64, f hip.ArrayFormat, channels, flags uint32) hip.Array {
	e.Helper()
	a, err := e.Array3DCreate(e.th, &hip.DrvArray3dDescriptor{Width: w, Height: h, Depth: d, Format: f, NumChannels: channels, Flags: flags})
	e.ok("Array3DCreate", err)
	return a
}

// fill copies rows that lie closely to an array.
func (e *env) fill(a hip.Array, b []byte, w, h, d int) {
	e.Helper()
	mem := e.host(len(b))
	copy(mem, b)
	e.ok("DrvMemcpy3D to an array", e.DrvMemcpy3D(e.th, box(volume{kind: hip.MemoryTypeArray, array: a}, 0, 0, 0,
		volume{hip.MemoryTypeHost, ptr(mem), 0, uint64(w), uint64(h)}, 0, 0, 0, uint64(w), uint64(h), uint64(d))))
}

func (e *env) texture(a hip.Array, tex hip.DrvTextureDesc) hip.TextureObject {
	e.Helper()
	res := hip.DrvResourceDesc{ResType: hip.DrvResourceTypeArray}
	res.Res[0] = uint64(a)
	o, err := e.TexObjectCreate(e.th, &res, &tex, nil)
	e.ok("TexObjectCreate", err)
	return o
}

// read runs a kernel of texture.hip with 64 threads: four words a thread in, four out.
func (e *env) read(kernel string, object uint64, at [][4]uint32) [][4]uint32 {
	e.Helper()
	var in []byte
	for i := range 64 {
		in = append(in, u32s(at[i%len(at)][:]...)...)
	}
	p, q := e.upload(in), e.malloc(64*16)
	e.launch(e.kernel("texture", kernel), 1, 64, hip.StreamNull, object, p, q)
	b := e.download(q, 64*16)
	out := make([][4]uint32, 64)
	for i := range out {
		for c := range 4 {
			out[i][c] = u32At(b, 4*i+c)
		}
	}
	e.ok("Free", e.Free(e.th, p))
	e.ok("Free", e.Free(e.th, q))
	return out
}

func bits(x ...float32) (w [4]uint32) {
	for i, v := range x {
		w[i] = math.Float32bits(v)
	}
	return w
}

var imageTests = []test{
	{"Arrays", func(e *env) {
		if !e.images() {
			return
		}
		for _, c := range []struct {
			w, h, d         uint64
			flags           uint32
			f               hip.ArrayFormat
			channels, bytes uint32
		}{
			{40, 0, 0, 0, hip.DrvAdFormatUnsignedInt8, 1, 1},
			{40, 30, 0, 0, hip.DrvAdFormatHalf, 4, 8},
			{17, 9, 5, 0, hip.DrvAdFormatFloat, 4, 16},
			{33, 0, 6, hip.ArrayLayered, hip.DrvAdFormatSignedInt16, 2, 4},
			{33, 7, 6, hip.ArrayLayered | hip.ArraySurfaceLoadStore, hip.DrvAdFormatUnsignedInt32, 1, 4},
		} {
			a := e.array(c.w, c.h, c.d, c.f, c.channels, c.flags)
			row, rows, slices := int(c.w)*int(c.bytes), int(max(c.h, 1)), int(max(c.d, 1))
			if c.h == 0 && c.d != 0 { // layers of rows are rows
				rows, slices = slices, 1
			}
			n := row * rows * slices
			want := pattern(n, byte(c.w))
			e.fill(a, want, row, rows, slices)
			in, other := volume{kind: hip.MemoryTypeArray, array: a}, e.array(c.w, c.h, c.d, c.f, c.channels, c.flags)
			to := volume{kind: hip.MemoryTypeArray, array: other}
			e.ok("array to array", e.DrvMemcpy3D(e.th, box(to, 0, 0, 0, in, 0, 0, 0, uint64(row), uint64(rows), uint64(slices))))
			p := e.malloc(uint64(n))
			dev := volume{hip.MemoryTypeDevice, p, 0, uint64(row), uint64(rows)}
			e.ok("array to device", e.DrvMemcpy3D(e.th, box(dev, 0, 0, 0, to, 0, 0, 0, uint64(row), uint64(rows), uint64(slices))))
			e.equal(fmt.Sprintf("%+v", c), e.download(p, n), want)
			back := e.host(n)
			x, y, z := int(c.bytes)*3, rows/2, slices/2
			w, h, d := row-x, rows-y, slices-z
			e.ok("a part to the host", e.DrvMemcpy3D(e.th, box(volume{hip.MemoryTypeHost, ptr(back), 0, uint64(w), uint64(h)}, 0, 0, 0, to, uint64(x), uint64(y), uint64(z), uint64(w), uint64(h), uint64(d))))
			e.equal("a part", back[:w*h*d], cut(want, row, rows, x, y, z, w, h, d))
			for what, b := range map[string]*hip.DrvMEMCPY3D{
				"too wide":   box(to, uint64(c.bytes), 0, 0, dev, 0, 0, 0, uint64(row), 1, 1),
				"too high":   box(to, 0, 1, 0, dev, 0, 0, 0, uint64(row), uint64(rows), 1),
				"too deep":   box(to, 0, 0, 1, dev, 0, 0, 0, uint64(row), 1, uint64(slices)),
				"far beyond": box(to, 1<<62, 1<<62, 1<<62, dev, 0, 0, 0, uint64(row), 1, 1),
			} {
				e.is(what, e.DrvMemcpy3D(e.th, b), hip.ErrorInvalidValue)
			}
			e.ok("ArrayDestroy", e.ArrayDestroy(e.th, a))
			e.ok("ArrayDestroy", e.ArrayDestroy(e.th, other))
			if err := e.ArrayDestroy(e.th, a); err == hip.Success {
				e.Error("an array is destroyed twice")
			}
		}
	}},
	{"ArrayGraphs", func(e *env) {
		if !e.images() {
			return
		}
		const row, h, d = 40, 5, 3
		const n = row * h * d
		a, b, mem := e.array(row/4, h, d, hip.DrvAdFormatFloat, 1, 0), e.array(row/4, h, d, hip.DrvAdFormatFloat, 1, hip.ArrayLayered), e.malloc(2*n)
		in, out := e.host(n), e.host(n)
		host := func(b []byte) volume { return volume{hip.MemoryTypeHost, ptr(b), 0, row, h} }
		first, second := volume{kind: hip.MemoryTypeArray, array: a}, volume{kind: hip.MemoryTypeArray, array: b}
		device := volume{hip.MemoryTypeDevice, mem, 0, row, 2 * h} // every other rows
		var g graphBuilder
		var after []uint32
		chain := []volume{host(in), first, device, second, host(out)}
		for i := range chain[1:] {
			op := hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: box(chain[i+1], 0, 0, 0, chain[i], 0, 0, 0, row, h, d)}}
			after = []uint32{g.add(op, after...)}
		}
		x, s := e.instantiate(&g), e.stream(0)
		for i := range 3 {
			copy(in, pattern(n, byte(i)))
			e.ok("GraphLaunch", e.GraphLaunch(e.th, x, s))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.equal("what came through the arrays", out, pattern(n, byte(i)))
		}
		// The part from the device goes elsewhere: the rest of the array stays.
		part := hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{General: box(second, 8, 1, 1, device, 4, 0, 1, row-8, h-1, d-1)}}
		e.ok("GraphExecUpdate", e.GraphExecUpdate(e.th, x, []hip.GraphChange{{Index: 2, Op: part}}))
		want := append([]byte(nil), out...)
		copy(in, pattern(n, 9))
		for z := 1; z < d; z++ {
			for y := 1; y < h; y++ {
				copy(want[(z*h+y)*row+8:][:row-8], in[(z*h+y-1)*row+4:])
			}
		}
		e.ok("GraphLaunch", e.GraphLaunch(e.th, x, s))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.equal("a part", out, want)
		// Memory that is gone by the launch, or is none.
		e.ok("Free", e.Free(e.th, mem))
		if code := e.GraphLaunch(e.th, x, s); code == hip.Success {
			if code = e.StreamSynchronize(e.th, s); code == hip.Success {
				if code = e.GraphLaunch(e.th, x, s); code == hip.Success {
					e.Error("a graph copied from memory that is freed")
				}
			}
		}
	}},
	{"ArrayErrors", func(e *env) {
		if !e.images() {
			return
		}
		for what, d := range map[string]hip.DrvArray3dDescriptor{
			"no width":         {Height: 8, Format: hip.DrvAdFormatFloat, NumChannels: 1},
			"depth, no height": {Width: 8, Depth: 8, Format: hip.DrvAdFormatFloat, NumChannels: 1},
			"three channels":   {Width: 8, Format: hip.DrvAdFormatFloat, NumChannels: 3},
			"no format":        {Width: 8, NumChannels: 1},
			"cube":             {Width: 8, Height: 8, Depth: 6, Format: hip.DrvAdFormatFloat, NumChannels: 1, Flags: hip.ArrayCubemap},
			"too wide":         {Width: 1 << 20, Format: hip.DrvAdFormatFloat, NumChannels: 1},
			"huge":             {Width: math.MaxUint64, Height: math.MaxUint64, Format: hip.DrvAdFormatFloat, NumChannels: 4},
			"no layers":        {Width: 8, Height: 8, Format: hip.DrvAdFormatFloat, NumChannels: 1, Flags: hip.ArrayLayered},
		} {
			d := d
			_, err := e.Array3DCreate(e.th, &d)
			e.is(what, err, hip.ErrorInvalidValue)
		}
		free, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		a := e.array(1024, 1024, 0, hip.DrvAdFormatFloat, 4, 0)
		less, _, err := e.MemGetInfo(e.th)
		e.ok("MemGetInfo", err)
		if free-less < 16<<20 {
			e.Errorf("an array of 16 MiB takes %d bytes", free-less)
		}
		e.ok("ArrayDestroy", e.ArrayDestroy(e.th, a))
		if again, _, _ := e.MemGetInfo(e.th); again != free {
			e.Errorf("%d bytes are free, %d were", again, free)
		}
	}},
	{"Textures", func(e *env) {
		if !e.images() {
			return
		}
		const w, h = 7, 5
		a := e.array(w, h, 0, hip.DrvAdFormatFloat, 2, 0)
		var b []byte
		for i := range w * h * 2 {
			b = append(b, f32s([]float32{float32(i)})...)
		}
		e.fill(a, b, w*8, h, 1)
		texel := func(x, y int) [4]uint32 {
			if x < 0 || y < 0 || x >= w || y >= h {
				return bits(0, 0, 0, 0)
			}
			return bits(float32(2*(y*w+x)), float32(2*(y*w+x)+1), 0, 1)
		}
		at := [][4]uint32{bits(0.5, 0.5), bits(6.25, 4.75), bits(-1.5, 2), bits(7.5, 2.5), bits(3, 9)}
		for mode, want := range map[hip.DrvAddressModeEnum][][2]int{
			hip.DrvTrAddressModeClamp:  {{0, 0}, {6, 4}, {0, 2}, {6, 2}, {3, 4}},
			hip.DrvTrAddressModeBorder: {{0, 0}, {6, 4}, {-2, 2}, {7, 2}, {3, 9}},
		} {
			o := e.texture(a, hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{mode, mode, mode}, Flags: hip.TRSFReadAsInteger})
			for i, got := range e.read("texture_sample", uint64(o), at)[:len(at)] {
				if w := texel(want[i][0], want[i][1]); got != w {
					e.Errorf("address mode %d, coordinates %d: %x, want %x", mode, i, got, w)
				}
			}
			e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, o))
		}
		// Normalized coordinates, a linear filter: between four texels.
		o := e.texture(a, hip.DrvTextureDesc{FilterMode: hip.DrvTrFilterModeLinear, Flags: hip.TRSFReadAsInteger | hip.TRSFNormalizedCoordinates})
		got := e.read("texture_sample", uint64(o), [][4]uint32{bits(3.0/w, 2.0/h), bits(3.0/w+1, 2.0/h-2)})
		for i := range 2 { // the second one wraps
			if x := math.Float32frombits(got[i][0]); math.Abs(float64(x)-(2*(1.5*w+2.5))) > 0.01 {
				e.Errorf("between four texels: %v, want %v", x, 2*(1.5*w+2.5))
			}
		}
		e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, o))
		if err := e.TexObjectDestroy(e.th, o); err == hip.Success {
			e.Error("a texture object is destroyed twice")
		}
		// Integers as numbers from 0 to 1, by layers.
		l := e.array(4, 2, 3, hip.DrvAdFormatUnsignedInt8, 1, hip.ArrayLayered)
		e.fill(l, pattern(24, 5), 4, 2, 3)
		o = e.texture(l, hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{1, 1, 1}})
		got = e.read("texture_sample_layer", uint64(o), [][4]uint32{bits(2.5, 1.5, 2), bits(0.5, 0.5, 1)})
		for i, k := range []int{2*8 + 4 + 2, 8} {
			if want := math.Float32bits(float32(float64(pattern(24, 5)[k]) / 255)); got[i][0] != want || got[i][3] != math.Float32bits(1) {
				e.Errorf("layer: %x, want %x", got[i], want)
			}
		}
	}},
	{"TextureVolumes", func(e *env) {
		if !e.images() {
			return
		}
		a := e.array(2, 2, 2, hip.DrvAdFormatFloat, 1, 0)
		e.fill(a, f32s([]float32{1, 2, 4, 8, 16, 32, 64, 128}), 8, 2, 2)
		res := hip.DrvResourceDesc{ResType: hip.DrvResourceTypeArray}
		res.Res[0] = uint64(a)
		tex := hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{1, 1, 1}, FilterMode: hip.DrvTrFilterModeLinear, Flags: hip.TRSFReadAsInteger}
		o, err := e.TexObjectCreate(e.th, &res, &tex, nil)
		p, code := e.GetDevicePropertiesR0600(0)
		e.ok("GetDevicePropertiesR0600", code)
		if strings.HasPrefix(string(p.GcnArchName[:]), "gfx90a") { // which alone has no such filter
			e.is("TexObjectCreate of a volume with a linear filter", err, hip.ErrorNotSupported)
			return
		}
		e.ok("TexObjectCreate", err)
		at := [][4]uint32{bits(1, 1, 1), bits(0.5, 0.5, 1), bits(1.5, 1, 0.5), bits(9, 9, 1.25)}
		for i, got := range e.read("texture_sample", uint64(o), at)[:len(at)] {
			if x, want := math.Float32frombits(got[0]), [...]float32{255. / 8, 8.5, 5, 8./4 + 128.*3/4}[i]; x != want {
				e.Errorf("between texels of a volume, %d: %v, want %v", i, x, want)
			}
		}
		e.ok("TexObjectDestroy", e.TexObjectDestroy(e.th, o))
	}},
	{"LinearTextures", func(e *env) {
		if !e.images() {
			return
		}
		b := pattern(4096, 6)
		p := e.upload(b)
		var res hip.DrvResourceDesc
		res.SetLinear(p, hip.DrvAdFormatSignedInt16, 2, 1000)
		o, err := e.TexObjectCreate(e.th, &res, &hip.DrvTextureDesc{Flags: hip.TRSFReadAsInteger}, nil)
		e.ok("TexObjectCreate", err)
		got := e.read("texture_fetch", uint64(o), [][4]uint32{{0}, {249}, {250}, {1 << 31}})
		value := func(i int) uint32 { return uint32(int32(int16(binary.LittleEndian.Uint16(b[2*i:])))) }
		for i, want := range [][4]uint32{{value(0), value(1), 0, 1}, {value(498), value(499), 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}} {
			if got[i] != want {
				e.Errorf("linear element %d: %x, want %x", i, got[i], want)
			}
		}
		res.SetPitch2D(p, hip.DrvAdFormatUnsignedInt8, 4, 30, 10, 256)
		q, err := e.TexObjectCreate(e.th, &res, &hip.DrvTextureDesc{AddressMode: [3]hip.DrvAddressModeEnum{1, 1, 1}, Flags: hip.TRSFReadAsInteger}, nil)
		e.ok("TexObjectCreate", err)
		got = e.read("texture_sample", uint64(q), [][4]uint32{bits(29.5, 9.5)})
		if x := b[9*256+29*4:]; got[0] != [4]uint32{uint32(x[0]), uint32(x[1]), uint32(x[2]), uint32(x[3])} {
			e.Errorf("pitched element: %x, want % x", got[0], x[:4])
		}
		for what, set := range map[string]func(*hip.DrvResourceDesc){
			"not aligned":       func(r *hip.DrvResourceDesc) { r.SetLinear(p+4, hip.DrvAdFormatFloat, 1, 400) },
			"null":              func(r *hip.DrvResourceDesc) { r.SetLinear(0, hip.DrvAdFormatFloat, 1, 400) },
			"too long":          func(r *hip.DrvResourceDesc) { r.SetLinear(p, hip.DrvAdFormatFloat, 1, 1<<30) },
			"no memory":         func(r *hip.DrvResourceDesc) { r.SetLinear(invalid, hip.DrvAdFormatFloat, 1, 256) },
			"three channels":    func(r *hip.DrvResourceDesc) { r.SetLinear(p, hip.DrvAdFormatFloat, 3, 400) },
			"pitch not aligned": func(r *hip.DrvResourceDesc) { r.SetPitch2D(p, hip.DrvAdFormatFloat, 1, 8, 8, 100) },
			"too high":          func(r *hip.DrvResourceDesc) { r.SetPitch2D(p, hip.DrvAdFormatFloat, 1, 8, 17, 256) },
			"no array":          func(r *hip.DrvResourceDesc) { *r = hip.DrvResourceDesc{Res: [16]uint64{invalid}} },
			"no kind":           func(r *hip.DrvResourceDesc) { r.ResType = 99 },
		} {
			bad := hip.DrvResourceDesc{}
			set(&bad)
			if _, err := e.TexObjectCreate(e.th, &bad, &hip.DrvTextureDesc{}, nil); err == hip.Success {
				e.Errorf("%s: %s", what, err.Name())
			}
		}
	}},
	{"Surfaces", func(e *env) {
		if !e.images() {
			return
		}
		const w, h = 8, 8
		a := e.array(w, h, 0, hip.DrvAdFormatSignedInt8, 4, hip.ArraySurfaceLoadStore)
		res := hip.ResourceDesc{ResType: hip.ResourceTypeArray}
		res.Res[0] = uint64(a)
		o, err := e.CreateSurfaceObject(e.th, &res)
		e.ok("CreateSurfaceObject", err)
		var at [][4]uint32
		var in []byte
		for i := range 64 {
			at = append(at, [4]uint32{uint32(i % w), uint32(i / w)})
			in = append(in, u32s(uint32(i), uint32(-i), 127, 1)...)
		}
		var places []byte
		for _, c := range at {
			places = append(places, u32s(c[:]...)...)
		}
		e.launch(e.kernel("texture", "surface_write"), 1, 64, hip.StreamNull, uint64(o), e.upload(places), e.upload(in))
		for i, got := range e.read("surface_read", uint64(o), at) {
			if want := [4]uint32{uint32(i), uint32(-i), 127, 1}; got != want {
				e.Fatalf("element %d is %x, want %x", i, got, want)
			}
		}
		outside := e.read("surface_read", uint64(o), [][4]uint32{{w, 0}, {0, h}, {math.MaxUint32, 0}})
		for i := range 3 {
			if outside[i] != ([4]uint32{}) {
				e.Errorf("outside of the surface lies %x", outside[i])
			}
		}
		e.ok("DestroySurfaceObject", e.DestroySurfaceObject(e.th, o))
		e.ok("ArrayDestroy", e.ArrayDestroy(e.th, a))
		_, err = e.CreateSurfaceObject(e.th, &res)
		if err == hip.Success {
			e.Error("a surface of an array that is gone")
		}
	}},
}
