package hipabi

import (
	"fmt"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph/executor"
)

// tracer is a fake that writes down what reaches its streams, in order.
type tracer struct {
	*fake
	graphs  *executor.Executor
	ops     []op
	events  map[hip.Event]bool
	flags   map[hip.Stream]uint32
	device  map[hip.Stream]int32
	freed   []hip.Ptr
	refuses hip.Error // what the next asynchronous operation answers
}

// op is one thing done on a stream.
type op struct {
	what   string
	stream hip.Stream
	event  hip.Event // recorded or waited for
	thread hip.Thread
}

func (o op) String() string {
	if o.event != 0 {
		return fmt.Sprintf("%s %d on %d", o.what, o.event, o.stream)
	}
	return fmt.Sprintf("%s on %d", o.what, o.stream)
}

func newTracer(t *testing.T) *tracer {
	t.Helper()
	x := &tracer{fake: newFake(t, "gfx942", "gfx942"), events: map[hip.Event]bool{}, flags: map[hip.Stream]uint32{}, device: map[hip.Stream]int32{}}
	x.graphs = executor.New(x)
	SetRuntime(x)
	return x
}

// StreamDestroy asks the graphs first, as every Runtime does that has an Executor.
func (x *tracer) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	if err := x.graphs.StreamDestroy(t, s); err != hip.Success {
		return err
	}
	return x.fake.StreamDestroy(t, s)
}

func (x *tracer) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	return x.graphs.GraphInstantiate(t, d)
}

func (x *tracer) GraphExecUpdate(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	return x.graphs.GraphExecUpdate(t, h, changes)
}

func (x *tracer) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	return x.graphs.GraphLaunch(t, h, s)
}

func (x *tracer) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	return x.graphs.GraphExecDestroy(t, h)
}

func (x *tracer) do(t hip.Thread, s hip.Stream, format string, args ...any) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuses; err != hip.Success {
		x.refuses = hip.Success
		return err
	}
	x.ops = append(x.ops, op{what: fmt.Sprintf(format, args...), stream: s, thread: t})
	return hip.Success
}

// took is what was done since the last time, as text.
func (x *tracer) took() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := fmt.Sprint(x.ops)
	x.ops = nil
	return s
}

func (x *tracer) StreamCreateWithPriority(t hip.Thread, flags uint32, priority int32) (hip.Stream, hip.Error) {
	s, err := x.fake.StreamCreateWithPriority(t, flags, priority)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.flags[s], x.device[s] = flags, t.Device
	return s, err
}

func (x *tracer) StreamGetFlags(t hip.Thread, s hip.Stream) (uint32, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.streams[s]; !ok {
		return 0, hip.ErrorContextIsDestroyed
	}
	return x.flags[s], hip.Success
}

func (x *tracer) StreamGetDevice(t hip.Thread, s hip.Stream) (int32, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.streams[s]; !ok {
		return 0, hip.ErrorContextIsDestroyed
	}
	return x.device[s], hip.Success
}

func (x *tracer) EventCreateWithFlags(t hip.Thread, flags uint32) (hip.Event, hip.Error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := hip.Event(x.handle())
	x.events[e] = true
	return e, hip.Success
}

func (x *tracer) EventDestroy(t hip.Thread, e hip.Event) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.events, e)
	return hip.Success
}

func (x *tracer) EventRecord(t hip.Thread, e hip.Event, s hip.Stream) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.streams[s]; s != 0 && !ok {
		return hip.ErrorContextIsDestroyed
	}
	x.ops = append(x.ops, op{"record", s, e, t})
	return hip.Success
}

func (x *tracer) StreamWaitEvent(t hip.Thread, s hip.Stream, e hip.Event, flags uint32) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ops = append(x.ops, op{"wait", s, e, t})
	return hip.Success
}

func (x *tracer) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	return x.do(t, l.Stream, "kernel %x", l.Args)
}

func (x *tracer) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return x.do(t, s, "set %d", value)
}

func (x *tracer) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return x.do(t, s, "copy %d", n)
}

func (x *tracer) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	return x.do(t, s, "host")
}

