// Package executor executes graphs for a [hip.Runtime] that has none of its own:
// it issues their operations on streams, each behind those that it waits for.
//
// A launch goes on behind the work of its stream, and what follows on the stream
// comes behind the launch. Two launches of one executable graph do not overlap,
// on whatever streams they are.
package executor

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Executor holds the executable graphs of a Runtime. Its methods answer those of
// [hip.Runtime] that have their names.
type Executor struct {
	rt    hip.Runtime
	mu    sync.Mutex
	last  uint64
	execs map[hip.GraphExec]*exec
}

// New is an Executor without graphs for rt.
func New(rt hip.Runtime) *Executor { return &Executor{rt: rt, execs: map[hip.GraphExec]*exec{}} }

// firstHandle is above what HIP's handles may be.
const firstHandle = 1 << 12

// GraphInstantiate makes a graph ready. The Executor keeps its operations.
func (x *Executor) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	if err := d.Check(); err != hip.Success {
		return 0, err
	}
	e := &exec{rt: x.rt, ops: d.Ops, plan: newPlan(d), turns: NewTurns(x.rt, d.Device)}
	e.sides.users, e.records.users = 1, 1
	if err := e.prepare(t); err != hip.Success {
		e.release(t)
		return 0, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last += 16
	h := hip.GraphExec(firstHandle + x.last)
	x.execs[h] = e
	return h, hip.Success
}

func (x *Executor) find(h hip.GraphExec) *exec {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.execs[h]
}

// GraphExecUpdate changes operations for the launches to come: all or, if one
// of the changes makes no sense, none.
func (x *Executor) GraphExecUpdate(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	e := x.find(h)
	if e == nil {
		return hip.ErrorInvalidValue
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	d := hip.GraphDesc{Ops: e.ops}
	for i := range changes {
		c := &changes[i]
		if err := d.CheckChange(c); err != hip.Success {
			return err
		}
		if c.Op.Device != e.ops[c.Index].Device { // its lane is on the other
			return hip.ErrorInvalidValue
		}
	}
	d.Apply(changes)
	return hip.Success
}

// GraphLaunch issues a graph on a stream.
func (x *Executor) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	e := x.find(h)
	if e == nil {
		return hip.ErrorInvalidValue
	}
	return e.launch(t, s)
}

// GraphExecDestroy gives back what a graph holds. What was launched goes on.
func (x *Executor) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	x.mu.Lock()
	e := x.execs[h]
	delete(x.execs, h)
	x.mu.Unlock()
	if e == nil {
		return hip.ErrorInvalidValue
	}
	e.release(t)
	return hip.Success
}

// StreamDestroy is for a stream that is about to be destroyed; see [Turns.Leave].
func (x *Executor) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	x.mu.Lock()
	all := make([]*Turns, 0, len(x.execs))
	for _, e := range x.execs {
		all = append(all, e.turns)
	}
	x.mu.Unlock()
	return Leave(all, t, s)
}

// DeviceReset forgets the graphs that use a device, whose streams and events
// are gone.
func (x *Executor) DeviceReset(device int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for h, e := range x.execs {
		if e.plan.uses(device) {
			delete(x.execs, h)
		}
	}
}
