package graph

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// node is one operation of a graph. It is guarded by its Space's lock.
type node struct {
	id       ID     // 0 in an executable graph, whose nodes nobody names
	no       uint32 // stays in clones
	graph    *Graph // nil once it is destroyed
	device   int32
	params   Params
	attr     Attributes
	after    []*node // it waits for these, each once
	next     []*node // these wait for it
	disabled bool
}

// link has n wait for d.
func (n *node) link(d *node) {
	n.after = append(n.after, d)
	d.next = append(d.next, n)
}

// unlink undoes link; ok is false if n does not wait for d.
func (n *node) unlink(d *node) (ok bool) {
	i, j := slices.Index(n.after, d), slices.Index(d.next, n)
	if i < 0 || j < 0 {
		return false
	}
	n.after, d.next = slices.Delete(n.after, i, i+1), slices.Delete(d.next, j, j+1)
	return true
}

// cut takes n out of its edges.
func (n *node) cut() {
	for len(n.after) > 0 {
		n.unlink(n.after[len(n.after)-1])
	}
	for len(n.next) > 0 {
		n.next[len(n.next)-1].unlink(n)
	}
}

func ids(ns []*node) []ID {
	out := make([]ID, len(ns))
	for i, n := range ns {
		out[i] = n.id
	}
	return out
}

// Type is hipGraphNodeGetType.
func (x *Space) Type(id ID) (hip.GraphNodeType, hip.Error) {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil {
		return 0, hip.ErrorInvalidValue
	}
	return n.params.Type(), hip.Success
}

// Params are a node's parameters.
func (x *Space) Params(id ID) (Params, hip.Error) {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil {
		return nil, hip.ErrorInvalidValue
	}
	return n.params, hip.Success
}

// SetParams gives a node other parameters of its type. A child graph's node
// takes over the parameters of the given graph's nodes.
func (x *Space) SetParams(id ID, p Params) hip.Error {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil || n.params.Type() != p.Type() {
		return hip.ErrorInvalidValue
	}
	switch p := p.(type) {
	case MemAlloc, MemFree: // their address is the node's
		return hip.ErrorNotSupported
	case Child:
		to, from := n.params.(Child).graph, x.graphs[p.Graph]
		if from == nil {
			return hip.ErrorInvalidValue
		}
		pairs, err := match(to, from)
		if err != hip.Success {
			return err
		}
		for _, c := range pairs {
			c.old.params = c.new.params
			x.forget(c.old)
		}
		return hip.Success
	}
	n.params = p
	x.forget(n)
	return hip.Success
}

// Dependencies is hipGraphNodeGetDependencies.
func (x *Space) Dependencies(id ID) ([]ID, hip.Error) {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil {
		return nil, hip.ErrorInvalidValue
	}
	return ids(n.after), hip.Success
}

// Dependents is hipGraphNodeGetDependentNodes.
func (x *Space) Dependents(id ID) ([]ID, hip.Error) {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil {
		return nil, hip.ErrorInvalidValue
	}
	return ids(n.next), hip.Success
}

// DestroyNode is hipGraphDestroyNode. The nodes of memory must stay.
func (x *Space) DestroyNode(id ID) hip.Error {
	x.lock()
	defer x.done()
	n := x.nodes[id]
	if n == nil {
		return hip.ErrorInvalidValue
	}
	switch n.params.(type) {
	case MemAlloc, MemFree:
		return hip.ErrorNotSupported
	}
	n.cut()
	g := n.graph
	g.nodes = slices.DeleteFunc(g.nodes, func(m *node) bool { return m == n })
	x.drop(n)
	return hip.Success
}

// drop ends a node that is out of its graph. Called with the lock.
func (x *Space) drop(n *node) {
	n.graph = nil
	if n.id != 0 {
		delete(x.nodes, n.id)
		x.forget(n)
	}
	if c, ok := n.params.(Child); ok {
		x.discard(c.graph)
	}
}
