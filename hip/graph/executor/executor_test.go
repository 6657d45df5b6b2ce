package executor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// recorder is a Runtime that writes down what reaches its streams, in order.
type recorder struct {
	hip.Unimplemented
	last    uint64
	streams map[hip.Stream]int32 // with their devices
	events  map[hip.Event]bool
	steps   []traced
}

// traced is one thing done on a stream.
type traced struct {
	what   string
	stream hip.Stream
	event  hip.Event
	device int32
}

func (r *recorder) do(t hip.Thread, s hip.Stream, format string, args ...any) hip.Error {
	r.steps = append(r.steps, traced{what: fmt.Sprintf(format, args...), stream: s, device: t.Device})
	return hip.Success
}

func (r *recorder) StreamCreateWithPriority(t hip.Thread, flags uint32, _ int32) (hip.Stream, hip.Error) {
	r.last += 16
	r.streams[hip.Stream(r.last)] = t.Device
	return hip.Stream(r.last), hip.Success
}

func (r *recorder) StreamDestroy(_ hip.Thread, s hip.Stream) hip.Error {
	delete(r.streams, s)
	return hip.Success
}

func (r *recorder) StreamGetDevice(_ hip.Thread, s hip.Stream) (int32, hip.Error) {
	d, ok := r.streams[s]
	if !ok {
		return 0, hip.ErrorContextIsDestroyed
	}
	return d, hip.Success
}

func (r *recorder) EventCreateWithFlags(hip.Thread, uint32) (hip.Event, hip.Error) {
	r.last += 16
	r.events[hip.Event(r.last)] = true
	return hip.Event(r.last), hip.Success
}

func (r *recorder) EventDestroy(_ hip.Thread, e hip.Event) hip.Error {
	delete(r.events, e)
	return hip.Success
}

func (r *recorder) EventRecord(t hip.Thread, e hip.Event, s hip.Stream) hip.Error {
	if _, ok := r.streams[s]; !ok {
		return hip.ErrorContextIsDestroyed
	}
	r.steps = append(r.steps, traced{"record", s, e, t.Device})
	return hip.Success
}

func (r *recorder) StreamWaitEvent(t hip.Thread, s hip.Stream, e hip.Event, _ uint32) hip.Error {
	r.steps = append(r.steps, traced{"wait", s, e, t.Device})
	return hip.Success
}

func (r *recorder) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	return r.do(t, l.Stream, "node %d", l.SharedMem)
}

func (r *recorder) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, _ hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.do(t, s, "copy %v %v %d", dst, src, n)
}

func (r *recorder) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dp uint64, src hip.Ptr, sp, w, h uint64, _ hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.do(t, s, "copy2D %v+%d %v+%d %dx%d", dst, dp, src, sp, w, h)
}

func (r *recorder) MemsetAsync(t hip.Thread, dst hip.Ptr, v int32, n uint64, s hip.Stream) hip.Error {
	return r.do(t, s, "set8 %v %d %d", dst, v, n)
}

func (r *recorder) MemsetD16Async(t hip.Thread, dst hip.Ptr, v uint16, n uint64, s hip.Stream) hip.Error {
	return r.do(t, s, "set16 %v %d %d", dst, v, n)
}

func (r *recorder) Memset2DAsync(t hip.Thread, dst hip.Ptr, p uint64, v int32, w, h uint64, s hip.Stream) hip.Error {
	return r.do(t, s, "set2D %v+%d %d %dx%d", dst, p, v, w, h)
}

func (r *recorder) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	return r.do(t, s, "free %v", p)
}

func (r *recorder) LaunchHostFunc(_ hip.Thread, s hip.Stream, f func()) hip.Error {
	n := len(r.steps)
	f()
	for i := range r.steps[n:] {
		r.steps[n+i].stream = s // what is done within it is done in its turn
	}
	return hip.Success
}

func (r *recorder) StreamSynchronize(hip.Thread, hip.Stream) hip.Error { return hip.Success }

// ordinary is where the recorder has ordinary memory of the host.
const ordinary = 1 << 20

