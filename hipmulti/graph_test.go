package hipmulti

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
)

// TestGraph: a graph is launched on its worker, and its copies from and to another one take place in its order.
func TestGraph(t *testing.T) {
	r := join(t, nil, serve(t, 1), serve(t, 1))
	const n = 256
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	for home := range int32(2) {
		far := 1 - home
		image, err := kernels.Object("gfx942", "vector_add")
		if err != nil {
			t.Fatal(err)
		}
		m, code := r.ModuleLoadData(on(home), image)
		must(t, "ModuleLoadData", code)
		f, code := r.ModuleGetFunction(on(home), m, "vector_add")
		must(t, "ModuleGetFunction", code)
		a, b := upload(t, r, far, floats(t, values...)), alloc(t, r, home, 4*n)
		args := binary.LittleEndian.AppendUint64(nil, uint64(b))
		args = binary.LittleEndian.AppendUint64(args, uint64(b))
		args = binary.LittleEndian.AppendUint64(args, uint64(b))
		args = binary.LittleEndian.AppendUint32(args, n)
		copying := func(dst, src hip.Ptr, to, from int32) *hip.GraphCopy {
			return &hip.GraphCopy{Dst: dst, Src: src, DstPitch: 4 * n, SrcPitch: 4 * n, Width: 4 * n, Height: 1, Depth: 1, Kind: hip.MemcpyDeviceToDevice, Peer: true, DstDevice: to, SrcDevice: from}
		}
		e := event(t, r, home)
		desc := &hip.GraphDesc{Device: home, Ops: []hip.GraphOp{
			{Type: hip.GraphNodeTypeMemcpy, Device: home, Copy: copying(b, a, home, far)},
			{Type: hip.GraphNodeTypeKernel, Device: home, After: []uint32{0}, Kernel: &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 256, Y: 1, Z: 1}, Args: args}},
			{Type: hip.GraphNodeTypeMemcpy, Device: home, After: []uint32{1}, Copy: copying(a, b, far, home)},
			{Type: hip.GraphNodeTypeEventRecord, Device: home, After: []uint32{2}, Event: e},
		}}
		g, code := r.GraphInstantiate(on(home), desc)
		must(t, "GraphInstantiate", code)
		factor := float32(1)
		for range 3 {
			must(t, "GraphLaunch", r.GraphLaunch(on(home), g, 0))
			must(t, "EventSynchronize", r.EventSynchronize(on(far), e))
			must(t, "StreamSynchronize", r.StreamSynchronize(on(home), 0))
			factor *= 2
		}
		want := make([]float32, n)
		for i := range want {
			want[i] = factor * values[i]
		}
		if !bytes.Equal(download(t, r, far, a, 4*n), floats(t, want...)) {
			t.Errorf("home %d: other values after three launches", home)
		}
		desc.Ops[1].Device = far
		_, code = r.GraphInstantiate(on(home), desc)
		is(t, "work for devices of two workers", code, hip.ErrorNotSupported)
		is(t, "GraphLaunch on another worker's stream", r.GraphLaunch(on(home), g, stream(t, r, far)), hip.ErrorContextIsDestroyed)
		must(t, "GraphExecDestroy", r.GraphExecDestroy(on(far), g))
	}
	_, code := r.GraphInstantiate(on(0), nil)
	is(t, "nothing", code, hip.ErrorInvalidValue)
}
