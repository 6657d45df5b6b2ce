package graph

import "github.com/rocwire/rocwire/hip"

// What a program must not do while a capture goes on, as HIP 6.4 has it. A call
// that breaks a rule fails and makes the captures it could have harmed invalid:
// their streams answer ErrorStreamCaptureInvalidated until they are ended.
//
// What is issued on the null stream is executed as ever: a stream that captures
// has nothing to wait for. Only calls that wait for the null stream by their
// nature, such as hipMemcpy, are refused.

// unsafe refuses a call that might wait for a capture or disturb it. A thread in
// relaxed mode knows what it does; others may not while a capture of their own
// goes on, and in global mode while any goes on that was begun in global mode.
// Called with the lock.
func (x *Captures) unsafe(t hip.Thread) hip.Error {
	mode := x.modes[t.ID]
	if mode == hip.StreamCaptureModeRelaxed {
		return hip.Success
	}
	found := hip.Success
	for c := range x.all {
		own := c.thread == t.ID && c.mode != hip.StreamCaptureModeRelaxed
		if own || mode == hip.StreamCaptureModeGlobal && c.mode == hip.StreamCaptureModeGlobal {
			c.invalid = true
			found = hip.ErrorStreamCaptureUnsupported
		}
	}
	return found
}

// RefuseUnsafe is for calls such as hipMalloc.
func (x *Captures) RefuseUnsafe(t hip.Thread) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unsafe(t)
}

// RefuseAll is for calls that no capture survives: err if there is one.
func (x *Captures) RefuseAll(err hip.Error) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.all) == 0 {
		return hip.Success
	}
	for c := range x.all {
		c.invalid = true
	}
	return err
}

// RefuseWaiting is for calls that ask how far s has come.
func (x *Captures) RefuseWaiting(t hip.Thread, s hip.Stream) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s == hip.StreamNull {
		return hip.Success
	}
	if b := x.streams[s]; b != nil {
		b.capture.invalid = true
		return hip.ErrorStreamCaptureUnsupported
	}
	return x.unsafe(t)
}

// Exchange gives a thread another mode and returns the one it had.
func (x *Captures) Exchange(t hip.Thread, mode hip.StreamCaptureMode) (before hip.StreamCaptureMode) {
	x.mu.Lock()
	defer x.mu.Unlock()
	before = x.modes[t.ID]
	if mode == hip.StreamCaptureModeGlobal {
		delete(x.modes, t.ID)
	} else {
		x.modes[t.ID] = mode
	}
	return before
}

// ThreadEnd forgets what a thread had changed.
func (x *Captures) ThreadEnd(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.modes, id)
}

// State is what a program may ask about a capture.
type State struct {
	Status hip.StreamCaptureStatus
	ID     uint64
	Graph  ID
	Tail   []ID // what the next node will wait for
}

// Ask answers hipStreamIsCapturing and its relatives.
func (x *Captures) Ask(s hip.Stream) (a State, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s == hip.StreamNull {
		for _, b := range x.streams {
			if b.flags&hip.StreamNonBlocking == 0 && !b.capture.invalid {
				return a, hip.ErrorStreamCaptureImplicit
			}
		}
		return a, hip.Success
	}
	switch b := x.streams[s]; {
	case b == nil:
	case b.capture.invalid:
		a.Status = hip.StreamCaptureStatusInvalidated
	default:
		a = State{hip.StreamCaptureStatusActive, b.capture.id, b.capture.graph.id, ids(b.tail)}
	}
	return a, hip.Success
}
