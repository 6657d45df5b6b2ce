package hipmulti

import "github.com/rocwire/rocwire/hip"

// EventRecord is hipEventRecord. An event of another worker is one of another device.
func (r *Runtime) EventRecord(t hip.Thread, event hip.Event, stream hip.Stream) hip.Error {
	c, e := r.call(), r.call()
	event = hip.Event(e.handle(hip.HandleEvent, uint64(event)))
	if e.err != hip.Success {
		return e.err
	}
	stream = hip.Stream(c.handle(hip.HandleStream, uint64(stream)))
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	if e.worker >= 0 && e.worker != c.worker {
		return hip.ErrorInvalidHandle
	}
	return w.EventRecord(t, event, stream)
}

// StreamWaitEvent is hipStreamWaitEvent. For an event of another worker the stream waits in a host function until that worker has come to what was
// recorded last; what follows on the stream fails if it never does.
func (r *Runtime) StreamWaitEvent(t hip.Thread, stream hip.Stream, event hip.Event, flags uint32) hip.Error {
	c, e := r.call(), r.call()
	stream = hip.Stream(c.handleOr(hip.HandleStream, uint64(stream), hip.ErrorInvalidHandle))
	theirs := t
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	event = hip.Event(e.handle(hip.HandleEvent, uint64(event)))
	if e.err != hip.Success {
		return e.err
	}
	if e.worker < 0 || e.worker == c.worker {
		return w.StreamWaitEvent(t, stream, event, flags)
	}
	if flags != 0 {
		return hip.ErrorInvalidValue
	}
	if _, code = e.of(&theirs); code != hip.Success {
		return code
	}
	a, code := r.aside(place{e.worker, theirs.Device})
	if code != hip.Success {
		return code
	}
	// The event may be recorded again before the stream gets there: what is waited for is what it marks now.
	if code = a.w.StreamWaitEvent(a.t, a.stream, event, 0); code == hip.Success {
		code = a.w.EventRecord(a.t, a.event, a.stream)
	}
	if code != hip.Success {
		r.done(a)
		return code
	}
	came := make(chan hip.Error, 1)
	go func() {
		code := a.w.EventSynchronize(a.t, a.event)
		if code != hip.Success {
			a.w.Report(a.t.Device, code) // it is the program's to hear, too
		}
		r.done(a)
		came <- code
	}()
	return w.InTurn(t, stream, func() hip.Error { return <-came })
}
