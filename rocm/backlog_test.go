package rocm

import (
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// queue is a library whose streams do what the test says.
type queue struct {
	*testing.T
	*Runtime
	th hip.Thread
}

func queueStub(t *testing.T) *queue { return &queue{t, stub(t, "testdata/stub_queue.c"), hip.Thread{}} }

// tell gives a stream n operations.
func (q *queue) tell(s hip.Stream, n int) {
	q.Helper()
	for range n {
		must(q.T, "StreamWriteValue32", q.StreamWriteValue32(q.th, s, 0x1000, 1, 0))
	}
}

// does has a stream have done so many of its operations.
func (q *queue) does(s hip.Stream, n int) {
	q.Helper()
	must(q.T, "DeviceSetLimit", q.DeviceSetLimit(q.th, 0, uint64(s)&7<<32|uint64(n)))
}

func (q *queue) is(what string, operations int) {
	q.Helper()
	if got := q.Queued(); got != int64(operations)*queuedCost {
		q.Errorf("%s: %d bytes are queued, that is %g operations, not %d", what, got, float64(got)/queuedCost, operations)
	}
}

func (q *queue) events() int {
	q.Helper()
	n, err := q.DeviceGetLimit(q.th, 0)
	must(q.T, "DeviceGetLimit", err)
	return int(n)
}

var now = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

const perMark = markAfter / queuedCost

// TestBacklog: what streams were told counts until they have done it, in whole marks where nobody waits for them.
func TestBacklog(t *testing.T) {
	q := queueStub(t)
	const a, b = hip.Stream(0x6000), hip.Stream(0x6002)
	q.tell(a, 3*perMark+10)
	q.tell(b, 10)
	if err := q.StreamWriteValue32(q.th, a, 0x1000, 0, 0); err != hip.ErrorInvalidValue { // what is refused is not queued
		t.Fatal(err)
	}
	q.is("all of it", 3*perMark+20)
	q.does(a, perMark+5)
	if q.WaitQueued(0, now) {
		t.Error("there is nothing left")
	}
	q.is("one mark was passed", 2*perMark+20)
	q.does(b, 10)
	ended := q.Ended()
	if q.WaitQueued(0, now) || q.Ended() == ended {
		t.Error("the other stream has not done anything")
	}
	q.is("the other stream is done", 2*perMark+10)
	if !q.WaitQueued((2*perMark+10)*queuedCost, now) {
		t.Error("there is more than that")
	}
	// Who waits is let go by what ends.
	var wg sync.WaitGroup
	wg.Go(func() {
		if !q.WaitQueued(10*queuedCost, nil) {
			t.Error("it ended before")
		}
	})
	time.Sleep(5 * time.Millisecond)
	q.does(a, 3*perMark)
	wg.Wait()
	q.is("the last ten", 10)
	q.does(a, 3*perMark+10)
	if !q.WaitQueued(0, nil) || q.events() != 0 {
		t.Errorf("%d events are left", q.events())
	}
	q.is("nothing", 0)
}

// TestBacklogQuiet: who never asks keeps no more marks for it.
func TestBacklogQuiet(t *testing.T) {
	q := queueStub(t)
	const s = hip.Stream(0x6000)
	for i := range 50 {
		q.tell(s, perMark)
		q.does(s, (i+1)*perMark)
	}
	if n := q.events(); n > 2 {
		t.Errorf("%d events", n)
	}
	if n := q.Queued(); n > 2*markAfter {
		t.Errorf("%d bytes are queued", n)
	}
}

// TestBacklogCome: who finds that a stream has nothing left to do has not to be told again.
func TestBacklogCome(t *testing.T) {
	q := queueStub(t)
	const a, b = hip.Stream(0x6000), hip.Stream(0x6001) // of both devices
	q.tell(a, perMark+1)
	q.tell(b, 5)
	if err := q.StreamQuery(q.th, a); err != hip.ErrorNotReady {
		t.Fatal(err)
	}
	q.is("nothing was done", perMark+6)
	q.does(a, perMark+1)
	must(t, "StreamQuery", q.StreamQuery(q.th, a))
	q.is("one stream is done", 5)
	must(t, "DeviceSynchronize", q.DeviceSynchronize(q.th)) // the stub does not wait
	q.is("the device of the other was not waited for", 5)
	must(t, "DeviceSynchronize", q.DeviceSynchronize(hip.Thread{Device: 1}))
	q.is("both are done", 0)
	q.does(b, 5)
	q.tell(a, 1)
	q.is("one more", 1)
	q.does(a, perMark+2)
	if !q.WaitQueued(0, nil) || q.events() != 0 {
		t.Errorf("%d events are left", q.events())
	}
}

// TestBacklogEnds: what a stream that is destroyed has still to do counts, what one of a device that is reset had does not.
func TestBacklogEnds(t *testing.T) {
	q := queueStub(t)
	const a, b, kept = hip.Stream(0x6000), hip.Stream(0x6001), hip.Stream(0x6007)
	q.tell(a, 5)
	q.tell(b, 7)
	must(t, "StreamDestroy", q.StreamDestroy(q.th, a))
	q.is("it goes on, and an event behind it", 13)
	q.tell(a, 1) // another one, with the same handle
	q.is("with one more", 14)
	q.does(a, 5)
	if q.WaitQueued(0, now) {
		t.Error("there is nothing left")
	}
	q.is("the first is done", 8)
	q.tell(kept, 2)
	if err := q.StreamDestroy(q.th, kept); err != hip.ErrorInvalidHandle {
		t.Fatal(err)
	}
	q.does(kept, 2)
	if q.WaitQueued(0, now) {
		t.Error("there is nothing left")
	}
	q.is("that of a stream that was not destroyed after all", 8)
	must(t, "DeviceReset", q.DeviceReset(hip.Thread{Device: 1}))
	q.is("the other device", 1)
	q.does(a, 6)
	if !q.WaitQueued(0, nil) {
		t.Error("it waits for what was reset")
	}
}

// TestBacklogTogether: streams that are told, asked, waited for and destroyed by many at a time.
func TestBacklogTogether(t *testing.T) {
	q := queueStub(t)
	var wg sync.WaitGroup
	for s := range hip.Stream(6) {
		q.does(s, 1<<31) // all they will ever be told
		wg.Go(func() {
			for range 20 {
				q.tell(0x6000+s, perMark+1)
				must(t, "StreamQuery", q.StreamQuery(q.th, 0x6000+s))
				q.tell(0x6000+s, 3)
				must(t, "StreamDestroy", q.StreamDestroy(q.th, 0x6000+s))
			}
		})
		wg.Go(func() {
			for range 20 {
				if !q.WaitQueued(0, nil) {
					t.Error("not done")
				}
			}
		})
	}
	wg.Wait()
	if !q.WaitQueued(0, nil) || q.Queued() != 0 || q.events() != 0 {
		t.Errorf("%d bytes are queued, %d events are left", q.Queued(), q.events())
	}
}