func (r *recorder) PointerGetAttributes(_ hip.Thread, p hip.Ptr) (hip.PointerAttributes, hip.Error) {
	if p >= ordinary {
		return hip.PointerAttributes{}, hip.ErrorInvalidValue
	}
	return hip.PointerAttributes{Type: hip.MemoryTypeDevice}, hip.Success
}

func (r *recorder) took() (out []string) {
	for _, s := range r.steps {
		out = append(out, s.what)
	}
	r.steps = nil
	return out
}

func newRecorder() *recorder {
	return &recorder{last: 1 << 16, streams: map[hip.Stream]int32{5: 0, 6: 0, 7: 1}, events: map[hip.Event]bool{}}
}

// random is a graph of n kernels with so many dependencies each, on average.
func random(r *rand.Rand, n int, dependencies float64, devices int) *hip.GraphDesc {
	d := &hip.GraphDesc{}
	for i := range n {
		op := hip.GraphOp{Type: hip.GraphNodeTypeKernel, Device: int32(r.IntN(devices)), Kernel: &hip.Launch{SharedMem: uint32(i)}}
		for k := range i {
			if r.Float64() < dependencies/float64(i) {
				op.After = append(op.After, uint32(k))
			}
		}
		d.Ops = append(d.Ops, op)
	}
	return d
}

// happened is what must have happened before each operation: those before it on
// its stream, and those that the events it waited for stand for.
func happened(steps []traced) map[string]map[string]bool {
	streams, events := map[hip.Stream]map[string]bool{}, map[hip.Event]map[string]bool{}
	done := map[string]map[string]bool{}
	add := func(to, from map[string]bool) map[string]bool {
		if to == nil {
			to = map[string]bool{}
		}
		for k := range from {
			to[k] = true
		}
		return to
	}
	for _, s := range steps {
		now := add(streams[s.stream], nil)
		streams[s.stream] = now
		switch s.what {
		case "record":
			events[s.event] = add(nil, now)
		case "wait":
			add(now, events[s.event])
		default:
			done[s.what] = add(nil, now)
			now[s.what] = true
		}
	}
	return done
}

// Whatever the graph and wherever it is launched, a launch keeps every
// dependency, begins behind what its stream had, and behind the launch before,
// and is over before what its stream gets next.
func TestOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		r := newRecorder()
		x := New(r)
		d := random(rnd, 1+rnd.IntN(40), rnd.Float64()*3, 1+round%2)
		h, err := x.GraphInstantiate(hip.Thread{ID: 1}, d)
		if err != hip.Success {
			t.Fatal(err)
		}
		if n := len(r.streams) - 3; n > maxLanes+1 {
			t.Errorf("%d streams", n)
		}
		s := []hip.Stream{5, 7}[round/2%2]
		if round%3 == 0 { // launched before, elsewhere
			r.do(hip.Thread{}, 6, "earlier")
			if err := x.GraphLaunch(hip.Thread{ID: 1}, h, 6); err != hip.Success {
				t.Fatal(err)
			}
			for i := range r.steps {
				r.steps[i].what = "first " + r.steps[i].what
				if e := r.steps[i].event; e != 0 {
					r.steps[i].what = r.steps[i].what[len("first "):]
				}
			}
		}
		r.do(hip.Thread{Device: r.streams[s]}, s, "before")
		if err := x.GraphLaunch(hip.Thread{ID: 1, Device: r.streams[s]}, h, s); err != hip.Success {
			t.Fatal(err)
		}
		r.do(hip.Thread{Device: r.streams[s]}, s, "after")

		done := happened(r.steps)
		for i, op := range d.Ops {
			me := fmt.Sprint("node ", i)
			for _, a := range op.After {
				if !done[me][fmt.Sprint("node ", a)] {
					t.Fatalf("round %d: %d does not wait for %d:\n%v", round, i, a, r.steps)
				}
			}
			if !done[me]["before"] || !done["after"][me] || round%3 == 0 && !done[me]["first "+me] {
				t.Fatalf("round %d: %d is not between before and after:\n%v", round, i, r.steps)
			}
		}
		for _, s := range r.steps {
			var i int
			if k, _ := fmt.Sscanf(s.what, "node %d", &i); k == 1 && d.Ops[i].Device != s.device {
				t.Fatalf("%v, it belongs on device %d", s, d.Ops[i].Device)
			}
			if s.device != r.streams[s.stream] {
				t.Fatalf("%v as if on device %d, its stream is on %d", s, s.device, r.streams[s.stream])
			}
		}
		if err := x.GraphExecDestroy(hip.Thread{ID: 1}, h); err != hip.Success {
			t.Fatal(err)
		}
		if len(r.streams) != 3 || len(r.events) != 0 {
			t.Fatalf("%d streams and %d events left", len(r.streams)-3, len(r.events))
		}
	}
}

