package graph

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// twin is a node's in an executable graph. Called with the lock.
func (x *Space) twin(exec, id ID) (*Exec, *node, hip.Error) {
	e := x.execs[exec]
	if e == nil || x.nodes[id] == nil || e.twins[id] == nil {
		return nil, nil, hip.ErrorInvalidValue
	}
	return e, e.twins[id], hip.Success
}

// ExecParams are the parameters that a node has in an executable graph.
func (x *Space) ExecParams(exec, id ID) (Params, hip.Error) {
	x.lock()
	defer x.done()
	_, n, err := x.twin(exec, id)
	if err != hip.Success {
		return nil, err
	}
	return n.params, hip.Success
}

// change is what the Runtime must be told of a node.
func (e *Exec) change(n *node) hip.GraphChange {
	return hip.GraphChange{Index: uint32(e.at[n]), Op: n.op()}
}

// ExecSetParams gives a node other parameters in an executable graph alone. A
// child graph's node takes over those of another graph's nodes.
func (x *Space) ExecSetParams(exec, id ID, p Params) (hip.GraphExec, []hip.GraphChange, hip.Error) {
	x.lock()
	defer x.done()
	e, n, err := x.twin(exec, id)
	if err != hip.Success {
		return 0, nil, err
	}
	if n.params.Type() != p.Type() {
		return 0, nil, hip.ErrorInvalidValue
	}
	switch p := p.(type) {
	case MemAlloc, MemFree:
		return 0, nil, hip.ErrorNotSupported
	case Child:
		return x.setChild(e, n, x.nodes[id], p)
	}
	old := n.params
	n.params = p
	c := e.change(n)
	if err := c.Op.Check(); err != hip.Success {
		n.params = old
		return 0, nil, err
	}
	return e.handle, []hip.GraphChange{c}, hip.Success
}

// setChild is hipGraphExecChildGraphNodeSetParams.
func (x *Space) setChild(e *Exec, n, original *node, p Child) (hip.GraphExec, []hip.GraphChange, hip.Error) {
	from := x.graphs[p.Graph]
	if from == nil {
		return 0, nil, hip.ErrorInvalidValue
	}
	if from == original.graph {
		return 0, nil, hip.ErrorUnknown
	}
	pairs, err := match(n.params.(Child).graph, from)
	if err != hip.Success {
		return 0, nil, hip.ErrorUnknown
	}
	cs, err := e.apply(pairs)
	return e.handle, cs, err
}

// pair is a node of an executable graph and the one whose parameters it gets.
type pair struct{ old, new *node }

// mismatch is why one graph cannot take over another's parameters.
type mismatch struct {
	node   *node // of the new graph; nil for the whole
	result hip.GraphExecUpdateResult
}

// match pairs the nodes of two graphs of the same shape.
func match(old, new *Graph) ([]pair, hip.Error) {
	a, _ := order(old.nodes)
	b, ok := order(new.nodes)
	if !ok {
		return nil, hip.ErrorInvalidValue
	}
	pairs, why := compare(a, b)
	if why.result != hip.GraphExecUpdateSuccess {
		return nil, hip.ErrorInvalidValue
	}
	return pairs, hip.Success
}

// compare pairs nodes in order, and says what HIP calls the first difference
// that an update cannot bridge.
func compare(old, new []*node) (pairs []pair, why mismatch) {
	if len(old) != len(new) {
		return nil, mismatch{nil, hip.GraphExecUpdateErrorTopologyChanged}
	}
	where := make(map[*node]int, len(old))
	for i, n := range old {
		where[n] = i
	}
	for i, n := range new {
		o := old[i]
		if o.params.Type() != n.params.Type() {
			return nil, mismatch{n, hip.GraphExecUpdateErrorNodeTypeChanged}
		}
		switch p := n.params.(type) {
		case Host, Empty:
		case Kernel:
			if p.Device != o.params.(Kernel).Device {
				return nil, mismatch{n, hip.GraphExecUpdateErrorUnsupportedFunctionChange}
			}
		default:
			if n.graph.device != o.graph.device {
				return nil, mismatch{n, hip.GraphExecUpdateErrorUnsupportedFunctionChange}
			}
		}
		if p, ok := n.params.(Memcpy); ok && p.Kind != o.params.(Memcpy).Kind {
			return nil, mismatch{n, hip.GraphExecUpdateErrorParametersChanged}
		}
		if !sameAfter(o, n, where, new) {
			return nil, mismatch{n, hip.GraphExecUpdateErrorTopologyChanged}
		}
		if c, ok := n.params.(Child); ok {
			a, _ := order(o.params.(Child).graph.nodes)
			b, ok := order(c.graph.nodes)
			if !ok {
				return nil, mismatch{n, hip.GraphExecUpdateErrorTopologyChanged}
			}
			inner, why := compare(a, b)
			if why.result != hip.GraphExecUpdateSuccess {
				return nil, mismatch{n, why.result}
			}
			pairs = append(pairs, inner...)
			continue
		}
		pairs = append(pairs, pair{o, n})
	}
	return pairs, why
}

