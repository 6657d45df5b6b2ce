package hipabi

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// graph is a hipGraph_t: operations and what each must wait for. Its nodes are
// guarded by the table's lock.
type graph struct {
	handle    uint64
	device    int32 // of the stream that was captured
	nodes     []*node
	capturing bool          // a capture is still adding to it
	memory    []*allocation // what its nodes allocate
}

// node is one operation of a graph. Once made it does not change.
type node struct {
	handle uint64
	kind   hip.GraphNodeType
	device int32
	after  []*node   // each once
	run    operation // nil: nothing to do, only an order to keep
}

// operation issues what was recorded, on the stream that it is given.
type operation func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error

// graphs knows every graph, node and executable graph by its handle.
var graphs graphTable

type graphTable struct {
	mu     sync.Mutex
	last   uint64
	graphs map[uint64]*graph
	nodes  map[uint64]*node
	execs  map[uint64]*exec
	memory map[hip.Ptr]*allocation
}

func (x *graphTable) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.graphs, x.nodes, x.execs, x.memory = map[uint64]*graph{}, map[uint64]*node{}, map[uint64]*exec{}, map[hip.Ptr]*allocation{}
}

// handle is a number that nothing had before. Called with the lock.
func (x *graphTable) handle() uint64 {
	x.last += 16
	return 1<<20 + x.last
}

func (x *graphTable) create(device int32, capturing bool) *graph {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := &graph{handle: x.handle(), device: device, capturing: capturing}
	x.graphs[g.handle] = g
	return g
}

// add gives g one node more, behind the nodes after.
func (x *graphTable) add(g *graph, kind hip.GraphNodeType, device int32, after []*node, run operation) *node {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := &node{handle: x.handle(), kind: kind, device: device, after: slices.Clone(after), run: run}
	g.nodes = append(g.nodes, n)
	x.nodes[n.handle] = n
	return n
}

// finished ends the capture into g.
func (x *graphTable) finished(g *graph) {
	x.mu.Lock()
	g.capturing = false
	x.mu.Unlock()
}

// discard forgets g and gives back the memory that only g has.
func (x *graphTable) discard(g *graph) {
	x.mu.Lock()
	delete(x.graphs, g.handle)
	for _, n := range g.nodes {
		delete(x.nodes, n.handle)
	}
	unused := x.disown(g.memory)
	x.mu.Unlock()
	freeAll(unused)
}

// destroy is hipGraphDestroy. Executable graphs made of g live on.
func (x *graphTable) destroy(handle uint64) hip.Error {
	if handle == 0 {
		return hip.ErrorInvalidValue
	}
	x.mu.Lock()
	g := x.graphs[handle]
	busy := g == nil || g.capturing
	x.mu.Unlock()
	if busy {
		return hip.ErrorIllegalState
	}
	x.discard(g)
	return hip.Success
}

// clone is a graph of its own with the same nodes.
func (x *graphTable) clone(handle uint64) (*graph, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	from := x.graphs[handle]
	if from == nil || from.capturing {
		return nil, hip.ErrorInvalidValue
	}
	g := &graph{handle: x.handle(), device: from.device, memory: x.own(from.memory)}
	twin := make(map[*node]*node, len(from.nodes))
	for _, n := range from.nodes {
		c := *n
		c.handle, c.after = x.handle(), make([]*node, len(n.after))
		for i, d := range n.after {
			c.after[i] = twin[d]
		}
		twin[n] = &c
		g.nodes = append(g.nodes, &c)
		x.nodes[c.handle] = &c
	}
	x.graphs[g.handle] = g
	return g, hip.Success
}

// list is what pick chooses of the nodes of a graph, as handles.
func (x *graphTable) list(handle uint64, pick func(*node) bool) ([]uint64, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.graphs[handle]
	if g == nil {
		return nil, hip.ErrorInvalidValue
	}
	var hs []uint64
	for _, n := range g.nodes {
		if pick(n) {
			hs = append(hs, n.handle)
		}
	}
	return hs, hip.Success
}

func (x *graphTable) node(handle uint64) *node {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.nodes[handle]
}

// order is nodes so that each comes behind those that it waits for, otherwise
// as they stand; ok is false if they wait for each other in a circle or for a
// node that is not among them.
func order(nodes []*node) (sorted []*node, ok bool) {
	missing := make(map[*node]int, len(nodes))
	next := make(map[*node][]*node, len(nodes))
	for _, n := range nodes {
		missing[n] = len(n.after)
		for _, d := range n.after {
			next[d] = append(next[d], n)
		}
	}
	for _, n := range nodes {
		if missing[n] == 0 {
			sorted = append(sorted, n)
		}
	}
	for i := 0; i < len(sorted); i++ {
		for _, n := range next[sorted[i]] {
			if missing[n]--; missing[n] == 0 {
				sorted = append(sorted, n)
			}
		}
	}
	return sorted, len(sorted) == len(nodes)
}

// leaves are the nodes that no other node waits for.
func leaves(nodes []*node) []*node {
	awaited := make(map[*node]bool, len(nodes))
	for _, n := range nodes {
		for _, d := range n.after {
			awaited[d] = true
		}
	}
	var ls []*node
	for _, n := range nodes {
		if !awaited[n] {
			ls = append(ls, n)
		}
	}
	return ls
}
