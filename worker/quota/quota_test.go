package quota

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// fake is a runtime with one device of unlimited memory. Kernels take no time of the machine: the clock of the test moves instead.
type fake struct {
	hip.Unimplemented
	mu     sync.Mutex
	next   hip.Ptr
	live   map[hip.Ptr]uint64
	later  []func() // host functions of streams
	events hip.Event
	took   float32 // milliseconds of each kernel
	fail   hip.Error
	launch []hip.Launch
	unit   uint64
}

func newFake() *fake { return &fake{next: 1 << 40, live: map[hip.Ptr]uint64{}, unit: hip.Granule} }

func (f *fake) GetDeviceCount() (int32, hip.Error) { return 1, hip.Success }

func (f *fake) Malloc(_ hip.Thread, size uint64) (hip.Ptr, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != hip.Success {
		return 0, f.fail
	}
	f.next += 1 << 32
	f.live[f.next] = size
	return f.next, hip.Success
}

func (f *fake) MallocAsync(t hip.Thread, size uint64, _ hip.Stream) (hip.Ptr, hip.Error) {
	return f.Malloc(t, size)
}

func (f *fake) Free(_ hip.Thread, p hip.Ptr) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.live[p]; !ok {
		return hip.ErrorInvalidValue
	}
	delete(f.live, p)
	return hip.Success
}

func (f *fake) FreeAsync(t hip.Thread, p hip.Ptr, _ hip.Stream) hip.Error { return f.Free(t, p) }

func (f *fake) LaunchHostFunc(_ hip.Thread, _ hip.Stream, g func()) hip.Error {
	f.later = append(f.later, g)
	return hip.Success
}

func (f *fake) MemGetInfo(hip.Thread) (uint64, uint64, hip.Error) {
	return 1 << 40, 1 << 40, hip.Success
}

func (f *fake) Grant(_ hip.Thread, size, _ uint64) (uint64, hip.Error) { return size, hip.Success }
func (f *fake) Return(hip.Thread, uint64) hip.Error                    { return hip.Success }
func (f *fake) Unit() uint64                                           { return f.unit }
func (f *fake) ReserveRange(all, _ hip.Span, _ bool) (hip.Span, hip.Error) {
	return all, hip.Success
}

func (f *fake) MallocAt(_ hip.Thread, p hip.Ptr, size uint64) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live[p] = size
	return hip.Success
}

func (f *fake) EventCreateWithFlags(hip.Thread, uint32) (hip.Event, hip.Error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events++
	return f.events, hip.Success
}
func (f *fake) EventDestroy(hip.Thread, hip.Event) hip.Error            { return hip.Success }
func (f *fake) EventRecord(hip.Thread, hip.Event, hip.Stream) hip.Error { return hip.Success }
func (f *fake) EventSynchronize(hip.Thread, hip.Event) hip.Error        { return f.fail }
func (f *fake) EventElapsedTime(hip.Thread, hip.Event, hip.Event) (float32, hip.Error) {
	return f.took, hip.Success
}

func (f *fake) LaunchKernel(_ hip.Thread, l *hip.Launch) hip.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.launch = append(f.launch, *l)
	return hip.Success
}

var thread hip.Thread

// TestUnits: memory that is placed without a grant counts when it is allocated, until it is freed.
func TestUnits(t *testing.T) {
	f := newFake()
	f.unit = 2 << 20
	q := New(f, nil)
	defer q.Close()
	q.SetLimits(0, Limits{Memory: 8 << 20})
	place := q.Placer()
	if place.Unit() != f.unit {
		t.Fatal(place.Unit())
	}
	is := func(what string, got, want hip.Error) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v", what, got)
		}
	}
	is("6 MiB", place.MallocAt(thread, 1<<40, 6<<20), hip.Success)
	is("4 more", place.MallocAt(thread, 2<<40, 4<<20), hip.ErrorOutOfMemory)
	is("2 more", place.MallocAt(thread, 2<<40, 2<<20), hip.Success)
	is("freed", q.Free(thread, 1<<40), hip.Success)
	is("4 more", place.MallocAt(thread, 3<<40, 4<<20), hip.Success)
	is("freed on a stream", q.FreeAsync(thread, 3<<40, 0), hip.Success)
	is("before the stream has freed it", place.MallocAt(thread, 4<<40, 6<<20), hip.ErrorOutOfMemory)
	for _, g := range f.later {
		g()
	}
	is("6 MiB", place.MallocAt(thread, 4<<40, 6<<20), hip.Success)
}

