package graph

import (
	"reflect"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// must fails the test unless a call succeeded.
func must[T any](t *testing.T) func(v T, err hip.Error) T {
	return func(v T, err hip.Error) T {
		t.Helper()
		if err != hip.Success {
			t.Fatal(err)
		}
		return v
	}
}

func is(t *testing.T, got, want hip.Error) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// set is a node that fills memory with v.
func set(v uint32) Params {
	return Memset{P: hip.MemsetParams{Dst: 0x1000, ElementSize: 1, Height: 1, Width: 16, Value: v}, Depth: 1}
}

func launch(f hip.Function, device int32) Params {
	return Kernel{Func: uint64(f), Name: "k", Device: device, Launch: hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 1, Y: 1, Z: 1}}}
}

// diamond is a graph of four nodes: two between a first and a last.
func diamond(t *testing.T, x *Space) (g ID, n [4]ID) {
	t.Helper()
	g = x.Create(0)
	n[0] = must[ID](t)(x.Add(g, nil, 0, set(0)))
	n[1] = must[ID](t)(x.Add(g, []ID{n[0]}, 0, set(1)))
	n[2] = must[ID](t)(x.Add(g, []ID{n[0]}, 0, set(2)))
	n[3] = must[ID](t)(x.Add(g, []ID{n[1], n[2]}, 0, set(3)))
	return g, n
}

func TestEdges(t *testing.T) {
	x := NewSpace(Hooks{})
	g, n := diamond(t, x)
	other := x.Create(0)
	foreign := must[ID](t)(x.Add(other, nil, 0, Empty{}))

	for _, deps := range [][]ID{{0}, {foreign}, {n[0], n[0]}, {g}} {
		_, err := x.Add(g, deps, 0, Empty{})
		is(t, err, hip.ErrorInvalidValue)
	}
	_, err := x.Add(n[0], nil, 0, Empty{})
	is(t, err, hip.ErrorInvalidValue)
	if ns := must[[]ID](t)(x.Nodes(g)); len(ns) != 4 {
		t.Fatalf("a refused node stayed: %v", ns)
	}

	from, to, err := x.Edges(g)
	is(t, err, hip.Success)
	same(t, from, []ID{n[0], n[0], n[1], n[2]})
	same(t, to, []ID{n[1], n[2], n[3], n[3]})
	same(t, must[[]ID](t)(x.Dependencies(n[3])), []ID{n[1], n[2]})
	same(t, must[[]ID](t)(x.Dependents(n[0])), []ID{n[1], n[2]})
	same(t, must[[]ID](t)(x.Roots(g)), []ID{n[0]})

	for _, c := range []struct {
		from, to ID
		want     hip.Error
	}{
		{n[0], n[3], hip.Success}, {n[0], n[3], hip.ErrorInvalidValue}, {n[1], n[1], hip.ErrorInvalidValue},
		{foreign, n[1], hip.ErrorInvalidValue}, {n[1], foreign, hip.ErrorInvalidValue}, {0, n[1], hip.ErrorInvalidValue},
	} {
		is(t, x.AddDependencies(g, []ID{c.from}, []ID{c.to}), c.want)
	}
	is(t, x.RemoveDependencies(g, []ID{n[0]}, []ID{n[3]}), hip.Success)
	is(t, x.RemoveDependencies(g, []ID{n[0]}, []ID{n[3]}), hip.ErrorInvalidValue)

	is(t, x.AddDependencies(g, []ID{n[3]}, []ID{n[0]}), hip.Success) // a circle
	_, err = x.Nodes(g)
	is(t, err, hip.ErrorInvalidValue)
	_, _, err = x.Instantiate(g, 0)
	is(t, err, hip.ErrorInvalidValue)

	is(t, x.DestroyNode(n[3]), hip.Success)
	is(t, x.DestroyNode(n[3]), hip.ErrorInvalidValue)
	same(t, must[[]ID](t)(x.Nodes(g)), []ID{n[0], n[1], n[2]})
	is(t, x.Destroy(g), hip.Success)
	is(t, x.Destroy(g), hip.ErrorIllegalState)
	is(t, x.Destroy(0), hip.ErrorInvalidValue)
	_, err = x.Type(n[0])
	is(t, err, hip.ErrorInvalidValue)
}

