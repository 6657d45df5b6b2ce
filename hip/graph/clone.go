package graph

import "github.com/rocwire/rocwire/hip"

// clone copies a graph with its child graphs. The nodes of one for execution
// have no names. twins, where it is not nil, tells which node became which;
// nodes of child graphs are not in it. Called with the lock.
func (x *Space) clone(from *Graph, executing bool, twins map[*node]*node) *Graph {
	x.graphNo++
	g := &Graph{no: x.graphNo, device: from.device, cloned: true, memory: x.own(from.memory)}
	if !executing {
		g.id = x.id()
		x.graphs[g.id] = g
	}
	if twins == nil {
		twins = make(map[*node]*node, len(from.nodes))
	}
	for _, n := range from.nodes {
		c := &node{no: n.no, graph: g, device: n.device, params: n.params, attr: n.attr, disabled: n.disabled}
		if !executing {
			c.id = x.id()
			x.nodes[c.id] = c
		}
		if p, ok := n.params.(Child); ok {
			child := x.clone(p.graph, executing, nil)
			child.owner = c
			c.params = Child{Graph: child.id, graph: child}
		}
		twins[n] = c
		g.nodes = append(g.nodes, c)
	}
	for _, n := range from.nodes {
		c := twins[n]
		for _, d := range n.after {
			c.after = append(c.after, twins[d])
		}
		for _, d := range n.next {
			c.next = append(c.next, twins[d])
		}
	}
	for o := range from.objects {
		x.retain(g, o, 1)
		o.refs++
	}
	return g
}

// Clone is hipGraphClone. A graph with nodes of memory cannot be cloned: its
// addresses are its own.
func (x *Space) Clone(graph ID) (ID, hip.Error) {
	x.lock()
	defer x.done()
	from := x.graphs[graph]
	if from == nil || from.captures > 0 {
		return 0, hip.ErrorInvalidValue
	}
	if from.hasMemoryNodes() {
		return 0, hip.ErrorNotSupported
	}
	return x.clone(from, false, nil).id, hip.Success
}

func (g *Graph) hasMemoryNodes() bool {
	for _, n := range g.nodes {
		switch n.params.(type) {
		case MemAlloc, MemFree:
			return true
		}
	}
	return false
}

// FindInClone is hipGraphNodeFindInClone.
func (x *Space) FindInClone(original, clone ID) (ID, hip.Error) {
	x.lock()
	defer x.done()
	n, g := x.nodes[original], x.graphs[clone]
	if n == nil || g == nil || !g.cloned {
		return 0, hip.ErrorInvalidValue
	}
	for _, c := range g.nodes {
		if c.no == n.no {
			return c.id, hip.Success
		}
	}
	return 0, hip.ErrorInvalidValue
}
