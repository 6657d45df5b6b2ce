package simgpu

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/queue"
)

// stream is a HIP stream.
type stream struct {
	d        *device
	q        *queue.Stream
	handle   hip.Stream // 0 for a device's null stream
	flags    uint32
	priority int32
	mask     cuMask      // nil: all compute units
	share    *exec.Share // of the cores
}

// share is what kernels of a queue may have of the process's cores. A queue of high
// priority gets twice what one of normal priority gets, and that twice what one of low.
func (r *Runtime) share(priority int32) *exec.Share {
	return r.cores.Share(1 << (streamPrioLow - priority))
}

// stream finds a stream and checks that its device's context lives. A handle
// that is none, or no longer: ErrorContextIsDestroyed, as HIP says.
func (r *Runtime) stream(t hip.Thread, s hip.Stream) (*stream, hip.Error) {
	if s == hip.StreamNull || s == hip.StreamLegacy {
		return r.devices[t.Device].null, hip.Success
	}
	st, ok := r.streams.get(s)
	if !ok {
		return nil, hip.ErrorContextIsDestroyed
	}
	return st, st.d.status()
}

// StreamCreateWithPriority makes a stream. Priorities outside the range are
// clamped. They decide how much of the processor a kernel gets beside others.
func (r *Runtime) StreamCreateWithPriority(t hip.Thread, flags uint32, priority int32) (hip.Stream, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if flags&^hip.StreamNonBlocking != 0 {
		return 0, hip.ErrorInvalidValue
	}
	h := hip.Stream(r.handle())
	priority = max(streamPrioHigh, min(streamPrioLow, priority))
	r.streams.put(h, &stream{
		d: d, q: d.queues.NewStream(flags&hip.StreamNonBlocking == 0), handle: h, flags: flags,
		priority: priority, share: r.share(priority),
	})
	return h, hip.Success
}

// StreamDestroy ends a stream's handle at once and without waiting; what is
// queued still runs.
func (r *Runtime) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	if e := r.graphs.StreamDestroy(t, s); e != hip.Success {
		return e
	}
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if s < 16 {
		return hip.ErrorInvalidHandle
	}
	st, ok := r.streams.take(s)
	if !ok {
		return hip.ErrorContextIsDestroyed
	}
	st.q.Close()
	return hip.Success
}

// StreamSynchronize waits until the stream has done everything. For the null
// stream that includes the streams that take turns with it.
func (r *Runtime) StreamSynchronize(t hip.Thread, s hip.Stream) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if st.handle == 0 {
		queue.WaitAll(st.q.Pending())
	} else {
		st.q.Fence().Wait()
	}
	st.d.waited()
	return st.d.status()
}

// StreamQuery is StreamSynchronize without waiting: ErrorNotReady while there
// is work.
func (r *Runtime) StreamQuery(t hip.Thread, s hip.Stream) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	if st.handle == 0 {
		if !st.q.Idle() {
			return hip.ErrorNotReady
		}
	} else if !st.q.Fence().Passed() {
		return hip.ErrorNotReady
	}
	return st.d.status()
}

// StreamWaitEvent makes later work of the stream wait for an event as it is
// recorded now. An event that was not recorded holds nothing up.
func (r *Runtime) StreamWaitEvent(t hip.Thread, s hip.Stream, ev hip.Event, flags uint32) hip.Error {
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
	if e == hip.ErrorContextIsDestroyed { // HIP says of both handles the same
		return hip.ErrorInvalidHandle
	} else if e != hip.Success {
		return e
	}
	if flags != 0 {
		return hip.ErrorInvalidValue
	}
	if v.shared != nil {
		return v.shared.holdUp(st)
	}
	if m := v.recorded(); m != nil {
		for _, p := range v.d.pools() {
			p.follows(st, m)
		}
		if !m.Fence().Passed() {
			st.q.Add(queue.Task{After: []queue.Fence{m.Fence()}})
		}
	}
	return hip.Success
}

// StreamGetFlags, StreamGetPriority and StreamGetDevice are what a stream was
// made with. HIP tells no flags of the null stream.
func (r *Runtime) StreamGetFlags(t hip.Thread, s hip.Stream) (uint32, hip.Error) {
	if s == hip.StreamNull {
		return 0, hip.ErrorInvalidValue
	}
	st, e := r.describe(t, s)
	return st.flags, e
}

// StreamGetPriority: see StreamGetFlags.
func (r *Runtime) StreamGetPriority(t hip.Thread, s hip.Stream) (int32, hip.Error) {
	st, e := r.describe(t, s)
	return st.priority, e
}

// StreamGetDevice: see StreamGetFlags.
func (r *Runtime) StreamGetDevice(t hip.Thread, s hip.Stream) (int32, hip.Error) {
	st, e := r.describe(t, s)
	if e != hip.Success {
		return 0, e
	}
	return st.d.id, e
}

func (r *Runtime) describe(t hip.Thread, s hip.Stream) (stream, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return stream{}, e
	}
	defer r.leave()
	st, e := r.stream(t, s)
	if e != hip.Success {
		return stream{}, e
	}
	return *st, hip.Success
}

// DeviceGetStreamPriorityRange: smaller numbers are more urgent.
func (r *Runtime) DeviceGetStreamPriorityRange(t hip.Thread) (least, greatest int32, e hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, 0, e
	}
	r.leave()
	return streamPrioLow, streamPrioHigh, hip.Success
}

// LaunchHostFunc calls f when the stream gets there; the stream goes on when f
// has returned. f must not call HIP. When the context ends, f is not called or
// no longer waited for.
func (r *Runtime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if f == nil {
		return hip.ErrorInvalidValue
	}
	st, e := r.stream(t, s)
	if e != hip.Success {
		return e
	}
	ctx := st.d.context()
	st.q.Add(queue.Task{Apart: true, Run: func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f()
		}()
		select {
		case <-done:
		case <-ctx.Done():
		}
	}})
	return hip.Success
}
