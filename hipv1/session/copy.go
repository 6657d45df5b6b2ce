package session

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

// bufferSize is how much of a copy between the client and a device is in this process at once.
const bufferSize = 4 << 20

func (s *Session) buffer() []byte {
	if s.buf == nil {
		s.buf = make([]byte, bufferSize)
	}
	return s.buf
}

func (s *Session) copy(c *call) (any, hip.Error) {
	switch q := c.body.(type) {
	case *hipv1.MemcpyRequest:
		return nil, s.memcpy(c, q)
	case *hipv1.Memcpy2DRequest:
		return nil, s.memcpy2D(c, q)
	case *hipv1.Memcpy3DRequest:
		return nil, s.memcpy3D(c, q)
	case *hipv1.MemcpyPeerRequest:
		return nil, s.memcpyPeer(c, q)
	case *hipv1.MemcpyCachedRequest:
		return nil, s.memcpyCached(c, q)
	}
	return nil, hip.ErrorNotSupported
}

// turn is when a copy happens: on a stream, or, of a call that knows none, as hipMemcpy does it.
type turn struct {
	stream hip.Stream
	async  bool
}

// turnOf is a copy's turn. A call that is no …Async may name a stream, too.
func (s *Session) turnOf(name uint64, async bool) (turn, hip.Error) {
	st, code := s.stream(name)
	return turn{st, async || st != hip.StreamNull}, code
}

// hostCopy refuses a copy from or to the client where a capture goes on that it would be part of, or harm: what the client's memory holds when the graph is
// launched, nobody here knows.
func (s *Session) hostCopy(w turn) hip.Error {
	if !s.captures.Active() {
		return hip.Success
	}
	if w.async {
		return s.captures.RefuseWaiting(s.thread(), w.stream)
	}
	return s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit)
}

func (s *Session) memcpy(c *call, q *hipv1.MemcpyRequest) hip.Error {
	w, code := s.turnOf(q.Stream, c.h.Op == hipv1.OpMemcpyAsync)
	if code != hip.Success {
		return code
	}
	inline := c.h.Flags&hipv1.FlagInlineData != 0
	switch kind := hip.MemcpyKind(q.Kind); {
	case kind == hip.MemcpyHostToDevice && inline, kind == hip.MemcpyDefault && inline: // with its bytes, it says where they come from
		if uint64(c.in.N) != q.Size {
			return s.violates(c, "a copy of %d bytes comes with %d", q.Size, c.in.N)
		}
		return s.copyIn(c, q.Dst, q.Size, w)
	case kind == hip.MemcpyDeviceToHost && !c.h.NoReply():
		return s.copyOut(c, q.Src, q.Size, w)
	case kind == hip.MemcpyDeviceToDevice || kind == hip.MemcpyDeviceToDeviceNoCU:
		return s.copyWithin(q.Dst, q.Src, q.Size, kind, w)
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault:
		return hip.ErrorInvalidMemcpyDirection
	}
	return hip.ErrorInvalidValue // which side is whose memory, addresses do not tell: a client's own may be what another is here
}

// copyIn copies what the client sends.
func (s *Session) copyIn(c *call, dst, n uint64, w turn) hip.Error {
	if n == 0 {
		return hip.Success
	}
	if !s.mem.has(dst, n) {
		return hip.ErrorInvalidValue
	}
	if code := s.hostCopy(w); code != hip.Success {
		return code
	}
	b := s.buffer()
	for at := uint64(0); at < n; {
		part := b[:min(uint64(len(b)), n-at)]
		if !s.take(c, part) {
			return hip.ErrorInvalidValue
		}
		if code := s.transfer(hip.Ptr(dst+at), part, hip.MemcpyHostToDevice, w); code != hip.Success {
			return code
		}
		at += uint64(len(part))
	}
	return hip.Success
}

