package hipabi

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// exec is a hipGraphExec_t: a graph made ready to be launched many times.
// What became of the graph does not matter to it.
type exec struct {
	handle uint64
	flags  uint64
	nodes  []*node // in order
	plan   *plan
	memory []*allocation

	mu      sync.Mutex // one launch is issued at a time
	streams []hip.Stream
	events  []hip.Event
	turn    hip.Event  // orders launches on different streams; 0 until it is needed
	last    hip.Stream // of the last launch
	used    bool
	gone    bool
}

// The flags of hipGraphInstantiateWithFlags. Uploading ahead and priorities of
// nodes change nothing that a program could tell; a launch by a device is
// something that no AMD GPU does.
const (
	autoFreeOnLaunch = uint64(hip.GraphInstantiateFlagAutoFreeOnLaunch)
	instantiateFlags = autoFreeOnLaunch | uint64(hip.GraphInstantiateFlagUpload) | uint64(hip.GraphInstantiateFlagUseNodePriority)
)

// instantiate makes an executable graph of a graph.
func (x *graphTable) instantiate(t hip.Thread, handle, flags uint64) (*exec, hip.Error) {
	if flags&^instantiateFlags != 0 {
		return nil, hip.ErrorInvalidValue
	}
	x.mu.Lock()
	g := x.graphs[handle]
	if g == nil || g.capturing {
		x.mu.Unlock()
		return nil, hip.ErrorInvalidValue
	}
	nodes, ok := order(g.nodes)
	if !ok {
		x.mu.Unlock()
		return nil, hip.ErrorInvalidValue
	}
	e := &exec{flags: flags, nodes: nodes, plan: newPlan(nodes, g.device), memory: x.own(g.memory)}
	x.mu.Unlock()

	if err := e.prepare(t); err != hip.Success {
		e.release(t)
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	e.handle = x.handle()
	x.execs[e.handle] = e
	return e, hip.Success
}

// prepare makes the streams and events that a launch needs beside its own
// stream: none for a chain.
func (e *exec) prepare(t hip.Thread) hip.Error {
	r := bare()
	e.streams = make([]hip.Stream, 1, len(e.plan.lanes)) // the first is the launch's
	for _, d := range e.plan.lanes[1:] {
		// Not blocking: the null stream must not wait for a part of a launch.
		s, err := r.StreamCreateWithPriority(hip.Thread{Device: d, ID: t.ID}, streamNonBlocking, 0)
		if err != hip.Success {
			return err
		}
		e.streams = append(e.streams, s)
	}
	for _, d := range e.plan.marks {
		v, err := r.EventCreateWithFlags(hip.Thread{Device: d, ID: t.ID}, eventDisableTiming)
		if err != hip.Success {
			return err
		}
		e.events = append(e.events, v)
	}
	return hip.Success
}

const (
	streamNonBlocking  = 1 // hipStreamNonBlocking
	eventDisableTiming = 2 // hipEventDisableTiming
)

// release gives back what prepare made, and the memory. The Runtime lets work
// on a stream that it destroys finish.
func (e *exec) release(t hip.Thread) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone = true
	r := bare()
	if len(e.streams) > 1 {
		for i, s := range e.streams[1:] {
			r.StreamDestroy(hip.Thread{Device: e.plan.lanes[i+1], ID: t.ID}, s)
		}
	}
	for i, v := range e.events {
		r.EventDestroy(hip.Thread{Device: e.plan.marks[i], ID: t.ID}, v)
	}
	if e.turn != 0 {
		r.EventDestroy(t, e.turn)
	}
	graphs.mu.Lock()
	unused := graphs.disown(e.memory)
	graphs.mu.Unlock()
	freeAll(unused)
}

// exec is the executable graph with a handle, nil if there is none.
func (x *graphTable) exec(handle uint64) *exec {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.execs[handle]
}

// destroyExec is hipGraphExecDestroy.
func (x *graphTable) destroyExec(t hip.Thread, handle uint64) hip.Error {
	x.mu.Lock()
	e := x.execs[handle]
	delete(x.execs, handle)
	x.mu.Unlock()
	if e == nil {
		return hip.ErrorInvalidValue
	}
	e.release(t)
	return hip.Success
}

// launch issues the graph's work on s, behind what s has and behind the
// graph's launch before.
func (e *exec) launch(t hip.Thread, s hip.Stream) hip.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone {
		return hip.ErrorInvalidValue
	}
	r := bare()
	if e.used && e.last != s {
		if err := e.follow(r, t, s); err != hip.Success {
			return err
		}
	}
	if err := graphs.launching(e.memory, e.flags&autoFreeOnLaunch != 0); err != hip.Success {
		return err
	}
	e.used, e.last = true, s
	e.streams[0] = s
	return e.plan.issue(r, t, e.streams, e.events)
}

// follow has s wait for the last launch, which was on another stream: two
// launches of one graph never overlap.
func (e *exec) follow(r hip.Runtime, t hip.Thread, s hip.Stream) (err hip.Error) {
	t.Device = e.plan.lanes[0]
	if e.turn == 0 {
		if e.turn, err = r.EventCreateWithFlags(t, eventDisableTiming); err != hip.Success {
			return err
		}
	}
	if r.EventRecord(t, e.turn, e.last) != hip.Success { // that stream is gone
		return r.DeviceSynchronize(t)
	}
	return r.StreamWaitEvent(t, s, e.turn, 0)
}
