package graph

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// waits is what each operation waits for.
func waits(d *hip.GraphDesc) (out [][]uint32) {
	for _, op := range d.Ops {
		out = append(out, op.After)
	}
	return out
}

func TestInstantiate(t *testing.T) {
	x := NewSpace(Hooks{})
	g, n := diamond(t, x)
	inner, _ := diamond(t, x)
	empty := x.Create(0)
	a := must[ID](t)(x.Add(g, []ID{n[3]}, 0, Child{Graph: inner}))
	b := must[ID](t)(x.Add(g, []ID{a}, 0, Child{Graph: empty}))
	must[ID](t)(x.Add(g, []ID{b}, 0, set(7)))
	_, d, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	same(t, waits(d), [][]uint32{nil, {0}, {0}, {1, 2}, {3}, {4}, {4}, {5, 6}, {7}, {8}})
	same(t, d.Ops[8].Type, hip.GraphNodeTypeEmpty)
	same(t, d.Ops[9].Set.Value, uint32(7))
}

func TestExecSetParams(t *testing.T) {
	x := NewSpace(Hooks{})
	g, n := diamond(t, x)
	inner, in := diamond(t, x)
	c := must[ID](t)(x.Add(g, []ID{n[3]}, 0, Child{Graph: inner}))
	e, _, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	x.Instantiated(e, 77)
	h, cs, err := x.ExecSetParams(e, n[2], set(20))
	if err != hip.Success || h != 77 || len(cs) != 1 || cs[0].Index != 2 || cs[0].Op.Set.Value != 20 {
		t.Errorf("%v %v %v", h, cs, err)
	}
	same(t, must[Params](t)(x.Params(n[2])).(Memset).P.Value, uint32(2)) // the graph's own stays
	same(t, must[Params](t)(x.ExecParams(e, n[2])).(Memset).P.Value, uint32(20))
	_, _, err = x.ExecSetParams(e, n[2], Empty{})
	is(t, err, hip.ErrorInvalidValue)
	_, _, err = x.ExecSetParams(e, in[0], set(1)) // not of the graph that was instantiated
	is(t, err, hip.ErrorInvalidValue)

	_, _, err = x.ExecSetParams(e, c, Child{Graph: g})
	is(t, err, hip.ErrorUnknown)
	is(t, x.SetParams(in[3], set(30)), hip.Success)
	_, cs, err = x.ExecSetParams(e, c, Child{Graph: inner})
	if err != hip.Success || len(cs) != 1 || cs[0].Index != 7 || cs[0].Op.Set.Value != 30 {
		t.Errorf("%v %v", cs, err)
	}
	must[ID](t)(x.Add(inner, nil, 0, Empty{}))
	_, _, err = x.ExecSetParams(e, c, Child{Graph: inner})
	is(t, err, hip.ErrorUnknown)

	on := must[bool](t)(x.Enabled(e, n[1]))
	_, cs, err = x.SetEnabled(e, n[1], false)
	if !on || err != hip.Success || !cs[0].Op.Disabled || must[bool](t)(x.Enabled(e, n[1])) {
		t.Errorf("%v %v", cs, err)
	}
	_, _, err = x.SetEnabled(e, c, false)
	is(t, err, hip.ErrorInvalidValue)
	is(t, x.DestroyNode(n[1]), hip.Success)
	_, err = x.Enabled(e, n[1])
	is(t, err, hip.ErrorInvalidValue)
}

