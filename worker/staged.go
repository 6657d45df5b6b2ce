package worker

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Copies between the device and staging memory, in their stream's turn.

// copyInRows queues a staged copy to the device, a task for each row.
func (s *session) copyInRows(r *wire.Request, c *hiprpc.Copy, buf []byte) {
	t := hip.Thread{Device: c.Device}
	x, life, op, st := s.holdIf(r), r.Tag, r.Op, c.Stream
	rows(c, func(row uint64, done func(hip.Error)) hip.Error {
		return s.copier.CopyIn(t, c.Dst+hip.Ptr(row*c.Dpitch), buf[row*c.Width:(row+1)*c.Width:(row+1)*c.Width], c.Stream, done)
	}, func(code hip.Error) {
		s.stage.give(buf)
		switch {
		case x != nil && x.take():
			s.reply(x.r, code, nil)
		case x == nil && code != hip.Success:
			s.fault(life, op, s.streamDevice(t.Device, st), st, code, "")
		}
	})
}

// rows queues a copy row by row and calls finish when all are done, with the first failure.
func rows(c *hiprpc.Copy, queue func(row uint64, done func(hip.Error)) hip.Error, finish func(hip.Error)) {
	var first atomic.Int32
	var left atomic.Int64
	left.Store(int64(c.Height))
	end := func(n int64, code hip.Error) {
		if code != hip.Success {
			first.CompareAndSwap(0, int32(code))
		}
		if left.Add(-n) == 0 {
			finish(hip.Error(first.Load()))
		}
	}
	done := func(code hip.Error) { end(1, code) }
	for row := range c.Height {
		if code := queue(row, done); code != hip.Success {
			end(int64(c.Height-row), code) // this one and those that are not tried
			return
		}
	}
}

// copyFromStaged is copyFrom for memory that cannot be sent from where it lies.
func (s *session) copyFromStaged(r *wire.Request, c *hiprpc.Copy, n uint64) {
	if n > maxFromDevice {
		s.reply(r, hip.ErrorInvalidValue, nil)
		return
	}
	buf := s.stage.take(int(n))
	if buf == nil {
		return
	}
	t := hip.Thread{Device: c.Device}
	if s.copier != nil {
		s.copyOutRows(r, c, buf)
		return
	}
	code := s.rt.Memcpy2DAsync(t, addressOf(buf), c.Width, c.Src, c.Spitch, c.Width, c.Height, hip.MemcpyDeviceToHost, c.Stream)
	if code != hip.Success {
		s.stage.give(buf)
		s.reply(r, code, nil)
		return
	}
	x := s.hold(r)
	code = s.rt.LaunchHostFunc(t, c.Stream, func() {
		if x.take() {
			s.replyBulk(x.r, nil, buf)
		}
		s.stage.give(buf)
	})
	if code != hip.Success {
		st := c.Stream // and not c, which stays on the stack
		go func() {    // what is queued may still use the memory
			_ = s.rt.StreamSynchronize(t, st)
			s.stage.give(buf)
			if x.take() {
				s.reply(x.r, code, nil)
			}
		}()
	}
}

// copyOutRows queues a staged copy from the device, a task for each row.
func (s *session) copyOutRows(r *wire.Request, c *hiprpc.Copy, buf []byte) {
	t, x := hip.Thread{Device: c.Device}, s.hold(r)
	// Bytes that somebody waits for in a later call are sent before that is answered. Who waits for the copy itself finds the stream done.
	over := !c.Async
	rows(c, func(row uint64, done func(hip.Error)) hip.Error {
		return s.copier.CopyOut(t, buf[row*c.Width:(row+1)*c.Width:(row+1)*c.Width], c.Src+hip.Ptr(row*c.Spitch), c.Stream, over, done)
	}, func(code hip.Error) {
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

// addressOf is where b lies. b must be kept alive by whoever waits for the copy.
func addressOf(b []byte) hip.Ptr { return hip.Ptr(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
