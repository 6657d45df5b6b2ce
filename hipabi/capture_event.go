package hipabi

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// Events carry a capture from one stream to another: a stream that waits for an
// event of a capture joins that capture, and one of the capture's streams that
// waits for it comes behind what the event stands for. Neither becomes a node.

// mark has e stand for what the capture on s has come to. It is the Runtime's
// to record e if done is false.
func (x *captureTable) mark(e hip.Event, s hip.Stream) (done bool, err hip.Error) {
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

// wait has what follows on s come behind e. It is the Runtime's to wait if
// done is false.
func (x *captureTable) wait(t hip.Thread, s hip.Stream, e hip.Event) (done bool, err hip.Error) {
	x.mu.Lock()
	m, b := x.events[e], x.streams[s]
	fork := m != nil && b == nil && !m.capture.invalid && s != hip.StreamNull
	x.mu.Unlock()
	var joining *branch
	if fork {
		if joining, err = newBranch(t, s); err != hip.Success {
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
	// Not in place: events may stand for the tail as it was.
	tail := slices.Clone(b.tail)
	for _, n := range m.tail {
		if !slices.Contains(tail, n) {
			tail = append(tail, n)
		}
	}
	b.tail = tail
	return true, hip.Success
}

// asked is what a host thread is told that wants to know of e: an event of a
// capture never happens.
func (x *captureTable) asked(t hip.Thread, e hip.Event) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.events[e]
	if m == nil {
		return x.unsafe(t)
	}
	m.capture.invalid = true
	return hip.ErrorCapturedEvent
}

func (x *captureTable) forgetEvent(e hip.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.events, e)
}

// forgetStream is the end of a stream: that of the capture that began on it too.
func (x *captureTable) forgetStream(s hip.Stream) {
	x.mu.Lock()
	b := x.streams[s]
	var g *graph
	if b != nil {
		if b.capture.origin == s {
			g = b.capture.graph
			x.drop(b.capture)
		} else {
			b.shown.free()
			delete(x.streams, s)
		}
	}
	x.mu.Unlock()
	if g != nil {
		graphs.discard(g)
		x.watch()
	}
}
