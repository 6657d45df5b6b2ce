package session

import (
	"math/bits"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
	"github.com/rocwire/rocwire/hipv1"
)

// memcpy3D copies a box within device memory. The protocol has no place for the client's bytes.
func (s *Session) memcpy3D(c *call, q *hipv1.Memcpy3DRequest) hip.Error {
	w, code := s.turnOf(q.Stream, c.h.Op == hipv1.OpMemcpy3DAsync)
	if code != hip.Success {
		return code
	}
	switch kind := hip.MemcpyKind(q.Kind); {
	case kind == hip.MemcpyDeviceToDevice || kind == hip.MemcpyDeviceToDeviceNoCU:
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault:
		return hip.ErrorInvalidMemcpyDirection
	default:
		return hip.ErrorNotSupported
	}
	if q.Width == 0 || q.Height == 0 || q.Depth == 0 {
		return hip.Success
	}
	src := side{q.SrcPtr, q.SrcPitch, q.SrcHeight, q.SrcXOffset, q.SrcYOffset, q.SrcZOffset}
	dst := side{q.DstPtr, q.DstPitch, q.DstHeight, q.DstXOffset, q.DstYOffset, q.DstZOffset}
	for _, x := range []*side{&src, &dst} {
		if n, ok := x.end(q.Width, q.Height, q.Depth); !ok || !s.mem.has(x.ptr, n) {
			return hip.ErrorInvalidValue
		}
	}
	t := s.thread()
	p := &hip.DrvMEMCPY3D{
		SrcMemoryType: hip.MemoryTypeDevice, SrcDevice: hip.Ptr(src.ptr), SrcPitch: src.pitch, SrcHeight: src.height, SrcXInBytes: src.x, SrcY: src.y, SrcZ: src.z,
		DstMemoryType: hip.MemoryTypeDevice, DstDevice: hip.Ptr(dst.ptr), DstPitch: dst.pitch, DstHeight: dst.height, DstXInBytes: dst.x, DstY: dst.y, DstZ: dst.z,
		WidthInBytes: q.Width, Height: q.Height, Depth: q.Depth,
	}
	if !w.async {
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit); code != hip.Success {
			return code
		}
		return s.Runtime.DrvMemcpy3D(t, p)
	}
	op := hip.GraphCopy{
		Dst: dst.start(), Src: src.start(), DstPitch: dst.pitch, SrcPitch: src.pitch, DstSlice: dst.pitch * dst.height, SrcSlice: src.pitch * src.height,
		Width: q.Width, Height: q.Height, Depth: q.Depth, Kind: hip.MemcpyDeviceToDevice,
	}
	if done, code := s.record(w.stream, graph.Memcpy{Form: graph.FormDrv, D: *p, Kind: hip.MemcpyDeviceToDevice, Op: op}); done {
		return code
	}
	return s.Runtime.DrvMemcpy3DAsync(t, p, w.stream)
}

// side is the memory that a box is in, and where in it the box begins, x in bytes.
type side struct {
	ptr, pitch, height, x, y, z uint64
}

func (m *side) start() hip.Ptr { return hip.Ptr(m.ptr + (m.z*m.height+m.y)*m.pitch + m.x) }

// end is how many bytes of the memory there have to be; false: the box does not lie in it, or that is more than there can be.
func (m *side) end(width, height, depth uint64) (uint64, bool) {
	w, over1 := bits.Add64(m.x, width, 0)
	h, over2 := bits.Add64(m.y, height, 0)
	d, over3 := bits.Add64(m.z, depth, 0)
	if over1|over2|over3 != 0 || w > m.pitch || h > m.height && depth > 1 {
		return 0, false
	}
	hi1, last := bits.Mul64(d-1, m.height)
	last, over := bits.Add64(last, h-1, 0)
	hi2, n := bits.Mul64(last, m.pitch)
	n, over4 := bits.Add64(n, w, 0)
	return n, hi1|hi2|over|over4 == 0
}

// memcpyPeer copies between devices.
func (s *Session) memcpyPeer(c *call, q *hipv1.MemcpyPeerRequest) hip.Error {
	w, code := s.turnOf(q.Stream, c.h.Op == hipv1.OpMemcpyPeerAsync)
	switch {
	case code != hip.Success:
		return code
	case !s.has(q.DstDevice) || !s.has(q.SrcDevice):
		return hip.ErrorInvalidDevice
	case q.Size == 0:
		return hip.Success
	case !s.mem.has(q.Dst, q.Size) || !s.mem.has(q.Src, q.Size):
		return hip.ErrorInvalidValue
	}
	t, dst, src, n := s.thread(), hip.Ptr(q.Dst), hip.Ptr(q.Src), q.Size
	if !w.async {
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureImplicit); code != hip.Success {
			return code
		}
		return s.Runtime.MemcpyPeer(t, dst, q.DstDevice, src, q.SrcDevice, n)
	}
	op := hip.GraphCopy{
		Dst: dst, Src: src, DstPitch: n, SrcPitch: n, DstSlice: n, SrcSlice: n, Width: n, Height: 1, Depth: 1, Kind: hip.MemcpyDeviceToDevice,
		Peer: true, DstDevice: q.DstDevice, SrcDevice: q.SrcDevice,
	}
	if done, code := s.record(w.stream, graph.Memcpy{Form: graph.Form1D, Dst: dst, Src: src, N: n, Kind: hip.MemcpyDeviceToDevice, Op: op}); done {
		return code
	}
	return s.Runtime.MemcpyPeerAsync(t, dst, q.DstDevice, src, q.SrcDevice, n, w.stream)
}
