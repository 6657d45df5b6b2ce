package hipremote

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/aside"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hip/memop"
)

// graphOp prepares one operation for the worker, as the call that it stands for would be: its memory is looked for, what kernels may use of
// this process's is exposed, and what only this process can do becomes a function, whose number is returned.
func (c *Client) graphOp(l *link, t hip.Thread, op *hip.GraphOp) (uint64, hip.Error) {
	if op.Disabled { // an empty place, until it is enabled with all that belongs to it
		*op = hip.GraphOp{Type: hip.GraphNodeTypeHost, Device: op.Device, After: op.After, Disabled: true}
		return 0, hip.Success
	}
	switch op.Type {
	case hip.GraphNodeTypeKernel:
		k := *op.Kernel
		k.Args = slices.Clone(k.Args)
		op.Kernel = &k
		return 0, c.graphKernel(l, &k)
	case hip.GraphNodeTypeMemcpy:
		return c.graphCopy(t, op)
	case hip.GraphNodeTypeMemset:
		s := *op.Set
		op.Set = &s
		return 0, c.graphSet(l, &s)
	case hip.GraphNodeTypeHost:
		return c.graphs.add(op.Host), hip.Success
	case hip.GraphNodeTypeEventRecord, hip.GraphNodeTypeWaitEvent:
		return 0, c.handles.event(op.Event)
	case hip.GraphNodeTypeBatchMemOp:
		return c.graphBatch(t, op)
	case hip.GraphNodeTypeMemFree:
		if p := op.Ptr; p != 0 { // this side keeps account of what is allocated
			return c.toFunc(t, op, func(t hip.Thread, s hip.Stream) hip.Error { return c.FreeAsync(t, p, s) }), hip.Success
		}
	}
	return 0, hip.Success
}

func (c *Client) graphKernel(l *link, k *hip.Launch) hip.Error {
	switch b, g := k.Block, k.Grid; {
	case k.Function == 0:
		return hip.ErrorInvalidHandle
	case b.X == 0 || b.Y == 0 || b.Z == 0, g.X == 0 || g.Y == 0 || g.Z == 0:
		return hip.ErrorInvalidConfiguration
	case len(k.Args) > hiprpc.MaxArgs:
		return hip.ErrorInvalidValue
	}
	for _, e := range [...]hip.Event{k.Start, k.Stop} {
		if e != 0 {
			if code := c.handles.event(e); code != hip.Success {
				return code
			}
		}
	}
	if c.host.hidden.Load() != 0 {
		return c.revealIn(l, k.Args)
	}
	return hip.Success
}

// graphBatch leaves operations on device memory to the worker. A batch with others is done by this process, on a stream that nothing else
// waits for: it may wait itself.
func (c *Client) graphBatch(t hip.Thread, op *hip.GraphOp) (uint64, hip.Error) {
	hosts := false
	for i := range op.Batch {
		o, ok := memop.Of(&op.Batch[i])
		if !ok {
			return 0, hip.ErrorInvalidValue
		}
		r, code := c.judgeMemOp(t, &o)
		if code != hip.Success {
			return 0, code
		}
		hosts = hosts || r != nil
	}
	if !hosts {
		return 0, hip.Success
	}
	list := slices.Clone(op.Batch)
	return c.toFunc(t, op, func(t hip.Thread, _ hip.Stream) hip.Error {
		on, code := aside.NewWaiting(c, t)
		if code != hip.Success {
			return code
		}
		defer c.StreamDestroy(t, on)
		if code = c.StreamBatchMemOp(t, on, list, 0); code == hip.Success {
			code = c.StreamSynchronize(t, on)
		}
		return code
	}), hip.Success
}

func (c *Client) graphSet(l *link, s *hip.GraphSet) hip.Error {
	if s.Width == 0 || s.Height == 0 {
		return hip.Success
	}
	n := s.Width * uint64(s.Element)
	if s.Height > 1 {
		n += (s.Height - 1) * s.Pitch
	}
	at, code := c.locate(s.Dst, n, true)
	if code != hip.Success {
		return code
	}
	if at.plain() {
		return hip.ErrorInvalidValue
	}
	s.Dst, code = c.touch(l, s.Dst)
	return code
}

