package worker

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
)

// endings is a runtime whose kernels have ended where their stop events are closed channels.
type endings struct {
	hip.Unimplemented
	stops map[hip.Event]chan struct{}
	hangs chan struct{} // until it is closed nothing is answered about an event of 0
}

func (r *endings) EventSynchronize(_ hip.Thread, e hip.Event) hip.Error {
	<-r.stops[e]
	time.Sleep(10 * time.Millisecond) // the session has gone by then
	return hip.Success
}

func (r *endings) EventQuery(_ hip.Thread, e hip.Event) hip.Error {
	if e == 0 {
		<-r.hangs
	}
	select {
	case <-r.stops[e]:
		return hip.Success
	default:
		return hip.ErrorNotReady
	}
}

func (r *endings) EventElapsedTime(hip.Thread, hip.Event, hip.Event) (float32, hip.Error) {
	return 1, hip.Success
}

func (r *endings) EventDestroy(hip.Thread, hip.Event) hip.Error { return hip.Success }

// A kernel that has ended has its span when the session ends, also if nobody has come to measure it by then. One that has not is counted.
func TestKernelSpansAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		ended          []hip.Event
		first          hip.Event
		spans, dropped int
	}{
		"none has ended":      {nil, 1, 0, 3},
		"two have":            {[]hip.Event{1, 2}, 1, 2, 1},
		"all have":            {[]hip.Event{1, 2, 3}, 1, 3, 0},
		"a card that is lost": {nil, 0, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			rt := &endings{stops: map[hip.Event]chan struct{}{}, hangs: make(chan struct{})}
			x := testTracer()
			for e := c.first; e <= 3; e++ {
				rt.stops[e] = make(chan struct{})
			}
			for _, e := range c.ended {
				close(rt.stops[e])
			}
			for e := c.first; e <= 3; e++ {
				x.watch(rt, kernelSpan{stop: e, Record: rpctrace.Record{Kind: rpctrace.Kernel}})
			}
			x.finish(rt)
			if l, dropped := x.take(true); len(l) != c.spans || dropped != uint64(c.dropped) {
				t.Errorf("%d spans and %d dropped, want %d and %d", len(l), dropped, c.spans, c.dropped)
			}
			close(rt.hangs)
			for e := c.first; e <= 3; e++ { // what ends later finds nothing to do
				if rt.EventQuery(hip.Thread{}, e) != hip.Success {
					close(rt.stops[e])
				}
			}
			eventuallyIdle(t, x)
			if l, dropped := x.take(true); len(l) != 0 || dropped != 0 {
				t.Errorf("%d spans and %d dropped after the end", len(l), dropped)
			}
		})
	}
}

// eventuallyIdle waits until nobody works the queue of kernels.
func eventuallyIdle(t *testing.T, x *tracer) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		x.mu.Lock()
		running := x.kernels.running
		x.mu.Unlock()
		if !running {
			return
		}
	}
	t.Fatal("somebody still waits for kernels")
}

// Behind a device's reset the events of kernels from before are gone: they are counted.
func TestKernelSpansBehindAReset(t *testing.T) {
	rt := &endings{stops: map[hip.Event]chan struct{}{1: make(chan struct{}), 2: make(chan struct{})}}
	close(rt.stops[1])
	x := testTracer()
	x.reset()
	x.watch(rt, kernelSpan{stop: 2}) // from before
	x.watch(rt, kernelSpan{stop: 1, resets: 1})
	eventuallyIdle(t, x)
	if l, dropped := x.take(true); len(l) != 1 || dropped != 1 {
		t.Errorf("%d spans, %d dropped", len(l), dropped)
	}
}
