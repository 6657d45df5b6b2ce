package rocm

import (
	"maps"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// AMD's hipFreeAsync of memory that a stream has freed before, and got again, waits for that stream to come to the free before, with locks that allocations
// and waits take: on a session's line perhaps for the return of a host function, which comes by the line. So it is known how far the streams are, and memory
// whose free before is not reached yet goes back once the stream has come so far. Until then it counts, which it would not for a program that had waited.

// frees are the last frees of memory of pools.
type frees struct {
	mu      sync.Mutex
	last    map[hip.Ptr]*passed
	late    map[hip.Ptr]int32 // what is given back later, of which device
	streams aside.Streams     // on which that is done
	swept   int               // how many of last there were after the last look at all
}

// passed is a place in a stream.
type passed struct {
	on    hip.Thread
	event hip.Event
	again bool // the memory was given out again
}

// manyFrees is how many places are kept before those that are reached are let go.
const manyFrees = 64

// MallocAsync is hipMallocAsync.
func (r *Runtime) MallocAsync(t hip.Thread, size uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	ptr, err := r.mallocAsync(t, size, s)
	if err == hip.Success {
		r.frees.taken(ptr)
	}
	return ptr, err
}

// taken notes that a pool gave memory out.
func (x *frees) taken(ptr hip.Ptr) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.last[ptr]; p != nil {
		p.again = true
	}
}

// freeInTurn is hipFreeAsync of memory that the library placed.
func (r *Runtime) freeInTurn(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	x := &r.frees
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, twice := x.late[ptr]; twice {
		return hip.ErrorInvalidValue
	}
	before := x.last[ptr]
	if before == nil || !before.again || r.eventQuery(before.on, before.event) != hip.ErrorNotReady {
		return r.freeNoted(t, ptr, s)
	}
	on, err := r.threadOf(t, s)
	if err != hip.Success {
		return err
	}
	err = r.After(on, s, func(err hip.Error) { // also behind the free before: the memory is the stream's
		if err == hip.Success {
			go r.freeLate(on, ptr)
		}
	})
	if err == hip.Success {
		if x.late == nil {
			x.late = map[hip.Ptr]int32{}
		}
		x.late[ptr] = on.Device
	}
	return err
}

// is says whether memory was freed and is given back later.
func (x *frees) is(ptr hip.Ptr) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, ok := x.late[ptr]
	return ok
}

// freeLate gives back what nothing uses any more.
func (r *Runtime) freeLate(t hip.Thread, ptr hip.Ptr) {
	x := &r.frees
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.late[ptr]; !ok { // the device was reset
		return
	}
	delete(x.late, ptr)
	s, err := x.streams.On(r, t)
	if err != hip.Success {
		s = hip.StreamNull // whatever it has to do first
	}
	_ = r.freeNoted(t, ptr, s) // it was memory when the program freed it
}

// freeNoted frees, and notes how far the stream is. The frees' mu is held.
func (r *Runtime) freeNoted(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	x := &r.frees
	err := r.freeAsync(t, ptr, s)
	if err != hip.Success {
		return err
	}
	on, err := r.threadOf(t, s)
	if err != hip.Success {
		return hip.Success // it is freed; not knowing how far the stream is only costs a wait
	}
	if old := x.last[ptr]; old != nil {
		_ = r.EventDestroy(old.on, old.event) // it was reached
		delete(x.last, ptr)
	}
	if len(x.last) >= manyFrees+2*x.swept {
		r.letGo()
	}
	event, err := r.EventCreateWithFlags(on, hip.EventDisableTiming)
	if err != hip.Success {
		return hip.Success
	}
	if r.EventRecord(on, event, s) != hip.Success {
		_ = r.EventDestroy(on, event)
		return hip.Success
	}
	if x.last == nil {
		x.last = map[hip.Ptr]*passed{}
	}
	x.last[ptr] = &passed{on: on, event: event}
	return hip.Success
}

// letGo forgets the places that are reached. The frees' mu is held.
func (r *Runtime) letGo() {
	x := &r.frees
	for ptr, p := range x.last {
		if r.eventQuery(p.on, p.event) != hip.ErrorNotReady {
			_ = r.EventDestroy(p.on, p.event)
			delete(x.last, ptr)
		}
	}
	x.swept = len(x.last)
}

// reset forgets what ended with a device. The mu is held, since before the reset: what is late must not be freed after it.
func (x *frees) reset(device int32) {
	maps.DeleteFunc(x.last, func(_ hip.Ptr, p *passed) bool { return p.on.Device == device })
	maps.DeleteFunc(x.late, func(_ hip.Ptr, d int32) bool { return d == device })
	x.streams.Forget(device)
}