// TestAccount: whatever a session does, it never holds more than its limit, and when all is freed it holds nothing.
func TestAccount(t *testing.T) {
	f := newFake()
	q := New(f, nil)
	defer q.Close()
	const limit = 64 << 20
	q.SetLimits(0, Limits{Memory: limit})
	q.SetLimits(5, Limits{Memory: 1}) // there is no such device
	place := q.Placer()
	var own, placed []hip.Ptr
	at := hip.Ptr(1 << 30)
	unused := uint64(0)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		size := uint64(rnd.IntN(8<<20) + 1)
		switch rnd.IntN(7) {
		case 0:
			if p, e := q.Malloc(thread, size); e == hip.Success {
				own = append(own, p)
			} else if e != hip.ErrorOutOfMemory {
				t.Fatal(e)
			}
		case 1:
			if p, e := q.MallocAsync(thread, size, 0); e == hip.Success {
				own = append(own, p)
			}
		case 2:
			if n := len(own); n > 0 {
				if e := q.Free(thread, own[n-1]); e != hip.Success {
					t.Fatal(e)
				}
				own = own[:n-1]
			}
		case 3:
			if n := len(own); n > 0 {
				if e := q.FreeAsync(thread, own[0], 0); e != hip.Success {
					t.Fatal(e)
				}
				own = own[1:]
			}
		case 4:
			for _, g := range f.later {
				g()
			}
			f.later = nil
		case 5:
			if got, e := place.Grant(thread, pages(size), 0); e == hip.Success {
				if n := min(got, pages(size)); unused+n >= pages(size) {
					at += 1 << 30
					if e := place.MallocAt(thread, at, pages(size)); e != hip.Success {
						t.Fatal(e)
					}
					placed, unused = append(placed, at), unused+n-pages(size)
				} else {
					unused += n
				}
			}
		case 6:
			if n := len(placed); n > 0 {
				unused += f.live[placed[n-1]]
				if e := q.Free(thread, placed[n-1]); e != hip.Success {
					t.Fatal(e)
				}
				placed = placed[:n-1]
			} else if unused > 0 {
				if e := place.Return(thread, unused); e != hip.Success {
					t.Fatal(e)
				}
				unused = 0
			}
		}
		live := unused
		for _, n := range f.live {
			live += pages(n)
		}
		d := q.devices[0]
		if live > limit || d.held > limit || d.held < live || d.unused != unused {
			t.Fatalf("live %d, held %d, unused %d of %d", live, d.held, unused, d.unused)
		}
		free, total, _ := q.MemGetInfo(thread)
		if total != limit || free > limit-(d.held-unused) {
			t.Fatalf("%d of %d free, held %d", free, total, d.held)
		}
	}
	for _, p := range append(own, placed...) {
		unused += f.live[p]
		_ = q.Free(thread, p)
	}
	for _, g := range f.later {
		g()
	}
	d := q.devices[0]
	_ = place.Return(thread, d.unused)
	if d.held != 0 || len(q.blocks) != 0 {
		t.Errorf("held %d bytes, %d blocks", d.held, len(q.blocks))
	}
}

// TestAccountOfFailures: what failed takes nothing, what could not be freed stays in the account.
func TestAccountOfFailures(t *testing.T) {
	f := newFake()
	q := New(f, nil)
	q.SetLimits(0, Limits{Memory: 1 << 20})
	f.fail = hip.ErrorOutOfMemory
	if _, e := q.Malloc(thread, 1<<20); e != hip.ErrorOutOfMemory {
		t.Fatal(e)
	}
	f.fail = hip.Success
	p, e := q.Malloc(thread, 1<<20)
	if e != hip.Success {
		t.Fatalf("after a failure: %v", e)
	}
	delete(f.live, p) // the runtime will not free it
	if e := q.Free(thread, p); e != hip.ErrorInvalidValue {
		t.Fatal(e)
	}
	if _, e := q.Malloc(thread, 1); e != hip.ErrorOutOfMemory {
		t.Errorf("what was not freed is not counted: %v", e)
	}
	if _, e := q.Malloc(thread, 1<<63+1); e != hip.ErrorOutOfMemory {
		t.Errorf("absurd size: %v", e)
	}
}

