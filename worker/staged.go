package worker

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Copies between the device and staging memory, in their stream's turn.

// copyInStaged queues a copy to the device: one task, however many rows there are.
func (s *session) copyInStaged(r *wire.Request, c *hiprpc.Copy, buf []byte) {
	t := hip.Thread{Device: c.Device}
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
	var code hip.Error
	if c.Height == 1 {
		code = s.copier.CopyIn(t, c.Dst, buf, st, done)
	} else {
		code = s.copier.Copy3D(t, &hip.DrvMEMCPY3D{
			SrcMemoryType: hip.MemoryTypeHost, SrcHost: addressOf(buf), SrcPitch: c.Width, SrcHeight: c.Height,
			DstMemoryType: hip.MemoryTypeDevice, DstDevice: c.Dst, DstPitch: c.Dpitch, DstHeight: c.Height,
			WidthInBytes: c.Width, Height: c.Height, Depth: 1,
		}, buf, st, false, done)
	}
	if code != hip.Success {
		done(code)
	}
}

// copyFromStaged is copyFrom for memory that cannot be sent from where it lies.
func (s *session) copyFromStaged(r *wire.Request, c *hiprpc.Copy, n uint64) {
	if n > maxFromDevice {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	buf := s.staged(r, c.Device, c.Stream, n)
	if buf == nil {
		return
	}
	t := hip.Thread{Device: c.Device}
	if s.copier != nil {
		s.copyOutStaged(r, c, buf)
		return
	}
	code := s.copyRows(t, addressOf(buf), c.Width, c.Src, c.Spitch, c, hip.MemcpyDeviceToHost)
	if code != hip.Success {
		s.stage.give(buf)
		s.reply(r, code, nil)
		return
	}
	x := s.hold(r)
	s.after(t, c.Stream, func(code hip.Error) {
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

// copyOutStaged queues a copy from the device: one task, however many rows there are.
func (s *session) copyOutStaged(r *wire.Request, c *hiprpc.Copy, buf []byte) {
	t, x := hip.Thread{Device: c.Device}, s.hold(r)
	// Bytes that somebody waits for in a later call are sent before that is answered. Who waits for the copy itself finds the stream done.
	over := !c.Async
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
	var code hip.Error
	if c.Height == 1 {
		code = s.copier.CopyOut(t, buf, c.Src, c.Stream, over, done)
	} else {
		code = s.copier.Copy3D(t, &hip.DrvMEMCPY3D{
			SrcMemoryType: hip.MemoryTypeDevice, SrcDevice: c.Src, SrcPitch: c.Spitch, SrcHeight: c.Height,
			DstMemoryType: hip.MemoryTypeHost, DstHost: addressOf(buf), DstPitch: c.Width, DstHeight: c.Height,
			WidthInBytes: c.Width, Height: c.Height, Depth: 1,
		}, buf, c.Stream, over, done)
	}
	if code != hip.Success {
		done(code)
	}
}

// addressOf is where b lies. b must be kept alive by whoever waits for the copy.
func addressOf(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
