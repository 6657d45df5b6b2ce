package rocm

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph/executor"
)

// graphs are the executable graphs of a Runtime: each is one of the library's
// own or, if it has something that those do not, issued operation by operation.
type graphs struct {
	issued *executor.Executor

	mu   sync.Mutex
	last uint64
	open map[hip.GraphExec]*graph
}

// graph is an executable graph.
type graph struct {
	mu     sync.Mutex // one launch or change at a time
	desc   hip.GraphDesc
	native *native       // nil if it is issued
	issued hip.GraphExec // of the executor, if it is
	turns  *executor.Turns
	gone   bool
}

// build makes a description ready: as a graph of the library's if that has all it
// takes.
func (r *Runtime) build(t hip.Thread, d *hip.GraphDesc) (n *native, issued hip.GraphExec, err hip.Error) {
	if n, err = r.newNative(t, d); err == hip.ErrorNotSupported {
		n = nil
		issued, err = r.graphs.issued.GraphInstantiate(t, &hip.GraphDesc{Device: d.Device, Ops: slices.Clone(d.Ops)}) // which it changes
	}
	return n, issued, err
}

// drop gives back what build made. What was launched goes on.
func (r *Runtime) drop(t hip.Thread, n *native, issued hip.GraphExec) {
	if n != nil {
		n.destroy(t)
	} else if issued != 0 {
		r.graphs.issued.GraphExecDestroy(t, issued)
	}
}

// GraphInstantiate is hipGraphInstantiate of a graph with these nodes.
func (r *Runtime) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	if err := d.Check(); err != hip.Success {
		return 0, err
	}
	g := &graph{desc: hip.GraphDesc{Device: d.Device, Ops: slices.Clone(d.Ops)}, turns: executor.NewTurns(r, d.Device)}
	var err hip.Error
	if g.native, g.issued, err = r.build(t, &g.desc); err != hip.Success {
		return 0, err
	}
	x := &r.graphs
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == nil {
		x.open = map[hip.GraphExec]*graph{}
	}
	x.last += 16
	h := hip.GraphExec(1<<12 + x.last)
	x.open[h] = g
	return h, hip.Success
}

// graph is the graph with a handle, locked; nil if there is none.
func (r *Runtime) graph(h hip.GraphExec) *graph {
	r.graphs.mu.Lock()
	g := r.graphs.open[h]
	r.graphs.mu.Unlock()
	if g == nil {
		return nil
	}
	g.mu.Lock()
	if g.gone {
		g.mu.Unlock()
		return nil
	}
	return g
}

// GraphExecUpdate is hipGraphExec…NodeSetParams and hipGraphNodeSetEnabled for
// each change: all are made or, if one makes no sense, none. A graph whose
// library refuses to change a node is built again.
func (r *Runtime) GraphExecUpdate(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	g := r.graph(h)
	if g == nil {
		return hip.ErrorInvalidValue
	}
	drop := func() {}
	defer func() { drop() }() // which asks all graphs about streams
	defer g.mu.Unlock()
	for i := range changes {
		c := &changes[i]
		if err := g.desc.CheckChange(c); err != hip.Success {
			return err
		}
		if c.Op.Device != g.desc.Ops[c.Index].Device {
			return hip.ErrorInvalidValue
		}
	}
	if g.native == nil {
		if err := r.graphs.issued.GraphExecUpdate(t, g.issued, changes); err != hip.Success {
			return err
		}
		g.desc.Apply(changes)
		return hip.Success
	}
	old := make([]hip.GraphOp, len(changes))
	for i, c := range changes {
		old[i] = g.desc.Ops[c.Index]
	}
	g.desc.Apply(changes)
	if g.native.update(t, changes) == hip.Success {
		return hip.Success
	}
	n, issued, err := r.build(t, &g.desc)
	if err != hip.Success {
		for i, c := range slices.Backward(changes) {
			g.desc.Ops[c.Index] = old[i]
		}
		var again hip.Error
		if n, issued, again = r.build(t, &g.desc); again != hip.Success { // some of the changes were made
			return err
		}
	}
	native, was := g.native, g.issued
	drop = func() { r.drop(t, native, was) }
	g.native, g.issued = n, issued
	return err
}

// GraphLaunch is hipGraphLaunch, at the graph's turn: one message to the library,
// whatever the graph's size.
func (r *Runtime) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	g := r.graph(h)
	if g == nil {
		return hip.ErrorInvalidValue
	}
	defer g.mu.Unlock()
	return g.turns.Launch(t, s, func(t hip.Thread, s hip.Stream) hip.Error {
		if g.native == nil {
			return r.graphs.issued.GraphLaunch(t, g.issued, s)
		}
		return g.native.launch(t, s)
	})
}

// GraphExecDestroy is hipGraphExecDestroy. What was launched goes on.
func (r *Runtime) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	g := r.graph(h)
	if g == nil {
		return hip.ErrorInvalidValue
	}
	r.graphs.mu.Lock()
	delete(r.graphs.open, h)
	r.graphs.mu.Unlock()
	g.gone = true // nobody takes it up any more
	g.mu.Unlock()
	g.turns.Release(t)
	r.drop(t, g.native, g.issued)
	return hip.Success
}

// reset forgets the graphs that use a device, which are gone with its streams.
func (x *graphs) reset(device int32) {
	x.issued.DeviceReset(device)
	x.mu.Lock()
	defer x.mu.Unlock()
	for h, g := range x.open {
		if g.desc.Device == device || slices.ContainsFunc(g.desc.Ops, func(op hip.GraphOp) bool { return op.Device == device }) {
			delete(x.open, h)
		}
	}
}

// leave is for a stream that is about to be destroyed.
func (x *graphs) leave(t hip.Thread, s hip.Stream) hip.Error {
	x.mu.Lock()
	all := make([]*executor.Turns, 0, len(x.open))
	for _, g := range x.open {
		all = append(all, g.turns)
	}
	x.mu.Unlock()
	if err := executor.Leave(all, t, s); err != hip.Success {
		return err
	}
	return x.issued.StreamDestroy(t, s)
}
