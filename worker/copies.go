package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// All copies are one operation here: what differs between HIP's functions (who waits, for what) is the client's doing. The stream orders
// the copy; whoever wants to know that it happened asked for a reply.

func (s *session) doMemcpy(r *wire.Request)           { s.copy(r) }
func (s *session) doMemcpyAsync(r *wire.Request)      { s.copy(r) }
func (s *session) doMemcpyWithStream(r *wire.Request) { s.copy(r) }
func (s *session) doMemcpy2D(r *wire.Request)         { s.copy(r) }
func (s *session) doMemcpy2DAsync(r *wire.Request)    { s.copy(r) }
func (s *session) doMemcpyPeer(r *wire.Request)       { s.copy(r) }
func (s *session) doMemcpyPeerAsync(r *wire.Request)  { s.copy(r) }

// asyncCopy says whether r is a copy whose caller does not look at the reply.
func asyncCopy(r *wire.Request) bool {
	switch t := hip.TraitsOf(r.Op); {
	case t&hip.CopiesRows != 0:
		var c hiprpc.Copy
		return c.Decode(r.Fixed) && c.Async
	case t&hip.CopiesBox != 0:
		var c hiprpc.Copy3D
		return c.Decode(r.Fixed) && c.Async
	}
	return false
}

// stagedCopy is the size in bytes up to which a copy from the device is answered on the line if its stream is idle, and otherwise goes through staging
// memory, so that the stream goes on while it is sent.
const stagedCopy = 1 << 20

// maxFromDevice bounds the bytes of one copy from the device that must be staged.
const maxFromDevice = 64 << 20

func (s *session) copy(r *wire.Request) {
	var c hiprpc.Copy
	if !c.Decode(r.Fixed) {
		s.malformed(r)
		return
	}
	n, _ := c.Bytes()
	if c.Dir != hiprpc.ToDevice && r.BulkLen != 0 || c.Dir == hiprpc.ToDevice && uint64(r.BulkLen) != n {
		s.malformed(r)
		return
	}
	if !s.checked(r, s.device(c.Device)) || !s.checked(r, s.handles.check(hip.HandleStream, uint64(c.Stream))) {
		return
	}
	if n == 0 {
		s.reply(r, hip.Success, nil)
		return
	}
	switch c.Dir {
	case hiprpc.ToDevice:
		s.copyTo(r, &c, int(n))
	case hiprpc.FromDevice:
		s.copyFrom(r, &c, n)
	case hiprpc.NearTo, hiprpc.NearFrom:
		s.copyNear(r, &c, n)
	default:
		s.copyWithin(r, &c, n)
	}
}

// extent is the number of bytes from the first to the last of height rows; false if it makes no sense.
func extentOf(pitch, width, height uint64) (uint64, bool) {
	if height <= 1 {
		return width, true
	}
	if pitch < width || pitch > 1<<46/height {
		return 0, false
	}
	return pitch*(height-1) + width, true
}

// memory is device memory [p, p+n) where this process can reach it.
func (s *session) memory(p hip.Ptr, n uint64) ([]byte, bool) {
	if s.direct == nil {
		return nil, false
	}
	return s.direct.DeviceBytes(p, n)
}

// reacher is a runtime whose devices may not all access the same memory (hipMemSetAccess).
type reacher interface {
	Reaches(t hip.Thread, p hip.Ptr, n uint64, write bool) bool
}

// holder is a runtime that may put memory in another place, but not while somebody holds it: who writes to it directly must.
type holder interface {
	HoldMemory()
	ReleaseMemory()
}

// readInto reads a message's bulk straight into device memory.
func (s *session) readInto(r *wire.Request, mem []byte) error {
	if s.holder != nil {
		s.holder.HoldMemory()
		defer s.holder.ReleaseMemory()
	}
	return r.ReadBulk(mem)
}

