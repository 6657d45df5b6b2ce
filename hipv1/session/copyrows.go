package session

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

func (s *Session) memcpy2D(c *call, q *hipv1.Memcpy2DRequest) hip.Error {
	w, code := s.turnOf(q.Stream, c.h.Op == hipv1.OpMemcpy2DAsync)
	if code != hip.Success {
		return code
	}
	kind := hip.MemcpyKind(q.Kind)
	if q.Height > 0 && (q.Width > q.DstPitch || q.Width > q.SrcPitch) {
		return hip.ErrorInvalidPitchValue
	}
	switch {
	case kind == hip.MemcpyHostToDevice && c.h.Flags&hipv1.FlagInlineData != 0:
		return s.rowsIn(c, q, w)
	case kind == hip.MemcpyDeviceToHost && !c.h.NoReply():
		return s.rowsOut(c, q, w)
	case kind == hip.MemcpyDeviceToDevice || kind == hip.MemcpyDeviceToDeviceNoCU:
		return s.rowsWithin(q, kind, w)
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault:
		return hip.ErrorInvalidMemcpyDirection
	}
	return hip.ErrorInvalidValue
}

// all is the bytes of rows with what is between them, false if a message cannot have so many.
func all(pitch, height uint64) (uint64, bool) {
	hi, n := bits.Mul64(pitch, height)
	return n, hi == 0 && n <= hipv1.MaxBulk
}

// rowsIn copies rows that the client sends, as they lie in its memory. What is between them does not get into the device's.
func (s *Session) rowsIn(c *call, q *hipv1.Memcpy2DRequest, w turn) hip.Error {
	n, ok := all(q.SrcPitch, q.Height)
	if !ok || uint64(c.in.N) != n {
		return s.violates(c, "%d rows of %d bytes come with %d", q.Height, q.SrcPitch, c.in.N)
	}
	if !s.mem.hasRows(q.Dst, q.DstPitch, q.Width, q.Height) {
		return hip.ErrorInvalidValue
	}
	if code := s.hostCopy(w); code != hip.Success || q.Width == 0 {
		return code
	}
	b := s.buffer()
	for row := uint64(0); row < q.Height; {
		m := min(q.Height-row, uint64(len(b))/q.SrcPitch)
		if m == 0 { // one row is more than the buffer
			if code := s.rowIn(c, q, q.Dst+row*q.DstPitch, w); code != hip.Success {
				return code
			}
			row++
			continue
		}
		part := b[:m*q.SrcPitch]
		if !s.take(c, part) {
			return hip.ErrorInvalidValue
		}
		if code := s.transferRows(hip.Ptr(q.Dst+row*q.DstPitch), q.DstPitch, part, q.SrcPitch, q.Width, m, hip.MemcpyHostToDevice, w); code != hip.Success {
			return code
		}
		row += m
	}
	return hip.Success
}

// rowIn copies one row, and leaves out what is behind it.
func (s *Session) rowIn(c *call, q *hipv1.Memcpy2DRequest, dst uint64, w turn) hip.Error {
	if code := s.copyIn(c, dst, q.Width, w); code != hip.Success {
		return code
	}
	for rest := q.SrcPitch - q.Width; rest > 0; {
		part := s.buffer()[:min(bufferSize, rest)]
		if !s.take(c, part) {
			return hip.ErrorInvalidValue
		}
		rest -= uint64(len(part))
	}
	return hip.Success
}

// transferRows is transfer for rows, of which b has all but what is behind the last.
func (s *Session) transferRows(p hip.Ptr, pitch uint64, b []byte, hostPitch, width, height uint64, kind hip.MemcpyKind, w turn) hip.Error {
	defer runtime.KeepAlive(b)
	t, host := s.thread(), hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	dst, dpitch, src, spitch := p, pitch, host, hostPitch
	if kind == hip.MemcpyDeviceToHost {
		dst, dpitch, src, spitch = host, hostPitch, p, pitch
	}
	if !w.async {
		return s.Runtime.Memcpy2D(t, dst, dpitch, src, spitch, width, height, kind)
	}
	if code := s.Runtime.Memcpy2DAsync(t, dst, dpitch, src, spitch, width, height, kind, w.stream); code != hip.Success {
		return code
	}
	return s.Runtime.StreamSynchronize(t, w.stream)
}

// rowsOut sends rows as they are to lie in the client's memory. What it has between them nobody here knows: it is sent as zeros.
func (s *Session) rowsOut(c *call, q *hipv1.Memcpy2DRequest, w turn) hip.Error {
	n, ok := all(q.DstPitch, q.Height)
	switch {
	case s.failed != hip.Success:
		code := s.failed
		s.failed = hip.Success
		return code
	case !ok || q.DstPitch > bufferSize || !s.mem.hasRows(q.Src, q.SrcPitch, q.Width, q.Height):
		return hip.ErrorInvalidValue
	case n == 0:
		return hip.Success
	}
	if code := s.hostCopy(w); code != hip.Success {
		return code
	}
	part := func(at uint64) ([]byte, hip.Error) {
		row := at / q.DstPitch
		m := min(q.Height-row, bufferSize/q.DstPitch)
		b := s.buffer()[:m*q.DstPitch]
		clear(b)
		if q.Width == 0 {
			return b, hip.Success
		}
		return b, s.transferRows(hip.Ptr(q.Src+row*q.SrcPitch), q.SrcPitch, b, q.DstPitch, q.Width, m, hip.MemcpyDeviceToHost, w)
	}
	first, code := part(0)
	if code != hip.Success {
		return code
	}
	c.sent = func() error { return s.send(c, n, first, part) }
	return hip.Success
}

func (s *Session) rowsWithin(q *hipv1.Memcpy2DRequest, kind hip.MemcpyKind, w turn) hip.Error {
	if !s.mem.hasRows(q.Dst, q.DstPitch, q.Width, q.Height) || !s.mem.hasRows(q.Src, q.SrcPitch, q.Width, q.Height) {
		return hip.ErrorInvalidValue
	}
	if q.Width == 0 || q.Height == 0 {
		return hip.Success
	}
	t, d, f := s.thread(), hip.Ptr(q.Dst), hip.Ptr(q.Src)
	if !w.async {
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit); code != hip.Success {
			return code
		}
		return s.Runtime.Memcpy2D(t, d, q.DstPitch, f, q.SrcPitch, q.Width, q.Height, kind)
	}
	if done, code := s.record(w.stream, rowsNode(d, q.DstPitch, f, q.SrcPitch, q.Width, q.Height, kind)); done {
		return code
	}
	return s.Runtime.Memcpy2DAsync(t, d, q.DstPitch, f, q.SrcPitch, q.Width, q.Height, kind, w.stream)
}

// rowsNode is the node of a copy of rows.
func rowsNode(dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) graph.Memcpy {
	p := hip.Memcpy3DParms{
		SrcPtr: hip.PitchedPtr{Ptr: src, Pitch: spitch, Xsize: width, Ysize: height}, DstPtr: hip.PitchedPtr{Ptr: dst, Pitch: dpitch, Xsize: width, Ysize: height},
		Extent: hip.Extent{Width: width, Height: height, Depth: 1}, Kind: kind,
	}
	op := hip.GraphCopy{Dst: dst, Src: src, DstPitch: dpitch, SrcPitch: spitch, DstSlice: dpitch * height, SrcSlice: spitch * height, Width: width, Height: height, Depth: 1, Kind: kind}
	return graph.Memcpy{Form: graph.Form3D, P: p, Kind: kind, Op: op}
}
