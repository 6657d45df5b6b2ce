package hipremote

import (
	"runtime/debug"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/pagewatch"
	"github.com/rocwire/rocwire/wire"
)

const (
	// scanned is how large a copy may be to be searched for addresses of host memory.
	scanned = 1 << 20
	// company is how large other regions may be that are exposed together with one that a kernel uses.
	company = 1 << 20
)

// expose gives the worker a copy of a region: from now on kernels can use it.
func (c *Client) expose(l *link, r *hostRegion) hip.Error {
	if r.dev == 0 {
		return hip.ErrorNotSupported
	}
	if r.exposed.Load() {
		return hip.Success
	}
	c.landings.wait(r.host, r.size) // an asynchronous copy may still be on its way into it
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exposed.Load() {
		return hip.Success
	}
	c.host.open.Add(1) // before anything is read: a host function that ends meanwhile waits for this, and sends what it wrote
	if code := c.exposeLocked(l, r); code != hip.Success {
		c.host.open.Add(-1)
		return code
	}
	r.exposed.Store(true)
	c.host.hidden.Add(-1)
	c.host.changed()
	return hip.Success
}

func (c *Client) exposeLocked(l *link, r *hostRegion) hip.Error {
	req := hiprpc.Host{Device: r.device, Addr: r.dev, Size: r.size, Flags: r.flags, Managed: r.managed}
	if code := c.plainCall(nil, l, hiprpc.OpHostExpose, req.Append(nil)); code != hip.Success {
		return code
	}
	r.twin = make([]byte, r.size)
	r.watch = pagewatch.New(r.host, r.size, pagewatch.Options{Off: c.cfg.Compare, Pinned: true})
	r.pulled = c.work.mark()
	return c.pushLocked(l, r)
}

// hide ends the worker's copy, and its claim of the addresses.
func (c *Client) hide(l *link, r *hostRegion) hip.Error {
	r.mu.Lock()
	if r.exposed.Swap(false) {
		c.host.open.Add(-1)
		c.host.hidden.Add(1)
		c.host.changed()
	} else if !r.claimed {
		r.mu.Unlock()
		return hip.Success
	}
	r.blind()
	r.mu.Unlock() // who has to be waited for may look at it
	var e wire.Enc
	e.I32(r.device)
	e.U64(uint64(r.dev))
	if r.claimed {
		return c.plainCall(nil, l, hiprpc.OpHostRelease, e.B)
	}
	if err := l.Post(hiprpc.OpHostHide, e.B, nil); err != nil {
		return c.broken(l, err)
	}
	return hip.Success
}

// push sends what this side wrote to a region.
func (c *Client) push(l *link, r *hostRegion) hip.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.exposed.Load() || r.twin == nil {
		return hip.Success
	}
	return c.pushLocked(l, r)
}

func (c *Client) pushLocked(l *link, r *hostRegion) hip.Error {
	r.watch.Look()
	mem := hostBytes(r.host, r.size)
	for from := 0; from < len(mem); {
		if _, any := r.watch.Next(from, hiprpc.Block); !any { // nearly always
			return hip.Success
		}
		next := 0
		d := hiprpc.NewDiffer(mem, r.twin, from, hiprpc.MaxDiff)
		if !there(func() { next = d.LookAt(r.watch) }) {
			r.blind()
			return hip.Success
		}
		if len(d.Diff) > 0 {
			var e wire.Enc
			e.U64(uint64(r.dev))
			e.U64(uint64(from))
			if err := l.Post(hiprpc.OpHostPush, e.B, d.Diff); err != nil {
				return c.broken(l, err)
			}
		}
		from = next
	}
	return hip.Success
}

// blind ends what this side knows of a region. Called with mu.
func (r *hostRegion) blind() {
	r.twin = nil
	if r.watch != nil {
		r.watch.Close()
		r.watch = nil
	}
}

// pushAll sends what this side wrote anywhere.
func (c *Client) pushAll(l *link) hip.Error {
	if c.host.open.Load() == 0 {
		return hip.Success
	}
	for _, r := range c.host.list() {
		if code := c.push(l, r); code != hip.Success {
			return code
		}
	}
	return hip.Success
}