// owned says whether rows at p lie in memory of one allocation of the device, which the thread's device may read, or write.
func (s *session) owned(t hip.Thread, p hip.Ptr, pitch, width, height uint64, write bool) hip.Error {
	n, ok := extentOf(pitch, width, height)
	if !ok {
		return hip.ErrorInvalidPitchValue
	}
	if uint64(p)+n < uint64(p) {
		return hip.ErrorInvalidValue
	}
	if s.reacher != nil && !s.reacher.Reaches(t, p, n, write) {
		return hip.ErrorInvalidValue
	}
	if s.direct != nil {
		if _, ok := s.direct.DeviceBytes(p, n); !ok {
			return hip.ErrorInvalidValue
		}
		return hip.Success
	}
	base, size, code := s.rt.MemGetAddressRange(t, p)
	if code != hip.Success {
		return hip.ErrorInvalidValue
	}
	if p < base || uint64(p-base) > size || n > size-uint64(p-base) {
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

// copyTo takes the message's bulk to the device: from the socket straight into device memory if nothing is under way, otherwise into staging
// memory from which the stream takes it.
func (s *session) copyTo(r *wire.Request, c *hiprpc.Copy, n int) {
	t := hip.Thread{Device: c.Device}
	if !s.checked(r, s.owned(t, c.Dst, c.Dpitch, c.Width, c.Height, true)) {
		return
	}
	if c.Height == 1 && s.only(t, c.Dst) && s.quietOn(t, c.Stream) {
		if mem, ok := s.memory(c.Dst, uint64(n)); ok {
			begin := mono.Now()
			if s.readInto(r, mem) == nil {
				s.copied(c.Dst, uint64(n), true, begin)
				s.reply(r, hip.Success, nil)
			}
			return
		}
	}
	buf := s.staged(r, c.Device, c.Stream, uint64(n))
	if buf == nil || r.ReadBulk(buf) != nil { // no memory, or the connection is gone
		return
	}
	if s.copier != nil {
		s.copyInStaged(r, c, buf)
		return
	}
	code := s.copyRows(t, c.Dst, c.Dpitch, addressOf(buf), c.Width, c, hip.MemcpyHostToDevice)
	if code != hip.Success {
		s.stage.give(buf)
		s.reply(r, code, nil)
		return
	}
	s.then(r, t, c.Stream, func() { s.stage.give(buf) })
}

// copyRows queues the copy of c's rows. A single one has no pitch that counts, and a library refuses a pitch that is less than the width all the same.
func (s *session) copyRows(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch uint64, c *hiprpc.Copy, kind hip.MemcpyKind) hip.Error {
	if c.Height == 1 {
		return s.rt.MemcpyAsync(t, dst, src, c.Width, kind, c.Stream)
	}
	return s.rt.Memcpy2DAsync(t, dst, dpitch, src, spitch, c.Width, c.Height, kind, c.Stream)
}

// holdIf keeps a request that is to be answered; nil for one that is not, which counts as executed.
func (s *session) holdIf(r *wire.Request) *pendingReply {
	if r.NoReply() {
		s.reply(r, hip.Success, nil)
		return nil
	}
	return s.hold(r)
}

// then runs done when the stream has come this far, and afterwards replies to r.
func (s *session) then(r *wire.Request, t hip.Thread, st hip.Stream, done func()) {
	x, life, op := s.holdIf(r), r.Tag, r.Op
	finish := func(code hip.Error) {
		done()
		switch {
		case x != nil && x.take():
			s.reply(x.r, code, nil)
		case x == nil && code != hip.Success:
			s.fault(life, op, s.streamDevice(t.Device, st), st, code, "")
		}
	}
	s.after(t, st, finish)
}

// after calls f when the stream has come this far: with an error if it has failed, or if that cannot be known.
func (s *session) after(t hip.Thread, st hip.Stream, f func(hip.Error)) {
	var code hip.Error
	if s.follower != nil {
		code = s.follower.After(t, st, f)
	} else {
		code = s.rt.LaunchHostFunc(t, st, func() { f(hip.Success) })
	}
	if code != hip.Success {
		go func() { // what is queued may still use memory that f gives back
			_ = s.rt.StreamSynchronize(t, st)
			f(code)
		}()
	}
}

// copyFrom answers with bytes of the device, when the stream comes to it. The stream stands still while they are sent from device memory.
func (s *session) copyFrom(r *wire.Request, c *hiprpc.Copy, n uint64) {
	if r.NoReply() { // nobody to send the bytes to
		s.malformed(r)
		return
	}
	if !c.Async && s.replyFailure(r, s.streamDevice(c.Device, c.Stream), c.Stream) {
		return
	}
	t := hip.Thread{Device: c.Device}
	if !s.checked(r, s.owned(t, c.Src, c.Spitch, c.Width, c.Height, false)) {
		return
	}
	quiet := func() bool { return s.quietOn(t, c.Stream) }
	if c.Height == 1 && n <= stagedCopy && s.direct != nil && s.only(t, c.Src) && (quiet() || !c.Async && soon(quiet)) {
		if mem, ok := s.memory(c.Src, n); ok {
			begin, idle := mono.Now(), []byte(nil)
			if !c.Async {
				idle = s.idle()
			}
			s.replyBulk(r, idle, mem)
			s.copied(c.Src, n, false, begin)
			return
		}
	}
	if s.direct == nil || c.Height > 1 || s.copier != nil && n <= stagedCopy {
		s.copyFromStaged(r, c, n)
		return
	}
	if !s.checked(r, s.behindOwner(t, c.Stream, c.Src)) {
		return
	}
	x, src := s.hold(r), c.Src
	code := s.rt.LaunchHostFunc(t, c.Stream, func() {
		if !x.take() {
			return
		}
		if mem, ok := s.memory(src, n); ok {
			begin := mono.Now()
			s.replyBulk(x.r, nil, mem)
			s.copied(src, n, false, begin)
		} else {
			s.reply(x.r, hip.ErrorInvalidValue, nil) // freed meanwhile
		}
	})
	if code != hip.Success && x.take() {
		s.reply(x.r, code, nil)
	}
}

// behindOwner has what follows on a stream come behind what the null stream of the device has whose memory is at p, as a copy of the runtime's does.
func (s *session) behindOwner(t hip.Thread, st hip.Stream, p hip.Ptr) hip.Error {
	if s.devices == 1 {
		return hip.Success
	}
	a, code := s.rt.PointerGetAttributes(t, p)
	if code != hip.Success || a.Type != hip.MemoryTypeDevice || a.Device == s.streamDevice(t.Device, st) {
		return hip.Success
	}
	return aside.Follow(s.rt, t, st, hip.Thread{Device: a.Device, ID: t.ID}, hip.StreamNull)
}

// copyWithin queues a copy from device to device.
func (s *session) copyWithin(r *wire.Request, c *hiprpc.Copy, n uint64) {
	t := hip.Thread{Device: c.Device}
	if !s.checked(r, s.owned(t, c.Dst, c.Dpitch, c.Width, c.Height, true)) || !s.checked(r, s.owned(t, c.Src, c.Spitch, c.Width, c.Height, false)) {
		return
	}
	var code hip.Error
	switch {
	case c.DstDevice >= 0 && c.SrcDevice >= 0:
		if !s.checked(r, s.device(c.DstDevice)) || !s.checked(r, s.device(c.SrcDevice)) {
			return
		}
		if c.Height != 1 {
			s.malformed(r)
			return
		}
		if c.Async {
			code = s.rt.MemcpyPeerAsync(t, c.Dst, c.DstDevice, c.Src, c.SrcDevice, n, c.Stream)
		} else { // on the null streams of both, and it waits for nothing
			code = s.rt.MemcpyPeer(t, c.Dst, c.DstDevice, c.Src, c.SrcDevice, n)
		}
	default:
		code = s.copyRows(t, c.Dst, c.Dpitch, c.Src, c.Spitch, c, hip.MemcpyDeviceToDevice)
	}
	if code != hip.Success || r.NoReply() {
		s.reply(r, code, nil)
		return
	}
	s.then(r, t, c.Stream, func() {})
}
