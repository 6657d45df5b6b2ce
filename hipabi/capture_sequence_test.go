package hipabi

import (
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiptest"
)

// capturing is a Runtime of which streams capture as programs have them do it.
type capturing struct {
	captureRuntime
	t *testing.T
}

// captured marks the handles of this boundary's executable graphs: those of the Runtime are others.
const captured hip.GraphExec = 1 << 63

func handle(t hip.Thread) uint64 { return uint64(t.Device)<<32 | uint64(t.ID) }

func (c *capturing) StreamBeginCapture(t hip.Thread, s hip.Stream) hip.Error {
	return hip.Error(rw_hipStreamBeginCapture(handle(t), uint64(s), int32(hip.StreamCaptureModeRelaxed)))
}

// end ends a capture, and has use use the graph.
func (c *capturing) end(t hip.Thread, s hip.Stream, use func(graph uint64) int32) hip.Error {
	g := out[uint64]()
	if err := hip.Error(rw_hipStreamEndCapture(handle(t), uint64(s), ptr(g))); err != hip.Success {
		return err
	}
	err := use(*g)
	check(c.t, rw_hipGraphDestroy(handle(t), *g), hip.Success)
	return hip.Error(err)
}

func (c *capturing) StreamEndCapture(t hip.Thread, s hip.Stream) (hip.GraphExec, hip.Error) {
	exec := out[uint64]()
	err := c.end(t, s, func(g uint64) int32 { return rw_hipGraphInstantiate(handle(t), ptr(exec), g, nil, nil, 0) })
	return hip.GraphExec(*exec) | captured, err
}

func (c *capturing) StreamEndCaptureUpdate(t hip.Thread, s hip.Stream, exec hip.GraphExec) hip.Error {
	node, result := out[uint64](), out[hip.GraphExecUpdateResult]()
	return c.end(t, s, func(g uint64) int32 {
		return rw_hipGraphExecUpdate(handle(t), uint64(exec&^captured), g, ptr(node), ptr(result))
	})
}

// Array3DCreate makes an array that this boundary knows.
func (c *capturing) Array3DCreate(t hip.Thread, desc *hip.DrvArray3dDescriptor) (hip.Array, hip.Error) {
	a := out[hip.Array]()
	err := hip.Error(rw_hipArray3DCreate(handle(t), ptr(a), ptr(desc)))
	return *a, err
}

func (c *capturing) GraphLaunch(t hip.Thread, exec hip.GraphExec, s hip.Stream) hip.Error {
	if exec&captured == 0 {
		return c.Runtime.GraphLaunch(t, exec, s)
	}
	return hip.Error(rw_hipGraphLaunch(handle(t), uint64(exec&^captured), uint64(s)))
}

func (c *capturing) GraphExecDestroy(t hip.Thread, exec hip.GraphExec) hip.Error {
	if exec&captured == 0 {
		return c.Runtime.GraphExecDestroy(t, exec)
	}
	return hip.Error(rw_hipGraphExecDestroy(handle(t), uint64(exec&^captured)))
}

// Random programs whose streams capture graphs, launch them, and capture them again to change them.
func TestCapturedSequences(t *testing.T) {
	for _, arch := range []string{"gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			hiptest.Run(t, func(t *testing.T) hip.Runtime {
				return &capturing{captureRuntime{cards(t, arch, 1<<28)}, t}
			}, "Sequences")
		})
	}
}