// ended is what is known to have come to an end.
type ended struct {
	work   uint64 // on all devices what was posted up to this mark, 0: nothing
	device int32  // on this one, of what was posted before at; -1: on none
	at     moment
}

// show brings host memory up to date with what has ended. Who finds that nothing is under way counts on host memory showing it, so that is noted last.
func (c *Client) show(ct *callTime, l *link, x ended) hip.Error {
	if code := c.pull(ct, l, x.work); code != hip.Success {
		return code
	}
	c.work.done.note(x.work)
	if x.device >= 0 {
		c.tasksOf(x.device).idle(x.at)
	}
	return hip.Success
}

// pull fetches what the device wrote since the last time, if it can have written anything. What was posted up to the mark done is known to have ended.
func (c *Client) pull(ct *callTime, l *link, done uint64) hip.Error {
	if c.host.open.Load() == 0 {
		return hip.Success
	}
	for _, r := range c.host.list() {
		if code := c.pullRegion(ct, l, r, done); code != hip.Success {
			return code
		}
	}
	return hip.Success
}

// pullBuffers are for what the worker answers.
var pullBuffers = sync.Pool{New: func() any { b := make([]byte, hiprpc.MaxDiff+4096); return &b }}

func (c *Client) pullRegion(ct *callTime, l *link, r *hostRegion, done uint64) hip.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	mark, quiet := c.work.quiet()
	quiet = quiet || mark == done
	if !r.exposed.Load() || r.twin == nil || quiet && r.pulled == mark {
		return hip.Success
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	pooled := pullBuffers.Get().(*[]byte)
	defer pullBuffers.Put(pooled)
	buf := *pooled
	mem := hostBytes(r.host, r.size)
	for from := 0; from < len(mem); {
		e := wire.Enc{B: m.Req[:0]}
		e.U64(uint64(r.dev))
		e.U64(uint64(from))
		m.Req, m.Dst = e.B, buf
		if err := ct.call(l, hiprpc.OpHostPull, m); err != nil {
			return c.broken(l, err)
		}
		if m.Code != 0 {
			return hip.Error(m.Code)
		}
		d := wire.NewDec(m.Rep)
		next := d.U64()
		if !d.Done() || next > uint64(len(mem)) || next <= uint64(from) {
			return c.violation(hiprpc.OpHostPull)
		}
		var err error
		if !there(func() { err = hiprpc.ApplyDiff(mem, r.twin, buf[:m.DstN], from) }) {
			r.blind()
			return hip.Success
		}
		if err != nil {
			return c.violation(hiprpc.OpHostPull)
		}
		from = int(next)
	}
	if r.pulled = 0; quiet { // else what is under way may still write
		r.pulled = mark
	}
	return hip.Success
}

// there runs f, which looks at host memory; false if the program has unmapped that, without a word to HIP. Then nobody can see what is in it.
func there(f func()) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			if _, fault := e.(interface{ Addr() uintptr }); !fault {
				panic(e)
			}
			ok = false
		}
	}()
	f()
	return true
}

// touch prepares a call that writes memory at p, and says where the worker has it.
func (c *Client) touch(l *link, p hip.Ptr) (hip.Ptr, hip.Error) {
	if c.host.open.Load() == 0 && c.host.hidden.Load() == 0 {
		return p, hip.Success
	}
	b := c.mem.find(p)
	if b == nil || b.host == nil || b.host.dev == 0 {
		return p, hip.Success
	}
	if code := c.expose(l, b.host); code != hip.Success {
		return p, code
	}
	return b.host.dev + (p - hip.Ptr(b.base)), c.push(l, b.host)
}

// reach exposes what the arguments of a launch mention.
func (c *Client) reach(l *link, args []byte) hip.Error {
	if c.host.hidden.Load() == 0 {
		return hip.Success
	}
	return c.revealIn(l, args)
}

// beforeLaunch brings the device's view of host memory up to date.
func (c *Client) beforeLaunch(l *link, args []byte) hip.Error {
	if code := c.reach(l, args); code != hip.Success {
		return code
	}
	return c.pushAll(l)
}
