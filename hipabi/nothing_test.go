package hipabi

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestNothing: what is asked for nothing, and what is written then.
func TestNothing(t *testing.T) {
	newTracer(t)
	p, pitch := out[uint64](), out[uint64]()
	*p, *pitch = 1, 99
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), 0, 4), hip.Success)
	if *p != 0 || *pitch != 99 {
		t.Errorf("memory of no width at %#x, pitch %d", *p, *pitch)
	}
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), ^uint64(0)-15, 4), hip.ErrorInvalidValue)
	check(t, rw_hipMallocPitch(1, ptr(p), ptr(pitch), 1, ^uint64(0)), hip.ErrorOutOfMemory)
	g, n, node := out[uint64](), out[uint64](), out[uint64]()
	check(t, rw_hipGraphCreate(1, ptr(g), 0), hip.Success)
	check(t, rw_hipGraphAddEmptyNode(1, ptr(node), *g, nil, 0), hip.Success)
	check(t, rw_hipGraphGetNodes(1, *g, ptr(node), ptr(n)), hip.Success) // room for none
	if *n != 0 {
		t.Errorf("%d nodes where there is room for none", *n)
	}
	check(t, rw_hipGraphGetNodes(1, *g, nil, ptr(n)), hip.Success)
	if *n != 1 {
		t.Errorf("%d nodes", *n)
	}
}
