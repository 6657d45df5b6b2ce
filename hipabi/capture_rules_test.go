package hipabi

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// What breaks a capture, and with which error.
func TestCaptureRules(t *testing.T) {
	x := newTracer(t)
	a, other := stream(t, 1, 0), stream(t, 1, 0)
	e, elsewhere := event(t), event(t)
	p := out[uint64]()
	for _, c := range []struct {
		name string
		call func() int32
		want hip.Error
	}{
		{"hipMalloc", func() int32 { return rw_hipMalloc(1, ptr(p), 8) }, hip.ErrorStreamCaptureUnsupported},
		{"hipMallocPitch", func() int32 { return rw_hipMallocPitch(1, ptr(p), ptr(p), 8, 8) }, hip.ErrorStreamCaptureUnsupported},
		{"hipHostMalloc", func() int32 { return rw_hipHostMalloc(1, ptr(p), 8, 0) }, hip.ErrorStreamCaptureUnsupported},
		{"hipFree", func() int32 { return rw_hipFree(1, 0x1000) }, hip.ErrorStreamCaptureUnsupported},
		{"hipHostFree", func() int32 { return rw_hipHostFree(1, 0x1000) }, hip.ErrorStreamCaptureUnsupported},
		{"hipHostRegister", func() int32 { return rw_hipHostRegister(1, 0x1000, 8, 0) }, hip.ErrorStreamCaptureUnsupported},
		{"hipHostUnregister", func() int32 { return rw_hipHostUnregister(1, 0x1000) }, hip.ErrorStreamCaptureUnsupported},
		{"hipMemcpy", func() int32 { return rw_hipMemcpy(1, 0x1000, 0x2000, 8, 3) }, hip.ErrorStreamCaptureImplicit},
		{"hipMemset", func() int32 { return rw_hipMemset(1, 0x1000, 0, 8) }, hip.ErrorStreamCaptureImplicit},
		{"hipMemsetD32", func() int32 { return rw_hipMemsetD32(1, 0x1000, 0, 8) }, hip.ErrorStreamCaptureImplicit},
		{"hipDeviceSynchronize", func() int32 { return rw_hipDeviceSynchronize(1) }, hip.ErrorStreamCaptureUnsupported},
		{"hipDeviceReset", func() int32 { return rw_hipDeviceReset(1) }, hip.ErrorStreamCaptureUnsupported},
		{"hipStreamSynchronize", func() int32 { return rw_hipStreamSynchronize(1, a) }, hip.ErrorStreamCaptureUnsupported},
		{"hipStreamSynchronize of another", func() int32 { return rw_hipStreamSynchronize(1, other) }, hip.ErrorStreamCaptureUnsupported},
		{"hipStreamQuery", func() int32 { return rw_hipStreamQuery(1, a) }, hip.ErrorStreamCaptureUnsupported},
		{"hipEventQuery", func() int32 { return rw_hipEventQuery(1, e) }, hip.ErrorCapturedEvent},
		{"hipEventSynchronize", func() int32 { return rw_hipEventSynchronize(1, e) }, hip.ErrorCapturedEvent},
		{"hipEventSynchronize of another", func() int32 { return rw_hipEventSynchronize(1, elsewhere) }, hip.ErrorStreamCaptureUnsupported},
	} {
		check(t, c.call(), hip.Success)
		check(t, rw_hipEventRecord(1, elsewhere, other), hip.Success)
		begin(t, a)
		set(t, 1, a)
		check(t, rw_hipEventRecord(1, e, a), hip.Success)
		if got := hip.Error(c.call()); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if status(t, a) != hip.StreamCaptureStatusInvalidated {
			t.Errorf("%s: status %d", c.name, status(t, a))
		}
		check(t, rw_hipMemsetAsync(1, 0x1000, 1, 8, a), hip.ErrorStreamCaptureInvalidated)
		check(t, rw_hipEventRecord(1, elsewhere, a), hip.ErrorStreamCaptureInvalidated)
		check(t, rw_hipStreamWaitEvent(1, other, e, 0), hip.ErrorStreamCaptureInvalidated)
		finish(t, a, hip.ErrorStreamCaptureInvalidated)
		idle(t)
		check(t, c.call(), hip.Success) // and all is as before
	}
	if g, n := graphs().Size(); g != 0 || n != 0 {
		t.Errorf("left: %d graphs, %d nodes", g, n)
	}
	x.took()

	// Calls that fail by themselves leave the capture as it is.
	begin(t, a)
	check(t, rw_hipMemcpyAsync(1, 0, 0x1000, 8, 3, a), hip.ErrorInvalidValue)
	check(t, rw_hipMemcpyAsync(1, 0x1000, 0x1000, 8, 99, a), hip.ErrorInvalidMemcpyDirection)
	check(t, rw_hipMemcpy2DAsync(1, 0x1000, 8, 0x1000, 8, 9, 1, 3, a), hip.ErrorInvalidPitchValue)
	check(t, rw_hipMemsetAsync(1, 0, 0, 8, a), hip.ErrorInvalidValue)
	check(t, rw_hipMemsetAsync(1, 0x1000, 0, 0, a), hip.ErrorInvalidValue)
	check(t, rw_hipEventRecord(1, 0, a), hip.ErrorInvalidHandle)
	if status(t, a) != hip.StreamCaptureStatusActive {
		t.Error("a wrong argument broke the capture")
	}
	finish(t, a, hip.Success)
}

