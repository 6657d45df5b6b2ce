package hipabi

/*
#include <stdint.h>
#include <stdlib.h>

typedef void (*host_fn)(void *);
static void call_host(void *fn, uintptr_t data) { ((host_fn)fn)((void *)data); }
*/
import "C"

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// graphState is the graphs and captures of the process, since its Runtime is there.
type graphState struct {
	space    *graph.Space
	captures *graph.Captures
	shown    shownTable
}

var graphing atomic.Pointer[graphState]

// resetGraphs forgets every graph. Called when another Runtime is put behind
// the exports.
func resetGraphs() {
	s := &graphState{}
	s.space = graph.NewSpace(graph.Hooks{
		Free: func(device int32, p hip.Ptr) {
			bare().Free(hip.Thread{Device: device}, p)
			s.watch()
		},
		Forget: s.shown.forget,
	})
	s.captures = graph.NewCaptures(s.space, bare, s.watch)
	graphing.Store(s)
	watching.Store(nil)
}

// graphs are the process's. The Runtime is opened first: what is made before
// would be forgotten then.
func graphs() *graph.Space {
	bare()
	return graphing.Load().space
}

func captures() *graph.Captures {
	bare()
	return graphing.Load().captures
}

// watch has calls looked at while a capture goes on or a graph has memory, and
// only then. It is called after each change of that.
func (s *graphState) watch() {
	watchLock.Lock()
	defer watchLock.Unlock()
	switch needed := s.captures.Active() || s.space.HasMemory(); {
	case graphing.Load() != s:
	case !needed:
		watching.Store(nil)
	case watching.Load() == nil:
		watching.Store(&captureRuntime{bare()})
	}
}

var watchLock sync.Mutex

// shownTable is what the C ABI shows of nodes by pointers into memory of the
// library, which must last until the node changes.
type shownTable struct {
	mu sync.Mutex
	m  map[graph.ID]unsafe.Pointer
}

// keep gives n bytes of C's memory to a node, in place of what it had.
func (x *shownTable) keep(id graph.ID, n int) unsafe.Pointer {
	p := C.calloc(1, C.size_t(max(n, 1)))
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil {
		x.m = map[graph.ID]unsafe.Pointer{}
	}
	C.free(x.m[id])
	x.m[id] = p
	return p
}

func (x *shownTable) forget(id graph.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	C.free(x.m[id])
	delete(x.m, id)
}

// hostCall is a function of the program as a graph calls it.
func hostCall(fn, data hip.Ptr) func() {
	f := pointer(uintptr(fn))
	return func() { C.call_host(f, C.uintptr_t(data)) }
}

// maxNodes bounds the lists of nodes that one call takes.
const maxNodes = 1 << 24

// idsAt is a list of n nodes; ok is false if it is not there.
func idsAt(p unsafe.Pointer, n uint64) (ids []graph.ID, ok bool) {
	if n == 0 {
		return nil, true
	}
	if p == nil || n > maxNodes {
		return nil, false
	}
	return append(ids, unsafe.Slice((*graph.ID)(p), n)...), true
}

// give writes an answer through the pointer that asks for it.
func give[T any](out unsafe.Pointer, v T, err hip.Error) int32 {
	if err == hip.Success {
		*(*T)(out) = v
	}
	return int32(err)
}

// fill answers a question for a list of handles as all of them are asked: out
// nil asks for the length, otherwise it is how many are there; what is longer
// than the list becomes 0.
func fill(hs []graph.ID, out, length unsafe.Pointer) hip.Error {
	if length == nil {
		return hip.ErrorInvalidValue
	}
	n := (*uint64)(length)
	if out == nil {
		*n = uint64(len(hs))
		return hip.Success
	}
	to := unsafe.Slice((*uint64)(out), *n)
	clear(to[copy(to, hs):])
	*n = min(*n, uint64(len(hs)))
	return hip.Success
}

// list answers one with a list.
func list(hs []graph.ID, err hip.Error, out, length unsafe.Pointer) int32 {
	if err == hip.Success {
		err = fill(hs, out, length)
	}
	return int32(err)
}
