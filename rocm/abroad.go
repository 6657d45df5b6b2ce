package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// AMD's library makes a copy of memory of another device than the stream's on the null stream of the memory's device, between two points of the stream. That is the
// program's null stream, not the library's (see nullStreams).

// abroad has copy tell the stream on which a copy between dst and src is made: s, or the null stream of the device whose memory that is. 0 is no address.
func (r *Runtime) abroad(t hip.Thread, s hip.Stream, dst, src hip.Ptr, copy func(t hip.Thread, s hip.Stream) hip.Error) hip.Error {
	on, device, ok := r.elsewhere(t, s, dst, src)
	if !ok {
		return copy(t, s)
	}
	there := hip.Thread{ID: t.ID, Device: device}
	if err := aside.Follow(r, there, hip.StreamNull, on, s); err != hip.Success {
		return err
	}
	if err := copy(there, hip.StreamNull); err != hip.Success {
		return err
	}
	return aside.Follow(r, on, s, there, hip.StreamNull)
}

// elsewhere is the device whose memory dst and src are of, if that is one and not the stream's, which on is of.
func (r *Runtime) elsewhere(t hip.Thread, s hip.Stream, dst, src hip.Ptr) (on hip.Thread, device int32, ok bool) {
	if !r.several() {
		return t, 0, false
	}
	to, isTo := r.memoryOf(t, dst)
	from, isFrom := r.memoryOf(t, src)
	switch {
	case isTo && isFrom && to != from: // the stream copies from one to the other
		return t, 0, false
	case isTo:
		device = to
	case isFrom:
		device = from
	default:
		return t, 0, false
	}
	on, err := r.threadOf(t, s)
	return on, device, err == hip.Success && on.Device != device
}

// memoryOf is the device whose memory an address is of.
func (r *Runtime) memoryOf(t hip.Thread, p hip.Ptr) (device int32, ok bool) {
	if p == 0 {
		return 0, false
	}
	a, err := r.PointerGetAttributes(t, p)
	return a.Device, err == hip.Success && a.Type == hip.MemoryTypeDevice
}

// MemcpyAsync is hipMemcpyAsync.
func (r *Runtime) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.abroad(t, s, dst, src, func(t hip.Thread, s hip.Stream) hip.Error { return r.memcpyAsync(t, dst, src, n, kind, s) })
}

// Memcpy2DAsync is hipMemcpy2DAsync.
func (r *Runtime) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.abroad(t, s, dst, src, func(t hip.Thread, s hip.Stream) hip.Error {
		return r.memcpy2DAsync(t, dst, dpitch, src, spitch, width, height, kind, s)
	})
}

// MemcpyPeerAsync is hipMemcpyPeerAsync.
func (r *Runtime) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream) hip.Error {
	return r.abroad(t, s, dst, src, func(t hip.Thread, s hip.Stream) hip.Error {
		return r.memcpyPeerAsync(t, dst, dstDevice, src, srcDevice, n, s)
	})
}

// DrvMemcpy3DAsync is hipDrvMemcpy3DAsync.
func (r *Runtime) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream) hip.Error {
	dst, src := boxAddresses(p)
	return r.abroad(t, s, dst, src, func(t hip.Thread, s hip.Stream) hip.Error { return r.drvMemcpy3DAsync(t, r.box(p), s) })
}

// boxAddresses are where a box is copied to and from; 0: an array, or memory of the host.
func boxAddresses(p *hip.DrvMEMCPY3D) (dst, src hip.Ptr) {
	if p == nil {
		return 0, 0
	}
	at := func(s hip.BoxSide) hip.Ptr {
		if s.MemoryType == hip.MemoryTypeArray || s.MemoryType == hip.MemoryTypeHost {
			return 0
		}
		return s.Device
	}
	return at(p.Dst()), at(p.Src())
}

// copiesAbroad says whether a copy of a graph is of memory of another device only, which a graph of the library's would put beside the program's null stream.
func (r *Runtime) copiesAbroad(c *hip.GraphCopy, device int32) bool {
	dst, src := c.Dst, c.Src
	if c.General != nil {
		dst, src = boxAddresses(c.General)
	}
	_, _, yes := r.elsewhere(hip.Thread{Device: device}, hip.StreamNull, dst, src)
	return yes
}