// The null stream goes on beside a capture, and so does what has nothing to do with it.
func TestCaptureLetsThrough(t *testing.T) {
	x := newTracer(t)
	a, other := stream(t, 1, 0), stream(t, 1, 0)
	e, elsewhere, never, fresh := event(t), event(t), event(t), event(t)
	p := out[uint64]()
	for _, c := range []struct {
		name string
		call func() int32
	}{
		{"hipMemcpyAsync on the null stream", func() int32 { return rw_hipMemcpyAsync(1, 0x1000, 0x2000, 8, 3, 0) }},
		{"hipMemsetAsync on the null stream", func() int32 { return rw_hipMemsetAsync(1, 0x1000, 0, 8, 0) }},
		{"hipMemsetAsync of nothing on the null stream", func() int32 { return rw_hipMemsetAsync(1, 0x1000, 0, 0, 0) }},
		{"hipEventRecord on the null stream", func() int32 { return rw_hipEventRecord(1, fresh, 0) }},
		{"hipStreamSynchronize of the null stream", func() int32 { return rw_hipStreamSynchronize(1, 0) }},
		{"hipStreamQuery of the null stream", func() int32 { return rw_hipStreamQuery(1, 0) }},
		{"hipEventQuery", func() int32 { return rw_hipEventQuery(1, elsewhere) }},
		{"hipEventQuery of what was never recorded", func() int32 { return rw_hipEventQuery(1, never) }},
		{"hipEventSynchronize of what was never recorded", func() int32 { return rw_hipEventSynchronize(1, never) }},
		{"hipEventSynchronize of the null stream's", func() int32 { return rw_hipEventSynchronize(1, fresh) }},
		{"hipStreamWaitEvent", func() int32 { return rw_hipStreamWaitEvent(1, a, elsewhere, 0) }},
		{"hipStreamWaitEvent of the null stream", func() int32 { return rw_hipStreamWaitEvent(1, 0, elsewhere, 0) }},
		{"hipMallocManaged", func() int32 { return rw_hipMallocManaged(1, ptr(p), 8, 1) }},
	} {
		check(t, rw_hipEventRecord(1, elsewhere, other), hip.Success)
		begin(t, a)
		set(t, 1, a)
		check(t, rw_hipEventRecord(1, e, a), hip.Success)
		x.took()
		if got := hip.Error(c.call()); got != hip.Success {
			t.Errorf("%s: %v", c.name, got)
		}
		check(t, rw_hipGraphDestroy(1, finish(t, a, hip.Success)), hip.Success)
		idle(t)
	}
}

// An event of a stream that captures now is not one that can be asked, although it was recorded before.
func TestCaptureEventFromBefore(t *testing.T) {
	newTracer(t)
	a, b := stream(t, 1, 0), stream(t, 1, 0)
	e := event(t)
	for _, c := range []struct {
		call func() int32
		want hip.Error
		ends hip.Error
	}{
		{func() int32 { return rw_hipEventQuery(1, e) }, hip.ErrorCapturedEvent, hip.ErrorStreamCaptureInvalidated},
		{func() int32 { return rw_hipEventSynchronize(1, e) }, hip.ErrorStreamCaptureUnsupported, hip.ErrorStreamCaptureInvalidated},
		{func() int32 { return rw_hipStreamWaitEvent(1, a, e, 0) }, hip.ErrorStreamCaptureIsolation, hip.Success},
		{func() int32 { return rw_hipStreamWaitEvent(1, b, e, 0) }, hip.ErrorStreamCaptureIsolation, hip.Success},
		{func() int32 { return rw_hipStreamWaitEvent(1, 0, e, 0) }, hip.ErrorStreamCaptureIsolation, hip.Success},
	} {
		check(t, rw_hipEventRecord(1, e, a), hip.Success)
		begin(t, a)
		check(t, c.call(), c.want)
		if g := finish(t, a, c.ends); c.ends == hip.Success {
			check(t, rw_hipGraphDestroy(1, g), hip.Success)
		}
		check(t, c.call(), hip.Success)
	}
	// The null stream cannot join a capture.
	begin(t, a)
	check(t, rw_hipEventRecord(1, e, a), hip.Success)
	check(t, rw_hipStreamWaitEvent(1, 0, e, 0), hip.ErrorInvalidHandle)
	check(t, rw_hipGraphDestroy(1, finish(t, a, hip.Success)), hip.Success)
	check(t, rw_hipEventDestroy(1, e), hip.Success)
}

