package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// DrvMemcpy3D is hipDrvMemcpy3D: a box of bytes between volumes and arrays, in one message whatever its slices, up to what a message holds.
func (c *Client) DrvMemcpy3D(t hip.Thread, p *hip.DrvMEMCPY3D) hip.Error {
	return c.copyBox(hip.OpDrvMemcpy3D, t, p, hip.StreamNull, true)
}

// DrvMemcpy3DAsync is hipDrvMemcpy3DAsync.
func (c *Client) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, st hip.Stream) hip.Error {
	return c.copyBox(hip.OpDrvMemcpy3DAsync, t, p, st, false)
}

func (c *Client) copyBox(op uint16, t hip.Thread, p *hip.DrvMEMCPY3D, st hip.Stream, wait bool) hip.Error {
	if p == nil {
		return hip.ErrorInvalidValue
	}
	ct := c.begin()
	code := c.doCopyBox(&ct, op, t, *p, st, wait)
	c.end(&ct, op, code)
	return code
}

// volume is one side of the copy of a box: rows of pitch bytes, slices of height rows.
type volume struct {
	side
	array         bool
	local         uint64 // where the box begins in this process, if it is there
	bytes         uint64 // from its first to its last
	pitch, height uint64
}

// row is the host memory of a row.
func (v *volume) row(y, z, n uint64) []byte {
	return hostBytes(v.local+(z*v.height+y)*v.pitch, n)
}

// boxSide finds one side.
func (c *Client) boxSide(box *hip.DrvMEMCPY3D, at hip.BoxSide) (v volume, code hip.Error) {
	const most = 1 << 46
	switch at.MemoryType {
	case hip.MemoryTypeArray:
		on, code := c.handles.arrays.check(at.Array, box, [3]uint64{at.XInBytes, at.Y, at.Z})
		return volume{array: true, side: side{device: true, on: on}}, code
	case hip.MemoryTypeHost, hip.MemoryTypeDevice, hip.MemoryTypeUnified, hip.MemoryTypeManaged:
	default:
		return v, hip.ErrorInvalidValue
	}
	p, pitch, height := at.Ptr(), at.Pitch, at.Height
	if pitch == 0 {
		pitch = box.WidthInBytes
	}
	if height == 0 {
		height = box.Height
	}
	if p == 0 || pitch < box.WidthInBytes || pitch > most || max(height, box.Height, at.Y) > most/pitch || max(box.Depth, at.Z) > most/(pitch*height) || at.XInBytes > most {
		return v, hip.ErrorInvalidValue
	}
	start := hip.Ptr((at.Z*height+at.Y)*pitch + at.XInBytes)
	if p+start < start {
		return v, hip.ErrorInvalidValue
	}
	v = volume{pitch: pitch, height: height, bytes: ((box.Depth-1)*height+box.Height-1)*pitch + box.WidthInBytes}
	if v.side, code = c.locate(p+start, v.bytes, at.MemoryType == hip.MemoryTypeDevice); code != hip.Success {
		return v, code
	}
	if at.MemoryType == hip.MemoryTypeDevice && v.plain() {
		return v, hip.ErrorInvalidValue // said to be on the device, and is none of HIP's memory
	}
	v.local = uint64(v.at(p + start))
	return v, hip.Success
}

// boxSides finds both sides. What is said to be on the device and is not known to be is asked for: the session must not take an address of this process for
// one of its own.
func (c *Client) boxSides(t hip.Thread, b *hip.DrvMEMCPY3D) (src, dst volume, code hip.Error) {
	if src, code = c.boxSide(b, b.Src()); code == hip.Success {
		dst, code = c.boxSide(b, b.Dst())
	}
	for _, v := range []*volume{&src, &dst} {
		if code == hip.Success && v.stray {
			code = c.exists(t, hip.Ptr(v.local), v.bytes)
		}
	}
	return src, dst, code
}

// boxPut says in a box what the worker is told of its sides.
func boxPut(b *hip.DrvMEMCPY3D, dst, src *volume) {
	b.SetSrc(src.told(b.Src()))
	b.SetDst(dst.told(b.Dst()))
}

