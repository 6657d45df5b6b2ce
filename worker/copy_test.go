package worker_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/simbackend"
)

var main0 = hip.Thread{}

// at is the address of a slice's memory.
func at(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 7))
	for i := 0; i+8 <= n; i += 8 {
		*(*uint64)(unsafe.Pointer(&b[i])) = r.Uint64()
	}
	return b
}

func TestCopies(t *testing.T) {
	w := serve(t, simbackend.Options{}, worker.Config{})
	t.Run("agreed range", func(t *testing.T) { testCopies(t, connect(t, w)) })
	t.Run("no range", func(t *testing.T) { testCopies(t, connectWith(t, w, hipremote.Config{NoReserve: true})) })
}

func testCopies(t *testing.T, c *hipremote.Client) {
	n, e := c.GetDeviceCount()
	must(t, "GetDeviceCount", e)
	if n != 1 {
		t.Fatalf("%d devices", n)
	}
	p, e := c.GetDevicePropertiesR0600(0)
	must(t, "properties", e)
	if p.TotalGlobalMem != 1<<30 {
		t.Errorf("memory %d", p.TotalGlobalMem)
	}
	s, e := c.StreamCreateWithPriority(main0, 0, 0)
	must(t, "stream", e)
	for _, size := range []int{1, 100, 4096, 8192, 64 << 10, 64<<10 + 1, 1 << 20, 8 << 20, 8<<20 + 13, 100 << 20} {
		d, e := c.Malloc(main0, uint64(size))
		must(t, "Malloc", e)
		src, dst := random(size, uint64(size)), make([]byte, size)
		must(t, "H2D", c.Memcpy(main0, d, at(src), uint64(size), hip.MemcpyHostToDevice))
		must(t, "D2H", c.Memcpy(main0, at(dst), d, uint64(size), hip.MemcpyDeviceToHost))
		if !bytes.Equal(src, dst) {
			t.Fatalf("%d bytes came back changed", size)
		}
		d2, e := c.Malloc(main0, uint64(size))
		must(t, "Malloc", e)
		src = random(size, uint64(size)+1)
		must(t, "H2D async", c.MemcpyAsync(main0, d, at(src), uint64(size), hip.MemcpyDefault, s))
		must(t, "D2D async", c.MemcpyAsync(main0, d2, d, uint64(size), hip.MemcpyDeviceToDevice, s))
		must(t, "Memset", c.MemsetAsync(main0, d, 7, uint64(size), s))
		must(t, "D2H async", c.MemcpyAsync(main0, at(dst), d2, uint64(size), hip.MemcpyDefault, s))
		must(t, "sync", c.StreamSynchronize(main0, s))
		if !bytes.Equal(src, dst) {
			t.Fatalf("%d bytes came back changed from a stream", size)
		}
		must(t, "D2H", c.Memcpy(main0, at(dst), d, uint64(size), hip.MemcpyDefault))
		if !bytes.Equal(dst, bytes.Repeat([]byte{7}, size)) {
			t.Fatalf("memset of %d bytes", size)
		}
		must(t, "Free", c.Free(main0, d))
		must(t, "Free", c.Free(main0, d2))
		if e := c.Memcpy(main0, at(dst), d, uint64(size), hip.MemcpyDeviceToHost); e != hip.ErrorInvalidValue {
			t.Errorf("copy from freed memory: %v", e)
		}
		runtime.KeepAlive(src)
	}
	p0, e := c.MallocAsync(main0, 5000, s)
	must(t, "MallocAsync", e)
	must(t, "MemsetAsync", c.MemsetAsync(main0, p0, 1, 5000, s))
	must(t, "FreeAsync", c.FreeAsync(main0, p0, s))
	must(t, "StreamSynchronize", c.StreamSynchronize(main0, s))
	h, e := c.HostMalloc(main0, 10000, 0)
	must(t, "HostMalloc", e)
	d, e := c.Malloc(main0, 10000)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, d, 3, 10000))
	must(t, "to pinned memory", c.MemcpyAsync(main0, h, d, 10000, hip.MemcpyDefault, s))
	must(t, "from pinned memory", c.MemcpyAsync(main0, d, h, 5000, hip.MemcpyDefault, s))
	must(t, "StreamSynchronize", c.StreamSynchronize(main0, s))
	if a, e := c.PointerGetAttributes(main0, h); e != hip.Success || a.Type != hip.MemoryTypeHost {
		t.Errorf("pinned memory: %+v, %v", a, e)
	}
	if a, e := c.PointerGetAttributes(main0, d+1); e != hip.Success || a.Type != hip.MemoryTypeDevice {
		t.Errorf("device memory: %+v, %v", a, e)
	}
	m, e := c.MallocManaged(main0, 4096, 1) // where there is no range the worker has the same address for it
	must(t, "MallocManaged", e)
	must(t, "MemsetD32", c.MemsetD32(main0, m, 5, 1024))
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	if x := floats(m, 1024); math.Float32bits(x[0]) != 5 || math.Float32bits(x[1023]) != 5 {
		t.Errorf("managed memory after a memset: %v", x[:4])
	}
	must(t, "Free", c.Free(main0, m))
	must(t, "HostFree", c.HostFree(main0, h))
	must(t, "Free", c.Free(main0, d))
	free, total, e := c.MemGetInfo(main0)
	must(t, "MemGetInfo", e)
	if free != total {
		t.Errorf("free %d of %d after everything was freed", free, total)
	}
}

