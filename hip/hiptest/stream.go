package hiptest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hip"
)

const nonBlocking = 1

var streamTests = []test{
	{"Attributes", func(e *env) {
		least, greatest, err := e.DeviceGetStreamPriorityRange(e.th)
		e.ok("DeviceGetStreamPriorityRange", err)
		if greatest > least {
			e.Errorf("priorities from %d to %d", least, greatest)
		}
		for _, c := range []struct {
			flags          uint32
			priority, want int32
		}{
			{0, 0, 0}, {nonBlocking, 0, 0}, {0, greatest, greatest}, {0, least, least}, {nonBlocking, greatest - 5, greatest}, {0, least + 5, least},
		} {
			s, err := e.StreamCreateWithPriority(e.th, c.flags, c.priority)
			e.ok("StreamCreate", err)
			if f, err := e.StreamGetFlags(e.th, s); err != hip.Success || f != c.flags {
				e.Errorf("flags %d, %v; want %d", f, err, c.flags)
			}
			if p, err := e.StreamGetPriority(e.th, s); err != hip.Success || p != c.want {
				e.Errorf("priority %d gives %d, %v; want %d", c.priority, p, err, c.want)
			}
			if d, err := e.StreamGetDevice(e.th, s); err != hip.Success || d != 0 {
				e.Errorf("device %d, %v", d, err)
			}
			e.ok("StreamSynchronize of an idle stream", e.StreamSynchronize(e.th, s))
			e.ok("StreamQuery of an idle stream", e.StreamQuery(e.th, s))
			e.ok("StreamDestroy", e.StreamDestroy(e.th, s))
		}
	}},
	{"Errors", func(e *env) {
		_, err := e.StreamCreateWithPriority(e.th, 0x80, 0)
		e.is("StreamCreate with unknown flags", err, hip.ErrorInvalidValue)
		e.is("StreamDestroy of the null stream", e.StreamDestroy(e.th, 0), hip.ErrorInvalidHandle)
		s := e.stream(0)
		e.ok("StreamDestroy", e.StreamDestroy(e.th, s))
		e.is("StreamDestroy again", e.StreamDestroy(e.th, s), hip.ErrorContextIsDestroyed)
		e.is("StreamSynchronize of a destroyed stream", e.StreamSynchronize(e.th, s), hip.ErrorContextIsDestroyed)
		e.is("StreamQuery of a destroyed stream", e.StreamQuery(e.th, s), hip.ErrorContextIsDestroyed)
		e.is("LaunchHostFunc on a destroyed stream", e.LaunchHostFunc(e.th, s, func() {}), hip.ErrorContextIsDestroyed)
		_, err = e.StreamGetFlags(e.th, s)
		e.is("StreamGetFlags of a destroyed stream", err, hip.ErrorContextIsDestroyed)
		_, err = e.StreamGetFlags(e.th, hip.StreamNull)
		e.is("StreamGetFlags of the null stream", err, hip.ErrorInvalidValue)
		e.is("StreamWaitEvent for nothing", e.StreamWaitEvent(e.th, 0, 0, 0), hip.ErrorInvalidHandle)
		e.ok("the null stream by name", e.StreamSynchronize(e.th, hip.StreamLegacy))
	}},
	{"HostFunctions", func(e *env) {
		s := e.stream(0)
		p := e.malloc(4096)
		h, err := e.HostMalloc(e.th, 4096, 0)
		e.ok("HostMalloc", err)
		var seen []byte
		var mu sync.Mutex
		for i := range 10 {
			e.ok("MemsetAsync", e.MemsetAsync(e.th, p, int32(i+1), 4096, s))
			e.ok("MemcpyAsync", e.MemcpyAsync(e.th, h, p, 4096, hip.MemcpyDeviceToHost, s))
			e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, s, func() {
				mu.Lock()
				seen = append(seen, hostBytes(h, 4096)[4095])
				mu.Unlock()
			}))
		}
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		mu.Lock()
		defer mu.Unlock()
		e.equal("what the functions saw", seen, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	}},
	{"HostFunctionsThatCall", func(e *env) { // a function may itself wait for other streams, and their functions
		s, other := e.stream(nonBlocking), e.stream(nonBlocking)
		d, h := e.malloc(4096), e.pinned(4096)
		n := 0
		within := func() {
			th := hip.Thread{ID: 7}
			e.is("LaunchHostFunc", e.LaunchHostFunc(th, other, func() { n++; h[4095] = byte(n) }), hip.Success)
			e.is("MemcpyAsync", e.MemcpyAsync(th, d, ptr(h), 4096, hip.MemcpyHostToDevice, other), hip.Success)
			e.is("StreamSynchronize", e.StreamSynchronize(th, other), hip.Success)
		}
		var g graphBuilder
		g.add(hip.GraphOp{Type: hip.GraphNodeTypeHost, Host: within})
		x := e.instantiate(&g)
		e.returns("StreamSynchronize", func() hip.Error {
			for range 5 {
				e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, s, within))
				e.ok("GraphLaunch", e.GraphLaunch(e.th, x, s))
			}
			return e.StreamSynchronize(e.th, s)
		})
		e.equal("what the functions' copies brought", e.download(d, 4096)[4095:], []byte{10})
		e.ok("GraphExecDestroy", e.GraphExecDestroy(e.th, x))
	}},
	{"Query", func(e *env) {
		s := e.stream(nonBlocking)
		g := e.gate(s)
		e.is("StreamQuery of a busy stream", e.StreamQuery(e.th, s), hip.ErrorNotReady)
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		e.is("StreamQuery of an idle stream", e.StreamQuery(e.th, s), hip.Success)
	}},
	{"SideBySide", func(e *env) {
		// A kernel waits for a flag that another stream sets while it runs.
		flag, out := e.upload(u32s(0)), e.malloc(4*64)
		a, b := e.stream(nonBlocking), e.stream(nonBlocking)
		e.launch(e.kernel("spin", "spin_until"), 1, 64, a, flag, out)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, flag, 77, 1, b))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, b))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, a))
		d := e.download(out, 4*64)
		for i := range 64 {
			if u32At(d, i) != 77 {
				e.Fatalf("lane %d saw %d", i, u32At(d, i))
			}
		}
	}},
	{"KernelsSideBySide", func(e *env) {
		// A kernel waits for what another kernel, launched later, computes.
		flag, out, in := e.upload(u32s(0)), e.malloc(4*64), e.upload(u32s(0x3f800000))
		a, b := e.stream(0), e.stream(0)
		e.launch(e.kernel("spin", "spin_until"), 1, 64, a, flag, out)
		e.launch(e.kernel("saxpy", "saxpy"), 1, 64, b, uint32(1), float32(2), in, flag)
		e.sync()
		if v := u32At(e.download(out, 4), 0); v != 0x40000000 {
			e.Errorf("saw %#x", v)
		}
	}},
	{"NullStreamTakesTurns", func(e *env) {
		p := e.upload(u32s(1))
		s, free := e.stream(0), e.stream(nonBlocking)
		g := e.gate(s)
		e.ok("MemsetD32Async on the null stream", e.MemsetD32Async(e.th, p, 2, 1, 0))
		q := e.upload2(free, u32s(5))
		e.ok("the stream that does not take part", e.StreamSynchronize(e.th, free))
		e.is("the null stream", e.StreamQuery(e.th, 0), hip.ErrorNotReady)
		h, err := e.HostMalloc(e.th, 8, 0)
		e.ok("HostMalloc", err)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, h, p, 4, hip.MemcpyDeviceToHost, free))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, free))
		if v := u32At(hostBytes(h, 8), 0); v != 1 {
			e.Errorf("the null stream went on while a blocking stream had work: %d", v)
		}
		g.open()
		e.ok("StreamSynchronize(0)", e.StreamSynchronize(e.th, 0))
		if v := u32At(e.download(p, 4), 0); v != 2 {
			e.Errorf("after the gate: %d", v)
		}
		_ = q
	}},
	{"StreamsTakeTurnsWithNull", func(e *env) {
		p := e.upload(u32s(1))
		s, free := e.stream(0), e.stream(nonBlocking)
		g := e.gate(0)
		e.ok("MemsetD32Async on a blocking stream", e.MemsetD32Async(e.th, p, 2, 1, s))
		e.is("a blocking stream", e.StreamQuery(e.th, s), hip.ErrorNotReady)
		h, err := e.HostMalloc(e.th, 8, 0)
		e.ok("HostMalloc", err)
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, h, p, 4, hip.MemcpyDeviceToHost, free))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, free))
		if v := u32At(hostBytes(h, 8), 0); v != 1 {
			e.Errorf("a blocking stream went on while the null stream had work: %d", v)
		}
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, s))
		if v := u32At(e.download(p, 4), 0); v != 2 {
			e.Errorf("after the gate: %d", v)
		}
	}},
	{"DestroyedStreamFinishes", func(e *env) {
		p := e.upload(u32s(1))
		s := e.stream(nonBlocking)
		g := e.gate(s)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, p, 2, 1, s))
		// Destroying may wait, so the gate opens beside it.
		done := make(chan hip.Error, 1)
		go func() { done <- e.StreamDestroy(e.th, s) }()
		g.open()
		e.ok("StreamDestroy", <-done)
		e.sync()
		if v := u32At(e.download(p, 4), 0); v != 2 {
			e.Errorf("work of a destroyed stream: %d", v)
		}
	}},
	{"SynchronizeWaitsForAll", func(e *env) {
		var ended atomic.Int32
		for i := range 4 {
			e.ok("LaunchHostFunc", e.LaunchHostFunc(e.th, e.stream(uint32(i%2)), func() { ended.Add(1) }))
		}
		e.sync()
		if ended.Load() != 4 {
			e.Errorf("%d of 4 streams had finished", ended.Load())
		}
	}},
}

