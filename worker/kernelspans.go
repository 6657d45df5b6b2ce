package worker

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// maxKernelSpans bounds the traced kernels of a session that have not ended.
const maxKernelSpans = 256

// endPatience is how long a session that ends waits for the spans of kernels that have ended.
const endPatience = time.Second / 2

// kernelSpans waits for traced kernels, one after the other.
type kernelSpans struct {
	queue   []kernelSpan  // the first is the one that is waited for
	running bool          // somebody works the queue
	moved   chan struct{} // closed once the queue is shorter; nil: nobody waits for that
	anchors map[int32]kernelAnchor
}

// kernelSpan is a kernel that was launched between two events.
type kernelSpan struct {
	rpctrace.Record
	thread      hip.Thread
	start, stop hip.Event
	launched    int64  // as mono.Now
	resets      uint64 // of devices before it
}

// kernelAnchor is an event of a device and the latest moment at which it can have happened. What the device says passed since then dates
// other events, also those that are looked at late.
type kernelAnchor struct {
	event  hip.Event
	at     int64 // as mono.Now
	resets uint64
}

// wantsKernel says whether the execution of a launch is to be measured. A program that has events of its own around the kernel keeps them.
func (t *tracer) wantsKernel(r *wire.Request, l *hip.Launch) bool {
	return t != nil && l.Start == 0 && l.Stop == 0 && t.context.Traced(r.ID)
}

// launchTraced launches a kernel between two events. Where there are none to be had the kernel has no span.
func (s *session) launchTraced(r *wire.Request, th hip.Thread, l *hip.Launch) {
	t := s.trace
	k := kernelSpan{thread: th, launched: mono.Now(), resets: t.generation(), Record: rpctrace.Record{
		Kind: rpctrace.Kernel, Request: r.ID, Op: r.Op, Device: th.Device, Stream: uint64(l.Stream), Kernel: s.times.kernels.of(l.Function),
		Grid: [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, Block: [3]uint32{l.Block.X, l.Block.Y, l.Block.Z},
	}}
	if t.budget.Take(k.launched) && t.room() {
		var code hip.Error
		if k.start, code = s.rt.EventCreateWithFlags(th, 0); code == hip.Success {
			if k.stop, code = s.rt.EventCreateWithFlags(th, 0); code != hip.Success {
				_ = s.rt.EventDestroy(th, k.start)
				k.start, k.stop = 0, 0
			}
		}
	}
	l.Start, l.Stop = k.start, k.stop
	code := s.rt.LaunchKernel(th, l)
	s.reply(r, code, nil)
	switch {
	case k.stop == 0:
	case code != hip.Success:
		k.forget(s.rt)
	default:
		t.watch(s.rt, k)
	}
}

// forget gives the events back. They may be gone with a device that was reset; then that is answered with an error.
func (k *kernelSpan) forget(rt hip.Runtime) {
	_ = rt.EventDestroy(k.thread, k.start)
	_ = rt.EventDestroy(k.thread, k.stop)
}

func (t *tracer) room() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kernels.queue) >= maxKernelSpans {
		t.dropped++
		return false
	}
	return true
}

// generation is how often devices have been reset.
func (t *tracer) generation() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.resets
}

// reset is told that a device has been: the events of all before are gone.
func (t *tracer) reset() {
	if t != nil {
		t.mu.Lock()
		t.resets++
		t.mu.Unlock()
	}
}

// watch has somebody wait for the end of the kernel.
func (t *tracer) watch(rt hip.Runtime, k kernelSpan) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := &t.kernels
	q.queue = append(q.queue, k)
	if !q.running {
		q.running = true
		go t.work(rt)
	}
}

func (t *tracer) work(rt hip.Runtime) {
	for {
		t.mu.Lock()
		q := &t.kernels
		if len(q.queue) == 0 {
			q.running = false
			t.mu.Unlock()
			return
		}
		k := q.queue[0]
		known := k.resets == t.resets
		t.mu.Unlock()
		if known {
			known = t.measure(rt, &k)
		}
		t.mu.Lock()
		if len(q.queue) > 0 { // finish has not given it up
			if q.queue = q.queue[1:]; known {
				t.ready = append(t.ready, k.Record)
			} else {
				t.dropped++
			}
		}
		if q.moved != nil {
			close(q.moved)
			q.moved = nil
		}
		t.mu.Unlock()
	}
}

// finish is called at the session's end, when nothing is launched any more: kernels that have ended get their spans, and what has not is counted.
func (t *tracer) finish(rt hip.Runtime) {
	if t == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t.finishFirst(rt) {
		}
	}()
	select {
	case <-done:
	case <-time.After(endPatience): // a card that does not answer
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropped += uint64(len(t.kernels.queue))
	t.kernels.queue = nil
}

// finishFirst waits until the kernel that is waited for has its span. It says whether that was worth it: the kernel was there and had ended.
func (t *tracer) finishFirst(rt hip.Runtime) bool {
	t.mu.Lock()
	q := &t.kernels
	if len(q.queue) == 0 {
		t.mu.Unlock()
		return false
	}
	k := q.queue[0]
	if q.moved == nil {
		q.moved = make(chan struct{})
	}
	moved := q.moved
	t.mu.Unlock()
	if rt.EventQuery(k.thread, k.stop) == hip.ErrorNotReady {
		return false
	}
	<-moved
	return true
}

// measure waits for the kernel and dates it. It says whether it could.
func (t *tracer) measure(rt hip.Runtime, k *kernelSpan) bool {
	if rt.EventSynchronize(k.thread, k.stop) != hip.Success {
		return false // what its events are worth now is not known
	}
	now := mono.Now()
	span := func(from, to hip.Event) (int64, bool) {
		ms, code := rt.EventElapsedTime(k.thread, from, to)
		return int64(float64(ms) * float64(time.Millisecond)), code == hip.Success && ms >= 0
	}
	took, ok := span(k.start, k.stop)
	if !ok {
		k.forget(rt)
		return false
	}
	end := now
	q := &t.kernels // anchors belong to whoever works the queue
	a, known := q.anchors[k.thread.Device]
	known = known && a.resets == k.resets
	since, later := int64(0), false
	if known {
		since, later = span(a.event, k.stop)
	}
	if known && later && a.at+since <= now {
		end = a.at + since
		k.forget(rt)
	} else { // the anchor was dated too late, or is none
		if known {
			_ = rt.EventDestroy(k.thread, a.event)
		}
		if q.anchors == nil {
			q.anchors = map[int32]kernelAnchor{}
		}
		q.anchors[k.thread.Device] = kernelAnchor{k.stop, now, k.resets}
		_ = rt.EventDestroy(k.thread, k.start)
	}
	k.Record.Start = max(end-took, k.launched) + t.clock
	k.Record.Duration = time.Duration(took)
	return true
}
