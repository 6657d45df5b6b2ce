package hipmulti

import "github.com/rocwire/rocwire/hip"

// An executable graph is one worker's: it holds it, and a launch is one message. What its copies have to do with another worker's memory is done by
// functions of the host in their place.

// GraphInstantiate is hipGraphInstantiate and its relatives. A graph with work for devices of several workers is not supported.
func (r *Runtime) GraphInstantiate(t hip.Thread, desc *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	if desc == nil {
		return 0, hip.ErrorInvalidValue
	}
	c := r.call()
	x := hip.GraphDesc{Device: c.device(desc.Device), Ops: make([]hip.GraphOp, len(desc.Ops))}
	if c.err != hip.Success {
		return 0, c.err
	}
	for i := range desc.Ops {
		if x.Ops[i] = c.graphOp(&desc.Ops[i]); c.err != hip.Success {
			return 0, c.err
		}
	}
	w, code := c.of(&t)
	if code != hip.Success {
		return 0, code
	}
	exec, code := w.GraphInstantiate(t, &x)
	if code != hip.Success {
		return 0, code
	}
	exec = hip.GraphExec(c.made(uint64(exec)))
	return exec, c.err
}

// GraphExecUpdate is what hipGraphExecUpdate and hipGraphExec…SetParams come to.
func (r *Runtime) GraphExecUpdate(t hip.Thread, exec hip.GraphExec, changes []hip.GraphChange) hip.Error {
	c := r.call()
	exec = hip.GraphExec(c.handle(hip.HandleGraphExec, uint64(exec)))
	list := make([]hip.GraphChange, len(changes))
	for i := range changes {
		list[i] = hip.GraphChange{Index: changes[i].Index, Op: c.graphOp(&changes[i].Op)}
	}
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.GraphExecUpdate(t, exec, list)
}

// GraphLaunch is hipGraphLaunch.
func (r *Runtime) GraphLaunch(t hip.Thread, exec hip.GraphExec, s hip.Stream) hip.Error {
	c := r.call()
	exec = hip.GraphExec(c.handle(hip.HandleGraphExec, uint64(exec)))
	s = hip.Stream(c.handle(hip.HandleStream, uint64(s)))
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.GraphLaunch(t, exec, s)
}

// GraphExecDestroy is hipGraphExecDestroy.
func (r *Runtime) GraphExecDestroy(t hip.Thread, exec hip.GraphExec) hip.Error {
	c := r.call()
	exec = hip.GraphExec(c.handle(hip.HandleGraphExec, uint64(exec)))
	w, code := c.of(&t)
	if code != hip.Success {
		return code
	}
	return w.GraphExecDestroy(t, exec)
}

// graphOp is an operation as the graph's worker knows it.
func (c *call) graphOp(op *hip.GraphOp) hip.GraphOp {
	x := *op
	if c.err != hip.Success {
		return x
	}
	if x.Device = c.device(op.Device); c.err == hip.ErrorInvalidDevice {
		if _, there := c.devs.at(op.Device); there {
			c.err = hip.ErrorNotSupported // of another worker
		}
	}
	if op.Kernel != nil {
		k := *op.Kernel
		k.Stream = hip.StreamNull // it does not count
		k = c.launch(&k)
		x.Kernel = &k
	}
	x.Event = hip.Event(c.handle(hip.HandleEvent, uint64(op.Event)))
	if op.Type == hip.GraphNodeTypeMemcpy && op.Copy != nil {
		c.graphCopy(&x)
	}
	return x
}

// graphCopy leaves a copy within the worker as it is, and makes any other a function of the host.
func (c *call) graphCopy(op *hip.GraphOp) {
	g := *op.Copy
	from, to := c.r.call(), c.r.call()
	if g.General != nil {
		p := *g.General
		p.SetSrc(from.side(p.Src()))
		p.SetDst(to.side(p.Dst()))
		g.General = &p
	} else {
		from.address(g.Src)
		to.address(g.Dst)
	}
	for _, side := range []*call{&from, &to} {
		if side.err != hip.Success {
			c.err = side.err
			return
		}
	}
	if (from.worker < 0 || from.worker == c.worker) && (to.worker < 0 || to.worker == c.worker) {
		if g.Peer {
			g.DstDevice, g.SrcDevice = c.device(g.DstDevice), c.device(g.SrcDevice)
		}
		op.Copy = &g
		return
	}
	r, w := c.r, c.r.workers[c.worker]
	op.Type, op.Copy = hip.GraphNodeTypeHost, nil
	device := op.Device
	op.Host = func() {
		if code := r.foreignCopy(&from, &to, &g); code != hip.Success {
			w.Report(device, code)
		}
	}
}

// foreignCopy copies beside all streams what a graph cannot.
func (r *Runtime) foreignCopy(from, to *call, g *hip.GraphCopy) hip.Error {
	at := func(c *call) place {
		t := hip.Thread{Device: -1}
		if _, code := c.of(&t); code != hip.Success {
			t.Device = 0 // the copy says what is wrong
		}
		return place{c.worker, t.Device}
	}
	if from.worker >= 0 && to.worker >= 0 && from.worker != to.worker {
		return r.aside2(at(to), at(from), func(dst, src *aside) hip.Error {
			if g.General != nil {
				return stagedVolume(*g.General, dst.volume, src.volume)
			}
			return eachSlice(g, func(j job) hip.Error { return staged(dst.copy, src.copy, j) })
		})
	}
	side := from
	if side.worker < 0 {
		side = to
	}
	a, code := r.aside(at(side))
	if code != hip.Success {
		return code
	}
	defer r.done(a)
	if g.General != nil {
		return a.volume(g.General)
	}
	return eachSlice(g, a.copy)
}

// eachSlice is a copy's slices, each as one of rows.
func eachSlice(g *hip.GraphCopy, copy func(job) hip.Error) hip.Error {
	if g.Width == 0 || g.Height == 0 {
		return hip.Success
	}
	for z := range g.Depth {
		j := job{g.Dst + hip.Ptr(z*g.DstSlice), g.Src + hip.Ptr(z*g.SrcSlice), g.DstPitch, g.SrcPitch, g.Width, g.Height, g.Kind, g.Height > 1, false, 0, nil}
		if code := copy(j); code != hip.Success {
			return code
		}
	}
	return hip.Success
}