// What is taken from ordinary memory of the host is on the device before
// whatever comes later in the graph, although nothing says that it waits.
func TestHostMemoryFirst(t *testing.T) {
	for _, src := range []hip.Ptr{ordinary, ordinary - 1} {
		r := newRecorder()
		x := New(r)
		h, err := x.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: []hip.GraphOp{
			{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{SharedMem: 0}},
			{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{Dst: 1, Src: src, Width: 8, Height: 1, Depth: 1, Kind: hip.MemcpyHostToDevice}},
			{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{SharedMem: 2}},
			{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{SharedMem: 3}, After: []uint32{0}},
		}})
		if err != hip.Success {
			t.Fatal(err)
		}
		if err := x.GraphLaunch(hip.Thread{}, h, 5); err != hip.Success {
			t.Fatal(err)
		}
		done := happened(r.steps)
		copied := fmt.Sprintf("copy %v %v 8", hip.Ptr(1), src)
		if _, ok := done[copied]; !ok || done[copied]["node 0"] {
			t.Errorf("%v: the copy is not one of its own:\n%v", src, r.steps)
		}
		for _, k := range []string{"node 2", "node 3"} {
			if done[k][copied] != (src == ordinary) {
				t.Errorf("%v: %s behind the copy: %v\n%v", src, k, done[k][copied], r.steps)
			}
		}
	}
}

