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
	turns   map[int32]hip.Event // by device: they order launches on different streams
	home    hip.Stream          // lane 0 for launches on streams of other devices
	last    hip.Stream          // of the last launch
	lastOn  int32
	used    bool
	gone    bool
	sides   sides
	waits   bool // the launch that is being issued brings something into ordinary memory
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
	e.sides.leave(e.rt) // the graph's own share
	for d, v := range e.turns {
		e.rt.EventDestroy(e.on(d, t), v)
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
	if err := e.sides.failure(); err != hip.Success {
		return err
	}
	device := t.Device
	if s > hip.StreamPerThread {
		d, err := e.rt.StreamGetDevice(t, s)
		if err != hip.Success {
			return err
		}
		device = d
	}
	if e.used && (e.last != s || e.lastOn != device) {
		if err := e.after(t, e.lastOn, e.last, device, s); err == hip.ErrorContextIsDestroyed { // that stream is gone
			if err = e.rt.DeviceSynchronize(e.on(e.lastOn, t)); err != hip.Success {
				return err
			}
		} else if err != hip.Success {
			return err
		}
	}
	e.used, e.last, e.lastOn, e.waits = true, s, device, false
	var err hip.Error
	if device == e.plan.lanes[0] {
		e.streams[0] = s
		err = e.issue(t)
	} else {
		err = e.abroad(t, s, device)
	}
	if err == hip.Success && e.waits {
		err = e.rt.StreamSynchronize(e.on(device, t), s)
	}
	return err
}

// recordElsewhere records an event of another device than the stream's, which
// only a graph may: on a stream of its own device, behind this one.
func (e *exec) recordElsewhere(t hip.Thread, s hip.Stream, v hip.Event) hip.Error {
	n, err := e.rt.GetDeviceCount()
	if err != hip.Success {
		return err
	}
	for d := range n {
		if d == t.Device {
			continue
		}
		at := e.on(d, t)
		side, err := e.sides.enter(at, func() (hip.Stream, hip.Error) { return e.stream(t, d) })
		if err != hip.Success {
			return err
		}
		e.sides.done(e.rt, hip.Success)
		if err = e.after(t, t.Device, s, d, side); err != hip.Success {
			return err
		}
		if err = e.rt.EventRecord(at, v, side); err != hip.ErrorInvalidHandle {
			return err
		}
	}
	return hip.ErrorInvalidHandle
}

// after has what follows on one stream come behind what another has.
func (e *exec) after(t hip.Thread, fromDevice int32, from hip.Stream, toDevice int32, to hip.Stream) (err hip.Error) {
	v := e.turns[fromDevice]
	if v == 0 {
		if v, err = e.rt.EventCreateWithFlags(e.on(fromDevice, t), eventDisableTiming); err != hip.Success {
			return err
		}
		if e.turns == nil {
			e.turns = map[int32]hip.Event{}
		}
		e.turns[fromDevice] = v
	}
	if err = e.rt.EventRecord(e.on(fromDevice, t), v, from); err != hip.Success {
		return err
	}
	return e.rt.StreamWaitEvent(e.on(toDevice, t), to, v, 0)
}

// abroad launches on a stream of another device than the graph's: the work is
// done where it belongs, between two points of the stream.
func (e *exec) abroad(t hip.Thread, s hip.Stream, device int32) (err hip.Error) {
	own := e.plan.lanes[0]
	if e.home == 0 {
		if e.home, err = e.stream(t, own); err != hip.Success {
			return err
		}
	}
	if err = e.after(t, device, s, own, e.home); err != hip.Success {
		return err
	}
	e.streams[0] = e.home
	if err = e.issue(t); err != hip.Success {
		return err
	}
	return e.after(t, own, e.home, device, s)
}

// first has what is issued from now on come behind what a lane has got.
func (e *exec) first(t hip.Thread, lane int) hip.Error {
	for l, s := range e.streams {
		if l != lane {
			if err := e.after(t, e.plan.lanes[lane], e.streams[lane], e.plan.lanes[l], s); err != hip.Success {
				return err
			}
		}
	}
	return hip.Success
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
			if err := e.run(at, stream, op); err != hip.Success {
				return err
			}
			if op.Type == hip.GraphNodeTypeMemcpy && e.takesOff(t, op.Copy) {
				if err := e.first(t, s.lane); err != hip.Success {
					return err
				}
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
