package hiptest

import (
	"bytes"
	"strconv"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// hostBytes is host memory that the runtime allocated.
func hostBytes(p hip.Ptr, n int) []byte {
	addr := uintptr(p)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n)
}

var copyTests = []test{
	{"RoundTrip", func(e *env) {
		for i, n := range []int{1, 3, 255, 4096, 4097, 65536, 65537, 1 << 20, 9<<20 + 11} {
			want := pattern(n, byte(i))
			p := e.upload(want)
			e.equal("copied back", e.download(p, n), want)
			if n > 10 {
				e.equal("a part", e.download(p+3, n-7), want[3:n-4])
			}
			e.ok("Free", e.Free(e.th, p))
		}
	}},
	{"Kinds", func(e *env) {
		want := pattern(5000, 1)
		h := e.host(5000)
		copy(h, want)
		a, b := e.malloc(5000), e.malloc(5000)
		back, other := e.host(5000), e.host(5000)
		e.ok("Default, host to device", e.Memcpy(e.th, a, ptr(h), 5000, hip.MemcpyDefault))
		e.ok("DeviceToDevice", e.Memcpy(e.th, b, a, 5000, hip.MemcpyDeviceToDevice))
		e.ok("Default, device to host", e.Memcpy(e.th, ptr(back), b, 5000, hip.MemcpyDefault))
		e.equal("through two buffers", back, want)
		e.ok("HostToHost", e.Memcpy(e.th, ptr(other), ptr(h), 5000, hip.MemcpyHostToHost))
		e.equal("host to host", other, want)
		clear(other)
		e.ok("Default, host to host", e.Memcpy(e.th, ptr(other), ptr(h), 5000, hip.MemcpyDefault))
		e.equal("host to host", other, want)
		e.is("kind 9", e.Memcpy(e.th, a, ptr(h), 10, 9), hip.ErrorInvalidMemcpyDirection)
		e.is("kind -1", e.Memcpy(e.th, a, ptr(h), 10, -1), hip.ErrorInvalidMemcpyDirection)
	}},
	{"Errors", func(e *env) {
		h := e.host(8192)
		p := e.malloc(4096)
		for _, c := range []struct {
			what     string
			dst, src hip.Ptr
			n        uint64
			kind     hip.MemcpyKind
			want     hip.Error
		}{
			{"null destination", 0, ptr(h), 1, hip.MemcpyHostToDevice, hip.ErrorInvalidValue},
			{"null source", p, 0, 1, hip.MemcpyHostToDevice, hip.ErrorInvalidValue},
			{"no bytes", p, ptr(h), 0, hip.MemcpyHostToDevice, hip.Success},
			{"all of it", p, ptr(h), 4096, hip.MemcpyHostToDevice, hip.Success},
			{"one byte too many", p, ptr(h), 4097, hip.MemcpyHostToDevice, hip.ErrorInvalidValue},
			{"one byte too many to read", ptr(h), p, 4097, hip.MemcpyDeviceToHost, hip.ErrorInvalidValue},
			{"over the end", p + 4000, ptr(h), 97, hip.MemcpyHostToDevice, hip.ErrorInvalidValue},
			{"wraps", p, ptr(h), ^uint64(0), hip.MemcpyHostToDevice, hip.ErrorInvalidValue},
			{"device to device too long", p, p, 4097, hip.MemcpyDeviceToDevice, hip.ErrorInvalidValue},
		} {
			e.is(c.what, e.Memcpy(e.th, c.dst, c.src, c.n, c.kind), c.want)
			e.is(c.what+", asynchronous", e.MemcpyAsync(e.th, c.dst, c.src, c.n, c.kind, 0), c.want)
		}
		e.is("unknown stream", e.MemcpyAsync(e.th, p, ptr(h), 1, hip.MemcpyHostToDevice, invalid), hip.ErrorContextIsDestroyed)
		e.is("unknown stream", e.MemcpyWithStream(e.th, p, ptr(h), 1, hip.MemcpyHostToDevice, invalid), hip.ErrorContextIsDestroyed)
		e.ok("Free", e.Free(e.th, p))
		e.is("freed", e.Memcpy(e.th, p, ptr(h), 1, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
		e.is("freed", e.Memcpy(e.th, ptr(h), p, 1, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
		e.sync() // none of it harmed the device
	}},
	{"Rows", func(e *env) {
		const width, height, hpitch, dpitch = 100, 37, 128, 256
		h := e.host(hpitch * height)
		copy(h, pattern(len(h), 3))
		p := e.malloc(dpitch * height)
		e.ok("Memset", e.Memset(e.th, p, 0xee, dpitch*height))
		e.ok("Memcpy2D", e.Memcpy2D(e.th, p, dpitch, ptr(h), hpitch, width, height, hip.MemcpyHostToDevice))
		d := e.download(p, dpitch*height)
		for y := range height {
			e.equal("row", d[y*dpitch:y*dpitch+width], h[y*hpitch:y*hpitch+width])
			if d[y*dpitch+width] != 0xee {
				e.Fatalf("byte after row %d is %#x", y, d[y*dpitch+width])
			}
		}
		back := e.host(width * height)
		s := e.stream(0)
		e.ok("Memcpy2DAsync", e.Memcpy2DAsync(e.th, ptr(back), width, p, dpitch, width, height, hip.MemcpyDeviceToHost, s))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		for y := range height {
			e.equal("row back", back[y*width:(y+1)*width], h[y*hpitch:y*hpitch+width])
		}
		e.is("nothing", e.Memcpy2D(e.th, p, dpitch, ptr(h), hpitch, 0, 5, hip.MemcpyHostToDevice), hip.Success)
		e.is("row longer than the pitch", e.Memcpy2D(e.th, p, 50, ptr(h), hpitch, 100, 2, hip.MemcpyHostToDevice), hip.ErrorInvalidPitchValue)
		e.is("one row longer than no pitch", e.Memcpy2D(e.th, p, 0, ptr(h), 0, 100, 1, hip.MemcpyHostToDevice), hip.ErrorInvalidPitchValue)
		e.is("from a device, and is not", e.Memcpy2D(e.th, p, dpitch, ptr(h), hpitch, 10, 2, hip.MemcpyDeviceToHost), hip.ErrorInvalidValue)
		e.is("to a device, and is not", e.Memcpy2D(e.th, ptr(h), hpitch, p, dpitch, 10, 2, hip.MemcpyDeviceToDevice), hip.ErrorInvalidValue)
		e.is("nothing, in no direction", e.Memcpy2D(e.th, p, dpitch, ptr(h), hpitch, 0, 5, 99), hip.ErrorInvalidMemcpyDirection)
		e.is("too many rows", e.Memcpy2D(e.th, p, dpitch, ptr(h), hpitch, width, height+1, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
		e.is("wraps", e.Memcpy2D(e.th, p, 1<<60, ptr(h), 1<<60, width, 1<<20, hip.MemcpyHostToDevice), hip.ErrorInvalidValue)
	}},
	{"SourceMayChange", func(e *env) {
		// Ordinary host memory belongs to the program again when the call returns.
		s := e.stream(1)
		for _, n := range []int{100, 1 << 20} {
			h := e.host(n)
			copy(h, pattern(n, 7))
			p := e.malloc(uint64(n))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, p, ptr(h), uint64(n), hip.MemcpyHostToDevice, s))
			for i := range h {
				h[i] = 0xff
			}
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.equal("copied", e.download(p, n), pattern(n, 7))
		}
	}},
	{"InOrder", func(e *env) {
		s := e.stream(0)
		p, q := e.malloc(4096), e.malloc(4096)
		h := e.host(4096)
		for i := range 50 {
			e.ok("MemsetAsync", e.MemsetAsync(e.th, p, int32(i), 4096, s))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, q, p, 4096, hip.MemcpyDeviceToDevice, s))
			e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 0xcc, 4096, s))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, ptr(h), q, 4096, hip.MemcpyDeviceToHost, s))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			if !bytes.Equal(h, bytes.Repeat([]byte{byte(i)}, 4096)) {
				e.Fatalf("round %d read %#x", i, h[0])
			}
		}
		e.ok("MemsetAsync", e.MemsetAsync(e.th, p, 3, 4096, s))
		e.ok("MemcpyWithStream", e.MemcpyWithStream(e.th, ptr(h), p, 4096, hip.MemcpyDeviceToHost, s))
		if h[4095] != 3 {
			e.Errorf("MemcpyWithStream read %d", h[4095])
		}
	}},
	{"Peers", func(e *env) {
		want := pattern(10000, 9)
		a := e.upload(want)
		n, _ := e.GetDeviceCount()
		last := n - 1
		th := hip.Thread{Device: last, ID: 1}
		b, err := e.Malloc(th, 10000)
		e.ok("Malloc", err)
		e.ok("MemcpyPeer", e.MemcpyPeer(e.th, b, last, a, 0, 10000))
		h := e.host(10000)
		e.ok("Memcpy", e.Memcpy(th, ptr(h), b, 10000, hip.MemcpyDeviceToHost))
		e.equal("on the last device", h, want)
		e.ok("Memset", e.Memset(e.th, a, 0, 10000))
		e.ok("MemcpyPeerAsync", e.MemcpyPeerAsync(e.th, a, 0, b, last, 10000, 0))
		e.equal("and back", e.download(a, 10000), want)
		e.is("no such device", e.MemcpyPeer(e.th, b, n, a, 0, 1), hip.ErrorInvalidDevice)
	}},
	{"ThenOnAnotherStream", func(e *env) { // hipMemcpy has been made when it returns: also a stream that does not wait for the null stream sees it
		s := e.stream(nonBlocking)
		const n = 4096
		p, q, other := e.malloc(n), e.malloc(n), e.malloc(n)
		for i := range 100 {
			want := pattern(n, byte(i))
			for _, to := range []hip.Ptr{other, other, p} {
				e.ok("Memcpy", e.Memcpy(e.th, to, ptr(want), n, hip.MemcpyHostToDevice))
			}
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, q, p, n, hip.MemcpyDeviceToDevice, s))
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
			e.equal("round "+strconv.Itoa(i), e.download(q, n), want)
		}
	}},
	{"OnAnotherDevicesStream", func(e *env) { // a copy belongs to the null stream of the device whose memory it is of, too
		if n, code := e.GetDeviceCount(); code != hip.Success || n < 2 || !e.together() {
			return
		}
		const n = 4 << 20
		e.onAnotherDevicesStream(e.malloc(n), e.malloc(n), n)
	}},
}

