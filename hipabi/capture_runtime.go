package hipabi

import (
	"slices"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/graph"
)

// watching is the Runtime behind the exports while a capture goes on; nil, and
// all that captures cost, otherwise.
var watching atomic.Pointer[captureRuntime]

// captureRuntime stands in front of a Runtime: what is issued on a stream that
// captures becomes a node, what captures forbid is refused, and all else passes.
// Which call is which the table says; the generated methods ask the rules below.
type captureRuntime struct{ Runtime hip.Runtime }

// unsafe refuses a call that might disturb a capture.
func (c *captureRuntime) unsafe(t hip.Thread) hip.Error { return captures().RefuseUnsafe(t) }

// implicit refuses a call that waits for the null stream.
func (c *captureRuntime) implicit() hip.Error {
	return captures().RefuseAll(hip.ErrorStreamCaptureImplicit)
}

// refused refuses a call that no capture survives.
func (c *captureRuntime) refused() hip.Error {
	return captures().RefuseAll(hip.ErrorStreamCaptureUnsupported)
}

// waiting refuses a call that asks how far a stream has come.
func (c *captureRuntime) waiting(t hip.Thread, s hip.Stream) hip.Error {
	return captures().RefuseWaiting(t, s)
}

// asked refuses a call that asks whether an event has happened.
func (c *captureRuntime) asked(_ hip.Thread, e hip.Event) hip.Error { return captures().Asked(e) }

// awaited refuses a call that waits for an event.
func (c *captureRuntime) awaited(t hip.Thread, e hip.Event) hip.Error {
	return captures().Awaited(t, e)
}

func (c *captureRuntime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	k := graph.Kernel{Func: uint64(l.Function), Device: t.Device, Launch: *l}
	k.Launch.Args = slices.Clone(l.Args) // the caller's memory is used again
	if f := modules.function(l.Function); f != nil {
		k.Name, k.Device = f.kernel.Name, f.module.device.number
		if host := f.host.Load(); host != 0 {
			k.Func = uint64(host)
		}
	}
	if done, err := captures().Record(l.Stream, k); done {
		return err
	}
	return c.Runtime.LaunchKernel(t, l)
}

func (c *captureRuntime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	if done, err := captures().Record(s, graph.Host{Call: f}); done {
		return err
	}
	return c.Runtime.LaunchHostFunc(t, s, f)
}

func (c *captureRuntime) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, kind); err != hip.Success {
		return err
	}
	if done, err := captures().Record(s, oneD(dst, src, n, kind)); done {
		return err
	}
	return c.Runtime.MemcpyAsync(t, dst, src, n, kind, s)
}

// MemcpyWithStream waits only when there is something to wait for.
func (c *captureRuntime) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, kind); err != hip.Success {
		return err
	}
	if done, err := captures().Record(s, oneD(dst, src, n, kind)); done {
		return err
	}
	return c.Runtime.MemcpyWithStream(t, dst, src, n, kind, s)
}

func (c *captureRuntime) Memcpy2DAsync(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	if err := copying(dst, src, min(width, height), kind); err != hip.Success {
		return err
	}
	if height > 0 && (width > dpitch || width > spitch) {
		return hip.ErrorInvalidPitchValue
	}
	if done, err := captures().Record(s, twoD(dst, dpitch, src, spitch, width, height, kind)); done {
		return err
	}
	return c.Runtime.Memcpy2DAsync(t, dst, dpitch, src, spitch, width, height, kind, s)
}

func (c *captureRuntime) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, hip.MemcpyDeviceToDevice); err != hip.Success {
		return err
	}
	m := oneD(dst, src, n, hip.MemcpyDeviceToDevice)
	m.Op.Peer, m.Op.DstDevice, m.Op.SrcDevice = true, dstDevice, srcDevice
	if done, err := captures().Record(s, m); done {
		return err
	}
	return c.Runtime.MemcpyPeerAsync(t, dst, dstDevice, src, srcDevice, n, s)
}

// filling is the node of height rows of width elements; done says that it was
// made, or that the call is wrong.
func filling(dst hip.Ptr, pitch uint64, value, element uint32, width, height uint64, s hip.Stream) (done bool, err hip.Error) {
	if width == 0 || height == 0 { // nothing outside of a capture, and no node in one
		a, err := captures().Ask(s)
		captured := err == hip.Success && a.Status == hip.StreamCaptureStatusActive
		return captured, hip.ErrorInvalidValue
	}
	if dst == 0 && width > 0 && height > 0 {
		return true, hip.ErrorInvalidValue
	}
	if width > 1<<46 || height > 1<<46 {
		return false, hip.Success // the Runtime says what is wrong with it
	}
	return captures().Record(s, graph.Memset{P: hip.MemsetParams{Dst: dst, ElementSize: element, Height: height, Pitch: pitch, Value: value, Width: width}, Depth: 1})
}

func (c *captureRuntime) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	if done, err := filling(dst, 0, uint32(value), 1, n, 1, s); done {
		return err
	}
	return c.Runtime.MemsetAsync(t, dst, value, n, s)
}

