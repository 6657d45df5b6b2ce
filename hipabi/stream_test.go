package hipabi

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestPerThreadStream(t *testing.T) {
	f := newFake(t, "gfx942", "gfx942")
	get := func(th hip.Thread) hip.Stream {
		s, err := resolveStream(th, hip.StreamPerThread)
		check(t, int32(err), hip.Success)
		return s
	}
	a, b, c := get(hip.Thread{Device: 0, ID: 1}), get(hip.Thread{Device: 1, ID: 1}), get(hip.Thread{Device: 0, ID: 2})
	if a == b || a == c || b == c || a != get(hip.Thread{Device: 0, ID: 1}) {
		t.Errorf("streams %d %d %d", a, b, c)
	}
	rw_threadEnd(1)
	if len(f.streams) != 1 || f.streams[c].ID != 2 {
		t.Errorf("after the end of thread 1: %v", f.streams)
	}
	for in, want := range map[hip.Stream]hip.Stream{hip.StreamNull: 0, hip.StreamLegacy: 0, 99: 99} {
		if s, err := resolveStream(hip.Thread{ID: 3}, in); s != want || err != hip.Success {
			t.Errorf("stream %d is %d, %v", in, s, err)
		}
	}
}

func TestStreamExports(t *testing.T) {
	f := newFake(t, "gfx942")
	s, status := out[uint64](), out[hip.StreamCaptureStatus]()
	check(t, rw_hipStreamCreate(1, ptr(s)), hip.Success)
	if len(f.streams) != 1 {
		t.Errorf("%d streams", len(f.streams))
	}
	*status = 7
	check(t, rw_hipStreamIsCapturing(1, *s, ptr(status)), hip.Success)
	if *status != hip.StreamCaptureStatusNone {
		t.Errorf("status %d", *status)
	}
	if d := rw_streamDevice(5<<32|1, 0); d != 5 {
		t.Errorf("the null stream is on device %d", d)
	}
	check(t, rw_hipStreamAddCallback(1, *s, nil, 0, 0), hip.ErrorInvalidValue)
	check(t, rw_hipStreamAddCallback(1, *s, cstr("f"), 0, 1), hip.ErrorInvalidValue)
	check(t, rw_hipLaunchHostFunc(1, *s, nil, 0), hip.ErrorInvalidValue)
}

func TestLazyOpening(t *testing.T) {
	f := newFake(t, "gfx942")
	opened := 0
	SetOpener(func() hip.Runtime { opened++; return f })
	rw_flush()
	ending.Store(false)
	if opened != 0 {
		t.Error("a flush opened the runtime")
	}
	n := out[int32]()
	check(t, rw_deviceCount(n), hip.Success)
	check(t, rw_deviceCount(n), hip.Success)
	if opened != 1 || *n != 1 {
		t.Errorf("opened %d times, %d devices", opened, *n)
	}
	rw_flush()
	ending.Store(false)
	if f.flushed != 1 {
		t.Errorf("flushed %d times", f.flushed)
	}
}

// closing is a Runtime whose Close waits until it is allowed to return.
type closing struct {
	hip.Unimplemented
	began, may chan struct{}
}

func (c *closing) Close() error {
	close(c.began)
	<-c.may
	return nil
}

func TestEndOfProcess(t *testing.T) {
	c := &closing{began: make(chan struct{}), may: make(chan struct{})}
	newFake(t)
	SetRuntime(c)
	close(c.may)
	rw_close()
	<-c.began
	// One that never returns is left behind.
	c = &closing{began: make(chan struct{}), may: make(chan struct{})}
	SetRuntime(c)
	rw_close()
	<-c.began
	close(c.may)
}
