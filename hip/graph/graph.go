package graph

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
)

// Graph is operations and what each must wait for.
type Graph struct {
	id       ID // 0 in an executable graph
	no       uint32
	device   int32
	nodes    []*node
	cloned   bool          // of another graph
	owner    *node         // that it is the child graph of
	captures int           // into it that go on
	made     bool          // executable, once at least
	memory   []*allocation // what its nodes allocate and free
	objects  map[*object]uint64
}

// create makes a graph. Called with the lock.
func (x *Space) create(device int32) *Graph {
	x.graphNo++
	g := &Graph{id: x.id(), no: x.graphNo, device: device}
	x.graphs[g.id] = g
	return g
}

// Create is hipGraphCreate, for the thread's device.
func (x *Space) Create(device int32) ID {
	x.lock()
	defer x.done()
	return x.create(device).id
}

// Destroy is hipGraphDestroy. Executable graphs made of it live on.
func (x *Space) Destroy(id ID) hip.Error {
	if id == 0 {
		return hip.ErrorInvalidValue
	}
	x.lock()
	defer x.done()
	g := x.graphs[id]
	if g == nil || g.captures > 0 {
		return hip.ErrorIllegalState
	}
	if g.owner != nil { // it goes with its node
		return hip.ErrorInvalidValue
	}
	x.discard(g)
	return hip.Success
}

// discard ends a graph. Called with the lock.
func (x *Space) discard(g *Graph) {
	if g.id != 0 {
		delete(x.graphs, g.id)
	}
	for _, n := range g.nodes {
		x.drop(n)
	}
	x.disown(g.memory)
	for o, n := range g.objects {
		x.release(o, n)
	}
	g.nodes, g.memory, g.objects = nil, nil, nil
}

// Has says whether there is a graph.
func (x *Space) Has(id ID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.graphs[id] != nil
}

// Add gives a graph one node more, behind those that deps name. Below 0, its
// device is the graph's.
func (x *Space) Add(graph ID, deps []ID, device int32, p Params) (ID, hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return 0, hip.ErrorInvalidValue
	}
	after, ok := x.members(g, deps)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	if device < 0 {
		device = g.device
	}
	n, err := x.add(g, after, device, p)
	if err != hip.Success {
		return 0, err
	}
	return n.id, hip.Success
}

// members are nodes of g, each named once.
func (x *Space) members(g *Graph, ids []ID) (ns []*node, ok bool) {
	seen := make(map[ID]bool, len(ids))
	for _, id := range ids {
		n := x.nodes[id]
		if n == nil || n.graph != g || seen[id] {
			return nil, false
		}
		seen[id] = true
		ns = append(ns, n)
	}
	return ns, true
}

// add makes the node. Called with the lock.
func (x *Space) add(g *Graph, after []*node, device int32, p Params) (*node, hip.Error) {
	n := &node{graph: g, device: device}
	switch p := p.(type) {
	case Kernel:
		n.device, n.params = p.Device, p
	case Child:
		from := x.graphs[p.Graph]
		if from == nil || from.captures > 0 {
			return nil, hip.ErrorInvalidValue
		}
		return x.addChild(g, after, device, from), hip.Success
	case MemAlloc:
		p.memory = x.allocate(g, &p)
		n.device, n.params = p.Device, p
	case MemFree:
		var err hip.Error
		if p.memory, err = x.freeing(g, p.Ptr); err != hip.Success {
			return nil, err
		}
		n.params = p
	default:
		n.params = p
	}
	x.enter(n, after)
	return n, hip.Success
}

// addChild makes the node of a child graph, a clone of from. Called with the lock.
func (x *Space) addChild(g *Graph, after []*node, device int32, from *Graph) *node {
	c := x.clone(from, false, nil)
	n := &node{graph: g, device: device, params: Child{Graph: c.id, graph: c}}
	c.owner = n
	x.enter(n, after)
	return n
}

// enter puts a new node into its graph.
func (x *Space) enter(n *node, after []*node) {
	x.nodeNo++
	n.id, n.no = x.id(), x.nodeNo
	for _, d := range after {
		n.link(d)
	}
	n.graph.nodes = append(n.graph.nodes, n)
	x.nodes[n.id] = n
}

// AddDependencies is hipGraphAddDependencies: to[i] waits for from[i].
func (x *Space) AddDependencies(graph ID, from, to []ID) hip.Error {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return hip.ErrorInvalidValue
	}
	for i := range from {
		f, t := x.nodes[from[i]], x.nodes[to[i]]
		if f == nil || t == nil || f == t || f.graph != g || t.graph != g {
			return hip.ErrorInvalidValue
		}
	}
	for i := range from {
		f, t := x.nodes[from[i]], x.nodes[to[i]]
		if slices.Contains(t.after, f) {
			return hip.ErrorInvalidValue
		}
		t.link(f)
	}
	return hip.Success
}

// RemoveDependencies is hipGraphRemoveDependencies.
func (x *Space) RemoveDependencies(graph ID, from, to []ID) hip.Error {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return hip.ErrorInvalidValue
	}
	for i := range from {
		f, t := x.nodes[from[i]], x.nodes[to[i]]
		if f == nil || t == nil || f.graph != g || t.graph != g || !t.unlink(f) {
			return hip.ErrorInvalidValue
		}
	}
	return hip.Success
}

// Edges is hipGraphGetEdges.
func (x *Space) Edges(graph ID) (from, to []ID, err hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return nil, nil, hip.ErrorInvalidValue
	}
	for _, n := range g.nodes {
		for _, m := range n.next {
			from, to = append(from, n.id), append(to, m.id)
		}
	}
	return from, to, hip.Success
}

// Nodes is hipGraphGetNodes: each behind those that it waits for.
func (x *Space) Nodes(graph ID) ([]ID, hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return nil, hip.ErrorInvalidValue
	}
	ns, ok := order(g.nodes)
	if !ok {
		return nil, hip.ErrorInvalidValue
	}
	return ids(ns), hip.Success
}

// Roots is hipGraphGetRootNodes.
func (x *Space) Roots(graph ID) ([]ID, hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil {
		return nil, hip.ErrorInvalidValue
	}
	var roots []ID
	for _, n := range g.nodes {
		if len(n.after) == 0 {
			roots = append(roots, n.id)
		}
	}
	return roots, hip.Success
}

// order is nodes so that each comes behind those that it waits for, otherwise
// as they stand; ok is false if they wait for each other in a circle.
func order(nodes []*node) (sorted []*node, ok bool) {
	missing := make(map[*node]int, len(nodes))
	for _, n := range nodes {
		if missing[n] = len(n.after); len(n.after) == 0 {
			sorted = append(sorted, n)
		}
	}
	for i := 0; i < len(sorted); i++ {
		for _, n := range sorted[i].next {
			if missing[n]--; missing[n] == 0 {
				sorted = append(sorted, n)
			}
		}
	}
	return sorted, len(sorted) == len(nodes)
}

// leaves are the nodes that no other waits for.
func leaves(nodes []*node) (ends []*node) {
	for _, n := range nodes {
		if len(n.next) == 0 {
			ends = append(ends, n)
		}
	}
	return ends
}