// upload2 is upload through a stream.
func (e *env) upload2(s hip.Stream, b []byte) hip.Ptr {
	e.Helper()
	p := e.malloc(uint64(len(b)))
	h := e.host(len(b))
	copy(h, b)
	e.ok("MemcpyAsync", e.MemcpyAsync(e.th, p, ptr(h), uint64(len(b)), hip.MemcpyHostToDevice, s))
	return p
}

const disableTiming = 2

var eventTests = []test{
	{"NotRecorded", func(e *env) {
		a, b := e.event(0), e.event(0)
		e.is("EventQuery", e.EventQuery(e.th, a), hip.Success)
		e.is("EventSynchronize", e.EventSynchronize(e.th, a), hip.Success)
		_, err := e.EventElapsedTime(e.th, a, b)
		e.is("EventElapsedTime", err, hip.ErrorInvalidHandle)
		e.ok("EventRecord", e.EventRecord(e.th, a, 0))
		_, err = e.EventElapsedTime(e.th, a, b)
		e.is("EventElapsedTime to one not recorded", err, hip.ErrorInvalidHandle)
		e.is("StreamWaitEvent", e.StreamWaitEvent(e.th, e.stream(0), b, 0), hip.Success)
		e.sync()
	}},
	{"Errors", func(e *env) {
		_, err := e.EventCreateWithFlags(e.th, 0x1000)
		e.is("unknown flags", err, hip.ErrorInvalidValue)
		_, err = e.EventCreateWithFlags(e.th, 0xc0000000)
		e.is("two release flags", err, hip.ErrorInvalidValue)
		for _, v := range []hip.Event{0, invalid} {
			e.is("EventRecord", e.EventRecord(e.th, v, 0), hip.ErrorInvalidHandle)
			e.is("EventQuery", e.EventQuery(e.th, v), hip.ErrorInvalidHandle)
			e.is("EventSynchronize", e.EventSynchronize(e.th, v), hip.ErrorInvalidHandle)
			_, err := e.EventElapsedTime(e.th, v, v)
			e.is("EventElapsedTime", err, hip.ErrorInvalidHandle)
		}
		e.is("EventDestroy(0)", e.EventDestroy(e.th, 0), hip.ErrorInvalidHandle)
		v := e.event(0)
		e.is("StreamWaitEvent with flags", e.StreamWaitEvent(e.th, 0, v, 8), hip.ErrorInvalidValue)
		e.is("EventRecord on an unknown stream", e.EventRecord(e.th, v, invalid), hip.ErrorContextIsDestroyed)
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
		e.is("EventDestroy again", e.EventDestroy(e.th, v), hip.ErrorContextIsDestroyed)
		e.is("EventRecord of a destroyed event", e.EventRecord(e.th, v, 0), hip.ErrorInvalidHandle)
	}},
	{"Elapsed", func(e *env) {
		s := e.stream(0)
		a, b, c, untimed := e.event(0), e.event(0), e.event(0), e.event(disableTiming)
		e.ok("EventRecord", e.EventRecord(e.th, a, s))
		out := e.malloc(4 * 64)
		e.launch(e.kernel("spin", "spin"), 1, 64, s, out, uint64(20000), uint32(64))
		e.ok("EventRecord", e.EventRecord(e.th, b, s))
		e.ok("EventRecord", e.EventRecord(e.th, untimed, s))
		e.launch(e.kernel("spin", "spin"), 1, 64, s, out, uint64(20000), uint32(64))
		e.ok("EventRecord", e.EventRecord(e.th, c, s))
		e.ok("EventSynchronize", e.EventSynchronize(e.th, c))
		e.is("EventQuery", e.EventQuery(e.th, a), hip.Success)
		ab, err := e.EventElapsedTime(e.th, a, b)
		e.ok("EventElapsedTime", err)
		bc, err := e.EventElapsedTime(e.th, b, c)
		e.ok("EventElapsedTime", err)
		ac, err := e.EventElapsedTime(e.th, a, c)
		e.ok("EventElapsedTime", err)
		ba, err := e.EventElapsedTime(e.th, b, a)
		e.ok("EventElapsedTime", err)
		if ab <= 0 || bc <= 0 || ac < ab || ac < bc || ba != -ab {
			e.Errorf("%v ms and %v ms, together %v ms, backwards %v ms", ab, bc, ac, ba)
		}
		_, err = e.EventElapsedTime(e.th, a, untimed)
		e.is("an event without timing", err, hip.ErrorInvalidHandle)
	}},
	{"Query", func(e *env) {
		s := e.stream(nonBlocking)
		before, after := e.event(0), e.event(0)
		e.ok("EventRecord", e.EventRecord(e.th, before, s))
		g := e.gate(s)
		e.ok("EventRecord", e.EventRecord(e.th, after, s))
		e.is("an event before the work", e.EventQuery(e.th, before), hip.Success)
		e.is("an event behind the work", e.EventQuery(e.th, after), hip.ErrorNotReady)
		_, err := e.EventElapsedTime(e.th, before, after)
		e.is("time to an event that was not reached", err, hip.ErrorNotReady)
		g.open()
		e.ok("EventSynchronize", e.EventSynchronize(e.th, after))
		e.is("EventQuery", e.EventQuery(e.th, after), hip.Success)
		_, err = e.EventElapsedTime(e.th, before, after)
		e.is("EventElapsedTime", err, hip.Success)
	}},
	{"UsedWhileWaitedFor", func(e *env) { // one thread waits for an event, another asks about it and has a stream wait for it
		s, o, v := e.stream(nonBlocking), e.stream(nonBlocking), e.event(0)
		p := e.upload(u32s(1))
		g := e.gate(s)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, p, 2, 1, s))
		e.ok("EventRecord", e.EventRecord(e.th, v, s))
		waited := make(chan hip.Error, 1)
		go func() { waited <- e.EventSynchronize(hip.Thread{ID: 2}, v) }()
		time.Sleep(20 * time.Millisecond)
		e.is("EventQuery", e.EventQuery(e.th, v), hip.ErrorNotReady)
		e.ok("StreamWaitEvent", e.StreamWaitEvent(e.th, o, v, 0))
		g.open()
		e.ok("EventSynchronize", <-waited)
		e.equal("memory before the event", e.download(p, 4), u32s(2))
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, o))
	}},
	{"StreamWaits", func(e *env) {
		a, b := e.stream(nonBlocking), e.stream(nonBlocking)
		p := e.upload(u32s(1))
		q := e.malloc(4)
		v := e.event(disableTiming)
		g := e.gate(a)
		e.ok("MemsetD32Async", e.MemsetD32Async(e.th, p, 2, 1, a))
		e.ok("EventRecord", e.EventRecord(e.th, v, a))
		e.ok("StreamWaitEvent", e.StreamWaitEvent(e.th, b, v, 0))
		e.ok("MemcpyAsync", e.MemcpyAsync(e.th, q, p, 4, hip.MemcpyDeviceToDevice, b))
		e.is("the stream that waits", e.StreamQuery(e.th, b), hip.ErrorNotReady)
		// What the event stands for stays, whatever becomes of the event.
		e.ok("EventRecord again", e.EventRecord(e.th, v, e.stream(nonBlocking)))
		e.ok("EventDestroy", e.EventDestroy(e.th, v))
		g.open()
		e.ok("StreamSynchronize", e.StreamSynchronize(e.th, b))
		if x := u32At(e.download(q, 4), 0); x != 2 {
			e.Errorf("the stream did not wait: %d", x)
		}
	}},
	{"RecordedOnNull", func(e *env) {
		s := e.stream(0)
		v := e.event(0)
		g := e.gate(s)
		e.ok("EventRecord", e.EventRecord(e.th, v, 0))
		e.is("an event on the null stream behind a blocking stream's work", e.EventQuery(e.th, v), hip.ErrorNotReady)
		g.open()
		e.ok("EventSynchronize", e.EventSynchronize(e.th, v))
	}},
}
