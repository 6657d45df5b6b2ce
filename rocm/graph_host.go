package rocm

import "C"

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
)

// hostNode is a function of the host in a graph of the library's, which calls it
// by its handle. A launch calls what the node had when it was issued, whatever
// becomes of the node and the graph.
type hostNode struct {
	handle uintptr // what the library gives rocmGraphFunc

	mu      sync.Mutex
	f       func()   // nil: it is switched off
	pending []func() // of launches that have not come to it, in order
	gone    bool
}

// hostNodes are those that a library may call, by their handles.
var (
	hostNodes    sync.Map // uintptr: *hostNode
	lastHostNode atomic.Uintptr
)

func newHostNode() *hostNode {
	h := &hostNode{handle: lastHostNode.Add(1)}
	hostNodes.Store(h.handle, h)
	return h
}

// set gives the node its function for the launches to come.
func (h *hostNode) set(op *hip.GraphOp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.f = op.Host; op.Disabled {
		h.f = nil
	}
}

// launched notes a launch that is about to be issued. wait is called before the function.
func (h *hostNode) launched(wait func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.f
	if first := f; f != nil {
		f = func() {
			wait()
			first()
		}
	}
	h.pending = append(h.pending, f)
}

// refused is for a launch that was not issued after all: the last one.
func (h *hostNode) refused() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.pending); n > 0 {
		h.pending = h.pending[:n-1]
	}
}

// release lets go of the node. Its handle ends with the last launch.
func (h *hostNode) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	h.endIfOver()
}

// endIfOver gives the handle back once nothing calls it any more. mu is held.
func (h *hostNode) endIfOver() {
	if h.gone && len(h.pending) == 0 {
		hostNodes.Delete(h.handle)
	}
}

//export rocmGraphFunc
func rocmGraphFunc(handle uintptr) {
	v, ok := hostNodes.Load(handle)
	if !ok {
		return // of a launch that the library said it had refused
	}
	h := v.(*hostNode)
	h.mu.Lock()
	var f func()
	if len(h.pending) > 0 {
		f, h.pending = h.pending[0], h.pending[1:]
	}
	h.endIfOver()
	h.mu.Unlock()
	if f != nil {
		f()
	}
}
