package onnx

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields has all values of a message's field; numbers as their varints.
func fields(t *testing.T, m []byte, want protowire.Number) (all [][]byte) {
	t.Helper()
	for len(m) > 0 {
		f, kind, n := protowire.ConsumeTag(m)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(f, kind, m[n:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		v := m[n : n+size]
		if kind == protowire.BytesType {
			v, _ = protowire.ConsumeBytes(v)
		}
		if f == want {
			all = append(all, v)
		}
		m = m[n+size:]
	}
	return all
}

// TestGraph reads a model back: each operation's inputs are there before it.
func TestGraph(t *testing.T) {
	g := New("g")
	x := g.Input("x", 2, 3)
	y := g.Op("Gemm", []string{x, g.Weights(1, 3, 4)}, Attr{"transB", 0}, Attr{"alpha", 0.5}, Attr{"what", "s"}, Attr{"pads", []int{-1, 2}})
	g.Output(g.Op("Slice", []string{y, g.Ints(0), g.Ints(1)}), 1, 4)
	model := g.Bytes()
	graphs := fields(t, model, 7)
	if len(graphs) != 1 || len(fields(t, model, 8)) != 1 {
		t.Fatalf("%d graphs", len(graphs))
	}
	known := map[string]bool{"x": true}
	constants := fields(t, graphs[0], 5)
	for _, c := range constants {
		known[string(fields(t, c, 8)[0])] = true
	}
	if n := len(fields(t, constants[0], 9)[0]); n != 4*12 || len(constants) != 3 {
		t.Errorf("%d constants, the first of %d bytes", len(constants), n)
	}
	nodes := fields(t, graphs[0], 1)
	for _, n := range nodes {
		for _, in := range fields(t, n, 1) {
			if !known[string(in)] {
				t.Errorf("%s takes %q, which nothing makes", fields(t, n, 4)[0], in)
			}
		}
		known[string(fields(t, n, 2)[0])] = true
	}
	if out := string(fields(t, fields(t, graphs[0], 12)[0], 1)[0]); len(nodes) != 2 || !known[out] || len(fields(t, nodes[0], 5)) != 4 {
		t.Errorf("%d nodes, output %q", len(nodes), out)
	}
}
