package session

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

func noise(n int) []byte {
	r := rand.NewPCG(1, uint64(n))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = append(b, byte(r.Uint64()))
	}
	return b
}

func (p *pair) malloc(n uint64) uint64 {
	p.t.Helper()
	var m hipv1.MallocReply
	p.ask(hipv1.OpMalloc, &hipv1.MallocRequest{Size: n}, nil, &m)
	return m.DevicePtr
}

func (p *pair) put(dst uint64, b []byte) {
	p.t.Helper()
	p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Dst: dst, Size: uint64(len(b)), Kind: 1}, b, nil)
}

func (p *pair) get(src uint64, n int) []byte {
	p.t.Helper()
	return p.ask(hipv1.OpMemcpy, &hipv1.MemcpyRequest{Src: src, Size: uint64(n), Kind: 2}, nil, nil)
}

// Copies are right whether they fit the buffer or not.
func TestCopies(t *testing.T) {
	p := start(t, nil)
	d := p.malloc(3 * bufferSize)
	for _, n := range []int{1, 4096, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize - 7} {
		want := noise(n)
		p.put(d+7, want)
		if got := p.get(d+7, n); !bytes.Equal(got, want) {
			t.Errorf("%d bytes are not what they were", n)
		}
	}
	p.ask(hipv1.OpMemset, &hipv1.MemsetRequest{Dst: d, Value: 0x5a, Size: 100}, nil, nil)
	p.ask(hipv1.OpMemsetAsync, &hipv1.MemsetRequest{Dst: d + 50, Value: 1, Size: 10, Stream: uint64(hip.StreamPerThread)}, nil, nil)
	p.sync()
	want := append(bytes.Repeat([]byte{0x5a}, 50), append(bytes.Repeat([]byte{1}, 10), bytes.Repeat([]byte{0x5a}, 40)...)...)
	if got := p.get(d, 100); !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
	p.ask(hipv1.OpMemcpyAsync, &hipv1.MemcpyRequest{Dst: d + 1000, Src: d, Size: 100, Kind: 3}, nil, nil)
	p.ask(hipv1.OpMemcpyPeer, &hipv1.MemcpyPeerRequest{Dst: d + 2000, Src: d + 1000, Size: 100}, nil, nil)
	if got := p.get(d+2000, 100); !bytes.Equal(got, want) {
		t.Errorf("%x", got)
	}
}

// Rows arrive without what is between them, and what is between the device's stays.
func TestRows(t *testing.T) {
	p := start(t, nil)
	for _, c := range []struct{ spitch, dpitch, width, height uint64 }{
		{10, 16, 7, 5}, {16, 10, 10, 3}, {64 << 10, 100 << 10, 50000, 90}, {bufferSize + 100, bufferSize + 4096, bufferSize + 50, 2}, {8, 8, 0, 3},
	} {
		size := int(c.dpitch * c.height)
		d := p.malloc(uint64(size))
		before, host := noise(size), noise(int(c.spitch*c.height) + 1)[1:]
		p.put(d, before)
		p.ask(hipv1.OpMemcpy2D, &hipv1.Memcpy2DRequest{Dst: d, DstPitch: c.dpitch, SrcPitch: c.spitch, Width: c.width, Height: c.height, Kind: 1}, host, nil)
		want := bytes.Clone(before)
		for y := range c.height {
			copy(want[y*c.dpitch:][:c.width], host[y*c.spitch:])
		}
		if !bytes.Equal(p.get(d, size), want) {
			t.Errorf("%+v: wrong on the device", c)
		}
		if c.spitch > bufferSize {
			p.fails(hip.ErrorInvalidValue, hipv1.OpMemcpy2D, &hipv1.Memcpy2DRequest{Src: d, SrcPitch: c.dpitch, DstPitch: c.spitch, Width: c.width, Height: c.height, Kind: 2}, nil)
			continue
		}
		back := p.ask(hipv1.OpMemcpy2DAsync, &hipv1.Memcpy2DRequest{Src: d, SrcPitch: c.dpitch, DstPitch: c.spitch, Width: c.width, Height: c.height, Kind: 2}, nil, nil)
		there := make([]byte, c.spitch*c.height)
		for y := range c.height {
			copy(there[y*c.spitch:][:c.width], want[y*c.dpitch:])
		}
		if !bytes.Equal(back, there) {
			t.Errorf("%+v: wrong on the way back", c)
		}
		p.ask(hipv1.OpFree, &hipv1.FreeRequest{DevicePtr: d}, nil, nil)
	}
}

