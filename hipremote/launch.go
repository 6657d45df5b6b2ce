package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

var launchBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// LaunchKernel posts a launch. What can be judged here is judged here, so that the launch itself fails; the rest comes back as an asynchronous
// error.
func (c *Client) LaunchKernel(t hip.Thread, launch *hip.Launch) hip.Error {
	ct := c.begin()
	code := c.launch(&ct, t, launch)
	c.end(&ct, hip.OpLaunchKernel, code)
	return code
}

// maxBlock is the most threads a block may have on any device.
const maxBlock = 1024

func (c *Client) launch(ct *callTime, t hip.Thread, launch *hip.Launch) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, launch.Stream)
	}
	if code != hip.Success {
		return code
	}
	if code := c.judge(launch); code != hip.Success {
		return code
	}
	if code := c.reach(l, launch.Args); code != hip.Success {
		return code
	}
	known := c.launches.known(launch)
	if known && c.hold(l, t, launch) {
		return hip.Success
	}
	if code := c.pushAll(l); code != hip.Success {
		return code
	}
	if known && c.host.open.Load() != 0 {
		l.held.looked.Store(mono.Now())
	}
	if launch.Start != 0 || launch.Stop != 0 {
		c.recordings.mu.Lock()
		defer c.recordings.mu.Unlock()
		c.recordings.forget(launch.Start, launch.Stop)
	}
	if !known {
		return c.launchFirst(ct, l, t, launch)
	}
	p := launchBuffers.Get().(*[]byte)
	*p = hiprpc.AppendLaunch((*p)[:0], t.Device, launch)
	code = c.send(ct, l, hip.OpLaunchKernel, *p, nil)
	launchBuffers.Put(p)
	return code
}

// judge is what can be said of a launch here.
func (c *Client) judge(launch *hip.Launch) hip.Error {
	switch b, g := launch.Block, launch.Grid; {
	case launch.Function == 0:
		return hip.ErrorInvalidHandle
	case b.X == 0 || b.Y == 0 || b.Z == 0, g.X == 0 || g.Y == 0 || g.Z == 0,
		b.X > maxBlock || b.Y > maxBlock || b.Z > maxBlock || uint64(b.X)*uint64(b.Y)*uint64(b.Z) > maxBlock:
		return hip.ErrorInvalidValue
	case len(launch.Args) > hiprpc.MaxArgs:
		return hip.ErrorInvalidValue
	}
	if code := c.handles.stream(launch.Stream); code == hip.ErrorContextIsDestroyed {
		return hip.ErrorInvalidValue // as launches say of a stream that is none
	} else if code != hip.Success {
		return code
	}
	for _, e := range [...]hip.Event{launch.Start, launch.Stop} {
		if e != 0 {
			if code := c.handles.event(e); code != hip.Success {
				return code
			}
		}
	}
	return hip.Success
}

// launchFirst launches and waits for the runtime's judgement of the configuration, so that a bad one fails in its own call.
func (c *Client) launchFirst(ct *callTime, l *link, t hip.Thread, launch *hip.Launch) hip.Error {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	m.Req = hiprpc.AppendLaunch(m.Req[:0], t.Device, launch)
	tasks := c.tasksOf(t.Device)
	tasks.add()
	err := ct.call(l, hip.OpLaunchKernel, m)
	tasks.add()
	if err != nil {
		return c.broken(l, err)
	}
	code := hip.Error(m.Code)
	switch {
	case code == hip.Success:
		c.launches.learn(launch)
	case !code.Valid():
		code = hip.ErrorUnknown
	}
	return code
}

// launches remembers which configurations the runtime has accepted: launches like those are posted.
type launches struct {
	mu       sync.RWMutex
	accepted map[launchShape]hip.Dim3 // largest grid, in each dimension
}

// launchShape is what decides, besides the grid, whether a launch is valid.
type launchShape struct {
	function  hip.Function
	block     hip.Dim3
	sharedMem uint32
	args      int
}

// maxShapes bounds how many are remembered.
const maxShapes = 1 << 16