// TestShare: with a clock of its own a session that launches all the time gets its share, an idle one saves no more than the burst.
func TestShare(t *testing.T) {
	f := newFake()
	f.took = 4
	q := New(f, nil)
	th := q.devices[0].time
	var mu sync.Mutex
	now := time.Unix(0, 0)
	th.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	th.sleep = func(d time.Duration, _ <-chan struct{}) { mu.Lock(); now = now.Add(d); mu.Unlock() }
	settled := func() {
		for {
			th.mu.Lock()
			n := th.running
			th.mu.Unlock()
			if n == 0 {
				return
			}
			time.Sleep(time.Microsecond)
		}
	}
	launch := func(l hip.Launch) {
		if e := q.LaunchKernel(thread, &l); e != hip.Success {
			t.Fatal(e)
		}
		settled()
	}
	for range 10 {
		launch(hip.Launch{})
	}
	if n := f.events; n != 0 || !now.Equal(time.Unix(0, 0)) {
		t.Fatalf("without a limit: %d events, %v", n, now)
	}
	q.SetLimits(0, Limits{Compute: 0.2})
	const kernels = 250 // of 4 ms: 1 s of the device, 5 s at 0.2
	for range kernels {
		launch(hip.Launch{})
	}
	if took := now.Sub(time.Unix(0, 0)); took < 4900*time.Millisecond || took > 5100*time.Millisecond {
		t.Errorf("1 s of kernels at a share of 0.2 took %v", took)
	}
	now = now.Add(time.Hour)
	before := now
	for range 100 { // 400 ms, of which the burst is worth 20 ms
		launch(hip.Launch{Start: 1, Stop: 2}) // the program's own events
	}
	if took := now.Sub(before); took < 1800*time.Millisecond || took > 2000*time.Millisecond {
		t.Errorf("after an idle hour 400 ms of kernels took %v", took)
	}
	if l := f.launch[len(f.launch)-1]; l.Start != 1 || l.Stop != 2 {
		t.Errorf("the program's events are %d and %d", l.Start, l.Stop)
	}
	if n := f.events; n > 2*maxSpans {
		t.Errorf("%d events were made", n)
	}
	q.SetLimits(0, Limits{Compute: 1})
	n := f.events
	launch(hip.Launch{})
	if f.events != n || f.launch[len(f.launch)-1].Start != 0 {
		t.Error("a share of 1 is measured")
	}
}

// TestWaitingEnds: a launch that waits goes on when the limit is lifted, the runtime closed, or the device reset.
func TestWaitingEnds(t *testing.T) {
	for name, end := range map[string]func(*Runtime){
		"lifted": func(q *Runtime) { q.SetLimits(0, Limits{}) },
		"closed": (*Runtime).Close,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.took = 3.6e6 // an hour
			q := New(f, nil)
			q.SetLimits(0, Limits{Compute: 0.01})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range 2 * MaxOutstanding {
					_ = q.LaunchKernel(thread, &hip.Launch{})
				}
			}()
			for { // until it is over its share
				q.devices[0].time.mu.Lock()
				over := q.devices[0].time.budget < 0
				q.devices[0].time.mu.Unlock()
				if over {
					break
				}
				time.Sleep(time.Millisecond)
			}
			end(q)
			<-done
		})
	}
}

func (f *fake) MemCreate(_ hip.Thread, size uint64, _ *hip.MemAllocationProp, _ uint64) (hip.GenericAllocation, hip.Error) {
	p, code := f.Malloc(thread, size)
	return hip.GenericAllocation(p), code
}
func (f *fake) MemRelease(hip.Thread, hip.GenericAllocation) hip.Error { return hip.Success }
func (f *fake) MemMap(hip.Thread, hip.Ptr, uint64, uint64, hip.GenericAllocation, uint64) hip.Error {
	return hip.Success
}
func (f *fake) MemUnmap(hip.Thread, hip.Ptr, uint64) hip.Error { return hip.Success }
func (f *fake) MemRetainAllocationHandle(hip.Thread, hip.Ptr) (hip.GenericAllocation, hip.Error) {
	return hip.GenericAllocation(f.next), hip.Success
}
func (f *fake) Array3DCreate(hip.Thread, *hip.DrvArray3dDescriptor) (hip.Array, hip.Error) {
	return 77, hip.Success
}
func (f *fake) ArrayDestroy(hip.Thread, hip.Array) hip.Error { return f.fail }
func (f *fake) MallocFromPoolAsync(t hip.Thread, size uint64, _ hip.MemPool, _ hip.Stream) (hip.Ptr, hip.Error) {
	return f.Malloc(t, size)
}
func (f *fake) ExtMallocWithFlags(t hip.Thread, size uint64, _ uint32) (hip.Ptr, hip.Error) {
	return f.Malloc(t, size)
}

func (q *Runtime) heldOf(index int32) uint64 {
	d := q.device(index)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held
}