func (c *captureRuntime) MemsetD8Async(t hip.Thread, dst hip.Ptr, value uint8, n uint64, s hip.Stream) hip.Error {
	if done, err := filling(dst, 0, uint32(value), 1, n, 1, s); done {
		return err
	}
	return c.Runtime.MemsetD8Async(t, dst, value, n, s)
}

func (c *captureRuntime) MemsetD16Async(t hip.Thread, dst hip.Ptr, value uint16, n uint64, s hip.Stream) hip.Error {
	if done, err := filling(dst, 0, uint32(value), 2, n, 1, s); done {
		return err
	}
	return c.Runtime.MemsetD16Async(t, dst, value, n, s)
}

func (c *captureRuntime) MemsetD32Async(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	if done, err := filling(dst, 0, uint32(value), 4, n, 1, s); done {
		return err
	}
	return c.Runtime.MemsetD32Async(t, dst, value, n, s)
}

func (c *captureRuntime) Memset2DAsync(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64, s hip.Stream) hip.Error {
	if done, err := filling(dst, pitch, uint32(value), 1, width, height, s); done {
		return err
	}
	return c.Runtime.Memset2DAsync(t, dst, pitch, value, width, height, s)
}

func (c *captureRuntime) Memset3DAsync(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent, s hip.Stream) hip.Error {
	node := graph.Memset{
		P:     hip.MemsetParams{Dst: p.Ptr, ElementSize: 1, Height: extent.Height, Pitch: p.Pitch, Value: uint32(value), Width: extent.Width},
		Depth: extent.Depth, Slice: p.Pitch * p.Ysize,
	}
	if done, err := captures().Record(s, node); done {
		return err
	}
	return c.Runtime.Memset3DAsync(t, p, value, extent, s)
}

func (c *captureRuntime) EventRecord(t hip.Thread, e hip.Event, s hip.Stream) hip.Error {
	if done, err := captures().Mark(e, s); done {
		return err
	}
	return c.Runtime.EventRecord(t, e, s)
}

func (c *captureRuntime) StreamWaitEvent(t hip.Thread, s hip.Stream, e hip.Event, flags uint32) hip.Error {
	if done, err := captures().Wait(t, s, e); done {
		return err
	}
	return c.Runtime.StreamWaitEvent(t, s, e, flags)
}

func (c *captureRuntime) MallocAsync(t hip.Thread, n uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	if done, p, err := captures().Allocate(t, n, s); done {
		return p, err
	}
	return c.Runtime.MallocAsync(t, n, s)
}

// MallocFromPoolAsync allocates memory of the graph's own, whatever the pool.
func (c *captureRuntime) MallocFromPoolAsync(t hip.Thread, n uint64, pool hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	if done, p, err := captures().Allocate(t, n, s); done {
		return p, err
	}
	return c.Runtime.MallocFromPoolAsync(t, n, pool, s)
}

// DrvMemcpy3DAsync becomes the node of a copy of a volume, which is what all that come here are.
func (c *captureRuntime) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream) hip.Error {
	v := volumeOf(p)
	m, wrong := copyNode3D(t, &v)
	if wrong != hip.Success {
		if a, _ := captures().Ask(s); a.Status == hip.StreamCaptureStatusActive {
			return wrong
		}
		return c.Runtime.DrvMemcpy3DAsync(t, p, s) // which says what is wrong with it
	}
	if done, err := captures().Record(s, m); done {
		return err
	}
	return c.Runtime.DrvMemcpy3DAsync(t, p, s)
}

func (c *captureRuntime) StreamBatchMemOp(t hip.Thread, s hip.Stream, ops []hip.StreamBatchMemOpParamsUnion, flags uint32) hip.Error {
	b := graph.BatchMemOp{P: hip.BatchMemOpNodeParams{Count: uint32(len(ops)), Flags: flags}, Ops: slices.Clone(ops)}
	if done, err := captures().Record(s, b); done {
		return err
	}
	return c.Runtime.StreamBatchMemOp(t, s, ops, flags)
}

func (c *captureRuntime) Free(t hip.Thread, p hip.Ptr) hip.Error {
	if err := c.unsafe(t); err != hip.Success {
		return err
	}
	known, last, err := graphs().Freed(p)
	switch {
	case err != hip.Success:
		return err
	case known && !last:
		return c.Runtime.DeviceSynchronize(t) // as freeing does; the graph keeps the memory
	}
	err = c.Runtime.Free(t, p)
	if last {
		graphing.Load().watch()
	}
	return err
}

func (c *captureRuntime) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	captures().ForgetStream(s)
	policies.forget(func(k policyKey) bool { return k.stream == s })
	return c.Runtime.StreamDestroy(t, s)
}

func (c *captureRuntime) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	if done, err := captures().Free(p, s); done {
		return err
	}
	known, last, err := graphs().Freed(p)
	if known && !last {
		return err // the memory stays where it is for the graph's next launch
	}
	err = c.Runtime.FreeAsync(t, p, s)
	if last {
		graphing.Load().watch()
	}
	return err
}
