package hipabi

import (
	"slices"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
)

// watching is the Runtime behind the exports while a capture goes on; nil, and
// all that captures cost, otherwise.
var watching atomic.Pointer[captureRuntime]

// captureRuntime stands in front of a Runtime: what is issued on a stream that
// captures becomes a node, what captures forbid is refused, and all else passes.
// Which call is which the table says; the generated methods ask the rules below.
type captureRuntime struct{ Runtime hip.Runtime }

// unsafe refuses a call that might disturb a capture.
func (c *captureRuntime) unsafe(t hip.Thread) hip.Error { return captures.refuseUnsafe(t) }

// implicit refuses a call that waits for the null stream.
func (c *captureRuntime) implicit() hip.Error {
	return captures.refuseAll(hip.ErrorStreamCaptureImplicit)
}

// refused refuses a call that no capture survives.
func (c *captureRuntime) refused() hip.Error {
	return captures.refuseAll(hip.ErrorStreamCaptureUnsupported)
}

// waiting refuses a call that asks how far a stream has come.
func (c *captureRuntime) waiting(t hip.Thread, s hip.Stream) hip.Error {
	return captures.refuseWaiting(t, s)
}

// asked refuses a call that asks how far an event has come.
func (c *captureRuntime) asked(t hip.Thread, e hip.Event) hip.Error { return captures.asked(t, e) }

// issue records an operation or has the Runtime do it.
func (c *captureRuntime) issue(t hip.Thread, s hip.Stream, kind hip.GraphNodeType, run operation) hip.Error {
	if done, err := captures.record(s, kind, run); done {
		return err
	}
	return run(c.Runtime, t, s)
}

func (c *captureRuntime) LaunchKernel(t hip.Thread, l *hip.Launch) hip.Error {
	k := *l
	k.Args = slices.Clone(l.Args) // the caller's memory is used again
	return c.issue(t, l.Stream, hip.GraphNodeTypeKernel, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		again := k
		again.Stream = s
		return r.LaunchKernel(t, &again)
	})
}

func (c *captureRuntime) LaunchHostFunc(t hip.Thread, s hip.Stream, f func()) hip.Error {
	return c.issue(t, s, hip.GraphNodeTypeHost, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.LaunchHostFunc(t, s, f)
	})
}

// copying checks at the time of a capture what a copy can be checked for.
func copying(dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	switch {
	case kind < hip.MemcpyHostToHost || kind > hip.MemcpyDefault && kind != hip.MemcpyDeviceToDeviceNoCU:
		return hip.ErrorInvalidMemcpyDirection
	case n > 0 && (dst == 0 || src == 0):
		return hip.ErrorInvalidValue
	}
	return hip.Success
}

func (c *captureRuntime) MemcpyAsync(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, kind); err != hip.Success {
		return err
	}
	return c.issue(t, s, hip.GraphNodeTypeMemcpy, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemcpyAsync(t, dst, src, n, kind, s)
	})
}

// MemcpyWithStream waits only when there is something to wait for.
func (c *captureRuntime) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, kind); err != hip.Success {
		return err
	}
	done, err := captures.record(s, hip.GraphNodeTypeMemcpy, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemcpyAsync(t, dst, src, n, kind, s)
	})
	if done {
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
	return c.issue(t, s, hip.GraphNodeTypeMemcpy, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.Memcpy2DAsync(t, dst, dpitch, src, spitch, width, height, kind, s)
	})
}

func (c *captureRuntime) MemcpyPeerAsync(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64, s hip.Stream) hip.Error {
	if err := copying(dst, src, n, hip.MemcpyDeviceToDevice); err != hip.Success {
		return err
	}
	return c.issue(t, s, hip.GraphNodeTypeMemcpy, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemcpyPeerAsync(t, dst, dstDevice, src, srcDevice, n, s)
	})
}

// set records one of the forms of memset, of n of something at dst.
func (c *captureRuntime) set(t hip.Thread, dst hip.Ptr, n uint64, s hip.Stream, run operation) hip.Error {
	if dst == 0 && n > 0 {
		return hip.ErrorInvalidValue
	}
	return c.issue(t, s, hip.GraphNodeTypeMemset, run)
}

