package hipabi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

func TestGraphHandles(t *testing.T) {
	newTracer(t)
	a := stream(t, 1, 0)
	v, w := out[uint64](), out[uint64]()
	check(t, rw_hipGraphCreate(1, ptr(v), 1), hip.ErrorInvalidValue)
	check(t, rw_hipGraphCreate(1, nil, 0), hip.ErrorInvalidValue)
	check(t, rw_hipGraphCreate(1, ptr(v), 0), hip.Success)
	g := *v
	for _, wrong := range []uint64{0, 1, g + 1, a} {
		check(t, rw_hipGraphInstantiate(1, ptr(v), wrong, nil, nil, 0), hip.ErrorInvalidValue)
		check(t, rw_hipGraphClone(1, ptr(v), wrong), hip.ErrorInvalidValue)
		check(t, rw_hipGraphLaunch(1, wrong, a), hip.ErrorInvalidValue)
		check(t, rw_hipGraphUpload(1, wrong, a), hip.ErrorInvalidValue)
		check(t, rw_hipGraphExecDestroy(1, wrong), hip.ErrorInvalidValue)
		check(t, rw_hipGraphExecGetFlags(1, wrong, ptr(v)), hip.ErrorInvalidValue)
		check(t, rw_hipGraphGetNodes(1, wrong, nil, ptr(v)), hip.ErrorInvalidValue)
		check(t, rw_hipGraphGetRootNodes(1, wrong, nil, ptr(v)), hip.ErrorInvalidValue)
		check(t, rw_hipGraphNodeGetType(1, wrong, ptr(v)), hip.ErrorInvalidValue)
		check(t, rw_hipGraphNodeGetDependencies(1, wrong, nil, ptr(v)), hip.ErrorInvalidValue)
	}
	check(t, rw_hipGraphDestroy(1, 0), hip.ErrorInvalidValue)
	check(t, rw_hipGraphDestroy(1, 4711), hip.ErrorIllegalState)
	check(t, rw_hipGraphGetNodes(1, g, nil, nil), hip.ErrorInvalidValue)
	check(t, rw_hipGraphInstantiate(1, nil, g, nil, nil, 0), hip.ErrorInvalidValue)
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(v), g, 4), hip.ErrorInvalidValue)
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(v), g, 1), hip.Success)
	check(t, rw_hipGraphExecGetFlags(1, *v, ptr(w)), hip.Success)
	if *w != 1 {
		t.Errorf("flags %d", *w)
	}
	check(t, rw_hipGraphLaunch(1, *v, a), hip.Success) // an empty graph
	check(t, rw_hipGraphUpload(1, *v, a), hip.Success)
	check(t, rw_hipGraphUpload(1, *v, 99999), hip.ErrorContextIsDestroyed)
	check(t, rw_hipGraphDestroy(1, *v), hip.ErrorIllegalState) // no graph, though a handle
	check(t, rw_hipGraphExecDestroy(1, *v), hip.Success)
	check(t, rw_hipGraphExecDestroy(1, *v), hip.ErrorInvalidValue)
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
	check(t, rw_hipGraphDestroy(1, g), hip.ErrorIllegalState)
}

func TestGraphClone(t *testing.T) {
	x := newTracer(t)
	a := stream(t, 1, 0)
	begin(t, a)
	set(t, 1, a)
	set(t, 2, a)
	g := finish(t, a, hip.Success)
	c, from, to, n := out[uint64](), out[[2]uint64](), out[[2]uint64](), out[uint64]()
	check(t, rw_hipGraphClone(1, ptr(c), g), hip.Success)
	*n = 2
	check(t, rw_hipGraphGetNodes(1, g, ptr(from), ptr(n)), hip.Success)
	check(t, rw_hipGraphGetNodes(1, *c, ptr(to), ptr(n)), hip.Success)
	dep := out[uint64]()
	*n = 1
	check(t, rw_hipGraphNodeGetDependencies(1, to[1], ptr(dep), ptr(n)), hip.Success)
	if from[0] == to[0] || *dep != to[0] {
		t.Errorf("nodes %v cloned as %v, the second waits for %d", from, to, *dep)
	}
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
	check(t, rw_hipGraphLaunch(1, instantiate(t, *c), a), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[set 1 on %d set 2 on %d]", a, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOrder(t *testing.T) {
	a, b, c := &node{}, &node{}, &node{}
	b.after, a.after = []*node{c}, []*node{b}
	if got, ok := order([]*node{a, b, c}); !ok || !slices.Equal(got, []*node{c, b, a}) {
		t.Errorf("order %v, %v", got, ok)
	}
	c.after = []*node{a}
	if _, ok := order([]*node{a, b, c}); ok {
		t.Error("a circle has an order")
	}
	if _, ok := order([]*node{b}); ok {
		t.Error("a node that waits for a stranger has an order")
	}
}

// Whatever the graph, a launch keeps every dependency, begins behind what its
// stream had and is over before what its stream gets next.
func TestPlanKeepsDependencies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		x := newTracer(t)
		x.streams[5] = hip.Thread{}
		nodes := randomNodes(random, 1+random.IntN(40), random.Float64()*3, 1+round%2)
		nodes, ok := order(nodes)
		if !ok {
			t.Fatal("no order")
		}
		e := &exec{nodes: nodes, plan: newPlan(nodes, 0)}
		check(t, int32(e.prepare(hip.Thread{ID: 1})), hip.Success)
		if devices := 1 + round%2; len(e.streams) > maxLanes+devices {
			t.Errorf("%d streams", len(e.streams))
		}
		check(t, int32(x.do(hip.Thread{}, 5, "before")), hip.Success)
		check(t, int32(e.launch(hip.Thread{ID: 1}, 5)), hip.Success)
		check(t, int32(x.do(hip.Thread{}, 5, "after")), hip.Success)

		done := happened(x.ops)
		for i, n := range nodes {
			me := fmt.Sprint("node ", i)
			for _, d := range n.after {
				if !done[me][fmt.Sprint("node ", slices.Index(nodes, d))] {
					t.Fatalf("round %d: node %d does not wait for %d:\n%v", round, i, slices.Index(nodes, d), x.ops)
				}
			}
			if !done[me]["before"] || !done["after"][me] {
				t.Fatalf("round %d: node %d is not between before and after:\n%v", round, i, x.ops)
			}
		}
		for _, o := range x.ops {
			var i int
			if k, _ := fmt.Sscanf(o.what, "node %d", &i); k == 1 && nodes[i].device != o.thread.Device {
				t.Fatalf("%v on device %d, captured on %d", o, o.thread.Device, nodes[i].device)
			}
			if want := x.device[o.stream]; o.thread.Device != want {
				t.Fatalf("%v as if on device %d, its stream is on %d", o, o.thread.Device, want)
			}
		}
		e.release(hip.Thread{ID: 1})
		if len(x.streams) != 1 || len(x.events) != 0 {
			t.Fatalf("%d streams and %d events left", len(x.streams)-1, len(x.events))
		}
	}
}