// usual says whether a launch is one to remember: cooperative ones and odd sizes are always judged.
func usual(l *hip.Launch) bool { return l.Flags == 0 && l.GlobalSize == (hip.Dim3{}) }

func shapeOf(l *hip.Launch) launchShape {
	return launchShape{l.Function, l.Block, l.SharedMem, len(l.Args)}
}

func (s *launches) known(l *hip.Launch) bool {
	if !usual(l) {
		return false
	}
	s.mu.RLock()
	g, ok := s.accepted[shapeOf(l)]
	s.mu.RUnlock()
	return ok && l.Grid.X <= g.X && l.Grid.Y <= g.Y && l.Grid.Z <= g.Z
}

func (s *launches) learn(l *hip.Launch) {
	if !usual(l) {
		return
	}
	s.mu.Lock()
	if s.accepted == nil || len(s.accepted) >= maxShapes {
		s.accepted = map[launchShape]hip.Dim3{}
	}
	s.accepted[shapeOf(l)] = l.Grid
	s.mu.Unlock()
}

func (s *launches) clear() {
	s.mu.Lock()
	s.accepted = nil
	s.mu.Unlock()
}

// hostFuncs are functions that streams of the worker will come to.
type hostFuncs struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]func()
	due  atomic.Int64 // launched and not yet done
}

func (h *hostFuncs) init() { h.open = map[uint64]func(){} }

// order makes what host functions did before it happen before what follows it, in the sense of Go's memory model: that one end of a
// connection answered the other is no such order.
func (h *hostFuncs) order() {
	h.mu.Lock()
	defer h.mu.Unlock()
}

// LaunchHostFunc is hipLaunchHostFunc: f runs, on a goroutine of its own, when the stream comes to it, and the stream waits for it.
func (c *Client) LaunchHostFunc(t hip.Thread, st hip.Stream, f func()) hip.Error {
	ct := c.begin()
	code := c.launchHostFunc(&ct, t, st, f)
	c.end(&ct, hip.OpLaunchHostFunc, code)
	return code
}

func (c *Client) launchHostFunc(ct *callTime, t hip.Thread, st hip.Stream, f func()) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, st)
	}
	if code != hip.Success {
		return code
	}
	if f == nil {
		return hip.ErrorInvalidValue
	}
	if code := c.handles.stream(st); code != hip.Success {
		return code
	}
	h := &c.funcs
	h.mu.Lock()
	h.last++
	id := h.last
	h.open[id] = f
	h.mu.Unlock()
	h.due.Add(1)
	var buf [32]byte
	e := wire.Enc{B: buf[:0]}
	e.I32(t.Device)
	e.U64(uint64(st))
	e.U64(id)
	if code := c.send(ct, l, hip.OpLaunchHostFunc, e.B, nil); code != hip.Success {
		h.mu.Lock()
		delete(h.open, id)
		h.mu.Unlock()
		h.due.Add(-1)
		return code
	}
	return hip.Success
}

// runHostFunc is told that a stream has come to a host function. What the device wrote before is there when it runs; what it writes is on the
// device before the stream goes on.
func (c *Client) runHostFunc(payload []byte) {
	d := wire.NewDec(payload)
	id := d.U64()
	h := &c.funcs
	h.mu.Lock()
	f := h.open[id]
	delete(h.open, id)
	h.mu.Unlock()
	l := c.link.Load()
	if !d.Done() || f == nil || l == nil {
		c.violation(hiprpc.NoticeHostFunc)
		return
	}
	go c.runFunc(l, id, f)
}

// runFunc runs a host function and lets its stream go on.
func (c *Client) runFunc(l *link, id uint64, f func()) {
	_ = c.pull(nil, l, 0) // a lost connection is told to whoever calls next
	f()
	c.funcs.due.Add(-1)
	c.funcs.order() // what f did happens before what the stream does next
	_ = c.pushAll(l)
	var e wire.Enc
	e.U64(id)
	_ = l.Post(hiprpc.OpHostFuncDone, e.B, nil)
	_ = l.Flush()
}