// TestPhysical: memory without an address counts until it has neither an owner nor a place.
func TestPhysical(t *testing.T) {
	q := New(newFake(), nil)
	defer q.Close()
	q.SetLimits(0, Limits{Memory: 8 << 20})
	prop := &hip.MemAllocationProp{Location: hip.MemLocation{Type: hip.MemLocationTypeDevice}}
	if _, e := q.MemCreate(thread, 9<<20, prop, 0); e != hip.ErrorOutOfMemory {
		t.Error(e)
	}
	h, e := q.MemCreate(thread, 6<<20, prop, 0)
	if e != hip.Success {
		t.Fatal(e)
	}
	if _, e := q.MemCreate(thread, 6<<20, prop, 0); e != hip.ErrorOutOfMemory {
		t.Error(e)
	}
	const at = hip.Ptr(1 << 40)
	q.MemMap(thread, at, 2<<20, 0, h, 0)
	q.MemMap(thread, at+2<<20, 2<<20, 0, h, 0)
	q.MemRetainAllocationHandle(thread, at)
	for step, end := range []func(){
		func() { q.MemRelease(thread, h) }, func() { q.MemRelease(thread, h) }, func() { q.MemUnmap(thread, at+2<<20, 2<<20) },
	} {
		if end(); q.heldOf(0) != 6<<20 {
			t.Errorf("after step %d the session holds %d", step, q.heldOf(0))
		}
	}
	if q.MemUnmap(thread, at, 4<<20); q.heldOf(0) != 0 {
		t.Errorf("at the end the session holds %d", q.heldOf(0))
	}
}

// TestOtherMemory: arrays and every other way to memory count.
func TestOtherMemory(t *testing.T) {
	f := newFake()
	q := New(f, nil)
	defer q.Close()
	q.SetLimits(0, Limits{Memory: 1 << 20})
	d := &hip.DrvArray3dDescriptor{Width: 512, Height: 512, Format: hip.DrvAdFormatFloat, NumChannels: 1}
	a, e := q.Array3DCreate(thread, d)
	if e != hip.Success || q.heldOf(0) != 1<<20 {
		t.Fatal(e, q.heldOf(0))
	}
	for name, more := range map[string]func() hip.Error{
		"array": func() hip.Error { _, e := q.Array3DCreate(thread, d); return e },
		"pool":  func() hip.Error { _, e := q.MallocFromPoolAsync(thread, 1, 0, 0); return e },
		"flags": func() hip.Error { _, e := q.ExtMallocWithFlags(thread, 1, 0); return e },
	} {
		if e := more(); e != hip.ErrorOutOfMemory {
			t.Errorf("%s: %v", name, e)
		}
	}
	f.fail = hip.ErrorInvalidHandle
	if q.ArrayDestroy(thread, a); q.heldOf(0) != 1<<20 {
		t.Error("a failed call gave memory back")
	}
	f.fail = hip.Success
	if q.ArrayDestroy(thread, a); q.heldOf(0) != 0 {
		t.Error("the array still counts")
	}
}

// TestRoom: what the device has no memory for is tried again once others have given way, and only that: for what the limit refuses nobody gives way.
func TestRoom(t *testing.T) {
	f := newFake()
	q := New(f, nil)
	defer q.Close()
	q.SetLimits(0, Limits{Memory: 8 << 20})
	f.fail = hip.ErrorOutOfMemory
	asked, gives := uint64(0), 2
	q.SetRoom(func(device int32, size uint64) bool {
		asked += size
		if gives--; gives == 0 {
			f.fail = hip.Success
		}
		return device == 0 && gives >= 0
	}, func(device int32) uint64 { return 3 << 20 })
	if _, code := q.Malloc(thread, 9<<20); code != hip.ErrorOutOfMemory || asked != 0 {
		t.Errorf("beyond the limit: %v, and others are to give way to %d bytes", code, asked)
	}
	p, code := q.Malloc(thread, 8<<20)
	if code != hip.Success || asked != 16<<20 {
		t.Errorf("%v, asked for %d", code, asked)
	}
	if code := q.Free(thread, p); code != hip.Success {
		t.Error(code)
	}
	f.fail = hip.ErrorOutOfMemory
	if _, code := q.Malloc(thread, 8<<20); code != hip.ErrorOutOfMemory {
		t.Errorf("with nobody who gives way: %v", code)
	}
	gives = 1 << 30 // who always says yes is not asked for ever
	if _, code := q.Malloc(thread, 1<<20); code != hip.ErrorOutOfMemory {
		t.Errorf("%v", code)
	}
	if f.fail = hip.Success; q.device(0).held != 0 {
		t.Errorf("%d bytes are held", q.device(0).held)
	}
}
