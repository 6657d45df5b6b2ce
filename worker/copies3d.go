package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// The general copy, of boxes in volumes and arrays. Its rows are staged closely packed where a side is the client's memory.

func (s *session) doDrvMemcpy3D(r *wire.Request)      { s.copy3D(r) }
func (s *session) doDrvMemcpy3DAsync(r *wire.Request) { s.copy3D(r) }

func (s *session) copy3D(r *wire.Request) {
	var c hiprpc.Copy3D
	if !c.Decode(r.Fixed) {
		s.malformed(r)
		return
	}
	n, _ := c.Bytes()
	dir := c.Dir()
	if dir != hiprpc.ToDevice && r.BulkLen != 0 || dir == hiprpc.ToDevice && uint64(r.BulkLen) != n || dir == hiprpc.FromDevice && r.NoReply() {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(c.Device)) || !s.checked(r, s.handles.check(hip.HandleStream, uint64(c.Stream))) ||
		!s.checked(r, s.volume(&c, c.Box.SrcMemoryType, c.Box.SrcArray, c.Box.SrcDevice, [...]uint64{c.Box.SrcXInBytes, c.Box.SrcY, c.Box.SrcZ, c.Box.SrcPitch, c.Box.SrcHeight}, false)) ||
		!s.checked(r, s.volume(&c, c.Box.DstMemoryType, c.Box.DstArray, c.Box.DstDevice, [...]uint64{c.Box.DstXInBytes, c.Box.DstY, c.Box.DstZ, c.Box.DstPitch, c.Box.DstHeight}, true)) {
		return
	}
	if n == 0 {
		s.reply(r, hip.Success, nil)
		return
	}
	switch dir {
	case hiprpc.ToDevice:
		s.box3DTo(r, &c, int(n))
	case hiprpc.FromDevice:
		s.box3DFrom(r, &c, n)
	default:
		t := hip.Thread{Device: c.Device}
		code := s.rt.DrvMemcpy3DAsync(t, &c.Box, c.Stream)
		if code != hip.Success || r.NoReply() {
			s.reply(r, code, nil)
			return
		}
		s.then(r, t, c.Stream, func() {})
	}
}

// volume says whether a side is the session's: an array of its own, or a box within one allocation of the device.
func (s *session) volume(c *hiprpc.Copy3D, kind hip.MemoryType, array hip.Array, p hip.Ptr, at [5]uint64, write bool) hip.Error {
	switch kind {
	case hip.MemoryTypeArray:
		return s.handles.check(hip.HandleArray, uint64(array))
	case hip.MemoryTypeHost:
		return hip.Success
	}
	const most = 1 << 46
	width, rows, slices := c.Box.WidthInBytes, c.Box.Height, c.Box.Depth
	if width == 0 || rows == 0 || slices == 0 {
		return hip.Success
	}
	x, y, z, pitch, height := at[0], at[1], at[2], at[3], at[4]
	if pitch == 0 {
		pitch = width
	}
	if height == 0 {
		height = rows
	}
	if pitch < width || pitch > most || max(height, rows, y) > most/pitch || max(slices, z) > most/(pitch*height) || x > most {
		return hip.ErrorInvalidValue
	}
	slice := pitch * height
	start := hip.Ptr(z*slice + y*pitch + x)
	if p+start < p {
		return hip.ErrorInvalidValue
	}
	n := (slices-1)*slice + (rows-1)*pitch + width
	return s.owned(hip.Thread{Device: c.Device}, p+start, n, n, 1, write)
}

// hostSide points the side that is the client's memory to a buffer.
func hostSide(c *hiprpc.Copy3D, buf []byte) {
	b := &c.Box
	if b.SrcMemoryType == hip.MemoryTypeHost {
		b.SrcHost, b.SrcPitch, b.SrcHeight = addressOf(buf), b.WidthInBytes, b.Height
	} else {
		b.DstHost, b.DstPitch, b.DstHeight = addressOf(buf), b.WidthInBytes, b.Height
	}
}

// box3DTo takes the message's bulk to the device when the stream comes to it.
func (s *session) box3DTo(r *wire.Request, c *hiprpc.Copy3D, n int) {
	buf := s.staged(r, c.Device, c.Stream, uint64(n))
	if buf == nil || r.ReadBulk(buf) != nil { // no memory, or the connection is gone
		return
	}
	hostSide(c, buf)
	t := hip.Thread{Device: c.Device}
	if s.copier != nil {
		x, life, op, st := s.holdIf(r), r.Tag, r.Op, c.Stream
		done := func(code hip.Error) {
			s.stage.give(buf)
			switch {
			case x != nil && x.take():
				s.reply(x.r, code, nil)
			case x == nil && code != hip.Success:
				s.fault(life, op, s.streamDevice(t.Device, st), st, code, "")
			}
		}
		if code := s.copier.Copy3D(t, &c.Box, buf, c.Stream, !c.Async, done); code != hip.Success {
			done(code)
		}
		return
	}
	if code := s.rt.DrvMemcpy3DAsync(t, &c.Box, c.Stream); code != hip.Success {
		s.stage.give(buf)
		s.reply(r, code, nil)
		return
	}
	s.then(r, t, c.Stream, func() { s.stage.give(buf) })
}

// box3DFrom answers with the bytes of a box when the stream comes to it.
func (s *session) box3DFrom(r *wire.Request, c *hiprpc.Copy3D, n uint64) {
	if !c.Async && s.replyFailure(r, s.streamDevice(c.Device, c.Stream), c.Stream) {
		return
	}
	if n > maxFromDevice {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	buf := s.staged(r, c.Device, c.Stream, n)
	if buf == nil {
		return
	}
	hostSide(c, buf)
	t, st := hip.Thread{Device: c.Device}, c.Stream
	if s.copier != nil {
		x := s.hold(r)
		done := func(code hip.Error) {
			if x.take() {
				if code != hip.Success {
					s.reply(x.r, code, nil)
				} else {
					s.replyBulk(x.r, nil, buf)
				}
			}
			s.stage.give(buf)
		}
		if code := s.copier.Copy3D(t, &c.Box, buf, st, !c.Async, done); code != hip.Success {
			done(code)
		}
		return
	}
	if code := s.rt.DrvMemcpy3DAsync(t, &c.Box, st); code != hip.Success {
		s.stage.give(buf)
		s.reply(r, code, nil)
		return
	}
	x := s.hold(r)
	s.after(t, st, func(code hip.Error) {
		if x.take() {
			if code != hip.Success {
				s.reply(x.r, code, nil)
			} else {
				s.replyBulk(x.r, nil, buf)
			}
		}
		s.stage.give(buf)
	})
}
