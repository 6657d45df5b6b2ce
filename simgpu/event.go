package simgpu

import (
	"math/bits"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
)

// Flags of hipEventCreateWithFlags.
const (
	eventBlockingSync       = 0x1
	eventInterprocess       = 0x4
	eventDisableSystemFence = 0x20000000
	eventReleaseToDevice    = 0x40000000
	eventReleaseToSystem    = 0x80000000
	eventReleaseFlags       = eventDisableSystemFence | eventReleaseToDevice | eventReleaseToSystem
)

// event is a HIP event: the place in a stream where it was recorded last.
type event struct {
	d      *device
	flags  uint32
	shared *sharedEvent // nil unless it is one of several processes

	mu   sync.Mutex
	mark *queue.Mark // nil: not recorded
}

func (v *event) recorded() *queue.Mark {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.mark
}

func (v *event) set(m *queue.Mark) {
	v.mu.Lock()
	v.mark = m
	v.mu.Unlock()
}

// EventCreateWithFlags makes an event.
func (r *Runtime) EventCreateWithFlags(t hip.Thread, flags uint32) (hip.Event, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	const known = eventBlockingSync | hip.EventDisableTiming | eventInterprocess | eventReleaseFlags
	if flags&^known != 0 || bits.OnesCount32(flags&eventReleaseFlags) > 1 || flags&eventInterprocess != 0 && flags&hip.EventDisableTiming == 0 {
		return 0, hip.ErrorInvalidValue
	}
	v := &event{d: d, flags: flags}
	if flags&eventInterprocess != 0 {
		var err error
		if v.shared, err = newSharedEvent(-1, r.session); err != nil {
			return 0, hip.ErrorOutOfMemory
		}
	}
	h := hip.Event(r.handle())
	r.events.put(h, v)
	return h, hip.Success
}

// EventDestroy ends an event's handle. What waits for it still does.
func (r *Runtime) EventDestroy(t hip.Thread, ev hip.Event) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if ev == 0 {
		return hip.ErrorInvalidHandle
	}
	v, ok := r.events.take(ev)
	if !ok {
		return hip.ErrorContextIsDestroyed
	}
	if v.shared != nil {
		v.shared.close(r.o.Broker)
	}
	return hip.Success
}

// EventRecord records the event behind what the stream has been told so far.
func (r *Runtime) EventRecord(t hip.Thread, ev hip.Event, s hip.Stream) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	v, ok := r.events.get(ev)
	if !ok {
		return hip.ErrorInvalidHandle
	}
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if st.d != v.d {
		return hip.ErrorInvalidHandle
	}
	if v.shared != nil {
		return v.shared.record(v, st)
	}
	v.set(st.q.Record())
	return hip.Success
}

// EventSynchronize waits until the event is reached; at once if it was never
// recorded.
func (r *Runtime) EventSynchronize(t hip.Thread, ev hip.Event) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	v, ok := r.events.get(ev)
	if !ok {
		return hip.ErrorInvalidHandle
	}
	if v.shared != nil {
		return v.shared.query(v.d, true)
	}
	if m := v.recorded(); m != nil {
		m.Fence().Wait()
	}
	v.d.waited()
	return v.d.status()
}

// EventQuery is ErrorNotReady while the event is recorded and not reached.
func (r *Runtime) EventQuery(t hip.Thread, ev hip.Event) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	v, ok := r.events.get(ev)
	if !ok {
		return hip.ErrorInvalidHandle
	}
	if v.shared != nil {
		return v.shared.query(v.d, false)
	}
	if m := v.recorded(); m != nil && !m.Fence().Passed() {
		return hip.ErrorNotReady
	}
	return v.d.status()
}

// EventElapsedTime is the time between two events that were reached, in ms.
// ErrorInvalidHandle: never recorded, made without timing, or of two devices.
func (r *Runtime) EventElapsedTime(t hip.Thread, start, stop hip.Event) (float32, hip.Error) {
	_, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	a, ok1 := r.events.get(start)
	b, ok2 := r.events.get(stop)
	if !ok1 || !ok2 || a.d != b.d {
		return 0, hip.ErrorInvalidHandle
	}
	ma, mb := a.recorded(), b.recorded()
	if ma == nil || mb == nil || (a.flags|b.flags)&hip.EventDisableTiming != 0 {
		return 0, hip.ErrorInvalidHandle
	}
	ta, ok1 := ma.At()
	tb, ok2 := mb.At()
	if !ok1 || !ok2 {
		return 0, hip.ErrorNotReady
	}
	return float32(tb.Sub(ta).Seconds() * 1e3), hip.Success
}
