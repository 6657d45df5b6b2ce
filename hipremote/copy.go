package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// Memcpy is hipMemcpy: when it returns, host memory may be used again.
func (c *Client) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	return c.copy(hip.OpMemcpy, t, dst, src, plain(n, kind, hip.StreamNull, true))
}

// MemcpyWithStream is hipMemcpyWithStream: hipMemcpy on a stream.
func (c *Client) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, st hip.Stream) hip.Error {
	return c.copy(hip.OpMemcpyWithStream, t, dst, src, plain(n, kind, st, true))
}

// MemcpyAsync is hipMemcpyAsync. Bytes for the device have left host memory when it returns, unless that is memory of hipHostMalloc or hipHostRegister and they are
// more than 64 KiB: those may have to be sent again as long as the copy is not done, after a cut. Bytes from the device are there when a call
// that waits for the stream returns, if they go to memory of hipHostMalloc, hipHostRegister or hipMallocManaged; to other memory the copy
// is synchronous, as HIP's is, and so is one from host memory to host memory.
func (c *Client) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, st hip.Stream) hip.Error {
	return c.copy(hip.OpMemcpyAsync, t, dst, src, plain(n, kind, st, false))
}

// Memcpy2D is hipMemcpy2D.
func (c *Client) Memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) hip.Error {
	return c.copy(hip.OpMemcpy2D, t, dst, src, shape{dpitch, spitch, width, height, kind, hip.StreamNull, true, -1, -1, true})
}

// Memcpy2DAsync is hipMemcpy2DAsync.
func (c *Client) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind, st hip.Stream) hip.Error {
	return c.copy(hip.OpMemcpy2DAsync, t, dst, src, shape{dpitch, spitch, width, height, kind, st, false, -1, -1, true})
}

// MemcpyPeer is hipMemcpyPeer.
func (c *Client) MemcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64) hip.Error {
	s := plain(n, hip.MemcpyDeviceToDevice, hip.StreamNull, true)
	s.dstDevice, s.srcDevice = dstDevice, srcDevice
	return c.copyPeer(hip.OpMemcpyPeer, t, dst, src, s)
}

// MemcpyPeerAsync is hipMemcpyPeerAsync.
func (c *Client) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, st hip.Stream) hip.Error {
	s := plain(n, hip.MemcpyDeviceToDevice, st, false)
	s.dstDevice, s.srcDevice = dstDevice, srcDevice
	return c.copyPeer(hip.OpMemcpyPeerAsync, t, dst, src, s)
}

func (c *Client) copyPeer(op uint16, t hip.Thread, dst, src hip.Ptr, s shape) hip.Error {
	n, code := c.GetDeviceCount()
	if code != hip.Success {
		return code
	}
	if s.dstDevice < 0 || s.dstDevice >= n || s.srcDevice < 0 || s.srcDevice >= n {
		return hip.ErrorInvalidDevice
	}
	return c.copy(op, t, dst, src, s)
}

// shape is what is to be copied, and how.
type shape struct {
	dpitch, spitch, width, height uint64
	kind                          hip.MemcpyKind
	stream                        hip.Stream
	wait                          bool  // until host memory may be used again
	dstDevice, srcDevice          int32 // of a peer copy, otherwise -1
	pitched                       bool  // the program gave the pitches, so that they are checked although there is but one row
}

func plain(n uint64, kind hip.MemcpyKind, st hip.Stream, wait bool) shape {
	return shape{n, n, n, 1, kind, st, wait, -1, -1, false}
}

// flat turns rows without gaps into one.
func (s *shape) flat() {
	if s.height > 1 && s.dpitch == s.width && s.spitch == s.width && s.width <= 1<<46/s.height {
		s.width *= s.height
		s.height, s.dpitch, s.spitch = 1, s.width, s.width
	}
}

// extent is the number of bytes from the first to the last of the rows.
func (s *shape) extent(pitch uint64) uint64 { return pitch*(s.height-1) + s.width }

func (s *shape) kindKnown() bool {
	return s.kind >= 0 && (s.kind <= hip.MemcpyDefault || s.kind == hip.MemcpyDeviceToDeviceNoCU)
}

// toDevice and fromDevice are what the direction says of destination and source.
func (s *shape) toDevice() bool { return s.kind == hip.MemcpyHostToDevice || isDtoD(s.kind) }

func (s *shape) fromDevice() bool { return s.kind == hip.MemcpyDeviceToHost || isDtoD(s.kind) }

