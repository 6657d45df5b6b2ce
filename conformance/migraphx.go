package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/onnx"
	"github.com/rocwire/rocwire/conformance/internal/results"
)

// migraphxModels are small models of the kinds that people run. They are made here.
var migraphxModels = map[string]func(g *onnx.Graph){
	"perceptron": func(g *onnx.Graph) {
		x := g.Input("x", 8, 64)
		x = g.Op("Relu", []string{g.Op("Gemm", []string{x, g.Weights(0.2, 64, 96), g.Weights(0.1, 96)})})
		x = g.Op("Gemm", []string{x, g.Weights(0.2, 10, 96), g.Weights(0.1, 10)}, onnx.Attr{Name: "transB", Value: 1})
		g.Output(g.Op("Softmax", []string{x}, onnx.Attr{Name: "axis", Value: 1}), 8, 10)
	},
	"convolutions": func(g *onnx.Graph) {
		x := g.Input("x", 2, 3, 16, 16)
		x = g.Op("Conv", []string{x, g.Weights(0.3, 8, 3, 3, 3), g.Weights(0.1, 8)}, onnx.Attr{Name: "pads", Value: []int{1, 1, 1, 1}})
		x = g.Op("BatchNormalization", []string{x, g.Weights(1, 8), g.Weights(1, 8), g.Weights(1, 8), g.Fill(1.5, 8)})
		x = g.Op("MaxPool", []string{g.Op("Relu", []string{x})}, onnx.Attr{Name: "kernel_shape", Value: []int{2, 2}}, onnx.Attr{Name: "strides", Value: []int{2, 2}})
		y := g.Op("Conv", []string{x, g.Weights(0.3, 8, 1, 3, 3)}, onnx.Attr{Name: "pads", Value: []int{1, 1, 1, 1}}, onnx.Attr{Name: "group", Value: 8})
		x = g.Op("Add", []string{x, g.Op("Sigmoid", []string{y})})
		x = g.Op("Flatten", []string{g.Op("GlobalAveragePool", []string{x})})
		g.Output(g.Op("Gemm", []string{x, g.Weights(0.3, 8, 5), g.Weights(0.1, 5)}), 2, 5)
	},
	"attention": func(g *onnx.Graph) {
		x := g.Input("x", 2, 16, 32)
		projected := func(heads string) string {
			y := g.Op("MatMul", []string{x, g.Weights(0.2, 32, 32)})
			y = g.Op("Reshape", []string{y, g.Ints(2, 16, 4, 8)})
			return g.Op("Transpose", []string{y}, onnx.Attr{Name: "perm", Value: map[string][]int{"rows": {0, 2, 1, 3}, "columns": {0, 2, 3, 1}}[heads]})
		}
		s := g.Op("MatMul", []string{projected("rows"), projected("columns")})
		s = g.Op("Softmax", []string{g.Op("Mul", []string{s, g.Fill(0.35355339, 1)})}, onnx.Attr{Name: "axis", Value: -1})
		y := g.Op("Transpose", []string{g.Op("MatMul", []string{s, projected("rows")})}, onnx.Attr{Name: "perm", Value: []int{0, 2, 1, 3}})
		y = g.Op("Add", []string{x, g.Op("MatMul", []string{g.Op("Reshape", []string{y, g.Ints(2, 16, 32)}), g.Weights(0.2, 32, 32)})})
		y = g.Op("LayerNormalization", []string{y, g.Weights(1, 32), g.Weights(0.1, 32)})
		z := g.Op("MatMul", []string{y, g.Weights(0.2, 32, 64)})
		e := g.Op("Erf", []string{g.Op("Mul", []string{z, g.Fill(0.70710678, 1)})})
		z = g.Op("Mul", []string{g.Op("Mul", []string{z, g.Fill(0.5, 1)}), g.Op("Add", []string{e, g.Fill(1, 1)})})
		g.Output(g.Op("Add", []string{y, g.Op("MatMul", []string{z, g.Weights(0.2, 64, 32)})}), 2, 16, 32)
	},
	"recurrence": func(g *onnx.Graph) {
		x := g.Input("x", 6, 2, 12)
		y := g.Op("LSTM", []string{x, g.Weights(0.4, 1, 64, 12), g.Weights(0.4, 1, 64, 16), g.Weights(0.1, 1, 128)}, onnx.Attr{Name: "hidden_size", Value: 16})
		y = g.Op("ReduceMean", []string{g.Op("Squeeze", []string{y, g.Ints(1)})}, onnx.Attr{Name: "axes", Value: []int{2}}, onnx.Attr{Name: "keepdims", Value: 0})
		g.Output(y, 6, 2)
	},
	"shapes": func(g *onnx.Graph) {
		x := g.Input("x", 2, 4, 6, 6)
		a := g.Op("Slice", []string{x, g.Ints(1, 0), g.Ints(5, 6), g.Ints(2, 3), g.Ints(1, 2)})
		b := g.Op("Pad", []string{a, g.Ints(0, 0, 0, 1, 0, 0, 2, 2)})
		c := g.Op("Concat", []string{b, g.Op("Tanh", []string{x})}, onnx.Attr{Name: "axis", Value: 1})
		c = g.Op("Gather", []string{c, g.Ints(7, 0, 3)}, onnx.Attr{Name: "axis", Value: 1})
		g.Output(g.Op("ReduceMax", []string{g.Op("Clip", []string{c, g.Fill(-0.3), g.Fill(0.7)})}, onnx.Attr{Name: "axes", Value: []int{2}}), 2, 3, 1, 6)
	},
}

