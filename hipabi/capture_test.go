package hipabi

import (
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

func TestCaptureReplaysAChain(t *testing.T) {
	x := newTracer(t)
	_, fn := loadKernel(t, 1, "gfx942", "vector_add", "vector_add")
	a, b := stream(t, 1, 0), stream(t, 1, 0)
	params, packed := addArgs()
	begin(t, a)
	if status(t, a) != hip.StreamCaptureStatusActive || status(t, b) != hip.StreamCaptureStatusNone {
		t.Error("the wrong stream captures")
	}
	launched := func() int32 {
		return rw_hipModuleLaunchKernel(1, fn, 1, 1, 1, 64, 1, 1, 0, a, unsafe.Pointer(&params[0]), nil)
	}
	check(t, rw_hipMemcpyAsync(1, 0x1000, 0x2000, 64, int32(hip.MemcpyDeviceToDevice), a), hip.Success)
	check(t, launched(), hip.Success)
	*(*uint64)(pointer(params[0])) = 0xdead // arguments are those of the call
	check(t, launched(), hip.Success)
	check(t, rw_hipLaunchHostFunc(1, a, cstr("f"), 0), hip.Success)
	set(t, 5, a)
	set(t, 6, b) // does not capture
	if got := x.took(); got != fmt.Sprintf("[set 6 on %d]", b) {
		t.Errorf("during the capture: %s", got)
	}
	g := finish(t, a, hip.Success)
	idle(t)
	e := executableOf(t, g)
	check(t, rw_hipGraphDestroy(1, g), hip.Success) // the executable graph does not need it
	changed := append([]byte(nil), packed...)
	binary.LittleEndian.PutUint64(changed, 0xdead)
	for range 3 {
		check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
		want := fmt.Sprintf("[copy 64 on %d kernel %x on %d kernel %x on %d host on %d set 5 on %d]", a, packed, a, changed, a, a, a)
		if got := x.took(); got != want {
			t.Fatalf("launched\n%s, want\n%s", got, want)
		}
	}
	if len(x.streams) != 2 || len(x.events) != 0 {
		t.Errorf("a chain took %d streams and %d events", len(x.streams)-2, len(x.events))
	}
	x.refuses = hip.ErrorIllegalAddress
	check(t, rw_hipGraphLaunch(1, e, a), hip.ErrorIllegalAddress)
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
	check(t, rw_hipGraphLaunch(1, e, a), hip.ErrorInvalidValue)
}

// Two launches of one graph do not overlap, wherever they are.
func TestGraphLaunchOnAnotherStream(t *testing.T) {
	x := newTracer(t)
	a, b := stream(t, 1, 0), stream(t, 1, 0)
	begin(t, a)
	set(t, 5, a)
	e := executableOf(t, finish(t, a, hip.Success))
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[set 5 on %d set 5 on %d]", a, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	check(t, rw_hipGraphLaunch(1, e, b), hip.Success)
	turn := x.ops[0].event
	if got, want := x.took(), fmt.Sprintf("[record %d on %d wait %d on %d set 5 on %d]", turn, a, turn, b, b); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	check(t, rw_hipStreamDestroy(1, b), hip.Success)
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success) // behind what b had before it was gone
	if got, want := x.took(), fmt.Sprintf("[record %d on %d wait %d on %d set 5 on %d]", turn, b, turn, a, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
	if len(x.events) != 0 {
		t.Errorf("%d events left", len(x.events))
	}
}

func TestCaptureForksAndJoins(t *testing.T) {
	x := newTracer(t)
	a, b := stream(t, 1, 0), stream(t, 1, 1)
	fork, join := event(t), event(t)
	begin(t, a)
	set(t, 1, a)
	check(t, rw_hipEventRecord(1, fork, a), hip.Success)
	check(t, rw_hipStreamWaitEvent(1, b, fork, 0), hip.Success)
	if status(t, b) != hip.StreamCaptureStatusActive {
		t.Error("the second stream did not join the capture")
	}
	g := out[uint64]()
	check(t, rw_hipStreamEndCapture(1, b, ptr(g)), hip.ErrorStreamCaptureUnmatched)
	set(t, 2, a)
	set(t, 3, b)
	check(t, rw_hipEventRecord(1, join, b), hip.Success)
	check(t, rw_hipStreamWaitEvent(1, a, join, 0), hip.Success)
	set(t, 4, a)
	if len(x.ops) != 0 {
		t.Errorf("executed %v", x.ops)
	}
	*g = finish(t, a, hip.Success)
	if status(t, b) != hip.StreamCaptureStatusNone {
		t.Error("the second stream still captures")
	}
	idle(t)

	n := out[uint64]()
	check(t, rw_hipGraphGetNodes(1, *g, nil, ptr(n)), hip.Success)
	nodes := out[[6]uint64]()
	room := *n + 1
	*n = room
	check(t, rw_hipGraphGetNodes(1, *g, ptr(nodes), ptr(n)), hip.Success)
	if *n != 4 || nodes[3] == 0 || nodes[4] != 0 {
		t.Errorf("%d nodes: %v", *n, nodes)
	}
	roots := out[[2]uint64]()
	*n = 2
	check(t, rw_hipGraphGetRootNodes(1, *g, ptr(roots), ptr(n)), hip.Success)
	if *n != 1 || roots[0] != nodes[0] {
		t.Errorf("%d roots: %v", *n, roots)
	}
	check(t, rw_hipGraphNodeGetDependencies(1, nodes[3], nil, ptr(n)), hip.Success)
	kind := out[hip.GraphNodeType]()
	check(t, rw_hipGraphNodeGetType(1, nodes[3], ptr(kind)), hip.Success)
	if *n != 2 || *kind != hip.GraphNodeTypeMemset {
		t.Errorf("the last node waits for %d and is a %d", *n, *kind)
	}

	e := executableOf(t, *g)
	own := hip.Stream(0)
	for s := range x.streams {
		if uint64(s) != a && uint64(s) != b {
			own = s
		}
	}
	if own == 0 || x.flags[own] != streamNonBlocking {
		t.Fatalf("streams %v, flags %v", x.streams, x.flags)
	}
	check(t, rw_hipGraphLaunch(1, e, b), hip.Success)
	m1, m2 := x.ops[1].event, x.ops[len(x.ops)-2].event
	want := fmt.Sprintf("[set 1 on %d record %d on %d set 2 on %d wait %d on %d set 3 on %d record %d on %d wait %d on %d set 4 on %d]",
		b, m1, b, b, m1, own, own, m2, own, m2, b, b)
	if got := x.took(); got != want {
		t.Errorf("launched\n%s, want\n%s", got, want)
	}
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
	if len(x.streams) != 2 || len(x.events) != 2 {
		t.Errorf("%d streams and %d events left", len(x.streams), len(x.events))
	}
}

func TestCaptureJoinErrors(t *testing.T) {
	x := newTracer(t)
	a, b, c := stream(t, 1, 0), stream(t, 1, 0), stream(t, 1, 0)
	ea, eb, before := event(t), event(t), event(t)
	fork := func() {
		begin(t, a)
		set(t, 1, a)
		check(t, rw_hipEventRecord(1, ea, a), hip.Success)
		check(t, rw_hipStreamWaitEvent(1, b, ea, 0), hip.Success)
	}
	fork()
	set(t, 2, b)
	finish(t, a, hip.ErrorStreamCaptureUnjoined)
	idle(t)

	// A branch that adds nothing needs no join.
	fork()
	check(t, rw_hipGraphDestroy(1, finish(t, a, hip.Success)), hip.Success)

	// Work outside is waited for, and no node comes of that.
	check(t, rw_hipEventRecord(1, before, c), hip.Success)
	begin(t, a)
	x.took()
	check(t, rw_hipStreamWaitEvent(1, a, before, 0), hip.Success)
	check(t, rw_hipGraphDestroy(1, finish(t, a, hip.Success)), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[wait %d on %d]", before, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// One capture does not wait for another.
	fork()
	begin(t, c)
	set(t, 3, c)
	check(t, rw_hipEventRecord(1, eb, c), hip.Success)
	check(t, rw_hipStreamWaitEvent(1, b, eb, 0), hip.ErrorStreamCaptureMerge)
	finish(t, a, hip.ErrorStreamCaptureInvalidated)
	finish(t, c, hip.ErrorStreamCaptureInvalidated)
	idle(t)

	// The event of a capture that is over is an ordinary one.
	x.took()
	check(t, rw_hipStreamWaitEvent(1, b, ea, 0), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[wait %d on %d]", ea, b); got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// So is one that is recorded again where nothing captures.
	fork()
	check(t, rw_hipEventRecord(1, ea, c), hip.Success)
	check(t, rw_hipStreamWaitEvent(1, c, ea, 0), hip.Success)
	check(t, rw_hipGraphDestroy(1, finish(t, a, hip.Success)), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[record %d on %d wait %d on %d]", ea, c, ea, c); got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	// A stream that goes away takes its capture with it, or leaves it.
	fork()
	check(t, rw_hipStreamDestroy(1, b), hip.Success)
	if status(t, a) != hip.StreamCaptureStatusActive {
		t.Error("the capture ended with one of its branches")
	}
	check(t, rw_hipEventDestroy(1, ea), hip.Success)
	check(t, rw_hipStreamDestroy(1, a), hip.Success)
	idle(t)
	if g, n := graphs().Size(); g != 0 || n != 0 {
		t.Errorf("left: %d graphs, %d nodes", g, n)
	}
}

// What an event stands for stays as it was, whatever its stream waits for later.
func TestCaptureEventKeepsItsMoment(t *testing.T) {
	newTracer(t)
	s := make([]uint64, 6) // the origin and its branches
	for i := range s {
		s[i] = stream(t, 1, 0)
	}
	follow := func(to, from uint64) {
		t.Helper()
		e := event(t)
		check(t, rw_hipEventRecord(1, e, from), hip.Success)
		check(t, rw_hipStreamWaitEvent(1, to, e, 0), hip.Success)
	}
	begin(t, s[0])
	for _, b := range s[1:5] {
		follow(b, s[0])
	}
	for i, b := range s[:5] {
		set(t, int32(i), b)
	}
	follow(s[0], s[1])
	follow(s[0], s[2])
	follow(s[5], s[0]) // knows of 0, 1 and 2
	follow(s[0], s[3])
	follow(s[5], s[4])
	n, last, st := out[uint64](), out[[1]uintptr](), out[hip.StreamCaptureStatus]()
	for i, want := range map[int]uint64{0: 4, 5: 4} {
		check(t, rw_hipStreamGetCaptureInfo_v2(1, s[i], ptr(st), nil, nil, ptr(last), ptr(n)), hip.Success)
		if *n != want {
			t.Errorf("stream %d waits for %d nodes, want %d", i, *n, want)
		}
	}
	follow(s[0], s[5])
	finish(t, s[0], hip.Success)
}

// A graph that is launched on a stream that captures becomes part of its graph.
func TestCaptureOfALaunch(t *testing.T) {
	x := newTracer(t)
	a := stream(t, 1, 0)
	begin(t, a)
	set(t, 1, a)
	set(t, 2, a)
	inner := executableOf(t, finish(t, a, hip.Success))
	begin(t, a)
	set(t, 0, a)
	check(t, rw_hipGraphLaunch(1, inner, a), hip.Success)
	check(t, rw_hipGraphLaunch(1, inner, a), hip.Success)
	set(t, 3, a)
	e := executableOf(t, finish(t, a, hip.Success))
	check(t, rw_hipGraphExecDestroy(1, inner), hip.Success)
	check(t, rw_hipGraphLaunch(1, e, 0), hip.Success)
	if got := x.took(); got != "[set 0 on 0 set 1 on 0 set 2 on 0 set 1 on 0 set 2 on 0 set 3 on 0]" {
		t.Error(got)
	}
}

func TestCaptureInfo(t *testing.T) {
	newTracer(t)
	a, b, loose := stream(t, 1, 0), stream(t, 1, 0), stream(t, 1, 1)
	st, id, g, deps, n := out[hip.StreamCaptureStatus](), out[uint64](), out[uint64](), out[uintptr](), out[uint64]()
	info := func(s uint64) hip.Error {
		return hip.Error(rw_hipStreamGetCaptureInfo_v2(1, s, ptr(st), ptr(id), ptr(g), ptr(deps), ptr(n)))
	}
	begin(t, loose)
	check(t, int32(info(0)), hip.Success) // the null stream and that one do not wait for each other
	begin(t, a)
	check(t, int32(info(0)), hip.ErrorStreamCaptureImplicit)
	set(t, 1, a)
	set(t, 2, a)
	if err := info(a); err != hip.Success || *st != hip.StreamCaptureStatusActive || *id == 0 || *g == 0 || *n != 1 {
		t.Fatalf("%v: status %d, capture %d, graph %d, %d dependencies", err, *st, *id, *g, *n)
	}
	first, dep := *id, *(*uint64)(pointer(*deps))
	check(t, rw_hipGraphDestroy(1, *g), hip.ErrorIllegalState)
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(out[uint64]()), *g, 0), hip.ErrorInvalidValue)
	*st = 9
	if err := info(b); err != hip.Success || *st != hip.StreamCaptureStatusNone || *id != first {
		t.Errorf("%v: status %d, capture %d", err, *st, *id)
	}
	graph := finish(t, a, hip.Success)
	if graph != *g {
		t.Errorf("graph %d was %d in the capture", graph, *g)
	}
	kind := out[hip.GraphNodeType]()
	check(t, rw_hipGraphNodeGetType(1, dep, ptr(kind)), hip.Success)
	begin(t, a)
	if info(a); *id == first || *n != 0 || *deps != 0 {
		t.Errorf("capture %d again, %d dependencies at %#x", *id, *n, *deps)
	}
	check(t, rw_hipStreamGetCaptureInfo(1, a, nil, ptr(id)), hip.ErrorInvalidValue)
	finish(t, a, hip.Success)
	finish(t, loose, hip.Success)
	idle(t)
}