func TestBox(t *testing.T) {
	p := start(t, nil)
	const pitch, height, depth = 32, 8, 4
	from, to := p.malloc(pitch*height*depth), p.malloc(pitch*height*depth)
	src, want := noise(pitch*height*depth), make([]byte, pitch*height*depth)
	p.put(from, src)
	p.put(to, want)
	q := hipv1.Memcpy3DRequest{
		SrcPtr: from, SrcPitch: pitch, SrcHeight: height, SrcXOffset: 3, SrcYOffset: 1, SrcZOffset: 1,
		DstPtr: to, DstPitch: pitch, DstHeight: height, DstXOffset: 5, DstYOffset: 2, Width: 20, Height: 5, Depth: 3, Kind: 3,
	}
	p.post(hipv1.OpMemcpy3D, &q, nil)
	for z := range 3 {
		for y := range 5 {
			copy(want[(z*height+y+2)*pitch+5:][:20], src[((z+1)*height+y+1)*pitch+3:])
		}
	}
	if !bytes.Equal(p.get(to, len(want)), want) {
		t.Error("wrong")
	}
	p.sync()
	for _, change := range []func(*hipv1.Memcpy3DRequest){
		func(q *hipv1.Memcpy3DRequest) { q.SrcZOffset = ^uint64(0) },
		func(q *hipv1.Memcpy3DRequest) { q.DstHeight = 1 << 62 },
		func(q *hipv1.Memcpy3DRequest) { q.Depth = 5 },
		func(q *hipv1.Memcpy3DRequest) { q.Width = 30 },
		func(q *hipv1.Memcpy3DRequest) { q.SrcPtr = 0x1000 },
	} {
		bad := q
		change(&bad)
		p.fails(hip.ErrorInvalidValue, hipv1.OpMemcpy3D, &bad, nil)
	}
	q.Kind = 1
	p.fails(hip.ErrorNotSupported, hipv1.OpMemcpy3D, &q, nil)
}

// Bytes are known by a hash again only if they are the same bytes.
func TestCache(t *testing.T) {
	p := start(t, nil)
	d := p.malloc(4096)
	cached := func(hash uint64, at uint64, n int) *hipv1.MemcpyCachedRequest {
		return &hipv1.MemcpyCachedRequest{Hash: hash, Dst: d + at, Size: uint64(n)}
	}
	p.fails(hip.ErrorNotFound, hipv1.OpMemcpyHtoDCached, cached(1, 0, 5), nil)
	p.ask(hipv1.OpMemcpyHtoDCached, cached(1, 0, 5), []byte("hello"), nil)
	p.post(hipv1.OpMemcpyHtoDCached, cached(1, 100, 5), nil)
	if got := p.get(d+100, 5); string(got) != "hello" {
		t.Errorf("%q", got)
	}
	p.fails(hip.ErrorNotFound, hipv1.OpMemcpyHtoDCached, cached(1, 0, 6), nil)
	p.ask(hipv1.OpMemcpyHtoDCached, cached(1, 200, 5), []byte("other"), nil)
	if got := p.get(d+200, 5); string(got) != "other" {
		t.Errorf("%q", got)
	}
	p.fails(hip.ErrorNotFound, hipv1.OpMemcpyHtoDCached, cached(1, 0, 5), nil)
	p.ask(hipv1.OpMemcpyHtoDCached, cached(1, 300, 5), []byte("other"), nil) // still nothing that a hash stands for
	p.fails(hip.ErrorNotFound, hipv1.OpMemcpyHtoDCached, cached(1, 0, 5), nil)
	p.post(hipv1.OpMemcpyHtoDCached, cached(7, 0, 5), nil)
	p.fails(hip.ErrorNotFound, hipv1.OpDeviceSynchronize, nil, nil)
}
