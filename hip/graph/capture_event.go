package graph

import "github.com/rocwire/rocwire/hip"

// Events carry a capture from one stream to another: a stream that waits for an
// event of a capture joins that capture, and one of the capture's streams that
// waits for it comes behind what the event stands for. Neither becomes a node.

// Mark has e stand for what the capture on s has come to. It is the Runtime's
// to record e if done is false.
func (x *Captures) Mark(e hip.Event, s hip.Stream) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		if err == hip.Success {
			delete(x.events, e)
		}
		return err != hip.Success, err
	}
	if e == 0 {
		return true, hip.ErrorInvalidHandle
	}
	x.events[e] = &moment{b.capture, b.tail}
	return true, hip.Success
}

// Wait has what follows on s come behind e. It is the Runtime's to wait if
// done is false: so work outside of a capture can be waited for in one, but not
// what the very stream has done that now captures.
func (x *Captures) Wait(t hip.Thread, s hip.Stream, e hip.Event) (done bool, err hip.Error) {
	x.mu.Lock()
	m, b := x.events[e], x.streams[s]
	fork := m != nil && b == nil && !m.capture.invalid && s != hip.StreamNull
	x.mu.Unlock()
	var joining *branch
	if fork {
		if joining, err = x.newBranch(t, s); err != hip.Success {
			return true, err
		}
	}

	x.mu.Lock()
	defer x.mu.Unlock()
	b, err = x.capturing(s)
	m = x.events[e]
	switch {
	case err != hip.Success:
		return true, err
	case m == nil && x.before(e) != nil:
		return true, hip.ErrorStreamCaptureIsolation
	case m == nil:
		return false, hip.Success
	case m.capture.invalid:
		return true, hip.ErrorStreamCaptureInvalidated
	case s == hip.StreamNull:
		return true, hip.ErrorInvalidHandle
	case b == nil && joining == nil: // the event came to stand for this just now
		return true, hip.ErrorStreamCaptureIsolation
	case b == nil:
		joining.capture, joining.tail = m.capture, m.tail
		x.streams[s] = joining
		return true, hip.Success
	case b.capture != m.capture:
		b.capture.invalid, m.capture.invalid = true, true
		return true, hip.ErrorStreamCaptureMerge
	}
	b.tail = union(b.tail, m.tail)
	return true, hip.Success
}

// before is the capture of the stream on which e was recorded last, if that was
// before the capture. Called with the lock.
func (x *Captures) before(e hip.Event) *capture {
	s, ok := x.recorded.on(e)
	if b := x.streams[s]; ok && b != nil && !b.capture.invalid {
		return b.capture
	}
	return nil
}

// refuse is the answer about an event of a stream that captures, and the end of
// that capture; since is it where the event was recorded before. Called with the lock.
func (x *Captures) refuse(e hip.Event, since hip.Error) hip.Error {
	if m := x.events[e]; m != nil {
		m.capture.invalid = true
		return hip.ErrorCapturedEvent
	}
	if c := x.before(e); c != nil {
		c.invalid = true
		return since
	}
	return hip.Success
}

// Asked is what a host thread is told that asks whether e has happened: an event
// of a stream that captures never does.
func (x *Captures) Asked(e hip.Event) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refuse(e, hip.ErrorCapturedEvent)
}

// Awaited is what a host thread is told that waits for e.
func (x *Captures) Awaited(t hip.Thread, e hip.Event) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuse(e, hip.ErrorStreamCaptureUnsupported); err != hip.Success {
		return err
	}
	if s, ok := x.recorded.on(e); !ok || s == hip.StreamNull {
		return hip.Success
	}
	return x.unsafe(t)
}

// ForgetEvent is the end of an event.
func (x *Captures) ForgetEvent(e hip.Event) {
	x.recorded.forget(e)
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.events, e)
}

// ForgetStream is the end of a stream: that of the capture that began on it too.
func (x *Captures) ForgetStream(s hip.Stream) {
	x.mu.Lock()
	b := x.streams[s]
	ended := b != nil && b.capture.origin == s
	if ended {
		x.drop(b.capture)
	} else {
		delete(x.streams, s)
	}
	x.mu.Unlock()
	if ended {
		x.space.captured(b.capture.graph, !b.capture.given)
		x.changed()
	}
}
