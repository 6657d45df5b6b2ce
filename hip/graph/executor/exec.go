package executor

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// exec is an executable graph.
type exec struct {
	rt   hip.Runtime
	plan *plan

	mu      sync.Mutex // one launch is issued at a time
	ops     []hip.GraphOp
	streams []hip.Stream // one a lane; the first is the launch's or, for a stream of another device, our own
	events  []hip.Event
	turn    hip.Event  // orders launches on different streams; 0 until it is needed
	begun   hip.Event  // on a stream of another device
	home    hip.Stream // lane 0 for launches on streams of other devices
	last    hip.Stream // of the last launch
	used    bool
	gone    bool
}

const (
	streamNonBlocking  = 1 // hipStreamNonBlocking
	eventDisableTiming = 2 // hipEventDisableTiming
)

func (e *exec) on(device int32, t hip.Thread) hip.Thread {
	return hip.Thread{Device: device, ID: t.ID}
}

// prepare makes the streams and events that a launch needs beside its own
// stream: none for a chain.
func (e *exec) prepare(t hip.Thread) hip.Error {
	e.streams = make([]hip.Stream, 1, len(e.plan.lanes))
	for _, d := range e.plan.lanes[1:] {
		s, err := e.stream(t, d)
		if err != hip.Success {
			return err
		}
		e.streams = append(e.streams, s)
	}
	for _, d := range e.plan.marks {
		v, err := e.rt.EventCreateWithFlags(e.on(d, t), eventDisableTiming)
		if err != hip.Success {
			return err
		}
		e.events = append(e.events, v)
	}
	return hip.Success
}

// stream is one that does not block: the null stream must not wait for a part
// of a launch.
func (e *exec) stream(t hip.Thread, device int32) (hip.Stream, hip.Error) {
	return e.rt.StreamCreateWithPriority(e.on(device, t), streamNonBlocking, 0)
}

// release gives back what prepare made. The Runtime lets work on a stream that
// it destroys finish.
func (e *exec) release(t hip.Thread) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone = true
	for i, s := range e.streams {
		if i > 0 {
			e.rt.StreamDestroy(e.on(e.plan.lanes[i], t), s)
		}
	}
	if e.home != 0 {
		e.rt.StreamDestroy(e.on(e.plan.lanes[0], t), e.home)
	}
	for i, v := range e.events {
		e.rt.EventDestroy(e.on(e.plan.marks[i], t), v)
	}
	for _, v := range []hip.Event{e.turn, e.begun} {
		if v != 0 {
			e.rt.EventDestroy(t, v)
		}
	}
}

// launch issues the graph's work on s, behind what s has and behind the
// graph's launch before.
func (e *exec) launch(t hip.Thread, s hip.Stream) hip.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone {
		return hip.ErrorInvalidValue
	}
	if e.used && e.last != s {
		if err := e.follow(t, s); err != hip.Success {
			return err
		}
	}
	e.used, e.last = true, s
	device := t.Device
	if s > hip.StreamPerThread {
		d, err := e.rt.StreamGetDevice(t, s)
		if err != hip.Success {
			return err
		}
		device = d
	}
	if device != e.plan.lanes[0] {
		return e.abroad(t, s, device)
	}
	e.streams[0] = s
	return e.issue(t)
}

// event makes an event of the kind that only orders, where there is none yet.
func (e *exec) event(t hip.Thread, v *hip.Event) (err hip.Error) {
	if *v == 0 {
		*v, err = e.rt.EventCreateWithFlags(t, eventDisableTiming)
	}
	return err
}

// follow has s wait for the last launch, which was on another stream.
func (e *exec) follow(t hip.Thread, s hip.Stream) hip.Error {
	t = e.on(e.plan.lanes[0], t)
	if err := e.event(t, &e.turn); err != hip.Success {
		return err
	}
	if e.rt.EventRecord(t, e.turn, e.last) != hip.Success { // that stream is gone
		return e.rt.DeviceSynchronize(t)
	}
	return e.rt.StreamWaitEvent(t, s, e.turn, 0)
}

// abroad launches on a stream of another device than the graph's: the work is
// done where it belongs, between two points of the stream.
func (e *exec) abroad(t hip.Thread, s hip.Stream, device int32) (err hip.Error) {
	at := e.on(e.plan.lanes[0], t)
	if e.home == 0 {
		if e.home, err = e.stream(t, at.Device); err != hip.Success {
			return err
		}
	}
	t = e.on(device, t)
	for _, v := range []*hip.Event{&e.begun, &e.turn} {
		if err = e.event(t, v); err != hip.Success {
			return err
		}
	}
	if err = e.rt.EventRecord(t, e.begun, s); err != hip.Success {
		return err
	}
	if err = e.rt.StreamWaitEvent(at, e.home, e.begun, 0); err != hip.Success {
		return err
	}
	e.streams[0] = e.home
	if err = e.issue(t); err != hip.Success {
		return err
	}
	if err = e.rt.EventRecord(at, e.turn, e.home); err != hip.Success {
		return err
	}
	return e.rt.StreamWaitEvent(t, s, e.turn, 0)
}

// issue puts the graph's work on its streams.
func (e *exec) issue(t hip.Thread) hip.Error {
	p, r := e.plan, e.rt
	if p.start != none {
		if err := r.EventRecord(e.on(p.lanes[0], t), e.events[p.start], e.streams[0]); err != hip.Success {
			return err
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		at, stream := e.on(p.lanes[s.lane], t), e.streams[s.lane]
		for _, w := range s.waits {
			if err := r.StreamWaitEvent(at, stream, e.events[w], 0); err != hip.Success {
				return err
			}
		}
		if op := &e.ops[i]; !op.Disabled {
			if err := run(r, at, stream, op); err != hip.Success {
				return err
			}
		}
		if s.mark != none {
			if err := r.EventRecord(at, e.events[s.mark], stream); err != hip.Success {
				return err
			}
		}
	}
	for _, w := range p.join {
		if err := r.StreamWaitEvent(e.on(p.lanes[0], t), e.streams[0], e.events[w], 0); err != hip.Success {
			return err
		}
	}
	return hip.Success
}