func (c *Client) doCopyBox(ct *callTime, op uint16, t hip.Thread, box hip.DrvMEMCPY3D, st hip.Stream, wait bool) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	if code := c.due(t, st); code != hip.Success {
		return code
	}
	if code := c.handles.stream(st); code != hip.Success {
		return code
	}
	if box.WidthInBytes == 0 || box.Height == 0 || box.Depth == 0 {
		return hip.Success
	}
	if c.handles.arrays.whole(&box); box.WidthInBytes == 0 {
		return hip.ErrorInvalidValue
	}
	m := hiprpc.Copy3D{Device: t.Device, Stream: st, Async: !wait, Box: box}
	if n, ok := m.Bytes(); !ok || n == 0 {
		return hip.ErrorInvalidValue
	}
	f, d, code := c.boxSides(t, &box)
	if code != hip.Success {
		return code
	}
	c.apart(l, st, &d.side, &f.side)
	switch own := d.plain(); {
	case d.host && f.host: // as in copy
		if code := c.turn(ct, t, st); code != hip.Success {
			return code
		}
		boxMove(&box, &d, &f)
		return hip.Success
	case own:
		wait, m.Async = true, false
	}
	boxPut(&m.Box, &d, &f)
	switch {
	case d.device && f.device:
		return c.boxWithin(ct, l, op, t, &m, &d, &f, wait)
	case d.device:
		if c.behindFuncs(st) {
			if done, code := c.boxLater(t, box, &d, &f, st, wait); done || code != hip.Success {
				return code
			}
		}
		return c.boxTo(ct, l, op, t, &m, &f, wait)
	}
	return c.boxFrom(ct, l, op, &m, &d, wait)
}

// boxMove copies from host to host.
func boxMove(box *hip.DrvMEMCPY3D, d, f *volume) {
	for z := range box.Depth {
		for y := range box.Height {
			copy(d.row(y, z, box.WidthInBytes), f.row(y, z, box.WidthInBytes))
		}
	}
}

// told is what the worker is told of a side: in an array as it was said, on the device from the box's first byte on.
func (v *volume) told(s hip.BoxSide) hip.BoxSide {
	switch {
	case v.array:
		return hip.BoxSide{MemoryType: hip.MemoryTypeArray, Array: s.Array, XInBytes: s.XInBytes, Y: s.Y, Z: s.Z}
	case v.device:
		return hip.BoxSide{MemoryType: hip.MemoryTypeDevice, Device: v.addr, Pitch: v.pitch, Height: v.height}
	}
	return hip.BoxSide{MemoryType: hip.MemoryTypeHost}
}

// boxWithin queues a copy on the device, as copyWithin does; as in HIP on the stream of the thread's device, whose memory ever it touches. As in HIP a copy that an array takes part in is waited for.
func (c *Client) boxWithin(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy3D, dst, src *volume, wait bool) hip.Error {
	for _, v := range [...]*volume{dst, src} {
		if v.region != nil {
			if code := c.push(l, v.region); code != hip.Success {
				return code
			}
		}
	}
	var buf [256]byte
	code := c.send(ct, l, op, m.Append(buf[:0]), nil)
	across := func(v *volume) bool { // what follows on the other device is not behind it
		return v.on >= 0 && v.on != t.Device || v.on < 0 && v.region == nil && !c.onlyDevice()
	}
	if code == hip.Success && wait && (across(dst) || across(src) || dst.region != nil || src.region != nil || dst.array || src.array) {
		code = c.StreamSynchronize(t, m.Stream)
	}
	return code
}

// boxLater is copyLater for a box.
func (c *Client) boxLater(t hip.Thread, box hip.DrvMEMCPY3D, dst, src *volume, st hip.Stream, wait bool) (done bool, code hip.Error) {
	if wait {
		return false, c.StreamSynchronize(t, st)
	}
	if src.region == nil {
		return false, hip.Success
	}
	return c.copyInTurn(t, st, &dst.side, dst.bytes, func(t hip.Thread, own hip.Stream) hip.Error {
		return c.doCopyBox(nil, hip.OpDrvMemcpy3DAsync, t, box, own, true)
	})
}

// pieces cuts a box into boxes of at most most bytes: slices, rows of a slice, or parts of a row. at is where each begins within the whole.
func pieces(box *hip.DrvMEMCPY3D, most uint64, f func(x, y, z, width, height, depth uint64) hip.Error) hip.Error {
	width := min(box.WidthInBytes, most)
	height, depth := uint64(1), uint64(1)
	if width == box.WidthInBytes {
		height = min(box.Height, most/width)
	}
	if height == box.Height {
		depth = min(box.Depth, most/(width*height))
	}
	for z := uint64(0); z < box.Depth; z += depth {
		for y := uint64(0); y < box.Height; y += height {
			for x := uint64(0); x < box.WidthInBytes; x += width {
				if code := f(x, y, z, min(width, box.WidthInBytes-x), min(height, box.Height-y), min(depth, box.Depth-z)); code != hip.Success {
					return code
				}
			}
		}
	}
	return hip.Success
}

