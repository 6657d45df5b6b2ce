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
	turns   *Turns
	gone    bool
	sides   sides // for copies, which wait for nothing that the launch does
	records sides // for events of other devices, which do
	waits   bool  // the launch that is being issued brings something into ordinary memory
}

// prepare makes the streams and events that a launch needs beside its own
// stream: none for a chain.
func (e *exec) prepare(t hip.Thread) hip.Error {
	e.streams = make([]hip.Stream, 1, len(e.plan.lanes))
	for _, d := range e.plan.lanes[1:] {
		s, err := newStream(e.rt, on(d, t))
		if err != hip.Success {
			return err
		}
		e.streams = append(e.streams, s)
	}
	for _, d := range e.plan.marks {
		v, err := e.rt.EventCreateWithFlags(on(d, t), hip.EventDisableTiming)
		if err != hip.Success {
			return err
		}
		e.events = append(e.events, v)
	}
	return hip.Success
}

// release gives back what prepare made. The Runtime lets work on a stream that
// it destroys finish, and asks all graphs about it.
func (e *exec) release(t hip.Thread) {
	e.mu.Lock()
	e.gone = true // nothing is launched any more
	e.mu.Unlock()
	for i, s := range e.streams {
		if i > 0 {
			e.rt.StreamDestroy(on(e.plan.lanes[i], t), s)
		}
	}
	for i, v := range e.events {
		e.rt.EventDestroy(on(e.plan.marks[i], t), v)
	}
	e.sides.leave(e.rt) // the graph's own share
	e.records.leave(e.rt)
	e.turns.Release(t)
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
	e.waits = false
	err := e.turns.Launch(t, s, func(t hip.Thread, s hip.Stream) hip.Error {
		e.streams[0] = s
		return e.issue(t)
	})
	if err == hip.Success && e.waits {
		err = e.rt.StreamSynchronize(t, s)
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
		at := on(d, t)
		side, err := e.records.enter(at, func() (hip.Stream, hip.Error) { return newStream(e.rt, at) })
		if err != hip.Success {
			return err
		}
		e.records.done(e.rt, hip.Success)
		if err = e.turns.after(t, t.Device, s, d, side); err != hip.Success {
			return err
		}
		if err = e.rt.EventRecord(at, v, side); err != hip.ErrorInvalidHandle {
			return err
		}
	}
	return hip.ErrorInvalidHandle
}

// first has what is issued from now on come behind what a lane has got.
func (e *exec) first(t hip.Thread, lane int) hip.Error {
	for l, s := range e.streams {
		if l != lane {
			if err := e.turns.after(t, e.plan.lanes[lane], e.streams[lane], e.plan.lanes[l], s); err != hip.Success {
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
		if err := r.EventRecord(on(p.lanes[0], t), e.events[p.start], e.streams[0]); err != hip.Success {
			return err
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		at, stream := on(p.lanes[s.lane], t), e.streams[s.lane]
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
		if err := r.StreamWaitEvent(on(p.lanes[0], t), e.streams[0], e.events[w], 0); err != hip.Success {
			return err
		}
	}
	return hip.Success
}
