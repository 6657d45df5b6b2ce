package hipabi

import (
	"fmt"
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
	check(t, rw_hipGraphLaunch(1, executableOf(t, *c), a), hip.Success)
	if got, want := x.took(), fmt.Sprintf("[set 1 on %d set 2 on %d]", a, a); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const autoFree = uint64(hip.GraphInstantiateFlagAutoFreeOnLaunch)

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
	e := executableOf(t, g)
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
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(auto), g, autoFree), hip.ErrorNotSupported) // twice
	check(t, rw_hipGraphLaunch(1, e, a), hip.Success)
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
	if len(x.freed) != 0 {
		t.Errorf("freed %v too early", x.freed)
	}
	check(t, rw_hipGraphExecDestroy(1, e), hip.Success)
	if len(x.freed) != 1 || x.freed[0] != hip.Ptr(*p) { // q is the program's
		t.Errorf("freed %v, want %#x", x.freed, *p)
	}
	check(t, rw_hipFree(1, uintptr(*q)), hip.Success)
	if len(x.freed) != 2 {
		t.Errorf("freed %v", x.freed)
	}
	idle(t)

	begin(t, a)
	check(t, rw_hipMallocAsync(1, ptr(p), 64, a), hip.Success)
	g = finish(t, a, hip.Success)
	check(t, rw_hipGraphInstantiateWithFlags(1, ptr(auto), g, autoFree), hip.Success)
	check(t, rw_hipGraphDestroy(1, g), hip.Success)
	check(t, rw_hipGraphLaunch(1, *auto, a), hip.Success)
	check(t, rw_hipGraphLaunch(1, *auto, a), hip.Success)
	check(t, rw_hipFree(1, uintptr(*p)), hip.Success)
	check(t, rw_hipGraphExecDestroy(1, *auto), hip.Success)
	x.freed = x.freed[:2]

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
