package worker

import (
	"runtime"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// quietOn says that nothing is under way that a copy on a stream would come behind. False if that is not certain.
func (s *session) quietOn(t hip.Thread, st hip.Stream) bool {
	return s.rt.StreamQuery(t, hip.StreamNull) == hip.Success && (st == hip.StreamNull || s.rt.StreamQuery(t, st) == hip.Success)
}

// only says that memory at p is the thread's device's, so that a copy need not wait for others.
func (s *session) only(t hip.Thread, p hip.Ptr) bool {
	if s.devices == 1 {
		return true
	}
	a, code := s.rt.PointerGetAttributes(t, p)
	return code == hip.Success && a.Type == hip.MemoryTypeDevice && a.Device == t.Device
}

// idler is a runtime that knows whether anything is under way on any of its devices.
type idler interface {
	Idle() bool
}

// allIdle says that nothing is under way on the device. False if that is not certain.
func (s *session) allIdle(t hip.Thread) bool {
	if s.idler != nil {
		return s.idler.Idle()
	}
	return !s.handles.Ever(hip.HandleStream) && !s.handles.Ever(hip.HandleGraphExec) && s.devices == 1 && s.rt.StreamQuery(t, hip.StreamNull) == hip.Success
}

// resultsIdle are the results of a call that found nothing under way.
var resultsIdle = hiprpc.AppendIdle(nil)

// idle is what a call may tell of everything before it: results, or nil if nothing is certain.
func (s *session) idle() []byte {
	if s.idler != nil && s.idler.Idle() {
		return resultsIdle
	}
	return nil
}

// replyIdle answers a call that has no results of its own, with whether anything is under way.
func (s *session) replyIdle(r *wire.Request, code hip.Error) {
	var results []byte
	if code == hip.Success && !r.NoReply() {
		results = s.idle()
	}
	s.reply(r, code, results)
}

// soon waits for a moment on the line for what a program waits for, and reports whether it came: for a short kernel, handing over to another
// goroutine and back takes longer than the kernel.
func soon(came func() bool) bool {
	for begin := mono.Now(); ; {
		if came() {
			return true
		}
		if mono.Since(begin) > soonest {
			return false
		}
		runtime.Gosched()
	}
}

// soonest is how long that moment is.
const soonest = 50 * time.Microsecond

func (s *session) doDeviceSynchronize(r *wire.Request) {
	t, ok := s.thread(r)
	if !ok {
		return
	}
	if s.allIdle(t) || s.idler != nil && soon(s.idler.Idle) { // a runtime that cannot tell will not in a moment either
		s.synced(r, t.Device, hip.StreamNull, s.rt.DeviceSynchronize(t))
		return
	}
	s.wait(r, func(r *wire.Request) { s.synced(r, t.Device, hip.StreamNull, s.rt.DeviceSynchronize(t)) })
}

// synchronize answers a call that waits: on the line if query says within a moment that what it waits for has come, otherwise beside it.
func (s *session) synchronize(r *wire.Request, query, wait func() hip.Error, answer func(r *wire.Request, code hip.Error)) {
	if s.idler != nil { // AMD's may wait for more than its query tells of, and what it waits for may come by this line
		var code hip.Error
		soon(func() bool { code = query(); return code != hip.ErrorNotReady })
		if code == hip.Success {
			code = wait() // not now, but only what waits has pools give memory back
		}
		if code != hip.ErrorNotReady {
			answer(r, code)
			return
		}
	}
	s.wait(r, func(r *wire.Request) { answer(r, wait()) })
}

func (s *session) doStreamSynchronize(r *wire.Request) {
	t, st, ok := s.threadStream(r)
	if !ok {
		return
	}
	s.synchronize(r, func() hip.Error { return s.rt.StreamQuery(t, st) }, func() hip.Error { return s.rt.StreamSynchronize(t, st) },
		func(r *wire.Request, code hip.Error) { s.synced(r, s.streamDevice(t.Device, st), st, code) })
}

func (s *session) doStreamQuery(r *wire.Request) {
	t, st, ok := s.threadStream(r)
	if !ok {
		return
	}
	s.synced(r, s.streamDevice(t.Device, st), st, s.rt.StreamQuery(t, st))
}

func (s *session) doEventSynchronize(r *wire.Request) {
	t, e, ok := s.threadEvent(r)
	if !ok {
		return
	}
	s.synchronize(r, func() hip.Error { return s.rt.EventQuery(t, e) }, func() hip.Error { return s.rt.EventSynchronize(t, e) },
		func(r *wire.Request, code hip.Error) { s.synced(r, s.eventDevice(t, e), hip.StreamNull, code) })
}

func (s *session) doEventQuery(r *wire.Request) {
	t, e, ok := s.threadEvent(r)
	if !ok {
		return
	}
	s.synced(r, s.eventDevice(t, e), hip.StreamNull, s.rt.EventQuery(t, e))
}

func (s *session) doDeviceReset(r *wire.Request) {
	t, ok := s.thread(r)
	if !ok {
		return
	}
	s.wait(r, func(r *wire.Request) {
		code := s.rt.DeviceReset(t)
		if code != hip.Success {
			s.reply(r, code, nil)
			return
		}
		s.handles.Clear(t.Device)
		s.trace.reset()
		s.clearHost(t)
		s.stage.forget()
		s.replyU64(r, s.fails.reset(t.Device), code)
	})
}

// eventDevice is the device of an event.
func (s *session) eventDevice(t hip.Thread, e hip.Event) int32 {
	return s.handles.Device(hip.HandleEvent, uint64(e), t.Device)
}

// synced replies to a call that tells the client the state of a stream (StreamNull: of all of the device): with what failed there before, if anything did.
func (s *session) synced(r *wire.Request, device int32, st hip.Stream, code hip.Error) {
	if code == hip.Success && s.replyFailure(r, device, st) {
		return
	}
	s.replyIdle(r, code)
	if hiprpc.Sticky(code) {
		s.fault(r.Tag, 0, device, hip.StreamNull, code, "")
	}
}

func (s *session) thread(r *wire.Request) (hip.Thread, bool) {
	d := wire.NewDec(r.Fixed)
	t := hip.Thread{Device: d.I32(), ID: d.U32()}
	if d.Bad() {
		s.malformed(r)
		return t, false
	}
	return t, s.checked(r, s.device(t.Device))
}

func (s *session) threadStream(r *wire.Request) (hip.Thread, hip.Stream, bool) {
	d := wire.NewDec(r.Fixed)
	t, st := hip.Thread{Device: d.I32(), ID: d.U32()}, hip.Stream(d.U64())
	if d.Bad() {
		s.malformed(r)
		return t, st, false
	}
	return t, st, s.checked(r, s.device(t.Device)) && s.checked(r, s.handles.check(hip.HandleStream, uint64(st)))
}

func (s *session) threadEvent(r *wire.Request) (hip.Thread, hip.Event, bool) {
	d := wire.NewDec(r.Fixed)
	t, e := hip.Thread{Device: d.I32(), ID: d.U32()}, hip.Event(d.U64())
	if d.Bad() {
		s.malformed(r)
		return t, e, false
	}
	return t, e, s.checked(r, s.device(t.Device)) && s.checked(r, s.handles.check(hip.HandleEvent, uint64(e)))
}

// checked replies with an error if there is one.
func (s *session) checked(r *wire.Request, code hip.Error) bool {
	if code != hip.Success {
		s.reply(r, code, nil)
		return false
	}
	return true
}
