package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// asyncErrors are failures of calls that have returned already. Each is returned once, by the next call that HIP says returns such
// errors; one that has killed the device context is returned by every call from then on.
type asyncErrors struct {
	any   atomic.Bool   // queue is not empty
	dead  atomic.Int32  // the sticky error, 0 while there is none
	life  atomic.Uint64 // how many ended with a reset of the device; changes under mu
	mu    sync.Mutex
	queue []hiprpc.AsyncError
	last  uint64 // number of the last failure that was returned
}

// add takes a failure the worker has told of.
func (a *asyncErrors) add(e hiprpc.AsyncError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Seq <= a.last {
		return // returned already, or of a device that was reset since
	}
	if e.Sticky {
		a.dead.CompareAndSwap(0, int32(e.Code))
		return
	}
	if len(a.queue) < 1024 {
		a.queue = append(a.queue, e)
		a.any.Store(true)
	}
}

// kill notes what a call was answered that began in a life: that the device context is dead.
func (a *asyncErrors) kill(life uint64, code hip.Error) {
	a.mu.Lock()
	if life == a.life.Load() {
		a.dead.CompareAndSwap(0, int32(code))
	}
	a.mu.Unlock()
}

// local notes a failure that this side found by itself, of a call that began in a life.
func (a *asyncErrors) local(life uint64, code hip.Error) {
	a.mu.Lock()
	if life == a.life.Load() {
		a.queue = append(a.queue, hiprpc.AsyncError{Code: code})
		a.any.Store(true)
	}
	a.mu.Unlock()
}

// sticky is the error of a dead device context, Success while it lives.
func (a *asyncErrors) sticky() hip.Error { return hip.Error(a.dead.Load()) }

// take returns what is due, Success if nothing is.
func (a *asyncErrors) take() hip.Error {
	if d := a.dead.Load(); d != 0 {
		return hip.Error(d)
	}
	if !a.any.Load() {
		return hip.Success
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return hip.Success
	}
	e := a.queue[0]
	a.queue = a.queue[1:]
	a.any.Store(len(a.queue) > 0)
	a.last = max(a.last, e.Seq)
	return e.Code
}

// first says whether a failure that came with a reply has not been returned yet; it then counts as returned, and so do those
// before it, which are of the same streams.
func (a *asyncErrors) first(seq uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if seq <= a.last {
		return false
	}
	a.last = seq
	keep := a.queue[:0]
	for _, e := range a.queue {
		if e.Seq == 0 || e.Seq > seq {
			keep = append(keep, e)
		}
	}
	a.queue = keep
	a.any.Store(len(keep) > 0)
	return true
}

// reset forgets everything: the device has been reset, and failures up to number seq are history.
func (a *asyncErrors) reset(seq uint64) {
	a.mu.Lock()
	a.life.Add(1)
	a.queue = nil
	a.any.Store(false)
	a.dead.Store(0)
	a.last = max(a.last, seq)
	a.mu.Unlock()
}
