package graph

import "github.com/rocwire/rocwire/hip"

// Exec is an executable graph: a clone of what was instantiated, and where its
// nodes stand in the description that a [hip.Runtime] executes.
type Exec struct {
	id     ID
	device int32
	flags  uint64
	graph  *Graph
	sorted []*node
	twins  map[ID]*node  // by the nodes of the graph that it was made of
	at     map[*node]int // operations by nodes, those of child graphs too
	memory []memoryOp
	handle hip.GraphExec // the Runtime's
}

// The flags of hipGraphInstantiateWithFlags. Uploading ahead and priorities of
// nodes change nothing that a program could tell.
const autoFree = uint64(hip.GraphInstantiateFlagAutoFreeOnLaunch)

// Instantiate makes a graph executable. The Runtime's handle for the description
// is to be told by [Space.Instantiated].
func (x *Space) Instantiate(graph ID, flags uint64) (ID, *hip.GraphDesc, hip.Error) {
	x.lock()
	defer x.done()
	g := x.graphs[graph]
	if g == nil || g.captures > 0 {
		return 0, nil, hip.ErrorInvalidValue
	}
	if g.made && g.hasMemoryNodes() {
		return 0, nil, hip.ErrorNotSupported
	}
	twins := map[*node]*node{}
	e := &Exec{device: g.device, flags: flags, twins: map[ID]*node{}, at: map[*node]int{}}
	e.graph = x.clone(g, true, twins)
	for n, c := range twins {
		e.twins[n.id] = c
	}
	var ok bool
	d := &hip.GraphDesc{Device: g.device}
	if e.sorted, ok = order(e.graph.nodes); ok {
		ok = e.flatten(d, e.sorted, nil)
	}
	if !ok {
		x.discard(e.graph)
		return 0, nil, hip.ErrorInvalidValue
	}
	if err := d.Check(); err != hip.Success {
		x.discard(e.graph)
		return 0, nil, err
	}
	g.made = true
	e.id = x.id()
	x.execs[e.id] = e
	return e.id, d, hip.Success
}

// flatten writes nodes, which are in order, into a description. What waits for
// nothing among them waits for before. A child graph's node becomes the nodes
// of its graph, between what it waits for and what waits for it.
func (e *Exec) flatten(d *hip.GraphDesc, nodes []*node, before []uint32) bool {
	ends := make(map[*node][]uint32, len(nodes)) // what whoever waits for a node must wait for
	for _, n := range nodes {
		after := before
		if len(n.after) > 0 {
			after = nil
			seen := map[uint32]bool{}
			for _, p := range n.after {
				for _, i := range ends[p] {
					if !seen[i] {
						seen[i] = true
						after = append(after, i)
					}
				}
			}
		}
		c, ok := n.params.(Child)
		if !ok || len(c.graph.nodes) == 0 {
			e.at[n] = len(d.Ops)
			ends[n] = []uint32{uint32(len(d.Ops))}
			op := n.op()
			op.After = after
			d.Ops = append(d.Ops, op)
			e.note(n)
			continue
		}
		sorted, ok := order(c.graph.nodes)
		if !ok || !e.flatten(d, sorted, after) {
			return false
		}
		ends[n] = e.ends(c.graph)
	}
	return true
}

// ends are the operations that a graph ends with.
func (e *Exec) ends(g *Graph) (out []uint32) {
	for _, n := range leaves(g.nodes) {
		if c, ok := n.params.(Child); ok && len(c.graph.nodes) > 0 {
			out = append(out, e.ends(c.graph)...)
		} else {
			out = append(out, uint32(e.at[n]))
		}
	}
	return out
}

// note remembers what a node does to graph memory.
func (e *Exec) note(n *node) {
	switch p := n.params.(type) {
	case MemAlloc:
		e.memory = append(e.memory, memoryOp{p.memory, true})
	case MemFree:
		if p.memory != nil {
			e.memory = append(e.memory, memoryOp{p.memory, false})
		}
	}
}

// op is what a node executes.
func (n *node) op() hip.GraphOp {
	op := hip.GraphOp{Type: n.params.Type(), Device: n.device, Disabled: n.disabled}
	switch p := n.params.(type) {
	case Kernel:
		l := p.Launch
		if n.attr.cooperative() {
			l.Flags |= hip.LaunchCooperative
		}
		op.Kernel = &l
		op.Device = p.Device
	case Memcpy:
		c := p.Op
		op.Copy = &c
	case Memset:
		op.Set = p.set()
	case Host:
		op.Host = p.Call
	case EventRecord:
		op.Event = p.Event
	case EventWait:
		op.Event = p.Event
	case MemFree:
		if p.memory == nil {
			op.Ptr = p.Ptr
		}
	case BatchMemOp:
		op.Batch = p.Ops
	case Child: // of an empty graph
		op.Type = hip.GraphNodeTypeEmpty
	case Signal:
		if p.P.NumExtSems == 0 {
			op.Type = hip.GraphNodeTypeEmpty
		}
	case Wait:
		if p.P.NumExtSems == 0 {
			op.Type = hip.GraphNodeTypeEmpty
		}
	}
	return op
}

func (p Memset) set() *hip.GraphSet {
	s := &hip.GraphSet{
		Dst: p.P.Dst, Pitch: p.P.Pitch, Value: p.P.Value, Element: p.P.ElementSize, Width: p.P.Width, Height: p.P.Height,
		Slice: p.Slice, Depth: max(p.Depth, 1),
	}
	if s.Height == 1 && s.Depth == 1 { // the one row's pitch means nothing
		s.Pitch = s.Width * uint64(s.Element)
	}
	return s
}

// Instantiated tells an executable graph by which handle the Runtime has it.
func (x *Space) Instantiated(id ID, h hip.GraphExec) {
	x.lock()
	defer x.done()
	if e := x.execs[id]; e != nil {
		e.handle = h
	}
}

// Launch is hipGraphLaunch's part here: what becomes of the graph's memory, and
// by which handle the Runtime launches it.
func (x *Space) Launch(id ID) (hip.GraphExec, hip.Error) {
	x.lock()
	defer x.done()
	e := x.execs[id]
	if e == nil {
		return 0, hip.ErrorInvalidValue
	}
	if len(e.memory) > 0 {
		if err := x.launching(e.memory, e.flags&autoFree != 0); err != hip.Success {
			return 0, err
		}
	}
	return e.handle, hip.Success
}

// Exec is an executable graph's handle and flags.
func (x *Space) Exec(id ID) (h hip.GraphExec, flags uint64, err hip.Error) {
	x.lock()
	defer x.done()
	e := x.execs[id]
	if e == nil {
		return 0, 0, hip.ErrorInvalidValue
	}
	return e.handle, e.flags, hip.Success
}

// DestroyExec is hipGraphExecDestroy; the Runtime's is the caller's to destroy.
func (x *Space) DestroyExec(id ID) (hip.GraphExec, hip.Error) {
	x.lock()
	defer x.done()
	e := x.execs[id]
	if e == nil {
		return 0, hip.ErrorInvalidValue
	}
	delete(x.execs, id)
	x.discard(e.graph)
	return e.handle, hip.Success
}
