package quota

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/hip"
)

const (
	// maxOutstanding is how many kernels of a device may be under way before the first
	// of them is measured: enough that the device does not wait for the session.
	maxOutstanding = 8
	// burst is for how long of a device's time an idle session may save its share.
	burst = 100 * time.Millisecond
	// maxSpans bounds the pairs of events kept for the next kernels.
	maxSpans = 2 * maxOutstanding
)

// throttle keeps a session to a share of one device's time.
type throttle struct {
	rt     hip.Runtime
	thread hip.Thread

	mu      sync.Mutex
	changed *sync.Cond
	share   float64 // 0: all
	budget  float64 // seconds that kernels may run; below 0: ran too long
	filled  time.Time
	running int
	spans   []span // to use again
	round   int    // of resets: events of earlier ones are gone
	closed  bool
	now     func() time.Time
	sleep   func(time.Duration, <-chan struct{})
	wake    chan struct{} // closed and renewed when the share changes
}

// span is a pair of events around a kernel.
type span struct{ start, stop hip.Event }

func newThrottle(rt hip.Runtime, index int32) *throttle {
	t := &throttle{rt: rt, thread: hip.Thread{Device: index}, now: time.Now, sleep: pause, wake: make(chan struct{})}
	t.changed = sync.NewCond(&t.mu)
	return t
}

func pause(d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	}
}

func (t *throttle) setShare(l Limits) {
	t.mu.Lock()
	defer t.mu.Unlock()
	share := 0.0
	if l.limited() {
		share = l.Compute
	}
	if t.share == 0 {
		t.budget, t.filled = 0, t.now()
	}
	t.share = share
	t.awake()
}

// awake has everybody who waits look again; with mu.
func (t *throttle) awake() {
	close(t.wake)
	t.wake = make(chan struct{})
	t.changed.Broadcast()
}

func (t *throttle) close() {
	t.mu.Lock()
	t.closed = true
	t.awake()
	t.mu.Unlock()
}

// reset forgets events that the device no longer knows.
func (t *throttle) reset() {
	t.mu.Lock()
	t.spans, t.running = nil, 0
	t.round++
	t.awake()
	t.mu.Unlock()
}

// enter waits until a kernel may start. round is for leave; false: it need not be timed.
func (t *throttle) enter() (round int, timed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.share != 0 && !t.closed {
		t.fill()
		switch {
		case t.budget < 0:
			wait, wake := time.Duration(-t.budget/t.share*float64(time.Second)), t.wake
			t.mu.Unlock()
			t.sleep(wait+time.Microsecond, wake)
			t.mu.Lock()
		case t.running >= maxOutstanding:
			t.changed.Wait()
		default:
			t.running++
			return t.round, true
		}
	}
	return 0, false
}

// fill adds what the time since the last filling is worth.
func (t *throttle) fill() {
	now := t.now()
	t.budget = min(t.budget+now.Sub(t.filled).Seconds()*t.share, burst.Seconds()*t.share)
	t.filled = now
}

// leave accounts for a kernel that has ended.
func (t *throttle) leave(round int, ran time.Duration, s span) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if round != t.round {
		return
	}
	t.running--
	t.budget -= max(ran, 0).Seconds()
	if s != (span{}) && len(t.spans) < maxSpans {
		t.spans = append(t.spans, s)
	}
	t.changed.Broadcast()
}

// span takes a pair of events, made if there is none.
func (t *throttle) span() (span, hip.Error) {
	t.mu.Lock()
	if n := len(t.spans); n > 0 {
		s := t.spans[n-1]
		t.spans = t.spans[:n-1]
		t.mu.Unlock()
		return s, hip.Success
	}
	t.mu.Unlock()
	start, code := t.rt.EventCreateWithFlags(t.thread, 0)
	if code != hip.Success {
		return span{}, code
	}
	stop, code := t.rt.EventCreateWithFlags(t.thread, 0)
	if code != hip.Success {
		_ = t.rt.EventDestroy(t.thread, start)
		return span{}, code
	}
	return span{start, stop}, hip.Success
}
