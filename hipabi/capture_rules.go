package hipabi

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

// What a program must not do while a capture goes on, as HIP 6.4 has it. A call
// that breaks a rule fails and makes the captures it could have harmed invalid:
// their streams answer ErrorStreamCaptureInvalidated until they are ended.

// implicit refuses work on the null stream, which would wait for a stream that
// only captures. Called with the lock.
func (x *captureTable) implicit() hip.Error {
	found := hip.Success
	for _, b := range x.streams {
		if b.flags&streamNonBlocking == 0 && !b.capture.invalid {
			b.capture.invalid = true
			found = hip.ErrorStreamCaptureImplicit
		}
	}
	return found
}

// unsafe refuses a call that might wait for a capture or disturb it. A thread in
// relaxed mode knows what it does; others may not while a capture of their own
// goes on, and in global mode while any goes on that was begun in global mode.
// Called with the lock.
func (x *captureTable) unsafe(t hip.Thread) hip.Error {
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

// refuseUnsafe is for calls such as hipMalloc.
func (x *captureTable) refuseUnsafe(t hip.Thread) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.unsafe(t)
}

// refuseAll is for calls that no capture survives: err if there is one.
func (x *captureTable) refuseAll(err hip.Error) hip.Error {
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

// refuseWaiting is for calls that ask how far s has come.
func (x *captureTable) refuseWaiting(t hip.Thread, s hip.Stream) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s == hip.StreamNull {
		return x.implicit()
	}
	if b := x.streams[s]; b != nil {
		b.capture.invalid = true
		return hip.ErrorStreamCaptureUnsupported
	}
	return x.unsafe(t)
}

// exchange gives a thread another mode and returns the one it had.
func (x *captureTable) exchange(t hip.Thread, mode hip.StreamCaptureMode) (before hip.StreamCaptureMode) {
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

// threadEnd forgets what a thread had changed.
func (x *captureTable) threadEnd(id uint32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.modes, id)
}

// state is what a program may ask about a capture.
type state struct {
	status hip.StreamCaptureStatus
	id     uint64
	graph  uint64
	length uint64         // how many nodes the next one will wait for
	tail   unsafe.Pointer // their handles, if asked for
}

// ask answers hipStreamIsCapturing and its relatives.
func (x *captureTable) ask(s hip.Stream, tail bool) (a state, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s == hip.StreamNull {
		for _, b := range x.streams {
			if b.flags&streamNonBlocking == 0 && !b.capture.invalid {
				return a, hip.ErrorStreamCaptureImplicit
			}
		}
		return a, hip.Success
	}
	switch b := x.streams[s]; {
	case b == nil:
	case b.capture.invalid:
		a.status = hip.StreamCaptureStatusInvalidated
	default:
		a = state{status: hip.StreamCaptureStatusActive, id: b.capture.id, graph: b.capture.graph.handle, length: uint64(len(b.tail))}
		if tail {
			a.tail = b.shown.show(b.tail)
		}
	}
	return a, hip.Success
}
