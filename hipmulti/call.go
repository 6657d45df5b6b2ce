package hipmulti

import "github.com/rocwire/rocwire/hip"

// Handles carry the number of their worker in the highest byte; what workers give out has none there (addresses of x86-64 have 56 bits at most).
const (
	tagShift = 56
	tagMask  = uint64(0xff) << tagShift
)

// call finds out which worker a call is for, and makes its arguments that worker's own. The first argument that tells a worker decides.
type call struct {
	r        *Runtime
	devs     *devices
	worker   int        // -1 while nothing has told
	stream   hip.Stream // the worker's, of a call on one that is not a device's own
	noStream hip.Error  // what the call answers if it is none
	ptr      hip.Ptr    // what told the worker, if it was an address
	err      hip.Error  // why the call goes to nobody
}

func (r *Runtime) call() call {
	d, code := r.devices()
	return call{r: r, devs: d, worker: -1, err: code}
}

// special reports whether a stream is every device's own.
func special(s hip.Stream) bool { return s <= hip.StreamPerThread }

// handle is a handle as its worker knows it.
func (c *call) handle(k hip.HandleKind, h uint64) uint64 { return c.handleOr(k, h, k.Wrong()) }

// handleOr is handle for a call that answers wrong to what is no such handle.
func (c *call) handleOr(k hip.HandleKind, h uint64, wrong hip.Error) uint64 {
	if c.err != hip.Success || h == 0 || k == hip.HandleStream && special(hip.Stream(h)) {
		return h
	}
	w := int(h >> tagShift)
	if w >= len(c.r.workers) || c.worker >= 0 && c.worker != w {
		c.err = wrong
		return 0
	}
	c.worker = w
	h &^= tagMask
	if k == hip.HandleStream {
		c.stream, c.noStream = hip.Stream(h), wrong
	}
	return h
}

// address is told of an address of which the worker is that of the call, if nothing else tells.
func (c *call) address(p hip.Ptr) {
	if c.err != hip.Success || c.worker >= 0 {
		return
	}
	if w, ok := c.r.owner(p); ok {
		c.worker, c.ptr = w, p
	}
}

// device is the number of a device at its worker. Negative numbers have meanings of their own, as the CPU's.
func (c *call) device(n int32) int32 {
	if c.err != hip.Success {
		return n
	}
	p, ok := c.devs.at(n)
	if !ok || c.worker >= 0 && p.worker != c.worker {
		c.err = hip.ErrorInvalidDevice
		return n
	}
	c.worker = p.worker
	return p.device
}

// thread says that the calling thread's device tells the worker, if nothing before did.
func (c *call) thread(t hip.Thread) {
	if c.err != hip.Success || c.worker >= 0 {
		return
	}
	p, ok := c.devs.at(t.Device)
	if !ok {
		c.err = hip.ErrorInvalidDevice
		return
	}
	c.worker = p.worker
}

// of is the worker, and t becomes a thread of it: its device is the program's thread's, else that of what told the worker.
func (c *call) of(t *hip.Thread) (member, hip.Error) {
	c.thread(*t)
	if c.err != hip.Success {
		return nil, c.err
	}
	w := c.r.workers[c.worker]
	if p, ok := c.devs.at(t.Device); ok && p.worker == c.worker {
		t.Device = p.device
		return w, hip.Success
	}
	t.Device = 0
	switch {
	case c.stream != 0:
		if t.Device, c.err = w.StreamGetDevice(*t, c.stream); c.err == hip.HandleStream.Wrong() {
			c.err = c.noStream
		}
	case c.ptr != 0:
		t.Device = deviceOf(w, *t, c.ptr)
	}
	return w, c.err
}

// any is the worker of a call that has no thread.
func (c *call) any() (member, hip.Error) {
	if c.err != hip.Success {
		return nil, c.err
	}
	return c.r.workers[max(c.worker, 0)], hip.Success
}

// deviceOf is the device of an address at its worker, the first where that is not known.
func deviceOf(w member, t hip.Thread, p hip.Ptr) int32 {
	if a, code := w.PointerGetAttributes(t, p); code == hip.Success && a.Device >= 0 {
		return a.Device
	}
	return 0
}

// made is a handle that the worker has returned, as the program gets it.
func (c *call) made(h uint64) uint64 {
	if h&tagMask != 0 {
		c.err = hip.ErrorUnknown // it cannot be told from another worker's
		return 0
	}
	if h == 0 {
		return 0
	}
	return h | uint64(c.worker)<<tagShift
}

// claim judges an address that the worker has returned.
func (c *call) claim(p hip.Ptr) {
	if p != 0 && c.err == hip.Success && !c.r.claim(c.worker, p) {
		c.err = hip.ErrorUnknown
	}
}

// number is the number of a device that the worker has returned, as the program knows it.
func (c *call) number(device int32) int32 {
	if device < 0 {
		return device
	}
	return c.devs.number(place{c.worker, device})
}