// check answers what is wrong with the arguments.
func (s *shape) check(dst, src hip.Ptr) hip.Error {
	const most = 1 << 46
	switch {
	case !s.kindKnown():
		return hip.ErrorInvalidMemcpyDirection
	case dst == 0 || src == 0:
		return hip.ErrorInvalidValue
	case (s.height > 1 || s.pitched) && (s.dpitch < s.width || s.spitch < s.width):
		return hip.ErrorInvalidPitchValue
	case s.width > most || s.height > most || max(s.dpitch, s.spitch) > most/s.height:
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

func (c *Client) copy(op uint16, t hip.Thread, dst, src hip.Ptr, s shape) hip.Error {
	ct := c.begin()
	code := c.doCopy(&ct, op, t, dst, src, s)
	c.end(&ct, op, code)
	return code
}

func (c *Client) doCopy(ct *callTime, op uint16, t hip.Thread, dst, src hip.Ptr, s shape) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	if code := c.due(t, s.stream); code != hip.Success {
		return code
	}
	if code := c.handles.stream(s.stream); code != hip.Success {
		return code
	}
	if s.width == 0 || s.height == 0 {
		if s.pitched && !s.kindKnown() {
			return hip.ErrorInvalidMemcpyDirection
		}
		return hip.Success
	}
	if code := s.check(dst, src); code != hip.Success {
		return code
	}
	s.flat()
	d, code := c.locate(dst, s.extent(s.dpitch), s.toDevice())
	if code != hip.Success {
		return code
	}
	f, code := c.locate(src, s.extent(s.spitch), s.fromDevice())
	if code != hip.Success {
		return code
	}
	if code := max(c.ask(t, &d, dst, s.extent(s.dpitch)), c.ask(t, &f, src, s.extent(s.spitch))); code != hip.Success {
		return code
	}
	c.apart(l, s.stream, &d, &f)
	if s.pitched && (s.toDevice() && d.plain() || s.fromDevice() && f.plain()) {
		return hip.ErrorInvalidValue // said to be on a device, and is none of HIP's memory
	}
	if d.unknown { // the reply of a small copy to the device is not waited for
		if code := c.exists(t, dst, s.extent(s.dpitch)); code != hip.Success {
			return code
		}
	}
	across := false
	if s.wait && s.stream == hip.StreamNull && op != hip.OpMemcpyPeer {
		if across, code = c.turns(&t, d, f, &s); code != hip.Success {
			return code
		}
	}
	dst, src = d.at(dst), f.at(src)
	pageable := d.plain()
	switch {
	case pageable && f.plain() && s.kind != hip.MemcpyHostToHost && s.kind != hip.MemcpyDefault:
		return hip.ErrorInvalidValue // the device's side is not on the device
	case d.host && f.host: // as in HIP, whose processor copies them itself, in the asynchronous functions too
		return c.copyHost(ct, t, dst, src, s)
	case pageable:
		s.wait = true
	}
	msg := hiprpc.Copy{
		Device: t.Device, Stream: s.stream, Dpitch: s.dpitch, Spitch: s.spitch, Width: s.width, Height: s.height,
		DstDevice: s.dstDevice, SrcDevice: s.srcDevice, Async: !s.wait,
	}
	switch {
	case d.device && f.device:
		msg.Dir, msg.Dst, msg.Src = hiprpc.Within, d.addr, f.addr
		return c.copyWithin(ct, l, op, t, &msg, d, f, s.wait, across)
	case d.device:
		if c.behindFuncs(s.stream) {
			if done, code := c.copyLater(t, &d, dst, src, s); done || code != hip.Success {
				return code
			}
		}
		msg.Dir, msg.Dst = hiprpc.ToDevice, d.addr
		code := c.copyTo(ct, l, op, t, &msg, uint64(src), s.spitch, s.wait, f.pinned())
		if code == hip.Success && s.wait && d.confirm { // it must be there, and the worker has to say so
			code = c.StreamSynchronize(t, msg.Stream)
		}
		return code
	case f.device:
		msg.Dir, msg.Src = hiprpc.FromDevice, f.addr
		return c.copyFrom(ct, l, op, t, &msg, uint64(dst), s.dpitch, s.wait)
	}
	return hip.ErrorInvalidValue
}

// turns sees to it that a copy on the null stream takes its turn on the devices whose memory it touches, whichever is the thread's: as in HIP, it is
// on the null stream of that device, and behind what the thread's has. A copy across devices waits for the others' first, and must be waited for.
func (c *Client) turns(t *hip.Thread, dst, src side, how *shape) (across bool, code hip.Error) {
	dst.on = c.owner(*t, &dst, dst.addr, how.extent(how.dpitch))
	src.on = c.owner(*t, &src, src.addr, how.extent(how.spitch))
	switch {
	case dst.device && src.device:
		for _, s := range [...]side{dst, src} {
			if s.on >= 0 && s.on != t.Device {
				across = true
				if code := c.StreamSynchronize(hip.Thread{Device: s.on, ID: t.ID}, hip.StreamNull); code != hip.Success {
					return true, code
				}
			}
		}
	case dst.device && dst.on >= 0:
		code = c.elsewhere(t, dst.on)
	case src.device && src.on >= 0:
		code = c.elsewhere(t, src.on)
	}
	return across, code
}

// elsewhere makes the thread one of a device, behind what the null stream of its own has.
func (c *Client) elsewhere(t *hip.Thread, device int32) hip.Error {
	if t.Device == device {
		return hip.Success
	}
	own := *t
	t.Device = device
	return c.Turn(own, hip.StreamNull)
}

func isDtoD(k hip.MemcpyKind) bool {
	return k == hip.MemcpyDeviceToDevice || k == hip.MemcpyDeviceToDeviceNoCU
}

// side is one side of a copy. Memory of a region may be both on the host and on the device.
type side struct {
	host    bool
	device  bool        // and the worker has it
	addr    hip.Ptr     // on the device
	region  *hostRegion // that it lies in, if it does in one
	moved   uint64      // what to add to its address, if that is the device's, for the one here
	on      int32       // the device, -1 if it is none's alone
	unknown bool        // the worker may have it or not
	stray   bool        // likewise, at an address that is none of the agreed range's: it is said to be on the device, or nothing is there in this process
	confirm bool        // not only this client decides on it or looks at it: other sessions have it, or it lies at reserved addresses
}

// plain says that it is memory of the program's that HIP was told nothing of.
func (s *side) plain() bool { return s.host && s.region == nil }

// pinned says that it is memory that the program gave to HIP to copy from while it goes on. Managed memory is touched whenever the device has nothing to do.
func (s *side) pinned() bool { return s.region != nil && !s.region.managed }

// at is the address in this process of a side that was named by p.
func (s *side) at(p hip.Ptr) hip.Ptr { return p + hip.Ptr(s.moved) }

// locate says where n bytes at p are. An address decides by itself where device addresses can be told from others; without an agreed
// range one the client does not know is on the device if the caller says so and the worker has it.
func (c *Client) locate(p hip.Ptr, n uint64, saidDevice bool) (side, hip.Error) {
	if uint64(p)+n < uint64(p) {
		return side{}, hip.ErrorInvalidValue
	}
	if c.mem.span.Load() != nil && !c.mem.inRange(p) && !c.mem.outside.Load() && c.host.hidden.Load() == 0 && c.host.open.Load() == 0 {
		return side{host: true}, hip.Success // outside the range lies only what the program has registered, and that is nothing
	}
	b := c.mem.find(p)
	switch {
	case b != nil && uint64(p)+n > b.end():
		return side{}, hip.ErrorInvalidValue
	case b != nil && b.host != nil:
		x := side{host: true, region: b.host, moved: b.host.host - b.base, on: -1}
		if b.host.exposed.Load() {
			x.device, x.addr = true, b.host.dev+(p-hip.Ptr(b.base))
		}
		return x, hip.Success
	case b != nil:
		return side{device: true, addr: p, on: b.device, confirm: b.shared}, hip.Success
	case c.placed(p):
		return side{}, hip.ErrorInvalidValue // freed, or never allocated
	case c.mem.isReserved(p):
		return side{device: true, addr: p, on: -1, confirm: true}, hip.Success
	case c.mem.inRange(p):
		return side{device: true, addr: p, on: -1, unknown: !c.mem.isVariable(p)}, hip.Success
	case (c.mem.unit != 0 || c.mem.span.Load() == nil) && (saidDevice || !mapped(uint64(p), 1)): // a real library's variables lie anywhere
		return side{device: true, addr: p, on: -1, stray: true}, hip.Success
	}
	return side{host: true}, hip.Success
}

// ask asks the worker for a side that strays. The session must not take addresses of its own for a variable's: what it does not know is here, or nowhere.
func (c *Client) ask(t hip.Thread, s *side, p hip.Ptr, n uint64) hip.Error {
	if !s.stray || c.exists(t, p, n) != hip.ErrorInvalidValue {
		return hip.Success
	}
	if !mapped(uint64(p), 1) {
		return hip.ErrorInvalidValue
	}
	*s = side{host: true}
	return hip.Success
}

// copyHost copies from host to host when it is the copy's turn.
func (c *Client) copyHost(ct *callTime, t hip.Thread, dst, src hip.Ptr, s shape) hip.Error {
	if code := c.turn(ct, t, s.stream); code != hip.Success {
		return code
	}
	s.move(dst, src)
	return hip.Success
}

func (s *shape) move(dst, src hip.Ptr) {
	for row := range s.height {
		copy(hostBytes(uint64(dst)+row*s.dpitch, s.width), hostBytes(uint64(src)+row*s.spitch, s.width))
	}
}