// graphCopy leaves copies within the device to the worker; all others this process makes when their turn comes.
func (c *Client) graphCopy(t hip.Thread, op *hip.GraphOp) (uint64, hip.Error) {
	k := *op.Copy
	op.Copy = &k
	if k.General != nil {
		return c.graphBox(t, op, *k.General)
	}
	if k.Width == 0 || k.Height == 0 || k.Depth == 0 {
		op.Type, op.Copy = hip.GraphNodeTypeMemcpy, &hip.GraphCopy{Kind: hip.MemcpyDeviceToDevice}
		return 0, hip.Success
	}
	device := k.Kind == hip.MemcpyDeviceToDevice || k.Kind == hip.MemcpyDeviceToDeviceNoCU
	d, code := c.locate(k.Dst, 1, device || k.Kind == hip.MemcpyHostToDevice)
	if code != hip.Success {
		return 0, code
	}
	s, code := c.locate(k.Src, 1, device || k.Kind == hip.MemcpyDeviceToHost)
	if code != hip.Success {
		return 0, code
	}
	if k.Peer || !d.host && !s.host {
		return 0, hip.Success
	}
	bytes := func(pitch, slice uint64) uint64 { return (k.Depth-1)*slice + (k.Height-1)*pitch + k.Width }
	return c.toFunc(t, op, func(t hip.Thread, st hip.Stream) hip.Error {
		for z := range k.Depth {
			dst, src := k.Dst+hip.Ptr(z*k.DstSlice), k.Src+hip.Ptr(z*k.SrcSlice)
			if code := c.copy(hip.OpMemcpy2DAsync, t, dst, src, shape{k.DstPitch, k.SrcPitch, k.Width, k.Height, k.Kind, st, false, -1, -1, false}); code != hip.Success {
				return code
			}
		}
		return hip.Success
	}, &volume{side: d, bytes: bytes(k.DstPitch, k.DstSlice)}, &volume{side: s, bytes: bytes(k.SrcPitch, k.SrcSlice)}), hip.Success
}

// copying is the thread that makes a copy of a graph, now that its turn has come: of the device whose memory it touches. On another it would wait for that one's
// streams, among them the graph's. It is asked for no earlier, as the program may have mapped something else there.
func (c *Client) copying(t hip.Thread, sides []*volume) hip.Thread {
	for _, v := range sides {
		if !v.device {
			continue
		}
		if o := c.owner(t, &v.side, v.addr, v.bytes); o >= 0 {
			home := hip.Thread{Device: o, ID: t.ID}
			if o == t.Device || v.array || c.usesOwn(home, v.addr) {
				return home
			}
		}
	}
	return t
}

// graphBox leaves the copy of a box within the device to the worker, as it is told of one that is made at once: a side in memory begins
// at its address.
func (c *Client) graphBox(t hip.Thread, op *hip.GraphOp, x hip.DrvMEMCPY3D) (uint64, hip.Error) {
	if x.WidthInBytes == 0 || x.Height == 0 || x.Depth == 0 {
		op.Type, op.Copy = hip.GraphNodeTypeMemcpy, &hip.GraphCopy{Kind: hip.MemcpyDeviceToDevice}
		return 0, hip.Success
	}
	box := x
	if c.handles.arrays.whole(&box); box.WidthInBytes == 0 {
		return 0, hip.ErrorInvalidValue
	}
	s, d, code := c.boxSides(t, &box)
	if code != hip.Success {
		return 0, code
	}
	if s.host || d.host {
		return c.toFunc(t, op, func(t hip.Thread, st hip.Stream) hip.Error { return c.DrvMemcpy3DAsync(t, &x, st) }, &d, &s), hip.Success
	}
	boxPut(&box, &d, &s)
	op.Copy.General = &box
	return 0, hip.Success
}

// lands says whether an operation brings something into ordinary memory of this process.
func (c *Client) lands(op *hip.GraphOp) bool {
	if op.Type != hip.GraphNodeTypeMemcpy || op.Disabled {
		return false
	}
	k := op.Copy
	if x := k.General; x != nil {
		d, code := c.boxSide(x, x.Dst())
		return code == hip.Success && d.plain()
	}
	if k.Kind == hip.MemcpyHostToDevice || k.Peer || k.Width == 0 || k.Height == 0 || k.Depth == 0 {
		return false
	}
	at, code := c.locate(k.Dst, 1, k.Kind == hip.MemcpyDeviceToDevice)
	return code == hip.Success && at.plain()
}

// toFunc makes an operation one of this process: do issues it on a stream of its own, of a thread of the operation's device or of the one whose memory its sides
// are, and it has happened when the function returns.
func (c *Client) toFunc(t hip.Thread, op *hip.GraphOp, do func(t hip.Thread, s hip.Stream) hip.Error, sides ...*volume) uint64 {
	t.Device = op.Device
	*op = hip.GraphOp{Type: hip.GraphNodeTypeHost, Device: op.Device, After: op.After, Disabled: op.Disabled}
	return c.graphs.add(func() {
		life := c.async.life.Load()
		t := c.copying(t, sides)
		s, code := c.aside.On(c, t)
		if code == hip.Success {
			code = do(t, s)
		}
		if code == hip.Success {
			code = c.StreamSynchronize(t, s)
		}
		if code != hip.Success {
			c.async.local(t.Device, life, code)
		}
	})
}