// onAnotherDevicesStream copies between the host and the n bytes each at src and dst,
// the first device's memory, on a stream of the second.
func (e *env) onAnotherDevicesStream(dst, src hip.Ptr, n int) {
	e.Helper()
	there := hip.Thread{Device: 1, ID: 1}
	s, code := e.StreamCreateWithPriority(there, 0, 0)
	e.ok("StreamCreateWithPriority", code)
	const few = 4096
	want := pattern(n, 3)
	e.write(src, want)
	h, code := e.HostMalloc(e.th, few, 0)
	e.ok("HostMalloc", code)
	pinned := hostBytes(h, few)
	copy(pinned, want)
	box := hip.DrvMEMCPY3D{
		SrcMemoryType: hip.MemoryTypeHost, SrcHost: h, SrcPitch: 64, SrcHeight: few / 64,
		DstMemoryType: hip.MemoryTypeDevice, DstDevice: dst, DstPitch: 64, DstHeight: few / 64,
		WidthInBytes: 64, Height: few / 64, Depth: 1,
	}
	copies := []struct {
		what string
		n    int
		copy func(th hip.Thread) hip.Error
	}{
		{"within the device", n, func(th hip.Thread) hip.Error {
			return e.MemcpyAsync(th, dst, src, uint64(n), hip.MemcpyDeviceToDevice, s)
		}},
		{"from the host", few, func(th hip.Thread) hip.Error {
			return e.MemcpyAsync(th, dst, ptr(want), few, hip.MemcpyHostToDevice, s)
		}},
		{"from pinned memory", few, func(th hip.Thread) hip.Error {
			return e.MemcpyAsync(th, dst, h, few, hip.MemcpyHostToDevice, s)
		}},
		{"a box from pinned memory", few, func(th hip.Thread) hip.Error { return e.DrvMemcpy3DAsync(th, &box, s) }},
	}
	for _, c := range copies {
		for _, th := range []hip.Thread{there, e.th} { // the stream says what device it is, not the thread
			e.ok("Memset", e.Memset(e.th, dst, 0, uint64(n)))
			e.sync()
			held := make(chan struct{})
			e.ok("LaunchHostFunc", e.LaunchHostFunc(there, s, func() { <-held }))
			e.ok(c.what, c.copy(th))
			time.AfterFunc(50*time.Millisecond, func() { close(held) })
			e.ok("StreamSynchronize", e.StreamSynchronize(e.th, hip.StreamNull))
			e.equal(c.what, e.download(dst, c.n), want[:c.n])
		}
	}
	// and comes behind what that has
	for _, c := range copies[2:] {
		here, held := make(chan struct{}), make(chan struct{})
		e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, hip.StreamNull, func() { <-here }))
		e.ok("MemsetAsync", e.MemsetAsync(e.th, dst, 0, uint64(n), hip.StreamNull))
		e.ok("LaunchHostFunc", e.LaunchHostFunc(there, s, func() { <-held }))
		e.ok(c.what, c.copy(there))
		close(held)
		time.AfterFunc(50*time.Millisecond, func() { close(here) })
		e.ok("StreamSynchronize", e.StreamSynchronize(there, s))
		e.equal(c.what+", later", e.download(dst, few), want[:few])
	}
	for _, n := range []int{few, n} {
		e.ok("Memset", e.Memset(e.th, src, 0, uint64(n)))
		e.sync()
		held := make(chan struct{})
		e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, hip.StreamNull, func() { <-held }))
		e.ok("MemsetAsync", e.MemsetAsync(e.th, src, 9, uint64(n), hip.StreamNull))
		time.AfterFunc(50*time.Millisecond, func() { close(held) })
		h := e.host(n)
		e.ok("MemcpyAsync", e.MemcpyAsync(there, ptr(h), src, uint64(n), hip.MemcpyDeviceToHost, s))
		e.ok("StreamSynchronize", e.StreamSynchronize(there, s))
		e.equal("to the host", h, bytes.Repeat([]byte{9}, n))
	}
}