// sameAfter says whether two nodes wait for the same places.
func sameAfter(o, n *node, where map[*node]int, new []*node) bool {
	if len(o.after) != len(n.after) {
		return false
	}
	for _, d := range o.after {
		if !slices.Contains(n.after, new[where[d]]) {
			return false
		}
	}
	return true
}

// apply gives nodes the parameters of their pairs; what the Runtime must be told
// is what became different.
func (e *Exec) apply(pairs []pair) (cs []hip.GraphChange, err hip.Error) {
	for _, p := range pairs {
		switch p.new.params.(type) {
		case Empty, MemAlloc, MemFree: // their address is their own
			continue
		}
		op := p.new.op()
		if err := op.Check(); err != hip.Success {
			return nil, err
		}
	}
	for _, p := range pairs {
		switch p.new.params.(type) {
		case Empty, MemAlloc, MemFree:
			continue
		}
		if sameParams(p.old.params, p.new.params) {
			continue
		}
		p.old.params = p.new.params
		cs = append(cs, e.change(p.old))
	}
	return cs, hip.Success
}

// sameParams spares the Runtime what did not change.
func sameParams(a, b Params) bool {
	switch a := a.(type) {
	case Kernel:
		b := b.(Kernel)
		la, lb := a.Launch, b.Launch
		return la.Function == lb.Function && la.Grid == lb.Grid && la.Block == lb.Block && la.SharedMem == lb.SharedMem &&
			la.Start == lb.Start && la.Stop == lb.Stop && la.Flags == lb.Flags && la.GlobalSize == lb.GlobalSize && slices.Equal(la.Args, lb.Args) &&
			a.Func == b.Func
	case Memcpy:
		b := b.(Memcpy)
		x, y := a.Op.General, b.Op.General
		a.Op.General, b.Op.General = nil, nil
		return a == b && (x == y || x != nil && y != nil && *x == *y)
	case Memset:
		return a == b.(Memset)
	case EventRecord:
		return a == b.(EventRecord)
	case EventWait:
		return a == b.(EventWait)
	}
	return false
}

// Update is what hipGraphExecUpdate has found.
type Update struct {
	Handle  hip.GraphExec
	Changes []hip.GraphChange
	Result  hip.GraphExecUpdateResult
	Node    ID // that stands in the way
}

// ExecUpdate is hipGraphExecUpdate: an executable graph takes over the parameters
// of a graph of the same shape, all of them or none.
func (x *Space) ExecUpdate(exec, graph ID) (u Update, err hip.Error) {
	x.lock()
	defer x.done()
	e, g := x.execs[exec], x.graphs[graph]
	if e == nil || g == nil || g.captures > 0 {
		u.Result = hip.GraphExecUpdateError
		return u, hip.ErrorInvalidValue
	}
	sorted, ok := order(g.nodes)
	if !ok {
		u.Result = hip.GraphExecUpdateErrorTopologyChanged
		return u, hip.ErrorGraphExecUpdateFailure
	}
	pairs, why := compare(e.sorted, sorted)
	if why.result == hip.GraphExecUpdateSuccess {
		if u.Changes, err = e.apply(pairs); err == hip.Success {
			u.Handle = e.handle
			return u, hip.Success
		}
		why.result = hip.GraphExecUpdateErrorNotSupported
		if err == hip.ErrorInvalidValue {
			why.result = hip.GraphExecUpdateErrorParametersChanged
		}
	}
	u.Result = why.result
	if why.node != nil {
		u.Node = why.node.id
	}
	return u, hip.ErrorGraphExecUpdateFailure
}

// SetEnabled is hipGraphNodeSetEnabled.
func (x *Space) SetEnabled(exec, id ID, on bool) (hip.GraphExec, []hip.GraphChange, hip.Error) {
	x.lock()
	defer x.done()
	e, n, err := x.twin(exec, id)
	if err == hip.Success && !n.switchable() {
		err = hip.ErrorInvalidValue
	}
	if err != hip.Success {
		return 0, nil, err
	}
	n.disabled = !on
	return e.handle, []hip.GraphChange{e.change(n)}, hip.Success
}

// Enabled is hipGraphNodeGetEnabled.
func (x *Space) Enabled(exec, id ID) (bool, hip.Error) {
	x.lock()
	defer x.done()
	_, n, err := x.twin(exec, id)
	if err == hip.Success && !n.switchable() {
		err = hip.ErrorInvalidValue
	}
	if err != hip.Success {
		return false, err
	}
	return !n.disabled, hip.Success
}

// switchable says whether nodes of this type can be disabled.
func (n *node) switchable() bool {
	switch n.params.Type() {
	case hip.GraphNodeTypeKernel, hip.GraphNodeTypeMemcpy, hip.GraphNodeTypeMemset:
		return true
	}
	return false
}
