package quota

import (
	"time"

	"github.com/rocwire/rocwire/hip"
)

// LaunchKernel implements hip.Runtime. It waits while the session has had its share.
func (q *Runtime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	d := q.device(t.Device)
	if d == nil {
		return q.Runtime.LaunchKernel(t, l)
	}
	round, timed := d.time.enter()
	if !timed {
		return q.Runtime.LaunchKernel(t, l)
	}
	s, code := d.time.span()
	if code != hip.Success {
		d.time.leave(round, 0, span{})
		return code
	}
	if code = d.time.launch(t, l, s); code != hip.Success {
		d.time.leave(round, 0, s)
		return code
	}
	go d.time.measure(round, s, time.Now())
	return code
}

// launch has the events recorded around the kernel: by the launch itself where the
// program does not want its own there.
func (t *throttle) launch(th hip.Thread, l *hip.Launch, s span) hip.Error {
	if l.Start == 0 && l.Stop == 0 {
		own := *l
		own.Start, own.Stop = s.start, s.stop
		return t.rt.LaunchKernel(th, &own)
	}
	if code := t.rt.EventRecord(th, s.start, l.Stream); code != hip.Success {
		return code
	}
	if code := t.rt.LaunchKernel(th, l); code != hip.Success {
		return code
	}
	return t.rt.EventRecord(th, s.stop, l.Stream)
}

// measure waits for the kernel and accounts for it. Where its events fail, the time
// since the launch counts, and they are not used again.
func (t *throttle) measure(round int, s span, launched time.Time) {
	ran := time.Duration(0)
	ms := float32(0)
	code := t.rt.EventSynchronize(t.thread, s.stop)
	if code == hip.Success {
		ms, code = t.rt.EventElapsedTime(t.thread, s.start, s.stop)
	}
	if code == hip.Success {
		ran = time.Duration(float64(ms) * float64(time.Millisecond))
	} else {
		ran = time.Since(launched)
		_ = t.rt.EventDestroy(t.thread, s.start) // they may be gone with the device's context
		_ = t.rt.EventDestroy(t.thread, s.stop)
		s = span{}
	}
	t.leave(round, ran, s)
}

// LaunchKernelMultiDevice implements hip.Runtime. It waits until every device's share allows it.
func (q *Runtime) LaunchKernelMultiDevice(t hip.Thread, launches []hip.Launch, flags uint32) hip.Error {
	type entered struct {
		time   *throttle
		round  int
		span   span
		stream hip.Stream
	}
	var all []entered
	leave := func() {
		for _, e := range all {
			e.time.leave(e.round, 0, e.span)
		}
	}
	for i := range launches {
		index := t.Device
		if s := launches[i].Stream; s > hip.StreamPerThread {
			var code hip.Error
			if index, code = q.Runtime.StreamGetDevice(t, s); code != hip.Success {
				leave()
				return code
			}
		}
		d := q.device(index)
		if d == nil {
			continue
		}
		round, timed := d.time.enter()
		if !timed {
			continue
		}
		s, code := d.time.span()
		all = append(all, entered{d.time, round, s, launches[i].Stream})
		if code == hip.Success {
			code = q.Runtime.EventRecord(d.time.thread, s.start, launches[i].Stream)
		}
		if code != hip.Success {
			leave()
			return code
		}
	}
	code := q.Runtime.LaunchKernelMultiDevice(t, launches, flags)
	if code != hip.Success {
		leave()
		return code
	}
	for _, e := range all {
		if recorded := q.Runtime.EventRecord(e.time.thread, e.span.stop, e.stream); recorded != hip.Success {
			e.time.leave(e.round, 0, e.span) // it runs uncounted: the launch itself has succeeded
			continue
		}
		go e.time.measure(e.round, e.span, time.Now())
	}
	return code
}