// randomNodes makes n nodes with so many dependencies each, on average.
func randomNodes(random *rand.Rand, n int, dependencies float64, devices int) []*node {
	nodes := make([]*node, n)
	for i := range nodes {
		me := &node{device: int32(random.IntN(devices))}
		for _, d := range nodes[:i] {
			if random.Float64() < dependencies/float64(i) {
				me.after = append(me.after, d)
			}
		}
		nodes[i] = me
	}
	sorted, _ := order(nodes)
	for i, me := range sorted {
		me.run = func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
			return r.(*tracer).do(t, s, "node %d", i)
		}
	}
	return sorted
}

// happened is what must have happened before each operation: those before it on
// its stream, and those that the events it waited for stand for.
func happened(ops []op) map[string]map[string]bool {
	streams, events := map[hip.Stream]map[string]bool{}, map[hip.Event]map[string]bool{}
	done := map[string]map[string]bool{}
	add := func(to, from map[string]bool) {
		for k := range from {
			to[k] = true
		}
	}
	for _, o := range ops {
		if streams[o.stream] == nil {
			streams[o.stream] = map[string]bool{}
		}
		now := streams[o.stream]
		switch o.what {
		case "record":
			events[o.event] = map[string]bool{}
			add(events[o.event], now)
		case "wait":
			add(now, events[o.event])
		default:
			done[o.what] = map[string]bool{}
			add(done[o.what], now)
			now[o.what] = true
		}
	}
	return done
}

func TestGraphMemory(t *testing.T) {
	x := newTracer(t)
	a := stream(t, 1, 0)
	p, q := out[uint64](), out[uint64]()
	begin(t, a)
	check(t, rw_hipMallocAsync(1, ptr(p), 64, a), hip.Success)
	check(t, rw_hipMallocAsync(1, ptr(q), 64, a), hip.Success)
	set(t, 1, a)
	check(t, rw_hipFreeAsync(1, uintptr(*p), a), hip.Success)
	check(t, rw_hipFreeAsync(1, uintptr(*p), a), hip.ErrorInvalidValue)
	check(t, rw_hipFreeAsync(1, 0x7000, a), hip.Success) // from before the capture
	g := finish(t, a, hip.Success)
	check(t, rw_hipFree(1, uintptr(*q)), hip.ErrorInvalidValue) // no launch has allocated it
	e := instantiate(t, g)
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[set 1 on %d free 0x7000 on %d]", a, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	check(t, rw_hipFree(1, uintptr(*p)), hip.ErrorInvalidValue) // the graph frees it
	check(t, rw_hipGraphLaunch(1, e, a), hip.ErrorInvalidValue) // the last launch's q is not freed
	check(t, rw_hipFreeAsync(1, uintptr(*q), a), hip.Success)
	check(t, rw_hipFreeAsync(1, uintptr(*q), a), hip.ErrorInvalidValue)
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
	check(t, rw_hipFree(1, uintptr(*q)), hip.Success)
	auto := out[uint64]()
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(auto), g, autoFreeOnLaunch), hip.Success)
	check(t, rw_hipGraphLaunch(1, *auto, a), hip.Success)
	check(t, rw_hipGraphLaunch(1, *auto, a), hip.Success)
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
	if len(x.freed) != 0 {
		t.Errorf("freed %v too early", x.freed)
	}
	check(t, rw_hipGraphExecDestroy(1, *auto), hip.Success)
	if len(x.freed) != 1 || x.freed[0] != hip.Ptr(*p) { // q is the program's
		t.Errorf("freed %v, want %#x", x.freed, *p)
	}
	idle(t)
	check(t, rw_hipFree(1, uintptr(*q)), hip.Success)
	if len(x.freed) != 2 {
		t.Errorf("freed %v", x.freed)
	}

	// A capture that comes to nothing keeps nothing.
	begin(t, a)
	check(t, rw_hipMallocAsync(1, ptr(p), 64, a), hip.Success)
	check(t, rw_hipDeviceSynchronize(1), hip.ErrorStreamCaptureUnsupported)
	finish(t, a, hip.ErrorStreamCaptureInvalidated)
	if len(x.freed) != 3 || x.freed[2] != hip.Ptr(*p) {
		t.Errorf("freed %v", x.freed)
	}
	idle(t)
}