// migraphxPrecisions are what a model may be turned into.
var migraphxPrecisions = []string{"", " --fp16", " --int8", " --bf16"}

// migraphxPrograms are MIGraphX's driver and its test of operations, which compare the card with a reference implementation. A case of the driver is a model and
// how it is quantized.
func migraphxPrograms(o *options) ([]program, error) {
	dir := filepath.Join(o.tree, lists, "onnx")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var names []string
	for name, fill := range migraphxModels {
		g := onnx.New(name)
		fill(g)
		if err := os.WriteFile(filepath.Join(dir, name+".onnx"), g.Bytes(), 0o644); err != nil {
			return nil, err
		}
		for _, p := range migraphxPrecisions {
			names = append(names, name+p)
		}
	}
	slices.Sort(names)
	return []program{{name: "migraphx-driver verify", test: &each{
		names: func(context.Context, *host) ([]string, error) { return names, nil },
		made:  true,
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			model, how, _ := strings.Cut(name, " ")
			return h.command(ctx, "usr/bin/migraphx-driver", append(strings.Fields("verify --gpu "+how), filepath.Join(dir, model+".onnx"))...)
		},
		judge: judgeDriver,
	}}, {name: "test_verify", test: &each{
		names: func(ctx context.Context, h *host) ([]string, error) {
			out, err := h.command(ctx, migraphxVerify, "--list").Output()
			return strings.Split(strings.TrimSpace(string(out)), "\n"), err // there are spaces in them
		},
		command: func(ctx context.Context, h *host, name string) *exec.Cmd {
			return h.command(ctx, migraphxVerify, name)
		},
		judge: judgeVerify,
	}}}, nil
}

// migraphxVerify has a case for each kind of operation and type.
const migraphxVerify = "usr/libexec/migraphx/migraphx-tests/test_verify"

// judgeVerify reads what it says of one case.
func judgeVerify(out string, err error) (results.Verdict, string) {
	if err == nil && strings.Contains(out, "[ COMPLETE ]") && strings.Contains(out, "[==========] 1 tests ran") && !strings.Contains(out, "FAILED") {
		return results.Passed, ""
	}
	return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
}

// judgeDriver reads what migraphx-driver verify says.
func judgeDriver(out string, err error) (results.Verdict, string) {
	if err == nil && strings.Contains(out, "MIGraphX verification passed successfully") {
		return results.Passed, ""
	}
	return results.Failed, fmt.Sprintf("%v: %s", err, tail(out, 300))
}