func TestExecUpdate(t *testing.T) {
	copies := func(k hip.MemcpyKind) Params {
		return Memcpy{Dst: 1, Src: 2, N: 1, Kind: k, Op: hip.GraphCopy{Dst: 1, Src: 2, Width: 1, Height: 1, Depth: 1, Kind: k}}
	}
	inner := func(x *Space, v uint32) Params {
		g := x.Create(0)
		must[ID](t)(x.Add(g, nil, 0, set(v)))
		return Child{Graph: g}
	}
	// make is a graph of three nodes in a chain, the second as given.
	make := func(x *Space, device int32, p Params, deps bool) (ID, [3]ID) {
		g := x.Create(device)
		var n [3]ID
		n[0] = must[ID](t)(x.Add(g, nil, device, Empty{}))
		n[1] = must[ID](t)(x.Add(g, []ID{n[0]}, device, p))
		after := []ID{n[1]}
		if !deps {
			after = []ID{n[0]}
		}
		n[2] = must[ID](t)(x.Add(g, after, device, Host{Call: func() {}}))
		return g, n
	}
	x := NewSpace(Hooks{})
	for _, c := range []struct {
		name     string
		old, new Params
		device   int32
		deps     bool
		result   hip.GraphExecUpdateResult
		node     int // that stands in the way, -1: none
		changes  int
	}{
		{"nothing", set(1), set(1), 0, true, hip.GraphExecUpdateSuccess, -1, 1},
		{"a value", set(1), set(2), 0, true, hip.GraphExecUpdateSuccess, -1, 2},
		{"a type", set(1), copies(hip.MemcpyDefault), 0, true, hip.GraphExecUpdateErrorNodeTypeChanged, 1, 0},
		{"a direction", copies(hip.MemcpyHostToDevice), copies(hip.MemcpyDeviceToHost), 0, true, hip.GraphExecUpdateErrorParametersChanged, 1, 0},
		{"a function", launch(16, 0), launch(32, 0), 0, true, hip.GraphExecUpdateSuccess, -1, 2},
		{"a function of another device", launch(16, 0), launch(32, 1), 0, true, hip.GraphExecUpdateErrorUnsupportedFunctionChange, 1, 0},
		{"a device", set(1), set(1), 1, true, hip.GraphExecUpdateErrorUnsupportedFunctionChange, 1, 0},
		{"an edge", set(1), set(1), 0, false, hip.GraphExecUpdateErrorTopologyChanged, 2, 0},
		{"a child graph's value", inner(x, 1), inner(x, 2), 0, true, hip.GraphExecUpdateSuccess, -1, 2},
		{"a child graph", inner(x, 1), Child{Graph: x.Create(0)}, 0, true, hip.GraphExecUpdateErrorTopologyChanged, 1, 0},
		{"parameters", set(1), Memset{P: hip.MemsetParams{ElementSize: 3}}, 0, true, hip.GraphExecUpdateErrorParametersChanged, -1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, _ := make(x, 0, c.old, true)
			e, _, err := x.Instantiate(g, 0)
			is(t, err, hip.Success)
			h, n := make(x, c.device, c.new, c.deps)
			u, err := x.ExecUpdate(e, h)
			want := hip.Success
			if c.result != hip.GraphExecUpdateSuccess {
				want = hip.ErrorGraphExecUpdateFailure
			}
			is(t, err, want)
			node := ID(0)
			if c.node >= 0 {
				node = n[c.node]
			}
			if u.Result != c.result || u.Node != node || len(u.Changes) != c.changes {
				t.Errorf("result %d at %d, %d changes; want %d at %d, %d", u.Result, u.Node, len(u.Changes), c.result, node, c.changes)
			}
		})
	}
	g, _ := make(x, 0, set(1), true)
	e, _, err := x.Instantiate(g, 0)
	is(t, err, hip.Success)
	must[ID](t)(x.Add(g, nil, 0, Empty{}))
	u, err := x.ExecUpdate(e, g)
	is(t, err, hip.ErrorGraphExecUpdateFailure)
	if u.Result != hip.GraphExecUpdateErrorTopologyChanged || u.Node != 0 {
		t.Errorf("another number of nodes: %v", u)
	}
}

func TestDot(t *testing.T) {
	x := NewSpace(Hooks{})
	g, n := diamond(t, x)
	k := Kernel{Name: "evil\"name\n", Launch: hip.Launch{Grid: hip.Dim3{X: 3, Y: 1, Z: 1}}}
	must[ID](t)(x.Add(g, []ID{n[3]}, 0, k))
	must[ID](t)(x.Add(g, nil, 0, Child{Graph: must[ID](t)(x.Clone(g))}))
	for flags, want := range map[hip.GraphDebugDotFlags][]string{
		0:                                      {"digraph dot {", "subgraph cluster_1 {", `"graph_1_node_1" -> "graph_1_node_2"`, "MEMSET", "evil_name_", "subgraph cluster_3"},
		hip.GraphDebugDotFlagsVerbose:          {"elementSize", `\<\<\<(3,1,1)`, "accessPolicyWindow"},
		hip.GraphDebugDotFlagsKernelNodeParams: {`\<\<\<(3,1,1)`},
	} {
		s, err := x.Dot(g, flags)
		is(t, err, hip.Success)
		for _, w := range want {
			if !strings.Contains(s, w) {
				t.Errorf("flags %d: no %q in\n%s", flags, w, s)
			}
		}
	}
	_, err := x.Dot(n[0], 0)
	is(t, err, hip.ErrorInvalidValue)
}