func TestClone(t *testing.T) {
	x := NewSpace(Hooks{})
	g, n := diamond(t, x)
	child := must[ID](t)(x.Add(g, []ID{n[3]}, 0, Child{Graph: must[ID](t)(x.Clone(g))}))
	c := must[ID](t)(x.Clone(g))
	for _, id := range append(n[:], child) {
		twin := must[ID](t)(x.FindInClone(id, c))
		if twin == id {
			t.Error("a clone has the node itself")
		}
		same(t, must[Params](t)(x.Params(twin)).Type(), must[Params](t)(x.Params(id)).Type())
	}
	_, err := x.FindInClone(n[0], g)
	is(t, err, hip.ErrorInvalidValue) // not a clone
	from, _, _ := x.Edges(c)
	if len(from) != 5 {
		t.Errorf("the clone has %d edges", len(from))
	}
	a, b := must[Params](t)(x.Params(child)).(Child), must[Params](t)(x.Params(must[ID](t)(x.FindInClone(child, c)))).(Child)
	if a.Graph == b.Graph || a.Graph == 0 || b.Graph == 0 {
		t.Errorf("child graphs %d and %d", a.Graph, b.Graph)
	}
	is(t, x.Destroy(a.Graph), hip.ErrorInvalidValue) // goes with its node
	is(t, x.SetParams(n[0], set(9)), hip.Success)
	same(t, must[Params](t)(x.Params(must[ID](t)(x.FindInClone(n[0], c)))).(Memset).P.Value, uint32(0))
	is(t, x.Destroy(g), hip.Success)
	if x.Has(a.Graph) || !x.Has(b.Graph) {
		t.Error("child graphs did not go with their node")
	}
	is(t, x.SetParams(must[[]ID](t)(x.Nodes(c))[0], Empty{}), hip.ErrorInvalidValue)
}

func TestMemory(t *testing.T) {
	var freed []hip.Ptr
	x := NewSpace(Hooks{Free: func(_ int32, p hip.Ptr) { freed = append(freed, p) }})
	g := x.Create(0)
	alloc := MemAlloc{P: hip.MemAllocNodeParams{Bytesize: 5000, Dptr: 0x10000}}
	a := must[ID](t)(x.Add(g, nil, 0, alloc))
	if !x.Allocated(0x10000) || x.Allocated(0x20000) {
		t.Error("what is allocated")
	}
	_, err := x.Clone(g)
	is(t, err, hip.ErrorNotSupported)
	is(t, x.DestroyNode(a), hip.ErrorNotSupported)
	e, _, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	_, _, err = x.Instantiate(g, 0)
	is(t, err, hip.ErrorNotSupported)
	want := func(used, high uint64) {
		t.Helper()
		u, _ := x.MemAttribute(0, hip.GraphMemAttrUsedMemCurrent)
		h, _ := x.MemAttribute(0, hip.GraphMemAttrReservedMemHigh)
		if u != used || h != high {
			t.Errorf("%d bytes used, %d at most; want %d, %d", u, h, used, high)
		}
	}
	known, _, _ := x.Freed(0x10000)
	_, _, err = x.Freed(0x10000)
	if !known || err != hip.ErrorInvalidValue {
		t.Error("memory that was not launched yet could be freed")
	}
	_, err = x.Launch(e)
	is(t, err, hip.Success)
	want(8192, 8192)
	_, err = x.Launch(e) // what the first has left is still there
	is(t, err, hip.ErrorInvalidValue)
	_, last, err := x.Freed(0x10000)
	if err != hip.Success || last {
		t.Errorf("freeing: %v, last %v", err, last)
	}
	want(0, 8192)
	_, err = x.Launch(e)
	is(t, err, hip.Success)
	is(t, x.Destroy(g), hip.Success)
	_, err = x.DestroyExec(e)
	is(t, err, hip.Success)
	if len(freed) != 0 {
		t.Error("memory of the program's was freed")
	}
	if _, last, _ := x.Freed(0x10000); !last || x.HasMemory() {
		t.Error("memory whose graphs are gone stayed theirs")
	}

	g = x.Create(0)
	a = must[ID](t)(x.Add(g, nil, 0, alloc))
	must[ID](t)(x.Add(g, []ID{a}, 0, MemFree{Ptr: 0x10000}))
	_, err = x.Add(g, []ID{a}, 0, MemFree{Ptr: 0x10000})
	is(t, err, hip.ErrorInvalidValue)
	e, d, err := x.Instantiate(g, autoFree)
	is(t, err, hip.Success)
	same(t, []hip.Ptr{d.Ops[0].Ptr, d.Ops[1].Ptr}, []hip.Ptr{0, 0})
	is(t, x.SetMemAttribute(0, hip.GraphMemAttrReservedMemHigh, 1), hip.ErrorInvalidValue)
	is(t, x.SetMemAttribute(0, hip.GraphMemAttrUsedMemCurrent, 0), hip.ErrorInvalidValue)
	is(t, x.SetMemAttribute(0, hip.GraphMemAttrReservedMemHigh, 0), hip.Success)
	for range 2 {
		_, err = x.Launch(e)
		is(t, err, hip.Success)
		want(0, 8192)
	}
	_, err = x.DestroyExec(e)
	is(t, err, hip.Success)
	is(t, x.Destroy(g), hip.Success)
	same(t, freed, []hip.Ptr{0x10000})
}