// An external recording is a node of the graph, and not what a wait joins the capture by.
func TestCaptureExternalRecord(t *testing.T) {
	x := newTracer(t)
	a := stream(t, 1, 0)
	e := event(t)
	check(t, rw_hipEventRecordWithFlags(1, e, a, hip.EventRecordExternal), hip.Success)
	check(t, rw_hipEventRecordWithFlags(1, e, a, hip.EventRecordExternal+1), hip.ErrorInvalidValue)
	if got, want := x.took(), fmt.Sprintf("[record %d on %d]", e, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	begin(t, a)
	check(t, rw_hipEventRecordWithFlags(1, e, a, hip.EventRecordExternal), hip.Success)
	check(t, rw_hipEventRecordWithFlags(1, 0, a, hip.EventRecordExternal), hip.ErrorInvalidHandle)
	g := finish(t, a, hip.Success)
	node, n, kind := out[uint64](), out[uint64](), out[hip.GraphNodeType]()
	*n = 1
	check(t, rw_hipGraphGetNodes(1, g, ptr(node), ptr(n)), hip.Success)
	check(t, rw_hipGraphNodeGetType(1, *node, ptr(kind)), hip.Success)
	if *n != 1 || *kind != hip.GraphNodeTypeEventRecord {
		t.Errorf("%d nodes, the first is a %d", *n, *kind)
	}
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
}

func TestCaptureBeginAndEnd(t *testing.T) {
	newTracer(t)
	a, b := stream(t, 1, 0), stream(t, 1, 0)
	g := out[uint64]()
	for _, s := range []hip.Stream{hip.StreamNull, hip.StreamLegacy} {
		check(t, rw_hipStreamBeginCapture(1, uint64(s), 0), hip.ErrorStreamCaptureUnsupported)
		check(t, rw_hipStreamEndCapture(1, uint64(s), ptr(g)), hip.ErrorIllegalState)
	}
	check(t, rw_hipStreamBeginCapture(1, a, 3), hip.ErrorInvalidValue)
	check(t, rw_hipStreamBeginCapture(1, a, -1), hip.ErrorInvalidValue)
	check(t, rw_hipStreamBeginCapture(1, 99999, 0), hip.ErrorContextIsDestroyed)
	check(t, rw_hipStreamEndCapture(1, a, ptr(g)), hip.ErrorIllegalState)
	check(t, rw_hipStreamEndCapture(1, a, nil), hip.ErrorInvalidValue)
	idle(t)
	for mode, wrong := range []hip.Error{hip.ErrorStreamCaptureWrongThread, hip.ErrorStreamCaptureWrongThread, hip.Success} {
		check(t, rw_hipStreamBeginCapture(1, a, int32(mode)), hip.Success)
		check(t, rw_hipStreamBeginCapture(1, a, int32(mode)), hip.ErrorIllegalState)
		check(t, rw_hipStreamEndCapture(1, b, ptr(g)), hip.ErrorIllegalState)
		check(t, rw_hipStreamEndCapture(2, a, ptr(g)), wrong)
		if wrong != hip.Success {
			finish(t, a, hip.Success)
		}
		idle(t)
	}
	check(t, rw_hipStreamBeginCapture(1, uint64(hip.StreamPerThread), 0), hip.Success)
	set(t, 1, uint64(hip.StreamPerThread))
	finish(t, uint64(hip.StreamPerThread), hip.Success)
}

// Which threads may do what is unsafe, by the capture's mode and by their own.
func TestCaptureModes(t *testing.T) {
	newTracer(t)
	a := stream(t, 1, 1)
	const global, local, relaxed = int32(hip.StreamCaptureModeGlobal), int32(hip.StreamCaptureModeThreadLocal), int32(hip.StreamCaptureModeRelaxed)
	mode := out[hip.StreamCaptureMode]()
	p := out[uint64]()
	for _, c := range []struct {
		capture, thread int32 // modes
		own, others     hip.Error
	}{
		{global, global, hip.ErrorStreamCaptureUnsupported, hip.ErrorStreamCaptureUnsupported},
		{global, local, hip.ErrorStreamCaptureUnsupported, hip.Success},
		{global, relaxed, hip.Success, hip.Success},
		{local, global, hip.ErrorStreamCaptureUnsupported, hip.Success},
		{local, local, hip.ErrorStreamCaptureUnsupported, hip.Success},
		{local, relaxed, hip.Success, hip.Success},
		{relaxed, global, hip.Success, hip.Success},
		{relaxed, local, hip.Success, hip.Success},
		{relaxed, relaxed, hip.Success, hip.Success},
	} {
		for thread, want := range map[uint64]hip.Error{1: c.own, 2: c.others} {
			*mode = hip.StreamCaptureMode(c.thread)
			check(t, rw_hipThreadExchangeStreamCaptureMode(thread, ptr(mode)), hip.Success)
			if *mode != hip.StreamCaptureModeGlobal {
				t.Errorf("thread %d was in mode %d", thread, *mode)
			}
			check(t, rw_hipStreamBeginCapture(1, a, c.capture), hip.Success)
			if got := hip.Error(rw_hipMalloc(thread, ptr(p), 8)); got != want {
				t.Errorf("capture in mode %d, thread %d in mode %d: %v, want %v", c.capture, thread, c.thread, got, want)
			}
			if want == hip.Success {
				finish(t, a, hip.Success)
			} else {
				finish(t, a, hip.ErrorStreamCaptureInvalidated)
			}
			check(t, rw_hipThreadExchangeStreamCaptureMode(thread, ptr(mode)), hip.Success)
			if int32(*mode) != c.thread {
				t.Errorf("thread %d was in mode %d, want %d", thread, *mode, c.thread)
			}
		}
	}
	*mode = 3
	check(t, rw_hipThreadExchangeStreamCaptureMode(1, ptr(mode)), hip.ErrorInvalidValue)
	*mode = hip.StreamCaptureModeRelaxed
	check(t, rw_hipThreadExchangeStreamCaptureMode(7, ptr(mode)), hip.Success)
	rw_threadEnd(7)
	*mode = hip.StreamCaptureModeGlobal
	check(t, rw_hipThreadExchangeStreamCaptureMode(7, ptr(mode)), hip.Success)
	if *mode != hip.StreamCaptureModeGlobal {
		t.Errorf("a thread that ended left mode %d", *mode)
	}
	// A stream that the null stream does not wait for is no obstacle to it.
	begin(t, a)
	check(t, rw_hipMemsetAsync(1, 0x1000, 1, 8, 0), hip.Success)
	check(t, rw_hipStreamQuery(1, 0), hip.Success)
	finish(t, a, hip.Success)
}

// Captures of many threads at once, each with a graph of its own.
func TestCapturesInParallel(t *testing.T) {
	newTracer(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		thread := uint64(i + 1)
		s, g, e, n := stream(t, thread, 1), out[uint64](), out[uint64](), out[uint64]()
		go func() {
			defer all.Done()
			for k := range 50 {
				ok := rw_hipStreamBeginCapture(thread, s, int32(hip.StreamCaptureModeThreadLocal)) == 0
				for range k {
					ok = ok && rw_hipMemsetAsync(thread, 0x1000, 1, 8, s) == 0
				}
				ok = ok && rw_hipStreamEndCapture(thread, s, ptr(g)) == 0
				ok = ok && rw_hipGraphGetNodes(thread, *g, nil, ptr(n)) == 0 && *n == uint64(k)
				ok = ok && rw_hipGraphInstantiate(thread, ptr(e), *g, nil, nil, 0) == 0 && rw_hipGraphLaunch(thread, *e, s) == 0
				ok = ok && rw_hipGraphExecDestroy(thread, *e) == 0 && rw_hipGraphDestroy(thread, *g) == 0
				if !ok {
					t.Errorf("thread %d failed with %d nodes of %d", thread, *n, k)
					return
				}
			}
		}()
	}
	all.Wait()
	idle(t)
}
