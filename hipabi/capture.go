package hipabi

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// capture is one stream capture: what is issued on its streams becomes nodes of
// its graph instead of being executed.
type capture struct {
	id      uint64
	origin  hip.Stream
	thread  uint32 // that began it
	mode    hip.StreamCaptureMode
	graph   *graph
	invalid bool // it broke a rule and can only be ended
}

// branch is a stream that takes part in a capture.
type branch struct {
	capture *capture
	device  int32
	flags   uint32
	tail    []*node // what the next node waits for
	shown   tails   // the tail as a program was shown it
}

// moment is what an event stands for that was recorded in a capture.
type moment struct {
	capture *capture
	tail    []*node
}

// captures is every capture that is going on in this process.
var captures captureTable

type captureTable struct {
	mu      sync.Mutex
	last    uint64 // id given
	all     map[*capture]struct{}
	streams map[hip.Stream]*branch
	events  map[hip.Event]*moment
	modes   map[uint32]hip.StreamCaptureMode // of the threads that changed theirs
}

func (x *captureTable) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all, x.streams, x.events, x.modes = map[*capture]struct{}{}, map[hip.Stream]*branch{}, map[hip.Event]*moment{}, map[uint32]hip.StreamCaptureMode{}
	watching.Store(nil)
}

// watch has calls looked at while a capture goes on or a graph has memory, and
// only then. It is called after each change of that.
func (x *captureTable) watch() {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch needed := len(x.all) > 0 || graphs.hasMemory(); {
	case !needed:
		watching.Store(nil)
	case watching.Load() == nil:
		watching.Store(&captureRuntime{bare()})
	}
}

// newBranch asks the Runtime for what a capture must know of a stream.
func newBranch(t hip.Thread, s hip.Stream) (*branch, hip.Error) {
	flags, err := bare().StreamGetFlags(t, s)
	if err != hip.Success {
		return nil, err
	}
	d, err := bare().StreamGetDevice(t, s)
	return &branch{device: d, flags: flags}, err
}

// begin starts a capture on s, which is a real stream and not the null stream.
func (x *captureTable) begin(t hip.Thread, s hip.Stream, mode hip.StreamCaptureMode) hip.Error {
	if s == hip.StreamNull {
		return hip.ErrorStreamCaptureUnsupported
	}
	if mode < hip.StreamCaptureModeGlobal || mode > hip.StreamCaptureModeRelaxed {
		return hip.ErrorInvalidValue
	}
	b, err := newBranch(t, s)
	if err != hip.Success {
		return err
	}
	x.mu.Lock()
	if x.streams[s] != nil {
		x.mu.Unlock()
		return hip.ErrorIllegalState
	}
	x.last++
	c := &capture{id: x.last, origin: s, thread: t.ID, mode: mode, graph: graphs.create(b.device, true)}
	b.capture = c
	x.all[c], x.streams[s] = struct{}{}, b
	x.mu.Unlock()
	x.watch()
	return hip.Success
}

// end ends the capture that began on s and gives out its graph.
func (x *captureTable) end(t hip.Thread, s hip.Stream) (*graph, hip.Error) {
	x.mu.Lock()
	b := x.streams[s]
	switch {
	case b == nil:
		x.mu.Unlock()
		return nil, hip.ErrorIllegalState
	case b.capture.origin != s:
		x.mu.Unlock()
		return nil, hip.ErrorStreamCaptureUnmatched
	case b.capture.mode != hip.StreamCaptureModeRelaxed && b.capture.thread != t.ID:
		x.mu.Unlock()
		return nil, hip.ErrorStreamCaptureWrongThread
	}
	c := b.capture
	x.drop(c)
	x.mu.Unlock()

	err := hip.Success
	switch {
	case c.invalid:
		err = hip.ErrorStreamCaptureInvalidated
	case !joined(c.graph.nodes, b.tail):
		err = hip.ErrorStreamCaptureUnjoined
	}
	if err == hip.Success {
		graphs.finished(c.graph)
	} else {
		graphs.discard(c.graph)
	}
	x.watch()
	return c.graph, err
}

// joined reports whether everything in a graph comes before what would follow tail.
func joined(nodes, tail []*node) bool {
	for _, n := range leaves(nodes) {
		if !slices.Contains(tail, n) {
			return false
		}
	}
	return true
}

// drop takes c out of the table. Called with the lock.
func (x *captureTable) drop(c *capture) {
	delete(x.all, c)
	for s, b := range x.streams {
		if b.capture == c {
			b.shown.free()
			delete(x.streams, s)
		}
	}
	for e, m := range x.events {
		if m.capture == c {
			delete(x.events, e)
		}
	}
}

// record makes an operation on s a node if s captures. It is the Runtime's if
// done is false.
func (x *captureTable) record(s hip.Stream, kind hip.GraphNodeType, run operation) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, err
	}
	b.append(kind, run)
	return true, hip.Success
}

// append adds a node behind all that the branch has. Called with the lock.
func (b *branch) append(kind hip.GraphNodeType, run operation) {
	b.tail = []*node{graphs.add(b.capture.graph, kind, b.device, b.tail, run)}
}

// capturing is the branch that s is; nil if s does not capture, with the error
// of a stream whose capture is over or of a null stream that would wait for one.
// Called with the lock.
func (x *captureTable) capturing(s hip.Stream) (*branch, hip.Error) {
	if s == hip.StreamNull {
		return nil, x.implicit()
	}
	b := x.streams[s]
	if b != nil && b.capture.invalid {
		return nil, hip.ErrorStreamCaptureInvalidated
	}
	return b, hip.Success
}

// inline adds an executable graph's nodes to the capture on s, if there is one.
func (x *captureTable) inline(s hip.Stream, e *exec) (done bool, err hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b, err := x.capturing(s)
	if b == nil {
		return err != hip.Success, err
	}
	if len(e.memory) > 0 { // it would be allocated by two graphs
		return true, hip.ErrorNotSupported
	}
	twin := make(map[*node]*node, len(e.nodes))
	var ends []*node
	for _, n := range e.nodes {
		after := make([]*node, len(n.after))
		for i, d := range n.after {
			after[i] = twin[d]
		}
		if len(after) == 0 {
			after = b.tail
		}
		twin[n] = graphs.add(b.capture.graph, n.kind, n.device, after, n.run)
	}
	for _, n := range leaves(e.nodes) {
		ends = append(ends, twin[n])
	}
	if len(ends) > 0 {
		b.tail = ends
	}
	return true, hip.Success
}
