package hipremote

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// graphs are the executable graphs of the session. The worker has them; this side keeps the functions that they call here, among them the copies
// from and to memory of this process.
type graphs struct {
	mu    sync.Mutex
	open  map[hip.GraphExec]*clientGraph
	last  uint64
	funcs map[uint64]func()
	old   []uint64 // functions of what is gone, which something posted may still call
}

// clientGraph is an executable graph as this side knows it.
type clientGraph struct {
	device int32
	funcs  map[uint32]uint64 // by operation
	lands  map[uint32]bool   // those that bring something into ordinary memory: a launch returns when it is there
}

// add gives a function a number.
func (g *graphs) add(f func()) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.funcs == nil {
		g.funcs = map[uint64]func(){}
	}
	g.last++
	g.funcs[g.last] = f
	return g.last
}

// retire forgets functions as soon as nothing that was posted can call them.
func (c *Client) retire(ids ...uint64) {
	g := &c.graphs
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.work.busy() {
		for _, id := range g.old {
			delete(g.funcs, id)
		}
		g.old = nil
	}
	g.old = append(g.old, ids...)
}

// reset forgets what was on a device.
func (g *graphs) reset(device int32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for h, x := range g.open {
		if x.device == device {
			delete(g.open, h)
		}
	}
}

// GraphInstantiate sends a graph to the worker, once.
func (c *Client) GraphInstantiate(t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	ct := c.begin()
	h, code := c.graphInstantiate(&ct, t, d)
	c.end(&ct, hip.OpGraphInstantiate, code)
	return h, code
}

func (c *Client) graphInstantiate(ct *callTime, t hip.Thread, d *hip.GraphDesc) (hip.GraphExec, hip.Error) {
	l, code := c.ready()
	if code == hip.Success {
		code = c.async.sticky(t.Device)
	}
	if code == hip.Success {
		code = d.Check()
	}
	if code != hip.Success {
		return 0, code
	}
	out := hip.GraphDesc{Device: d.Device, Ops: make([]hip.GraphOp, len(d.Ops))}
	g := &clientGraph{device: d.Device, funcs: map[uint32]uint64{}, lands: map[uint32]bool{}}
	numbers := make([]uint64, len(d.Ops))
	for i := range d.Ops {
		out.Ops[i] = d.Ops[i]
		if numbers[i], code = c.graphOp(l, t, &out.Ops[i]); code != hip.Success {
			c.retire(g.numbers()...)
			return 0, code
		}
		if numbers[i] != 0 {
			g.funcs[uint32(i)] = numbers[i]
		}
		if c.lands(&d.Ops[i]) {
			g.lands[uint32(i)] = true
		}
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = hiprpc.GraphLaunch{Thread: t}.Append(m.Req[:0])
	m.Bulk = hiprpc.AppendGraph(nil, &out, numbers)
	if len(m.Bulk) > hiprpc.MaxGraph {
		return 0, hip.ErrorOutOfMemory
	}
	if err := ct.call(l, hip.OpGraphInstantiate, m); err != nil {
		return 0, c.broken(l, err)
	}
	if code = hip.Error(m.Code); code != hip.Success {
		c.retire(g.numbers()...)
		if !code.Valid() {
			code = hip.ErrorUnknown
		}
		return 0, code
	}
	r := wire.NewDec(m.Rep)
	h := hip.GraphExec(r.U64())
	if !r.Done() {
		return 0, c.violation(hip.OpGraphInstantiate)
	}
	c.graphs.mu.Lock()
	if c.graphs.open == nil {
		c.graphs.open = map[hip.GraphExec]*clientGraph{}
	}
	c.graphs.open[h] = g
	c.graphs.mu.Unlock()
	return h, hip.Success
}

// numbers are those of a graph's functions.
func (g *clientGraph) numbers() (ids []uint64) {
	for _, id := range g.funcs {
		ids = append(ids, id)
	}
	return ids
}

// find is an executable graph.
func (g *graphs) find(h hip.GraphExec) *clientGraph {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open[h]
}

// GraphExecUpdate posts what became different.
func (c *Client) GraphExecUpdate(t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	ct := c.begin()
	code := c.graphExecUpdate(&ct, t, h, changes)
	c.end(&ct, hip.OpGraphExecUpdate, code)
	return code
}

func (c *Client) graphExecUpdate(ct *callTime, t hip.Thread, h hip.GraphExec, changes []hip.GraphChange) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, hip.StreamNull)
	}
	if code != hip.Success {
		return code
	}
	g := c.graphs.find(h)
	if g == nil {
		return hip.ErrorInvalidValue
	}
	out, numbers := make([]hip.GraphChange, len(changes)), make([]uint64, len(changes))
	for i := range changes {
		out[i] = changes[i]
		if code := out[i].Op.Check(); code != hip.Success {
			return code
		}
		if numbers[i], code = c.graphOp(l, t, &out[i].Op); code != hip.Success {
			return code
		}
	}
	bulk := hiprpc.AppendChanges(nil, out, numbers)
	if len(bulk) > hiprpc.MaxGraph {
		return hip.ErrorOutOfMemory
	}
	var retired []uint64
	c.graphs.mu.Lock()
	for i := range out {
		index := out[i].Index
		if old := g.funcs[index]; old != 0 {
			retired = append(retired, old)
			delete(g.funcs, index)
		}
		if numbers[i] != 0 {
			g.funcs[index] = numbers[i]
		}
		if delete(g.lands, index); c.lands(&changes[i].Op) {
			g.lands[index] = true
		}
	}
	c.graphs.mu.Unlock()
	code = c.send(ct, l, hip.OpGraphExecUpdate, hiprpc.GraphLaunch{Thread: t, Exec: h}.Append(nil), bulk)
	c.retire(retired...)
	return code
}