func (x *tracer) MallocAsync(t hip.Thread, n uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	return 0x7000, x.do(t, s, "malloc %d", n)
}

func (x *tracer) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	return x.do(t, s, "free %#x", uint64(p))
}

func (x *tracer) Free(t hip.Thread, p hip.Ptr) hip.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.freed = append(x.freed, p)
	return hip.Success
}

// What a capture forbids is allowed here.

func (x *tracer) HostMalloc(hip.Thread, uint64, uint32) (hip.Ptr, hip.Error) {
	return 0x8000, hip.Success
}
func (x *tracer) HostFree(hip.Thread, hip.Ptr) hip.Error                     { return hip.Success }
func (x *tracer) HostRegister(hip.Thread, hip.Ptr, uint64, uint32) hip.Error { return hip.Success }
func (x *tracer) HostUnregister(hip.Thread, hip.Ptr) hip.Error               { return hip.Success }
func (x *tracer) Memcpy(hip.Thread, hip.Ptr, hip.Ptr, uint64, hip.MemcpyKind) hip.Error {
	return hip.Success
}
func (x *tracer) Memset(hip.Thread, hip.Ptr, int32, uint64) hip.Error    { return hip.Success }
func (x *tracer) MemsetD32(hip.Thread, hip.Ptr, int32, uint64) hip.Error { return hip.Success }
func (x *tracer) DeviceSynchronize(hip.Thread) hip.Error                 { return hip.Success }
func (x *tracer) DeviceReset(hip.Thread) hip.Error                       { return hip.Success }
func (x *tracer) StreamSynchronize(hip.Thread, hip.Stream) hip.Error     { return hip.Success }
func (x *tracer) StreamQuery(hip.Thread, hip.Stream) hip.Error           { return hip.Success }
func (x *tracer) EventSynchronize(hip.Thread, hip.Event) hip.Error       { return hip.Success }
func (x *tracer) EventQuery(hip.Thread, hip.Event) hip.Error             { return hip.Success }

const (
	streamNonBlocking  = 1 // hipStreamNonBlocking
	eventDisableTiming = 2 // hipEventDisableTiming
)

// stream makes a stream for a thread; flags 1 is one that does not block.
func stream(t *testing.T, thread uint64, flags uint32) uint64 {
	t.Helper()
	s := out[uint64]()
	check(t, rw_hipStreamCreateWithFlags(thread, ptr(s), flags), hip.Success)
	return *s
}

func event(t *testing.T) uint64 {
	t.Helper()
	e := out[uint64]()
	check(t, rw_hipEventCreate(1, ptr(e)), hip.Success)
	return *e
}

// set is an operation that can be told from others.
func set(t *testing.T, value int32, s uint64) {
	t.Helper()
	check(t, rw_hipMemsetAsync(1, 0x1000, value, 64, s), hip.Success)
}

func begin(t *testing.T, s uint64) {
	t.Helper()
	check(t, rw_hipStreamBeginCapture(1, s, int32(hip.StreamCaptureModeGlobal)), hip.Success)
}

// finish ends a capture, which must answer want.
func finish(t *testing.T, s uint64, want hip.Error) (graph uint64) {
	t.Helper()
	g := out[uint64]()
	*g = 77
	check(t, rw_hipStreamEndCapture(1, s, ptr(g)), want)
	if (*g != 0) != (want == hip.Success) {
		t.Fatalf("graph %d with %v", *g, want)
	}
	return *g
}

func executableOf(t *testing.T, graph uint64) (exec uint64) {
	t.Helper()
	e := out[uint64]()
	check(t, rw_hipGraphInstantiate(1, ptr(e), graph, nil, nil, 0), hip.Success)
	return *e
}

func status(t *testing.T, s uint64) hip.StreamCaptureStatus {
	t.Helper()
	st := out[hip.StreamCaptureStatus]()
	check(t, rw_hipStreamIsCapturing(1, s, ptr(st)), hip.Success)
	return *st
}

// idle fails the test if calls are still looked at.
func idle(t *testing.T) {
	t.Helper()
	if watching.Load() != nil || captures().Active() {
		t.Errorf("still watching: %v, capturing: %v", watching.Load(), captures().Active())
	}
}
