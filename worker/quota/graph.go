package quota

import (
	"time"

	"github.com/rocwire/rocwire/hip"
)

// GraphInstantiate implements hip.Runtime. The memory of graphs is allocated by the program's side, and counts as any other.
func (q *Runtime) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	used := map[int32]bool{}
	for i := range d.Ops {
		used[d.Ops[i].Device] = true
	}
	h, code := q.Runtime.GraphInstantiate(t, d)
	if code == hip.Success {
		var devices []int32
		for i := range used {
			devices = append(devices, i)
		}
		q.mu.Lock()
		q.graphs[h] = devices
		q.mu.Unlock()
	}
	return h, code
}

// GraphExecDestroy implements hip.Runtime.
func (q *Runtime) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	code := q.Runtime.GraphExecDestroy(t, h)
	if code == hip.Success {
		q.mu.Lock()
		delete(q.graphs, h)
		q.mu.Unlock()
	}
	return code
}

// GraphLaunch implements hip.Runtime. It waits until the share of every device that the graph uses allows it; as long as the graph takes counts
// for each of them.
func (q *Runtime) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	q.mu.Lock()
	devices := q.graphs[h]
	q.mu.Unlock()
	var all []entered
	leave := func(ran time.Duration) {
		for _, e := range all {
			e.time.leave(e.round, ran, span{})
		}
	}
	for _, i := range devices {
		if d := q.device(i); d != nil {
			if round, timed := d.time.enter(); timed {
				all = append(all, entered{d.time, round})
			}
		}
	}
	if len(all) == 0 {
		return q.Runtime.GraphLaunch(t, h, s)
	}
	at := hip.Thread{Device: t.Device}
	if s > hip.StreamPerThread {
		device, code := q.Runtime.StreamGetDevice(t, s)
		if code != hip.Success {
			leave(0)
			return code
		}
		at.Device = device
	}
	// The events are on the stream's device, which need not be limited: they are the launch's own.
	around, code := q.around(at)
	if code == hip.Success {
		code = q.Runtime.EventRecord(at, around.start, s)
	}
	if code == hip.Success {
		code = q.Runtime.GraphLaunch(t, h, s)
	}
	if code != hip.Success {
		q.unmark(at, around)
		leave(0)
		return code
	}
	if q.Runtime.EventRecord(at, around.stop, s) != hip.Success {
		q.unmark(at, around)
		leave(0) // it runs uncounted: the launch itself has succeeded
		return hip.Success
	}
	launched := time.Now()
	go func() {
		ms, code := float32(0), q.Runtime.EventSynchronize(at, around.stop)
		if code == hip.Success {
			ms, code = q.Runtime.EventElapsedTime(at, around.start, around.stop)
		}
		ran := time.Since(launched)
		if code == hip.Success {
			ran = time.Duration(float64(ms) * float64(time.Millisecond))
		}
		q.unmark(at, around)
		leave(ran)
	}()
	return hip.Success
}

// entered is a launch that a device's throttle knows of.
type entered struct {
	time  *throttle
	round int
}

// around makes a pair of events on a device.
func (q *Runtime) around(t hip.Thread) (s span, code hip.Error) {
	if s.start, code = q.Runtime.EventCreateWithFlags(t, 0); code != hip.Success {
		return s, code
	}
	s.stop, code = q.Runtime.EventCreateWithFlags(t, 0)
	return s, code
}

func (q *Runtime) unmark(t hip.Thread, s span) {
	for _, e := range [...]hip.Event{s.start, s.stop} {
		if e != 0 {
			_ = q.Runtime.EventDestroy(t, e) // it may be gone with the device's context
		}
	}
}