func TestCopyRows(t *testing.T) {
	c := connect(t, serve(t, simbackend.Options{}, worker.Config{}))
	const width, height, dpitch, spitch = 100, 77, 256, 130
	d, e := c.Malloc(main0, dpitch*height)
	must(t, "Malloc", e)
	must(t, "Memset", c.Memset(main0, d, 0xEE, dpitch*height))
	src := random(spitch*height, 5)
	must(t, "2D H2D", c.Memcpy2D(main0, d, dpitch, at(src), spitch, width, height, hip.MemcpyHostToDevice))
	all := make([]byte, dpitch*height)
	must(t, "D2H", c.Memcpy(main0, at(all), d, dpitch*height, hip.MemcpyDeviceToHost))
	back := bytes.Repeat([]byte{0xAA}, spitch*height)
	must(t, "2D D2H", c.Memcpy2DAsync(main0, at(back), spitch, d, dpitch, width, height, hip.MemcpyDeviceToHost, 0))
	must(t, "sync", c.DeviceSynchronize(main0))
	for y := range height {
		if !bytes.Equal(all[y*dpitch:y*dpitch+width], src[y*spitch:y*spitch+width]) {
			t.Fatalf("row %d on the device", y)
		}
		if y < height-1 && !bytes.Equal(all[y*dpitch+width:(y+1)*dpitch], bytes.Repeat([]byte{0xEE}, dpitch-width)) {
			t.Fatalf("padding behind row %d was touched", y)
		}
		if !bytes.Equal(back[y*spitch:y*spitch+width], src[y*spitch:y*spitch+width]) {
			t.Fatalf("row %d back", y)
		}
		if y < height-1 && !bytes.Equal(back[y*spitch+width:(y+1)*spitch], bytes.Repeat([]byte{0xAA}, spitch-width)) {
			t.Fatalf("padding behind row %d of the host was touched", y)
		}
	}
	if e := c.Memcpy2D(main0, d, 50, at(src), spitch, width, height, hip.MemcpyHostToDevice); e != hip.ErrorInvalidPitchValue {
		t.Errorf("pitch below width: %v", e)
	}
}

func TestOutOfMemoryByTheCall(t *testing.T) {
	w := serve(t, simbackend.Options{MemoryBytes: 256 << 20}, worker.Config{})
	c, other := connect(t, w), connect(t, w)
	if _, e := c.Malloc(main0, 1<<40); e != hip.ErrorOutOfMemory {
		t.Errorf("1 TiB: %v", e)
	}
	a, e := c.Malloc(main0, 200<<20)
	must(t, "200 MiB", e)
	if _, e := other.Malloc(main0, 100<<20); e != hip.ErrorOutOfMemory {
		t.Errorf("100 MiB of another client: %v", e)
	}
	must(t, "Free", c.Free(main0, a))
	if _, e := other.Malloc(main0, 200<<20); e != hip.Success {
		t.Errorf("200 MiB after the other client has freed: %v", e)
	}
	// All of it, exactly: credit must not be in the way.
	d := connect(t, serve(t, simbackend.Options{MemoryBytes: 64 << 20}, worker.Config{}))
	p, e := d.Malloc(main0, 64<<20)
	must(t, "the whole card", e)
	if _, e := d.Malloc(main0, 1); e != hip.ErrorOutOfMemory {
		t.Errorf("one byte more: %v", e)
	}
	must(t, "Free", d.Free(main0, p))
	q := make([]hip.Ptr, 64)
	for i := range q {
		q[i], e = d.Malloc(main0, 1<<20)
		must(t, "Malloc", e)
	}
	if _, e := d.Malloc(main0, 1); e != hip.ErrorOutOfMemory {
		t.Errorf("one byte more: %v", e)
	}
}

// TestThroughHostMemory: a copy to the device reads what an asynchronous copy before it on the stream has brought.
func TestThroughHostMemory(t *testing.T) {
	c := connect(t, serve(t, simbackend.Options{}, worker.Config{}))
	s, e := c.StreamCreateWithPriority(main0, 1, 0)
	must(t, "stream", e)
	const size = 3 << 20
	a, e := c.Malloc(main0, size)
	must(t, "Malloc", e)
	b, e := c.Malloc(main0, size)
	must(t, "Malloc", e)
	for i := range 20 {
		host := make([]byte, size)
		must(t, "MemsetAsync", c.MemsetAsync(main0, a, int32(i+1), size, s))
		must(t, "D2H", c.MemcpyAsync(main0, at(host), a, size, hip.MemcpyDeviceToHost, s))
		must(t, "H2D", c.MemcpyAsync(main0, b, at(host), size, hip.MemcpyHostToDevice, s))
		must(t, "sync", c.StreamSynchronize(main0, s))
		back := make([]byte, size)
		must(t, "D2H", c.Memcpy(main0, at(back), b, size, hip.MemcpyDeviceToHost))
		if !bytes.Equal(back, bytes.Repeat([]byte{byte(i + 1)}, size)) {
			t.Fatalf("round %d: the second copy read what was there before the first", i)
		}
	}
}