func TestOperations(t *testing.T) {
	set := func(element uint32, pitch, width, height uint64) hip.GraphOp {
		return hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: 16, Pitch: pitch, Value: 7, Element: element, Width: width, Height: height}}
	}
	box := func(dp, ds, sp, ss, w, h, d uint64) hip.GraphOp {
		return hip.GraphOp{Type: hip.GraphNodeTypeMemcpy, Copy: &hip.GraphCopy{Dst: 16, Src: 32, DstPitch: dp, DstSlice: ds, SrcPitch: sp, SrcSlice: ss, Width: w, Height: h, Depth: d}}
	}
	for _, c := range []struct {
		op   hip.GraphOp
		want []string
	}{
		{hip.GraphOp{Type: hip.GraphNodeTypeEmpty}, nil},
		{hip.GraphOp{Type: hip.GraphNodeTypeMemFree}, nil},
		{hip.GraphOp{Type: hip.GraphNodeTypeMemFree, Ptr: 16}, []string{"free 0x10"}},
		{set(1, 0, 8, 1), []string{"set8 0x10 7 8"}},
		{set(2, 0, 8, 1), []string{"set16 0x10 7 8"}},
		{set(1, 8, 8, 4), []string{"set8 0x10 7 32"}},
		{set(1, 16, 8, 4), []string{"set2D 0x10+16 7 8x4"}},
		{set(2, 32, 8, 2), []string{"set16 0x10 7 8", "set16 0x30 7 8"}},
		{set(1, 0, 0, 1), nil},
		{box(8, 8, 8, 8, 8, 1, 1), []string{"copy 0x10 0x20 8"}},
		{box(8, 16, 8, 16, 4, 2, 3), []string{"copy2D 0x10+8 0x20+8 4x6"}},
		{box(8, 32, 8, 16, 4, 2, 2), []string{"copy2D 0x10+8 0x20+8 4x2", "copy2D 0x30+8 0x30+8 4x2"}},
		{box(8, 8, 8, 8, 8, 0, 1), nil},
	} {
		r := newRecorder()
		x := New(r)
		h, err := x.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: []hip.GraphOp{c.op}})
		if err == hip.Success {
			err = x.GraphLaunch(hip.Thread{}, h, 5)
		}
		if got := r.took(); err != hip.Success || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %q, want %q", c.op, err, got, c.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	r := newRecorder()
	x := New(r)
	kernel := func(n uint32) hip.GraphOp {
		return hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{SharedMem: n}}
	}
	d := &hip.GraphDesc{Ops: []hip.GraphOp{kernel(0), kernel(1)}}
	d.Ops[1].After = []uint32{0}
	h, err := x.GraphInstantiate(hip.Thread{}, d)
	if err != hip.Success {
		t.Fatal(err)
	}
	for _, c := range []struct {
		changes []hip.GraphChange
		want    hip.Error
	}{
		{[]hip.GraphChange{{Index: 0, Op: kernel(9)}, {Index: 2, Op: kernel(9)}}, hip.ErrorInvalidValue},
		{[]hip.GraphChange{{Index: 0, Op: hip.GraphOp{Type: hip.GraphNodeTypeEmpty}}}, hip.ErrorInvalidValue},
		{[]hip.GraphChange{{Index: 0, Op: hip.GraphOp{Type: hip.GraphNodeTypeKernel}}}, hip.ErrorInvalidValue},
		{[]hip.GraphChange{{Index: 0, Op: hip.GraphOp{Type: hip.GraphNodeTypeKernel, Kernel: &hip.Launch{}, Device: 1}}}, hip.ErrorInvalidValue},
		{[]hip.GraphChange{{Index: 1, Op: kernel(2)}}, hip.Success},
	} {
		if got := x.GraphExecUpdate(hip.Thread{}, h, c.changes); got != c.want {
			t.Errorf("%v: %v, want %v", c.changes, got, c.want)
		}
	}
	off := kernel(0)
	off.Disabled = true
	for _, want := range [][]string{{"node 0", "node 2"}, {"node 2"}} {
		if err := x.GraphLaunch(hip.Thread{}, h, 5); err != hip.Success {
			t.Error(err)
		}
		if got := r.took(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if err := x.GraphExecUpdate(hip.Thread{}, h, []hip.GraphChange{{Index: 0, Op: off}}); err != hip.Success {
			t.Error(err)
		}
	}
	for _, wrong := range []hip.GraphExec{0, 1, h + 1} {
		if x.GraphLaunch(hip.Thread{}, wrong, 5) != hip.ErrorInvalidValue || x.GraphExecDestroy(hip.Thread{}, wrong) != hip.ErrorInvalidValue ||
			x.GraphExecUpdate(hip.Thread{}, wrong, nil) != hip.ErrorInvalidValue {
			t.Errorf("%d was taken for a graph", wrong)
		}
	}
	if x.GraphLaunch(hip.Thread{}, h, 99) != hip.ErrorContextIsDestroyed {
		t.Error("launched on a stream that is none")
	}
	for _, bad := range []*hip.GraphDesc{
		{Ops: []hip.GraphOp{{Type: hip.GraphNodeTypeEmpty, After: []uint32{0}}}},
		{Ops: []hip.GraphOp{{Type: 99}}},
		{Ops: []hip.GraphOp{{Type: hip.GraphNodeTypeHost}}},
	} {
		if _, err := x.GraphInstantiate(hip.Thread{}, bad); err == hip.Success {
			t.Errorf("%v was taken", bad)
		}
	}
	x.DeviceReset(1)
	if x.find(h) == nil {
		t.Error("a reset of another device ended the graph")
	}
	x.DeviceReset(0)
	if x.find(h) != nil {
		t.Error("the graph outlived its device's reset")
	}
}