// whole is the largest piece: a multiple of any element's size, so that no piece of an array cuts one.
const whole = 16

// boxTo sends host memory in messages that let other threads' calls in between.
func (c *Client) boxTo(ct *callTime, l *link, op uint16, t hip.Thread, m *hiprpc.Copy3D, src *volume, wait bool) hip.Error {
	box := m.Box
	c.landings.wait(src.local, src.bytes)
	n, _ := m.Bytes()
	behind := wait && (!l.direct || c.busyOn(m.Device)) // as in copyTo
	if wait && n >= waitFirst && c.work.busy() {
		if code := c.StreamSynchronize(t, m.Stream); code != hip.Success {
			return code
		}
	}
	var packed []byte
	code := pieces(&box, wire.MaxBulk/whole*whole, func(x, y, z, width, height, depth uint64) hip.Error {
		m.Box.DstXInBytes, m.Box.DstY, m.Box.DstZ = box.DstXInBytes+x, box.DstY+y, box.DstZ+z
		m.Box.WidthInBytes, m.Box.Height, m.Box.Depth = width, height, depth
		packed = packed[:0]
		for k := range depth {
			for i := range height {
				packed = append(packed, src.row(y+i, z+k, box.WidthInBytes)[x:x+width]...)
			}
		}
		if code := c.reveal(l, packed); code != hip.Success {
			return code
		}
		var buf [256]byte
		if len(packed) <= hiprpc.MaxUnacknowledged {
			return c.send(ct, l, op, m.Append(buf[:0]), packed)
		}
		later := *m
		later.Async = true // as in sendBulk
		return c.sendStaged(ct, l, op, later.Append(buf[:0]), packed, terms{})
	})
	if code == hip.Success && behind {
		code = c.StreamSynchronize(t, m.Stream)
	}
	if wait && !behind { // as in copyTo
		l.ReclaimAll()
	}
	return code
}

// unpack lays a piece of a box out.
func (v *volume) unpack(from []byte, whole, x, y, z, width, height, depth uint64) {
	for k := range depth {
		for i := range height {
			copy(v.row(y+i, z+k, whole)[x:x+width], from)
			from = from[width:]
		}
	}
}

// flat reports whether the rows of a box follow each other without gaps.
func (v *volume) flat(box *hip.DrvMEMCPY3D) bool {
	return box.Height == 1 && box.Depth == 1 || v.pitch == box.WidthInBytes && (v.height == box.Height || box.Depth == 1)
}

// boxFrom fetches a box and lays it out. Without gaps the bytes go from the socket straight to where they belong, when the stream comes to
// them; with gaps it waits even for an asynchronous copy, as copyRowsFrom does.
func (c *Client) boxFrom(ct *callTime, l *link, op uint16, m *hiprpc.Copy3D, dst *volume, wait bool) hip.Error {
	box, flat := m.Box, dst.flat(&m.Box)
	wait = wait || !flat
	m.Async = !wait
	var packed []byte
	end := ended{device: -1}
	code := pieces(&box, fromPiece, func(x, y, z, width, height, depth uint64) (code hip.Error) {
		m.Box.SrcXInBytes, m.Box.SrcY, m.Box.SrcZ = box.SrcXInBytes+x, box.SrcY+y, box.SrcZ+z
		m.Box.WidthInBytes, m.Box.Height, m.Box.Depth = width, height, depth
		n := width * height * depth
		var buf [256]byte
		req := m.Append(buf[:0])
		if flat {
			part := hostBytes(dst.local+(z*box.Height+y)*box.WidthInBytes+x, n)
			if wait {
				end, code = c.fetchBytes(ct, l, op, req, part)
				return code
			}
			return c.fetchBytesLater(ct, l, op, m.Device, req, part)
		}
		if uint64(len(packed)) != n {
			packed = make([]byte, n)
		}
		if end, code = c.fetchBytes(ct, l, op, req, packed); code != hip.Success {
			return code
		}
		dst.unpack(packed, box.WidthInBytes, x, y, z, width, height, depth)
		return hip.Success
	})
	if code != hip.Success || !wait {
		return code
	}
	return c.show(ct, l, end)
}
