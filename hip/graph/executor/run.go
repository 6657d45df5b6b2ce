package executor

import "github.com/rocwire/rocwire/hip"

// run issues one operation on a stream.
func (e *exec) run(t hip.Thread, s hip.Stream, op *hip.GraphOp) hip.Error {
	r := e.rt
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		l := *op.Kernel
		l.Stream = s
		return r.LaunchKernel(t, &l)
	case hip.GraphNodeTypeMemcpy:
		if e.ofHost(t, op.Copy) {
			e.waits = e.waits || e.lands(t, op.Copy)
			return e.copyInTurn(t, s, *op.Copy)
		}
		return runCopy(r, t, s, op.Copy)
	case hip.GraphNodeTypeMemset:
		return runSet(r, t, s, op.Set)
	case hip.GraphNodeTypeHost:
		return r.LaunchHostFunc(t, s, op.Host)
	case hip.GraphNodeTypeEventRecord:
		if err := r.EventRecord(t, op.Event, s); err != hip.ErrorInvalidHandle {
			return err
		}
		return e.recordElsewhere(t, s, op.Event)
	case hip.GraphNodeTypeWaitEvent:
		return r.StreamWaitEvent(t, s, op.Event, 0)
	case hip.GraphNodeTypeBatchMemOp:
		return r.StreamBatchMemOp(t, s, op.Batch, 0)
	case hip.GraphNodeTypeMemFree:
		if op.Ptr != 0 {
			return r.FreeAsync(t, op.Ptr, s)
		}
	}
	return hip.Success // only an order to keep
}

// runCopy makes as few copies of a box as its gaps allow.
func runCopy(r hip.Runtime, t hip.Thread, s hip.Stream, c *hip.GraphCopy) hip.Error {
	switch {
	case c.General != nil:
		return r.DrvMemcpy3DAsync(t, c.General, s)
	case c.Width == 0 || c.Height == 0 || c.Depth == 0:
		return hip.Success
	case c.Peer:
		return r.MemcpyPeerAsync(t, c.Dst, c.DstDevice, c.Src, c.SrcDevice, c.Width, s)
	case c.Height == 1 && c.Depth == 1:
		return r.MemcpyAsync(t, c.Dst, c.Src, c.Width, c.Kind, s)
	}
	if c.DstSlice == c.DstPitch*c.Height && c.SrcSlice == c.SrcPitch*c.Height || c.Depth == 1 {
		return r.Memcpy2DAsync(t, c.Dst, c.DstPitch, c.Src, c.SrcPitch, c.Width, c.Height*c.Depth, c.Kind, s)
	}
	for z := range c.Depth {
		err := r.Memcpy2DAsync(t, c.Dst+hip.Ptr(z*c.DstSlice), c.DstPitch, c.Src+hip.Ptr(z*c.SrcSlice), c.SrcPitch, c.Width, c.Height, c.Kind, s)
		if err != hip.Success {
			return err
		}
	}
	return hip.Success
}

// runSet fills rows, all at once where there are no gaps or HIP has a call for it.
func runSet(r hip.Runtime, t hip.Thread, s hip.Stream, m *hip.GraphSet) hip.Error {
	if m.Width == 0 || m.Height == 0 {
		return hip.Success
	}
	if m.Depth > 1 {
		v := hip.PitchedPtr{Ptr: m.Dst, Pitch: m.Pitch, Xsize: m.Width, Ysize: m.Slice / m.Pitch}
		return r.Memset3DAsync(t, &v, int32(m.Value), &hip.Extent{Width: m.Width, Height: m.Height, Depth: m.Depth}, s)
	}
	if m.Height == 1 || m.Pitch == m.Width*uint64(m.Element) {
		return setRow(r, t, s, m, m.Dst, m.Width*m.Height)
	}
	if m.Element == 1 {
		return r.Memset2DAsync(t, m.Dst, m.Pitch, int32(m.Value), m.Width, m.Height, s)
	}
	for y := range m.Height {
		if err := setRow(r, t, s, m, m.Dst+hip.Ptr(y*m.Pitch), m.Width); err != hip.Success {
			return err
		}
	}
	return hip.Success
}

func setRow(r hip.Runtime, t hip.Thread, s hip.Stream, m *hip.GraphSet, dst hip.Ptr, n uint64) hip.Error {
	switch m.Element {
	case 1:
		return r.MemsetAsync(t, dst, int32(m.Value), n, s)
	case 2:
		return r.MemsetD16Async(t, dst, uint16(m.Value), n, s)
	}
	return r.MemsetD32Async(t, dst, int32(m.Value), n, s)
}
