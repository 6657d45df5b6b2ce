package rocm

import (
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// follows are functions behind what streams were told. Each stream that has some
// is waited for by a goroutine of its own, in the order of its functions: the
// library has one thread for all functions of the host.
//
// Streams do not wait for these functions, unless they are functions of the host,
// but who is told that a stream has come so far finds them called: see caughtUp.
type follows struct {
	mu      sync.Mutex
	streams map[streamOf][]*follow // those that were not called yet, in order
}

// streamOf is a stream, whichever device's a thread is that tells it something.
// The null stream and that of a thread are of its device.
type streamOf struct {
	device int32 // of those; 0 for all others
	s      hip.Stream
}

func streamOn(t hip.Thread, s hip.Stream) streamOf {
	if s > hip.StreamPerThread {
		return streamOf{s: s}
	}
	return streamOf{t.Device, s}
}

type follow struct {
	f      func(hip.Error)
	host   bool                       // it is a function of the host
	hold   func(hip.Thread) hip.Error // of such: has the stream wait until f has returned
	called chan struct{}              // closed when f has returned
	on     hip.Thread                 // of the stream's device, which the event is of, too

	mu    sync.RWMutex
	event hip.Event // 0: it is gone, and what it stood for is done
}

// After is hip.Follower's.
func (r *Runtime) After(t hip.Thread, s hip.Stream, f func(hip.Error)) hip.Error {
	return r.enqueue(t, s, func(streamOf) (*follow, hip.Error) { return &follow{f: f}, hip.Success })
}

// enqueue puts what newFollow makes behind what a stream was told.
func (r *Runtime) enqueue(t hip.Thread, s hip.Stream, newFollow func(streamOf) (*follow, hip.Error)) hip.Error {
	x, of := &r.follows, streamOn(t, s)
	t, err := r.threadOf(t, s)
	if err != hip.Success {
		return err
	}
	event, err := r.EventCreateWithFlags(t, hip.EventDisableTiming)
	if err != hip.Success {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	y, err := newFollow(of)
	if err == hip.Success {
		err = r.EventRecord(t, event, s)
	}
	if err == hip.Success && y.hold != nil {
		// Without direct dispatch AMD's library puts a marker behind what the stream was told when it is first asked about an event. Behind what
		// holds the stream up, it would never be reached.
		_ = r.eventQuery(t, event)
		err = y.hold(t)
	}
	if err != hip.Success {
		_ = r.EventDestroy(t, event) // the failure that counts is known
		return err
	}
	y.called, y.on, y.event = make(chan struct{}), t, event
	if x.streams == nil {
		x.streams = map[streamOf][]*follow{}
	}
	list, busy := x.streams[of]
	x.streams[of] = append(list, y)
	if !busy {
		go r.follow(of)
	}
	return hip.Success
}

// threadOf is the thread on the device of a stream, whose events alone it records.
func (r *Runtime) threadOf(t hip.Thread, s hip.Stream) (_ hip.Thread, err hip.Error) {
	if s > hip.StreamPerThread {
		t.Device, err = r.StreamGetDevice(t, s)
	}
	return t, err
}

// follow calls the functions of a stream until there are no more.
func (r *Runtime) follow(of streamOf) {
	x := &r.follows
	for {
		x.mu.Lock()
		list := x.streams[of]
		if len(list) == 0 {
			delete(x.streams, of)
			x.mu.Unlock()
			return
		}
		x.mu.Unlock()
		first := list[0]
		err := r.await(first.on, first.event)
		first.f(err)
		close(first.called)
		first.mu.Lock()
		_ = r.EventDestroy(first.on, first.event) // nothing needs it any more
		first.event = 0
		first.mu.Unlock()
		x.mu.Lock()
		x.streams[of] = slices.Delete(x.streams[of], 0, 1)
		x.mu.Unlock()
	}
}

// caughtUp waits until the functions are called whose streams have come to them.
// Whoever waited for what comes behind one finds it among those. Functions of the
// host are not waited for: their own stream waits for them, and nobody else does.
func (r *Runtime) caughtUp() {
	defer r.frees.late.caughtUp()
	x := &r.follows
	x.mu.Lock()
	if len(x.streams) == 0 {
		x.mu.Unlock()
		return
	}
	all := make([][]*follow, 0, len(x.streams))
	for _, list := range x.streams {
		all = append(all, slices.Clone(list))
	}
	x.mu.Unlock()
	for _, list := range all {
		for _, y := range list {
			if y.host {
				continue
			}
			if !r.reached(y) {
				break
			}
			<-y.called
		}
	}
}

// reached says whether a stream has come to a function.
func (r *Runtime) reached(y *follow) bool {
	y.mu.RLock()
	defer y.mu.RUnlock()
	return y.event == 0 || r.eventQuery(y.on, y.event) != hip.ErrorNotReady
}

// StreamSynchronize is hipStreamSynchronize.
func (r *Runtime) StreamSynchronize(t hip.Thread, s hip.Stream) hip.Error {
	defer r.caughtUp()
	at, err := r.toAsk(t, s)
	if err != hip.Success {
		return err
	}
	come := r.coming(t, s, false)
	err = r.streamSynchronize(t, at)
	if err == hip.Success {
		come()
	}
	return err
}

// StreamQuery is hipStreamQuery.
func (r *Runtime) StreamQuery(t hip.Thread, s hip.Stream) hip.Error {
	at, err := r.toAsk(t, s)
	if err != hip.Success {
		return err
	}
	come := r.coming(t, s, false)
	err = r.streamQuery(t, at)
	if err == hip.Success {
		come()
	}
	if err != hip.ErrorNotReady {
		r.caughtUp()
	}
	return err
}

// EventSynchronize is hipEventSynchronize.
func (r *Runtime) EventSynchronize(t hip.Thread, event hip.Event) hip.Error {
	defer r.caughtUp()
	return r.await(t, event)
}

// EventQuery is hipEventQuery.
func (r *Runtime) EventQuery(t hip.Thread, event hip.Event) hip.Error {
	err := r.eventQuery(t, event)
	if err != hip.ErrorNotReady {
		r.caughtUp()
	}
	return err
}

// DeviceSynchronize is hipDeviceSynchronize.
func (r *Runtime) DeviceSynchronize(t hip.Thread) hip.Error {
	defer r.caughtUp()
	come := r.coming(t, 0, true)
	err := r.deviceSynchronize(t)
	if err == hip.Success {
		come()
	}
	return err
}