// GraphLaunch posts one message, whatever the graph's size.
func (c *Client) GraphLaunch(t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	ct := c.begin()
	code := c.graphLaunch(&ct, t, h, s)
	c.end(&ct, hip.OpGraphLaunch, code)
	if e := c.handles.shared.any(); code == hip.Success && e != 0 {
		code = c.arrived(t, e) // it may record one of them
	}
	return code
}

func (c *Client) graphLaunch(ct *callTime, t hip.Thread, h hip.GraphExec, s hip.Stream) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, s)
	}
	if code != hip.Success {
		return code
	}
	g := c.graphs.find(h)
	if g == nil {
		return hip.ErrorInvalidValue
	}
	if code = c.handles.stream(s); code != hip.Success {
		return code
	}
	if code = c.pushAll(l); code != hip.Success {
		return code
	}
	c.graphs.mu.Lock()
	n, lands := len(g.funcs), len(g.lands) > 0
	c.graphs.mu.Unlock()
	c.funcs.due.Add(int64(n))
	var buf [32]byte
	c.recordings.mu.Lock()
	c.recordings.forget() // a graph may record any
	code = c.send(ct, l, hip.OpGraphLaunch, hiprpc.GraphLaunch{Thread: t, Exec: h, Stream: s}.Append(buf[:0]), nil)
	c.recordings.mu.Unlock()
	if code == hip.Success && lands {
		code = c.StreamSynchronize(t, s)
	}
	return code
}

// GraphExecDestroy posts the end of an executable graph. What was launched goes on.
func (c *Client) GraphExecDestroy(t hip.Thread, h hip.GraphExec) hip.Error {
	ct := c.begin()
	code := c.graphExecDestroy(&ct, t, h)
	c.end(&ct, hip.OpGraphExecDestroy, code)
	return code
}

func (c *Client) graphExecDestroy(ct *callTime, t hip.Thread, h hip.GraphExec) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	c.graphs.mu.Lock()
	g := c.graphs.open[h]
	delete(c.graphs.open, h)
	c.graphs.mu.Unlock()
	if g == nil {
		return hip.ErrorInvalidValue
	}
	code = c.send(ct, l, hip.OpGraphExecDestroy, hiprpc.GraphLaunch{Thread: t, Exec: h}.Append(nil), nil)
	c.retire(g.numbers()...)
	return code
}

// runGraphFunc is told that a stream has come to a function of a graph.
func (c *Client) runGraphFunc(payload []byte) {
	var q hiprpc.GraphCall
	ok := q.Decode(payload)
	c.graphs.mu.Lock()
	f := c.graphs.funcs[q.Func]
	c.graphs.mu.Unlock()
	l := c.link.Load()
	if !ok || f == nil || l == nil {
		c.violation(hiprpc.NoticeGraphFunc)
		return
	}
	go c.runFunc(l, q.Call, f)
}
