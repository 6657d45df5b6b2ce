package graph

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Captures is every stream capture that goes on in a process: what is issued on
// a stream that captures becomes a node instead of being executed.
type Captures struct {
	space   *Space
	runtime func() hip.Runtime // is asked about streams, and for memory
	changed func()             // whether a capture goes on may have changed

	mu      sync.Mutex
	last    uint64 // id given
	all     map[*capture]struct{}
	streams map[hip.Stream]*branch
	events  map[hip.Event]*moment
	modes   map[uint32]hip.StreamCaptureMode // of the threads that changed theirs

	recorded recorded
}

// capture is one stream capture.
type capture struct {
	id      uint64
	origin  hip.Stream
	thread  uint32 // that began it
	mode    hip.StreamCaptureMode
	graph   *Graph
	given   bool // the graph was there before
	nodes   map[*node]bool
	removed map[*node]bool // taken out of what a next node waits for
	invalid bool           // it broke a rule and can only be ended
}

// branch is a stream that takes part in a capture.
type branch struct {
	capture *capture
	device  int32
	flags   uint32
	tail    []*node // what the next node waits for
}

// moment is what an event stands for that was recorded in a capture.
type moment struct {
	capture *capture
	tail    []*node
}

// NewCaptures is no capture yet, into graphs of x. changed is called after
// captures began or ended.
func NewCaptures(x *Space, runtime func() hip.Runtime, changed func()) *Captures {
	return &Captures{space: x, runtime: runtime, changed: changed, all: map[*capture]struct{}{}, streams: map[hip.Stream]*branch{},
		events: map[hip.Event]*moment{}, modes: map[uint32]hip.StreamCaptureMode{}}
}

// Active says whether a capture goes on.
func (x *Captures) Active() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all) > 0
}

// newBranch asks the Runtime for what a capture must know of a stream.
func (x *Captures) newBranch(t hip.Thread, s hip.Stream) (*branch, hip.Error) {
	flags, err := x.runtime().StreamGetFlags(t, s)
	if err != hip.Success {
		return nil, err
	}
	d, err := x.runtime().StreamGetDevice(t, s)
	return &branch{device: d, flags: flags}, err
}

// Begin is hipStreamBeginCapture on a real stream or the null stream.
func (x *Captures) Begin(t hip.Thread, s hip.Stream, mode hip.StreamCaptureMode) hip.Error {
	return x.begin(t, s, mode, 0, nil)
}

// BeginToGraph is hipStreamBeginCaptureToGraph: the first node waits for deps.
func (x *Captures) BeginToGraph(t hip.Thread, s hip.Stream, graph ID, deps []ID, mode hip.StreamCaptureMode) hip.Error {
	if graph == 0 || !x.space.Has(graph) {
		return hip.ErrorInvalidValue
	}
	return x.begin(t, s, mode, graph, deps)
}

func (x *Captures) begin(t hip.Thread, s hip.Stream, mode hip.StreamCaptureMode, graph ID, deps []ID) hip.Error {
	if s == hip.StreamNull {
		return hip.ErrorStreamCaptureUnsupported
	}
	b, err := x.newBranch(t, s)
	if err != hip.Success {
		return err
	}
	if mode < hip.StreamCaptureModeGlobal || mode > hip.StreamCaptureModeRelaxed {
		return hip.ErrorInvalidValue
	}
	x.mu.Lock()
	if x.streams[s] != nil {
		x.mu.Unlock()
		return hip.ErrorIllegalState
	}
	c := &capture{origin: s, thread: t.ID, mode: mode, given: graph != 0, nodes: map[*node]bool{}, removed: map[*node]bool{}}
	if c.graph, b.tail, err = x.space.capturing(graph, deps, b.device); err != hip.Success {
		x.mu.Unlock()
		return err
	}
	x.last++
	c.id, b.capture = x.last, c
	x.all[c], x.streams[s] = struct{}{}, b
	x.mu.Unlock()
	x.changed()
	return hip.Success
}

// capturing is the graph that a capture goes to, and the nodes that it begins behind.
func (x *Space) capturing(graph ID, deps []ID, device int32) (g *Graph, tail []*node, err hip.Error) {
	x.lock()
	defer x.done()
	if graph == 0 {
		g = x.create(device)
	} else if g = x.graphs[graph]; g == nil {
		return nil, nil, hip.ErrorInvalidValue
	}
	tail, ok := x.members(g, deps)
	if !ok {
		return nil, nil, hip.ErrorInvalidValue
	}
	g.captures++
	return g, tail, hip.Success
}

// captured ends a capture into g.
func (x *Space) captured(g *Graph, discard bool) {
	x.lock()
	defer x.done()
	if g.captures--; discard {
		x.discard(g)
	}
}