func (c *captureRuntime) MemsetAsync(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return c.set(t, dst, n, s, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemsetAsync(t, dst, value, n, s)
	})
}

func (c *captureRuntime) MemsetD8Async(t hip.Thread, dst hip.Ptr, value uint8, n uint64, s hip.Stream) hip.Error {
	return c.set(t, dst, n, s, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemsetD8Async(t, dst, value, n, s)
	})
}

func (c *captureRuntime) MemsetD16Async(t hip.Thread, dst hip.Ptr, value uint16, n uint64, s hip.Stream) hip.Error {
	return c.set(t, dst, n, s, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemsetD16Async(t, dst, value, n, s)
	})
}

func (c *captureRuntime) MemsetD32Async(t hip.Thread, dst hip.Ptr, value int32, n uint64, s hip.Stream) hip.Error {
	return c.set(t, dst, n, s, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.MemsetD32Async(t, dst, value, n, s)
	})
}

func (c *captureRuntime) Memset2DAsync(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64, s hip.Stream) hip.Error {
	return c.set(t, dst, min(width, height), s, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.Memset2DAsync(t, dst, pitch, value, width, height, s)
	})
}

func (c *captureRuntime) EventRecord(t hip.Thread, e hip.Event, s hip.Stream) hip.Error {
	if done, err := captures.mark(e, s); done {
		return err
	}
	return c.Runtime.EventRecord(t, e, s)
}

func (c *captureRuntime) StreamWaitEvent(t hip.Thread, s hip.Stream, e hip.Event, flags uint32) hip.Error {
	if done, err := captures.wait(t, s, e); done {
		return err
	}
	return c.Runtime.StreamWaitEvent(t, s, e, flags)
}

func (c *captureRuntime) MallocAsync(t hip.Thread, n uint64, s hip.Stream) (hip.Ptr, hip.Error) {
	if done, p, err := captures.allocate(t, n, s); done {
		return p, err
	}
	return c.Runtime.MallocAsync(t, n, s)
}

// MallocFromPoolAsync allocates memory of the graph's own, whatever the pool.
func (c *captureRuntime) MallocFromPoolAsync(t hip.Thread, n uint64, pool hip.MemPool, s hip.Stream) (hip.Ptr, hip.Error) {
	if done, p, err := captures.allocate(t, n, s); done {
		return p, err
	}
	return c.Runtime.MallocFromPoolAsync(t, n, pool, s)
}

// DrvMemcpy3DAsync keeps the description as it is now.
func (c *captureRuntime) DrvMemcpy3DAsync(t hip.Thread, p *hip.DrvMEMCPY3D, s hip.Stream) hip.Error {
	k := *p
	return c.issue(t, s, hip.GraphNodeTypeMemcpy, func(r hip.Runtime, t hip.Thread, s hip.Stream) hip.Error {
		return r.DrvMemcpy3DAsync(t, &k, s)
	})
}

func (c *captureRuntime) Free(t hip.Thread, p hip.Ptr) hip.Error {
	if err := c.unsafe(t); err != hip.Success {
		return err
	}
	if known, err := graphs.freed(p); known {
		if err != hip.Success {
			return err
		}
		return c.Runtime.DeviceSynchronize(t) // as freeing does; the graph keeps the memory
	}
	return c.Runtime.Free(t, p)
}

func (c *captureRuntime) EventDestroy(t hip.Thread, e hip.Event) hip.Error {
	captures.forgetEvent(e)
	return c.Runtime.EventDestroy(t, e)
}

func (c *captureRuntime) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	captures.forgetStream(s)
	return c.Runtime.StreamDestroy(t, s)
}

func (c *captureRuntime) FreeAsync(t hip.Thread, p hip.Ptr, s hip.Stream) hip.Error {
	if done, err := captures.free(p, s); done {
		return err
	}
	if known, err := graphs.freed(p); known {
		return err // the memory stays where it is for the graph's next launch
	}
	return c.Runtime.FreeAsync(t, p, s)
}