var memsetTests = []test{
	{"ShortPitch", func(e *env) {
		p := e.malloc(4096)
		e.is("Memset2D", e.Memset2D(e.th, p, 8, 1, 9, 2), hip.ErrorInvalidValue)
		e.is("Memset2DAsync", e.Memset2DAsync(e.th, p, 8, 1, 9, 2, e.stream(0)), hip.ErrorInvalidValue)
	}},
	{"Patterns", func(e *env) {
		const n = 100_003
		p := e.malloc(n)
		check := func(what string, f func() hip.Error, at, count int, pat []byte) {
			e.Helper()
			e.ok("Memset", e.Memset(e.th, p, 0x11, n))
			e.ok(what, f())
			want := bytes.Repeat([]byte{0x11}, n)
			for i := range count {
				copy(want[at+i*len(pat):], pat)
			}
			e.equal(what, e.download(p, n), want)
		}
		check("Memset", func() hip.Error { return e.Memset(e.th, p+5, 0x1ab, 1000) }, 5, 1000, []byte{0xab})
		check("MemsetD8", func() hip.Error { return e.MemsetD8(e.th, p+1, 0x7f, 99999) }, 1, 99999, []byte{0x7f})
		check("MemsetD16", func() hip.Error { return e.MemsetD16(e.th, p+2, 0x1234, 49999) }, 2, 49999, []byte{0x34, 0x12})
		check("MemsetD32", func() hip.Error { return e.MemsetD32(e.th, p+4, 0x12345678, 24999) }, 4, 24999, []byte{0x78, 0x56, 0x34, 0x12})
		s := e.stream(0)
		check("MemsetAsync", func() hip.Error { return e.MemsetAsync(e.th, p, 3, 77, s) }, 0, 77, []byte{3})
		check("MemsetD8Async", func() hip.Error { return e.MemsetD8Async(e.th, p, 4, 78, s) }, 0, 78, []byte{4})
		check("MemsetD16Async", func() hip.Error { return e.MemsetD16Async(e.th, p, 0x506, 79, s) }, 0, 79, []byte{6, 5})
		check("MemsetD32Async", func() hip.Error { return e.MemsetD32Async(e.th, p, 0x708, 80, s) }, 0, 80, []byte{8, 7, 0, 0})
	}},
	{"Boxes", func(e *env) { // slices of rows with gaps behind both
		const pitch, rows, slices = 64, 7, 5
		p := e.malloc(pitch * rows * slices)
		box := func(at int) *hip.PitchedPtr {
			return &hip.PitchedPtr{Ptr: p + hip.Ptr(at), Pitch: pitch, Xsize: pitch, Ysize: rows}
		}
		e.ok("Memset", e.Memset(e.th, p, 1, pitch*rows*slices))
		e.ok("Memset3D", e.Memset3D(e.th, box(0), 0x102, &hip.Extent{Width: 10, Height: 3, Depth: 4}))
		e.ok("Memset3DAsync", e.Memset3DAsync(e.th, box(pitch+3), 3, &hip.Extent{Width: 5, Height: 6, Depth: 5}, e.stream(0)))
		e.ok("nothing", e.Memset3D(e.th, box(0), 9, &hip.Extent{Width: 10, Height: 3}))
		e.ok("DeviceSynchronize", e.DeviceSynchronize(e.th))
		for i, v := range e.download(p, pitch*rows*slices) {
			x, y, z := i%pitch, i/pitch%rows, i/(pitch*rows)
			want := byte(1)
			if x < 10 && y < 3 && z < 4 {
				want = 2
			}
			if x >= 3 && x < 8 && y >= 1 {
				want = 3
			}
			if v != want {
				e.Fatalf("byte %d of row %d of slice %d is %d, want %d", x, y, z, v, want)
			}
		}
		whole := hip.Extent{Width: pitch, Height: rows, Depth: slices}
		e.ok("all of it", e.Memset3D(e.th, box(0), 1, &whole))
		e.is("beyond", e.Memset3D(e.th, box(1), 1, &whole), hip.ErrorInvalidValue)
		e.is("far beyond", e.Memset3D(e.th, box(0), 1, &hip.Extent{Width: 1, Height: 2, Depth: 1 << 60}), hip.ErrorInvalidValue)
	}},
	{"Rows", func(e *env) {
		p := e.malloc(64 * 10)
		e.ok("Memset", e.Memset(e.th, p, 1, 640))
		e.ok("Memset2D", e.Memset2D(e.th, p, 64, 2, 10, 10))
		e.ok("Memset2DAsync", e.Memset2DAsync(e.th, p+20, 64, 3, 5, 9, 0))
		b := e.download(p, 640)
		for i, v := range b {
			x, y := i%64, i/64
			want := byte(1)
			if x < 10 {
				want = 2
			} else if x >= 20 && x < 25 && y < 9 {
				want = 3
			}
			if v != want {
				e.Fatalf("row %d column %d is %d, want %d", y, x, v, want)
			}
		}
		e.is("too many rows", e.Memset2D(e.th, p, 64, 0, 10, 11), hip.ErrorInvalidValue)
	}},
	{"Errors", func(e *env) {
		p := e.malloc(4096)
		e.is("null", e.Memset(e.th, 0, 1, 1), hip.ErrorInvalidValue)
		e.is("nothing", e.Memset(e.th, p, 1, 0), hip.Success)
		e.is("too long", e.Memset(e.th, p, 1, 4097), hip.ErrorInvalidValue)
		e.is("too long by its offset", e.MemsetAsync(e.th, p+1, 1, 4096, 0), hip.ErrorInvalidValue)
		e.is("too many elements", e.MemsetD32(e.th, p, 1, 1025), hip.ErrorInvalidValue)
		e.is("elements that wrap", e.MemsetD32(e.th, p, 1, 1<<62+1), hip.ErrorInvalidValue)
		e.is("elements that wrap", e.MemsetD16(e.th, p, 1, 1<<63+1), hip.ErrorInvalidValue)
		e.is("unknown stream", e.MemsetAsync(e.th, p, 1, 1, invalid), hip.ErrorContextIsDestroyed)
		e.ok("Free", e.Free(e.th, p))
		e.is("freed", e.Memset(e.th, p, 1, 1), hip.ErrorInvalidValue)
	}},
}
