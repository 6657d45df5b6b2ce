package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
)

// Calls that name no stream are told to the null stream, which for the library is one like any other: so they are the ones that name it.

// waited waits for what a stream was told, if that is all right.
func (r *Runtime) waited(t hip.Thread, s hip.Stream, err hip.Error) hip.Error {
	if err != hip.Success {
		return err
	}
	return r.StreamSynchronize(t, s)
}

// Memcpy is hipMemcpy.
func (r *Runtime) Memcpy(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind) hip.Error {
	return r.MemcpyWithStream(t, dst, src, n, kind, hip.StreamNull)
}

// MemcpyWithStream is hipMemcpyWithStream.
func (r *Runtime) MemcpyWithStream(t hip.Thread, dst, src hip.Ptr, n uint64, kind hip.MemcpyKind, s hip.Stream) hip.Error {
	return r.waited(t, s, r.MemcpyAsync(t, dst, src, n, kind, s))
}

// Memcpy2D is hipMemcpy2D.
func (r *Runtime) Memcpy2D(t hip.Thread, dst hip.Ptr, dpitch uint64, src hip.Ptr, spitch, width, height uint64, kind hip.MemcpyKind) hip.Error {
	return r.waited(t, hip.StreamNull, r.Memcpy2DAsync(t, dst, dpitch, src, spitch, width, height, kind, hip.StreamNull))
}

// DrvMemcpy3D is hipDrvMemcpy3D.
func (r *Runtime) DrvMemcpy3D(t hip.Thread, p *hip.DrvMEMCPY3D) hip.Error {
	return r.waited(t, hip.StreamNull, r.DrvMemcpy3DAsync(t, p, hip.StreamNull))
}

// MemcpyPeer is hipMemcpyPeer: at the turn of the null streams of all its devices, and it waits for nothing.
func (r *Runtime) MemcpyPeer(t hip.Thread, dst hip.Ptr, dstDevice int32, src hip.Ptr, srcDevice int32, n uint64) hip.Error {
	var others []hip.Thread
	for _, d := range []int32{dstDevice, srcDevice} {
		if d != t.Device {
			others = append(others, hip.Thread{ID: t.ID, Device: d})
		}
	}
	for _, o := range others {
		if err := aside.Follow(r, t, hip.StreamNull, o, hip.StreamNull); err != hip.Success {
			return err
		}
	}
	err := r.MemcpyPeerAsync(t, dst, dstDevice, src, srcDevice, n, hip.StreamNull)
	for _, o := range others {
		if err == hip.Success {
			err = aside.Follow(r, o, hip.StreamNull, t, hip.StreamNull)
		}
	}
	return err
}

// setNow is a set of the null stream: asynchronous where it is device memory.
func (r *Runtime) setNow(t hip.Thread, dst hip.Ptr, set func() hip.Error) hip.Error {
	if err := set(); err != hip.Success || r.placed.has(dst, 1) {
		return err
	}
	if a, err := r.pointerGetAttributes(t, dst); err == hip.Success && a.Type == hip.MemoryTypeDevice {
		return hip.Success
	}
	return r.StreamSynchronize(t, hip.StreamNull)
}

// Memset is hipMemset.
func (r *Runtime) Memset(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return r.setNow(t, dst, func() hip.Error { return r.MemsetAsync(t, dst, value, n, hip.StreamNull) })
}

// MemsetD8 is hipMemsetD8.
func (r *Runtime) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, n uint64) hip.Error {
	return r.setNow(t, dst, func() hip.Error { return r.MemsetD8Async(t, dst, value, n, hip.StreamNull) })
}

// MemsetD16 is hipMemsetD16.
func (r *Runtime) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, n uint64) hip.Error {
	return r.setNow(t, dst, func() hip.Error { return r.MemsetD16Async(t, dst, value, n, hip.StreamNull) })
}

// MemsetD32 is hipMemsetD32.
func (r *Runtime) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, n uint64) hip.Error {
	return r.setNow(t, dst, func() hip.Error { return r.MemsetD32Async(t, dst, value, n, hip.StreamNull) })
}

// Memset2D is hipMemset2D.
func (r *Runtime) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	return r.setNow(t, dst, func() hip.Error { return r.Memset2DAsync(t, dst, pitch, value, width, height, hip.StreamNull) })
}

// Memset3D is hipMemset3D.
func (r *Runtime) Memset3D(t hip.Thread, p *hip.PitchedPtr, value int32, e *hip.Extent) hip.Error {
	var dst hip.Ptr
	if p != nil {
		dst = p.Ptr
	}
	return r.setNow(t, dst, func() hip.Error { return r.Memset3DAsync(t, p, value, e, hip.StreamNull) })
}
