// Package onnx writes small models in ONNX's format, for programs that read it.
// It has of the format what such a model needs: a graph of operations on tensors
// of floats, with constants and attributes.
package onnx

import (
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Opset is which version of the operations a model means.
const Opset = 17

// Types of tensors.
const (
	float  = 1
	int64s = 7
)

// Graph is a model being made. Values are known by their names.
type Graph struct {
	name             string
	nodes, constants [][]byte
	inputs, outputs  [][]byte
	values           int
	random           uint64
}

// New begins a model.
func New(name string) *Graph { return &Graph{name: name, random: 1} }

// Input adds a tensor that the model is given.
func (g *Graph) Input(name string, shape ...int) string {
	g.inputs = append(g.inputs, value(name, shape))
	return name
}

// Output says that a value is what the model computes.
func (g *Graph) Output(name string, shape ...int) { g.outputs = append(g.outputs, value(name, shape)) }

// Weights adds a constant tensor of numbers between -scale and scale, the same in each run.
func (g *Graph) Weights(scale float64, shape ...int) string {
	return g.tensor(shape, func(int) float64 {
		g.random = g.random*6364136223846793005 + 1442695040888963407
		return scale * (float64(g.random>>40)/(1<<23) - 1)
	})
}

// Fill adds a constant tensor of one number.
func (g *Graph) Fill(x float64, shape ...int) string {
	return g.tensor(shape, func(int) float64 { return x })
}

func (g *Graph) tensor(shape []int, at func(i int) float64) string {
	n := 1
	for _, d := range shape {
		n *= d
	}
	raw := make([]byte, 0, 4*n)
	for i := range n {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(at(i))))
	}
	return g.constant(float, shape, raw)
}

// Ints adds a constant tensor of whole numbers: axes, shapes.
func (g *Graph) Ints(l ...int) string {
	var raw []byte
	for _, x := range l {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	return g.constant(int64s, []int{len(l)}, raw)
}

func (g *Graph) constant(kind uint64, shape []int, raw []byte) string {
	name := g.newValue()
	var t []byte
	for _, d := range shape {
		t = number(t, 1, uint64(d))
	}
	t = number(t, 2, kind)
	t = text(t, 8, name)
	g.constants = append(g.constants, bytes(t, 9, raw))
	return name
}

// Attr is a named property of an operation: an int, a float64, a string or []int.
type Attr struct {
	Name  string
	Value any
}

// Op adds an operation, and returns the name of what it computes; an input "" is one that is left out.
func (g *Graph) Op(kind string, inputs []string, attrs ...Attr) string {
	var n []byte
	for _, in := range inputs {
		n = text(n, 1, in)
	}
	out := g.newValue()
	n = text(n, 2, out)
	n = text(n, 3, kind+" "+out)
	n = text(n, 4, kind)
	for _, a := range attrs {
		n = bytes(n, 5, attribute(a))
	}
	g.nodes = append(g.nodes, n)
	return out
}

func attribute(a Attr) []byte {
	b := text(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case int:
		return number(number(b, 3, uint64(v)), 20, 2)
	case float64:
		b = protowire.AppendTag(b, 2, protowire.Fixed32Type)
		return number(protowire.AppendFixed32(b, math.Float32bits(float32(v))), 20, 1)
	case string:
		return number(text(b, 4, v), 20, 3)
	case []int:
		for _, i := range v {
			b = number(b, 8, uint64(i))
		}
		return number(b, 20, 7)
	}
	panic("onnx: an attribute of another type")
}

func (g *Graph) newValue() string {
	g.values++
	return fmt.Sprintf("v%d", g.values)
}

// Bytes is the model as a file has it.
func (g *Graph) Bytes() []byte {
	var graph []byte
	for _, n := range g.nodes {
		graph = bytes(graph, 1, n)
	}
	graph = text(graph, 2, g.name)
	for _, c := range g.constants {
		graph = bytes(graph, 5, c)
	}
	for _, in := range g.inputs {
		graph = bytes(graph, 11, in)
	}
	for _, out := range g.outputs {
		graph = bytes(graph, 12, out)
	}
	m := number(nil, 1, 8) // the version of the format
	m = text(m, 2, "rocwire")
	m = bytes(m, 7, graph)
	return bytes(m, 8, number(text(nil, 1, ""), 2, Opset))
}

// value describes a tensor of floats.
func value(name string, shape []int) []byte {
	var dims []byte
	for _, d := range shape {
		dims = bytes(dims, 1, number(nil, 1, uint64(d)))
	}
	kind := bytes(number(nil, 1, float), 2, dims)
	return bytes(text(nil, 1, name), 2, bytes(nil, 1, kind))
}

func number(b []byte, field protowire.Number, x uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), x)
}

func bytes(b []byte, field protowire.Number, x []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), x)
}

func text(b []byte, field protowire.Number, s string) []byte { return bytes(b, field, []byte(s)) }
