package quota

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/hip"
)

const (
	// MaxOutstanding is how many kernels of a device may be under way before the first
	// of them is measured: enough that the device does not wait for the session.
	MaxOutstanding = 8
	// Burst is for how long of a device's time an idle session may save its share.
	Burst = 100 * time.Millisecond
	// maxSpans bounds the pairs of events kept for the next kernels.
	maxSpans = 2 * MaxOutstanding
)

// throttle keeps a session to a share of one device's time.
type throttle struct {
	rt     hip.Runtime
	thread hip.Thread
	joint  Joint // whose budget counts, too; nil: none

	mu      sync.Mutex
	changed *sync.Cond
	share   float64 // 0: all
	budget  float64 // seconds that kernels may run; below 0: ran too long
	filled  time.Time
	drawn   bool          // of the joint budget
	lease   time.Duration // what is left of that
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
		case t.running >= MaxOutstanding:
			t.changed.Wait()
		case t.joint != nil && !t.drawn:
			t.draw()
		default:
			t.running++
			return t.round, true
		}
	}
	return 0, false
}

// draw takes time of the joint budget, or waits a while for it; with mu, which it lets go of meanwhile.
func (t *throttle) draw() {
	wake := t.wake
	t.mu.Unlock()
	granted, later := t.joint.Draw(t.thread.Device)
	if later > 0 {
		t.sleep(later, wake)
	}
	t.mu.Lock()
	if later <= 0 {
		t.drawn = true
		t.lease += granted
	}
}

// fill adds what the time since the last filling is worth.
func (t *throttle) fill() {
	now := t.now()
	t.budget = min(t.budget+now.Sub(t.filled).Seconds()*t.share, Burst.Seconds()*t.share)
	t.filled = now
}

// leave accounts for a kernel that has ended.
func (t *throttle) leave(round int, ran time.Duration, s span) {
	if over := t.left(round, max(ran, 0), s); over > 0 {
		t.joint.Spend(t.thread.Device, over)
	}
}

// left is leave but for what the kernel ran over what was drawn of the joint budget.
func (t *throttle) left(round int, ran time.Duration, s span) (over time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.joint != nil {
		if t.lease -= ran; t.lease < 0 {
			over, t.lease = -t.lease, 0
			t.drawn = false
		}
	}
	if round != t.round {
		return over
	}
	t.running--
	t.budget -= ran.Seconds()
	if s != (span{}) && len(t.spans) < maxSpans {
		t.spans = append(t.spans, s)
	}
	t.changed.Broadcast()
	return over
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