// transfer copies between a device and memory of this process, and waits for it.
func (s *Session) transfer(p hip.Ptr, b []byte, kind hip.MemcpyKind, w turn) hip.Error {
	defer runtime.KeepAlive(b)
	host := hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	dst, src := p, host
	if kind == hip.MemcpyDeviceToHost {
		dst, src = host, p
	}
	if w.async {
		return s.Runtime.MemcpyWithStream(s.thread(), dst, src, uint64(len(b)), kind, w.stream)
	}
	return s.Runtime.Memcpy(s.thread(), dst, src, uint64(len(b)), kind)
}

// copyOut sends the client what a device holds. The first part is copied before anything is said, so that what goes wrong is an answer.
func (s *Session) copyOut(c *call, src, n uint64, w turn) hip.Error {
	switch {
	case s.failed != hip.Success:
		code := s.failed
		s.failed = hip.Success
		return code
	case n == 0:
		return hip.Success
	case n > hipv1.MaxBulk || !s.mem.has(src, n):
		return hip.ErrorInvalidValue
	}
	if code := s.hostCopy(w); code != hip.Success {
		return code
	}
	part := func(at uint64) ([]byte, hip.Error) {
		b := s.buffer()[:min(bufferSize, n-at)]
		return b, s.transfer(hip.Ptr(src+at), b, hip.MemcpyDeviceToHost, w)
	}
	first, code := part(0)
	if code != hip.Success {
		return code
	}
	c.sent = func() error { return s.send(c, n, first, part) }
	return hip.Success
}

// send sends a reply with n bytes behind it, part by part.
func (s *Session) send(c *call, n uint64, b []byte, part func(at uint64) ([]byte, hip.Error)) error {
	s.out = hipv1.AppendReply(s.out[:0], c.h, s.dialect, 0, nil, int(n))
	if err := s.write(s.out); err != nil {
		return err
	}
	for at := uint64(0); ; {
		if err := s.write(b); err != nil {
			return err
		}
		if at += uint64(len(b)); at == n {
			return nil
		}
		var code hip.Error
		if b, code = part(at); code != hip.Success {
			return fmt.Errorf("%v failed after %d of %d bytes were sent: %w", c.h.Op, at, n, code)
		}
	}
}

// copyWithin copies from device memory to device memory.
func (s *Session) copyWithin(dst, src, n uint64, kind hip.MemcpyKind, w turn) hip.Error {
	if n == 0 {
		return hip.Success
	}
	if !s.mem.has(dst, n) || !s.mem.has(src, n) {
		return hip.ErrorInvalidValue
	}
	t, d, f := s.thread(), hip.Ptr(dst), hip.Ptr(src)
	if !w.async {
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit); code != hip.Success {
			return code
		}
		return s.Runtime.Memcpy(t, d, f, n, kind)
	}
	op := hip.GraphCopy{Dst: d, Src: f, DstPitch: n, SrcPitch: n, DstSlice: n, SrcSlice: n, Width: n, Height: 1, Depth: 1, Kind: kind}
	if done, code := s.record(w.stream, graph.Memcpy{Form: graph.Form1D, Dst: d, Src: f, N: n, Kind: kind, Op: op}); done {
		return code
	}
	return s.Runtime.MemcpyAsync(t, d, f, n, kind, w.stream)
}

// memset fills.
func (s *Session) memset(c *call, q *hipv1.MemsetRequest) hip.Error {
	w, code := s.turnOf(q.Stream, c.h.Op == hipv1.OpMemsetAsync)
	switch {
	case code != hip.Success:
		return code
	case q.Size == 0:
		return hip.Success
	case !s.mem.has(q.Dst, q.Size):
		return hip.ErrorInvalidValue
	}
	t, dst := s.thread(), hip.Ptr(q.Dst)
	if !w.async {
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit); code != hip.Success {
			return code
		}
		return s.Runtime.Memset(t, dst, q.Value, q.Size)
	}
	p := hip.MemsetParams{Dst: dst, ElementSize: 1, Height: 1, Value: uint32(q.Value), Width: q.Size}
	if done, code := s.record(w.stream, graph.Memset{P: p, Depth: 1}); done {
		return code
	}
	return s.Runtime.MemsetAsync(t, dst, q.Value, q.Size, w.stream)
}