// End is hipStreamEndCapture: the capture that began on s is over.
func (x *Captures) End(t hip.Thread, s hip.Stream) (ID, hip.Error) {
	if s == hip.StreamNull {
		return 0, hip.ErrorIllegalState
	}
	x.mu.Lock()
	b := x.streams[s]
	if b == nil {
		x.mu.Unlock()
		if _, err := x.runtime().StreamGetFlags(t, s); err != hip.Success {
			return 0, err
		}
		return 0, hip.ErrorIllegalState
	}
	c := b.capture
	switch {
	case c.origin != s:
		x.mu.Unlock()
		return 0, hip.ErrorStreamCaptureUnmatched
	case c.mode != hip.StreamCaptureModeRelaxed && c.thread != t.ID:
		x.mu.Unlock()
		return 0, hip.ErrorStreamCaptureWrongThread
	}
	err := hip.Success
	switch {
	case c.invalid:
		err = hip.ErrorStreamCaptureInvalidated
	case !x.space.joined(c, b.tail):
		err = hip.ErrorStreamCaptureUnjoined
	}
	x.drop(c)
	x.mu.Unlock()
	x.space.captured(c.graph, err != hip.Success && !c.given)
	x.changed()
	if err != hip.Success {
		return 0, err
	}
	return c.graph.id, hip.Success
}

// joined reports whether everything captured comes before what would follow
// tail, but for what the program itself has taken out of that.
func (x *Space) joined(c *capture, tail []*node) bool {
	x.lock()
	defer x.done()
	for n := range c.nodes {
		if len(n.next) == 0 && n.graph != nil && !c.removed[n] && !slices.Contains(tail, n) {
			return false
		}
	}
	return true
}

// drop takes c out of the table. Called with the lock.
func (x *Captures) drop(c *capture) {
	delete(x.all, c)
	for s, b := range x.streams {
		if b.capture == c {
			delete(x.streams, s)
		}
	}
	for e, m := range x.events {
		if m.capture == c {
			delete(x.events, e)
		}
	}
}

// Record makes an operation on s a node if s captures. It is the Runtime's if
// done is false.
func (x *Captures) Record(s hip.Stream, p Params) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, err
	}
	return true, x.append(b, p)
}

// append adds a node behind all that the branch has. Called with the lock.
func (x *Captures) append(b *branch, p Params) hip.Error {
	x.space.lock()
	defer x.space.done()
	n, err := x.space.add(b.capture.graph, present(b.tail), b.device, p)
	if err == hip.Success {
		b.capture.nodes[n] = true
		b.tail = []*node{n}
	}
	return err
}

// present leaves out nodes that the program has destroyed.
func present(ns []*node) []*node {
	return slices.DeleteFunc(slices.Clone(ns), func(n *node) bool { return n.graph == nil })
}

// capturing is the branch that s is; nil if s does not capture, with the error
// of a stream whose capture is over. Called with the lock.
func (x *Captures) capturing(s hip.Stream) (*branch, hip.Error) {
	b := x.streams[s]
	if b != nil && b.capture.invalid {
		return nil, hip.ErrorStreamCaptureInvalidated
	}
	return b, hip.Success
}

// Inline makes the launch of an executable graph a child graph's node.
func (x *Captures) Inline(s hip.Stream, exec ID) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, err
	}
	x.space.lock()
	defer x.space.done()
	e := x.space.execs[exec]
	switch {
	case e == nil:
		return true, hip.ErrorInvalidValue
	case len(e.memory) > 0: // it would be allocated by two graphs
		return true, hip.ErrorNotSupported
	}
	n := x.space.addChild(b.capture.graph, present(b.tail), b.device, e.graph)
	b.capture.nodes[n] = true
	b.tail = []*node{n}
	return true, hip.Success
}

// Allocate gives the capture on s memory. It is the Runtime's to allocate if
// done is false.
func (x *Captures) Allocate(t hip.Thread, size uint64, s hip.Stream) (done bool, p hip.Ptr, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, 0, err
	}
	t.Device = b.device
	if p, err = x.runtime().Malloc(t, size); err != hip.Success || p == 0 {
		return true, p, err
	}
	a := MemAlloc{Device: b.device}
	a.P.PoolProps.AllocType = hip.MemAllocationTypePinned
	a.P.PoolProps.Location = hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: b.device}
	a.P.Bytesize, a.P.Dptr = size, p
	return true, p, x.append(b, a)
}

// Free has the capture on s free p: graph memory, or the program's.
func (x *Captures) Free(p hip.Ptr, s hip.Stream) (done bool, err hip.Error) {
	return x.Record(s, MemFree{Ptr: p})
}

// Update is hipStreamUpdateCaptureDependencies.
func (x *Captures) Update(s hip.Stream, deps []ID, set bool) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	b := x.streams[s]
	if b == nil {
		return hip.ErrorIllegalState
	}
	if b.capture.invalid {
		return hip.ErrorStreamCaptureInvalidated
	}
	x.space.lock()
	defer x.space.done()
	nodes, ok := x.space.members(b.capture.graph, deps)
	if !ok {
		return hip.ErrorInvalidValue
	}
	if set {
		for _, n := range b.tail {
			b.capture.removed[n] = true
		}
		b.tail = nodes
		return hip.Success
	}
	b.tail = union(b.tail, nodes)
	return hip.Success
}

// union is not in place: events may stand for the tail as it was.
func union(tail, more []*node) []*node {
	tail = slices.Clone(tail)
	for _, n := range more {
		if !slices.Contains(tail, n) {
			tail = append(tail, n)
		}
	}
	return tail
}
