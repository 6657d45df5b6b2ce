package rocm

import (
	"maps"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/internal/poll"
)

// AMD's hipFreeAsync of memory that a stream has freed before, and got again, waits for that stream to come to the free before, with locks that allocations
// and waits take: on a session's line perhaps for the return of a host function, which comes by the line. So it is known how far the streams are, and memory
// whose free before is not reached yet goes back once the stream has come so far. Until then it counts, which it would not for a program that had waited: who
// lacks it waits for it (withRoom).
//
// So does memory that another stream frees than the one that got it: AMD's pools may give it to the latter at once, while the former still has to do with it
// (MemoryPool::AllocateMemory notes its stream as safe, and FreeMemory keeps that).

// frees are the last frees of memory of pools.
type frees struct {
	late    late[hip.Ptr] // its mu is taken before mu
	mu      sync.Mutex
	last    map[hip.Ptr]*passed
	got     map[hip.Ptr]taker
	streams aside.Streams // on which what is late is freed
	swept   int           // how many of last there were after the last look at all
}

// passed is a place in a stream.
type passed struct {
	on    hip.Thread
	event hip.Event
	again bool // the memory was given out again
}

// taker is the stream that got memory which is out.
type taker struct {
	of     streamOf
	device int32 // of the thread
}

// manyFrees is how many places are kept before those that are reached are let go.
const manyFrees = 64

// MallocAsync is hipMallocAsync.
func (r *Runtime) MallocAsync(t hip.Thread, size uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	return r.takeFromPool(t, s, func() (hip.Ptr, hip.Error) { return r.mallocAsync(t, size, s) })
}

// takeFromPool has a pool give memory out to a stream.
func (r *Runtime) takeFromPool(t hip.Thread, s hip.Stream, malloc func() (hip.Ptr, hip.Error)) (ptr hip.Ptr, err hip.Error) {
	r.events.ready(r)
	err = r.withRoom(func() (err hip.Error) {
		ptr, err = malloc()
		return err
	})
	if err == hip.Success {
		r.frees.taken(ptr, t, s)
	}
	return ptr, err
}

// taken notes that a pool gave memory out to a stream.
func (x *frees) taken(ptr hip.Ptr, t hip.Thread, s hip.Stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.got == nil {
		x.got = map[hip.Ptr]taker{}
	}
	x.got[ptr] = taker{streamOn(t, s), t.Device}
	if p := x.last[ptr]; p != nil {
		p.again = true
	}
}

// freeInTurn is hipFreeAsync of memory that the library placed.
func (r *Runtime) freeInTurn(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	x := &r.frees
	x.late.mu.Lock()
	defer x.late.mu.Unlock()
	if x.late.has(ptr) {
		return hip.ErrorInvalidValue
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	before := x.last[ptr]
	pending := before != nil && before.again && r.eventQuery(before.on, before.event) == hip.ErrorNotReady
	if by, known := x.got[ptr]; !pending && (!known || by.of == streamOn(t, s)) {
		return r.freeNoted(t, ptr, s)
	}
	// Also behind the free before: the memory is the stream's.
	return x.late.add(r, t, s, ptr, func(t hip.Thread) func() { return r.freeLate(t, ptr) })
}

// is says whether memory was freed and is given back later.
func (x *frees) is(ptr hip.Ptr) bool {
	x.late.mu.Lock()
	defer x.late.mu.Unlock()
	return x.late.has(ptr)
}

// freeLate gives back what nothing uses any more. What it returns has the pool give that to the device if it does not keep it, as the wait would have that
// the program was in when the stream came here.
func (r *Runtime) freeLate(t hip.Thread, ptr hip.Ptr) (then func()) {
	x := &r.frees
	s, err := x.streams.On(r, t)
	own := err == hip.Success
	if !own {
		s = hip.StreamNull // whatever it has to do first
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_ = r.freeNoted(t, ptr, s) // it was memory when the program freed it
	p := x.last[ptr]
	if !own || p == nil {
		return nil
	}
	return func() {
		reached := false
		begin := mono.Now()
		poll.Until(func() bool { // for so long at most: it may share a queue with a stream that is held up
			x.mu.Lock()
			defer x.mu.Unlock()
			reached = x.last[ptr] != p || r.eventQuery(p.on, p.event) != hip.ErrorNotReady
			return reached || mono.Since(begin) >= mostPatience
		})
		if reached {
			_ = r.streamSynchronize(t, s) // at which AMD's pools do
		}
	}
}

// freeNow is hipFree of memory that the library placed.
func (r *Runtime) freeNow(t hip.Thread, ptr hip.Ptr) hip.Error {
	return without(&r.frees.mu, &r.frees.got, ptr, func() hip.Error { return r.free(t, ptr) })
}

// freeNoted frees, and notes how far the stream is. The frees' mu is held.
func (r *Runtime) freeNoted(t hip.Thread, ptr hip.Ptr, s hip.Stream) hip.Error {
	x := &r.frees
	err := r.freeAsync(t, ptr, s)
	if err != hip.Success {
		return err
	}
	delete(x.got, ptr)
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

// reset forgets what ended with a device. The late's mu is held.
func (x *frees) reset(device int32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.last, func(_ hip.Ptr, p *passed) bool { return p.on.Device == device })
	maps.DeleteFunc(x.got, func(_ hip.Ptr, p taker) bool { return p.device == device })
	x.late.reset(device)
	x.streams.Forget(device)
}
