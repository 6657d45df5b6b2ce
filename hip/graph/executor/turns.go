package executor

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// Turns put the launches of one executable graph in order: each begins behind
// what its stream has and behind the launch before, on whatever streams and
// devices they are. One launch at a time.
type Turns struct {
	mu     sync.Mutex
	rt     hip.Runtime
	own    int32               // the graph's device
	events map[int32]hip.Event // by device
	home   hip.Stream          // where launches on streams of other devices are done
	last   hip.Stream          // of the last launch
	lastOn int32
	used   bool
	left   bool // that stream is gone: the event of its device is behind all that it had
	over   bool // nothing is launched any more
}

// NewTurns is for a graph of a device.
func NewTurns(rt hip.Runtime, device int32) *Turns { return &Turns{rt: rt, own: device} }

// Launch has issue put the graph's work on a stream of its device, at its turn.
// What follows on s comes behind that work.
func (x *Turns) Launch(t hip.Thread, s hip.Stream, issue func(t hip.Thread, s hip.Stream) hip.Error) hip.Error {
	device := t.Device
	if s > hip.StreamPerThread {
		d, err := x.rt.StreamGetDevice(t, s)
		if err != hip.Success {
			return err
		}
		device = d
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var err hip.Error
	switch {
	case !x.used:
	case x.left:
		err = x.rt.StreamWaitEvent(on(device, t), s, x.events[x.lastOn], 0)
	case x.last != s || x.lastOn != device:
		err = x.after(t, x.lastOn, x.last, device, s)
	}
	if err != hip.Success {
		return err
	}
	x.used, x.left, x.last, x.lastOn = true, false, s, device
	if device == x.own {
		return issue(on(device, t), s)
	}
	return x.abroad(t, s, device, issue)
}

// Leave is for a stream that is about to be destroyed, whose handle may be another's afterwards: the next launch comes behind all that it has.
func (x *Turns) Leave(t hip.Thread, s hip.Stream) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.used || x.left || x.over || x.last != s {
		return hip.Success
	}
	err := x.record(t, x.lastOn, s)
	x.left = err == hip.Success
	return err
}

// Leave has all of these leave a stream that is about to be destroyed.
func Leave(all []*Turns, t hip.Thread, s hip.Stream) hip.Error {
	for _, x := range all {
		if err := x.Leave(t, s); err != hip.Success {
			return err
		}
	}
	return hip.Success
}

// record records the event of a device behind what one of its streams has.
func (x *Turns) record(t hip.Thread, device int32, s hip.Stream) (err hip.Error) {
	v := x.events[device]
	if v == 0 {
		if v, err = x.rt.EventCreateWithFlags(on(device, t), hip.EventDisableTiming); err != hip.Success {
			return err
		}
		if x.events == nil {
			x.events = map[int32]hip.Event{}
		}
		x.events[device] = v
	}
	return x.rt.EventRecord(on(device, t), v, s)
}

// after has what follows on one stream come behind what another has.
func (x *Turns) after(t hip.Thread, fromDevice int32, from hip.Stream, toDevice int32, to hip.Stream) hip.Error {
	if err := x.record(t, fromDevice, from); err != hip.Success {
		return err
	}
	return x.rt.StreamWaitEvent(on(toDevice, t), to, x.events[fromDevice], 0)
}

// abroad launches on a stream of another device than the graph's: the work is
// done where it belongs, between two points of the stream.
func (x *Turns) abroad(t hip.Thread, s hip.Stream, device int32, issue func(t hip.Thread, s hip.Stream) hip.Error) (err hip.Error) {
	if x.home == 0 {
		if x.home, err = newStream(x.rt, on(x.own, t)); err != hip.Success {
			return err
		}
	}
	if err = x.after(t, device, s, x.own, x.home); err != hip.Success {
		return err
	}
	if err = issue(on(x.own, t), x.home); err != hip.Success {
		return err
	}
	return x.after(t, x.own, x.home, device, s)
}

// Release gives back what launches needed. What was launched goes on.
func (x *Turns) Release(t hip.Thread) {
	x.mu.Lock()
	x.over = true
	x.mu.Unlock() // a Runtime asks all graphs about a stream that it destroys
	if x.home != 0 {
		x.rt.StreamDestroy(on(x.own, t), x.home)
	}
	for d, v := range x.events {
		x.rt.EventDestroy(on(d, t), v)
	}
}

func on(device int32, t hip.Thread) hip.Thread { return hip.Thread{Device: device, ID: t.ID} }

// newStream is one that does not block: the null stream must not wait for a part
// of a launch.
func newStream(rt hip.Runtime, t hip.Thread) (hip.Stream, hip.Error) {
	return rt.StreamCreateWithPriority(t, hip.StreamNonBlocking, 0)
}
