package hipabi

import "github.com/rocwire/rocwire/hip"

// The calls of a captureRuntime that captures forbid.

func (c *captureRuntime) Malloc(t hip.Thread, n uint64) (hip.Ptr, hip.Error) {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return 0, err
	}
	return c.Runtime.Malloc(t, n)
}

func (c *captureRuntime) MallocManaged(t hip.Thread, n uint64, flags uint32) (hip.Ptr, hip.Error) {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return 0, err
	}
	return c.Runtime.MallocManaged(t, n, flags)
}

func (c *captureRuntime) HostMalloc(t hip.Thread, n uint64, flags uint32) (hip.Ptr, hip.Error) {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return 0, err
	}
	return c.Runtime.HostMalloc(t, n, flags)
}

func (c *captureRuntime) Free(t hip.Thread, p hip.Ptr) hip.Error {
	if err := captures.refuseUnsafe(t); err != hip.Success {
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

func (c *captureRuntime) HostFree(t hip.Thread, p hip.Ptr) hip.Error {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return err
	}
	return c.Runtime.HostFree(t, p)
}

func (c *captureRuntime) HostRegister(t hip.Thread, p hip.Ptr, n uint64, flags uint32) hip.Error {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return err
	}
	return c.Runtime.HostRegister(t, p, n, flags)
}

func (c *captureRuntime) HostUnregister(t hip.Thread, p hip.Ptr) hip.Error {
	if err := captures.refuseUnsafe(t); err != hip.Success {
		return err
	}
	return c.Runtime.HostUnregister(t, p)
}

// implicitly refuses a call that waits for the null stream.
func (c *captureRuntime) implicitly(call func(r hip.Runtime) hip.Error) hip.Error {
	if err := captures.refuseAll(hip.ErrorStreamCaptureImplicit); err != hip.Success {
		return err
	}
	return call(c.Runtime)
}

func (c *captureRuntime) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.Memcpy(t, dst, src, n, kind) })
}

func (c *captureRuntime) Memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error {
		return r.Memcpy2D(t, dst, dpitch, src, spitch, width, height, kind)
	})
}

func (c *captureRuntime) MemcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.MemcpyPeer(t, dst, dstDevice, src, srcDevice, n) })
}

func (c *captureRuntime) Memset(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.Memset(t, dst, value, n) })
}

func (c *captureRuntime) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.Memset2D(t, dst, pitch, value, width, height) })
}

func (c *captureRuntime) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, n uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.MemsetD8(t, dst, value, n) })
}

func (c *captureRuntime) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, n uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.MemsetD16(t, dst, value, n) })
}

func (c *captureRuntime) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return c.implicitly(func(r hip.Runtime) hip.Error { return r.MemsetD32(t, dst, value, n) })
}

func (c *captureRuntime) DeviceSynchronize(t hip.Thread) hip.Error {
	if err := captures.refuseAll(hip.ErrorStreamCaptureUnsupported); err != hip.Success {
		return err
	}
	return c.Runtime.DeviceSynchronize(t)
}

func (c *captureRuntime) DeviceReset(t hip.Thread) hip.Error {
	if err := captures.refuseAll(hip.ErrorStreamCaptureUnsupported); err != hip.Success {
		return err
	}
	return c.Runtime.DeviceReset(t)
}

func (c *captureRuntime) StreamSynchronize(t hip.Thread, s hip.Stream) hip.Error {
	if err := captures.refuseWaiting(t, s); err != hip.Success {
		return err
	}
	return c.Runtime.StreamSynchronize(t, s)
}

func (c *captureRuntime) StreamQuery(t hip.Thread, s hip.Stream) hip.Error {
	if err := captures.refuseWaiting(t, s); err != hip.Success {
		return err
	}
	return c.Runtime.StreamQuery(t, s)
}

func (c *captureRuntime) EventSynchronize(t hip.Thread, e hip.Event) hip.Error {
	if err := captures.asked(t, e); err != hip.Success {
		return err
	}
	return c.Runtime.EventSynchronize(t, e)
}

func (c *captureRuntime) EventQuery(t hip.Thread, e hip.Event) hip.Error {
	if err := captures.asked(t, e); err != hip.Success {
		return err
	}
	return c.Runtime.EventQuery(t, e)
}

func (c *captureRuntime) EventDestroy(t hip.Thread, e hip.Event) hip.Error {
	captures.forgetEvent(e)
	return c.Runtime.EventDestroy(t, e)
}

func (c *captureRuntime) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	captures.forgetStream(s)
	return c.Runtime.StreamDestroy(t, s)
}
