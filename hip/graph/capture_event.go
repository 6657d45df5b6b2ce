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
// done is false.
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
	case m == nil && b == nil:
		return false, hip.Success
	case m == nil: // work outside of the graph cannot be waited for in it
		b.capture.invalid = true
		return true, hip.ErrorStreamCaptureIsolation
	case m.capture.invalid:
		return true, hip.ErrorStreamCaptureInvalidated
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

// Asked is what a host thread is told that wants to know of e: an event of a
// capture never happens.
func (x *Captures) Asked(t hip.Thread, e hip.Event) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.events[e]
	if m == nil {
		return x.unsafe(t)
	}
	m.capture.invalid = true
	return hip.ErrorCapturedEvent
}

// ForgetEvent is the end of an event.
func (x *Captures) ForgetEvent(e hip.Event) {
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
