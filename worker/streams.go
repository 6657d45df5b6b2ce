package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// streamSet knows whether anything is under way that a copy would have to wait for.
type streamSet struct {
	idle func() bool
}

func (s *streamSet) init(rt hip.Runtime) {
	if r, ok := rt.(interface{ Idle() bool }); ok {
		s.idle = r.Idle
	} else {
		s.idle = func() bool { return false }
	}
}

func (s *session) doDeviceSynchronize(r *wire.Request) {
	t, ok := s.thread(r)
	if !ok {
		return
	}
	if s.streams.idle() { // nothing to wait for: no goroutine either
		s.synced(r, hip.StreamNull, s.rt.DeviceSynchronize(t))
		return
	}
	s.wait(r, func(r *wire.Request) { s.synced(r, hip.StreamNull, s.rt.DeviceSynchronize(t)) })
}

func (s *session) doStreamSynchronize(r *wire.Request) {
	t, st, ok := s.threadStream(r)
	if !ok {
		return
	}
	if s.streams.idle() {
		s.synced(r, st, s.rt.StreamSynchronize(t, st))
		return
	}
	s.wait(r, func(r *wire.Request) { s.synced(r, st, s.rt.StreamSynchronize(t, st)) })
}

func (s *session) doStreamQuery(r *wire.Request) {
	t, st, ok := s.threadStream(r)
	if !ok {
		return
	}
	s.synced(r, st, s.rt.StreamQuery(t, st))
}

func (s *session) doEventSynchronize(r *wire.Request) {
	t, e, ok := s.threadEvent(r)
	if !ok {
		return
	}
	s.wait(r, func(r *wire.Request) { s.synced(r, hip.StreamNull, s.rt.EventSynchronize(t, e)) })
}

func (s *session) doEventQuery(r *wire.Request) {
	t, e, ok := s.threadEvent(r)
	if !ok {
		return
	}
	s.synced(r, hip.StreamNull, s.rt.EventQuery(t, e))
}

func (s *session) doDeviceReset(r *wire.Request) {
	t, ok := s.thread(r)
	if !ok {
		return
	}
	s.wait(r, func(r *wire.Request) {
		code := s.rt.DeviceReset(t)
		if code == hip.Success {
			s.handles.clear()
			s.host.clear()
		}
		s.reply(r, code, nil)
	})
}

// synced replies to a call that tells the client the state of a stream (StreamNull: of all): with what failed there before, if anything did.
func (s *session) synced(r *wire.Request, st hip.Stream, code hip.Error) {
	if code == hip.Success && s.replyFailure(r, st) {
		return
	}
	s.reply(r, code, nil)
	if sticky(code) {
		s.fault(0, hip.StreamNull, code, "")
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
	return t, st, s.checked(r, s.device(t.Device)) && s.checked(r, s.handles.check(kindStream, uint64(st)))
}

func (s *session) threadEvent(r *wire.Request) (hip.Thread, hip.Event, bool) {
	d := wire.NewDec(r.Fixed)
	t, e := hip.Thread{Device: d.I32(), ID: d.U32()}, hip.Event(d.U64())
	if d.Bad() {
		s.malformed(r)
		return t, e, false
	}
	return t, e, s.checked(r, s.device(t.Device)) && s.checked(r, s.handles.check(kindEvent, uint64(e)))
}

// checked replies with an error if there is one.
func (s *session) checked(r *wire.Request, code hip.Error) bool {
	if code != hip.Success {
		s.reply(r, code, nil)
		return false
	}
	return true
}