func TestUserObjects(t *testing.T) {
	x := NewSpace(Hooks{})
	destroyed := 0
	make := func(refs, flags uint32) (ID, hip.Error) {
		return x.CreateObject(func() { destroyed++ }, refs, flags)
	}
	for _, c := range [][2]uint32{{0, 1}, {1, 0}, {1 << 31, 1}, {1, 2}} {
		_, err := make(c[0], c[1])
		is(t, err, hip.ErrorInvalidValue)
	}
	_, err := x.CreateObject(nil, 1, 1)
	is(t, err, hip.ErrorInvalidValue)

	o := must[ID](t)(make(2, 1))
	is(t, x.RetainObject(o, 1), hip.Success)
	is(t, x.ReleaseObject(o, 4), hip.Success) // more than there are: nothing
	is(t, x.ReleaseObject(o, 2), hip.Success)
	same(t, destroyed, 0)
	is(t, x.ReleaseObject(o, 1), hip.Success)
	same(t, destroyed, 1)
	is(t, x.ReleaseObject(o, 1), hip.Success) // no error in AMD's library either
	is(t, x.ReleaseObject(0, 1), hip.ErrorInvalidValue)
	is(t, x.RetainObject(o, 0), hip.ErrorInvalidValue)

	g := x.Create(0)
	o = must[ID](t)(make(1, 1))
	is(t, x.GraphRetainObject(g, o, 1, 2), hip.ErrorInvalidValue)
	is(t, x.GraphRetainObject(g, o, 1, 1), hip.Success) // the graph's now
	c := must[ID](t)(x.Clone(g))
	e, _, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	is(t, x.Destroy(g), hip.Success)
	is(t, x.Destroy(c), hip.Success)
	same(t, destroyed, 1)
	_, err = x.DestroyExec(e)
	is(t, err, hip.Success)
	same(t, destroyed, 2)

	g = x.Create(0)
	o = must[ID](t)(make(1, 1))
	is(t, x.GraphRetainObject(g, o, 2, 0), hip.Success)
	is(t, x.GraphReleaseObject(g, o, 2), hip.Success)
	is(t, x.Destroy(g), hip.Success)
	same(t, destroyed, 2)
	is(t, x.ReleaseObject(o, 1), hip.Success)
	same(t, destroyed, 3)
}

func TestAttributes(t *testing.T) {
	x := NewSpace(Hooks{})
	g := x.Create(0)
	a, b := must[ID](t)(x.Add(g, nil, 0, launch(1, 0))), must[ID](t)(x.Add(g, nil, 0, launch(1, 0)))
	m := must[ID](t)(x.Add(g, nil, 0, set(1)))
	yes := hip.LaunchAttributeValue{1}
	is(t, x.SetAttribute(m, hip.LaunchAttributeCooperative, yes), hip.ErrorInvalidValue)
	is(t, x.SetAttribute(a, 3, yes), hip.ErrorInvalidValue)
	is(t, x.CopyAttributes(a, b), hip.Success) // none to none
	is(t, x.SetAttribute(a, hip.LaunchAttributeCooperative, yes), hip.Success)
	is(t, x.CopyAttributes(a, b), hip.Success)
	same(t, must[hip.LaunchAttributeValue](t)(x.Attribute(b, hip.LaunchAttributeCooperative)), yes)
	_, err := x.Attribute(b, hip.LaunchAttributeAccessPolicyWindow)
	is(t, err, hip.ErrorInvalidValue)
	is(t, x.SetAttribute(a, hip.LaunchAttributeAccessPolicyWindow, hip.LaunchAttributeValue{}), hip.Success)
	is(t, x.SetAttribute(a, hip.LaunchAttributeAccessPolicyWindow, hip.LaunchAttributeValue{3: 1}), hip.ErrorInvalidValue)
	is(t, x.CopyAttributes(a, b), hip.ErrorInvalidContext)
	_, d, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	if d.Ops[1].Kernel.Flags&hip.LaunchCooperative == 0 {
		t.Error("a cooperative node is not launched as one")
	}
}
