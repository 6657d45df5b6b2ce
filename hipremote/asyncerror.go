package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// asyncErrors are failures of calls that have returned already, each of the device that it happened on. Each is returned once, by the next call for
// that device that HIP says returns such errors; one that has killed the device's context is returned by every call for it from then on. A fault of
// one device is nothing to another.
type asyncErrors struct {
	some atomic.Bool   // a device has a failure to tell of
	life atomic.Uint64 // how many resets of devices there were; changes under mu
	mu   sync.Mutex
	dev  [maxDevices + 1]deviceErrors // the last is for numbers that are none
}

type deviceErrors struct {
	dead  hip.Error // the sticky error, Success while there is none
	reset uint64    // life when the device was last reset: what began before is history
	queue []hiprpc.AsyncError
	last  uint64 // number of the last failure that was returned
}

func (a *asyncErrors) of(device int32) *deviceErrors {
	if device < 0 || device >= maxDevices {
		device = maxDevices
	}
	return &a.dev[device]
}

// add takes a failure the worker has told of.
func (a *asyncErrors) add(e hiprpc.AsyncError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Device == hiprpc.AllDevices && e.Sticky {
		for i := range a.dev {
			a.dev[i].dead = e.Code
		}
		a.some.Store(true)
		return
	}
	d := a.of(e.Device)
	switch {
	case e.Seq <= d.last: // returned already, or of before a reset
	case !e.Sticky:
		a.queue(d, e)
	case d.dead == hip.Success:
		d.dead = e.Code
		a.some.Store(true)
	}
}

// queue is called with mu.
func (a *asyncErrors) queue(d *deviceErrors, e hiprpc.AsyncError) {
	if len(d.queue) < 1024 {
		d.queue = append(d.queue, e)
		a.some.Store(true)
	}
}

// kill notes what a call for a device was answered that began in a life: that the device's context is dead.
func (a *asyncErrors) kill(device int32, life uint64, code hip.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.of(device); life >= d.reset && d.dead == hip.Success {
		d.dead = code
		a.some.Store(true)
	}
}

// local notes a failure that this side found by itself, of a call that began in a life.
func (a *asyncErrors) local(device int32, life uint64, code hip.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.of(device); life >= d.reset {
		a.queue(d, hiprpc.AsyncError{Device: device, Code: code})
	}
}

// sticky is the error of a device's dead context, Success while it lives.
func (a *asyncErrors) sticky(device int32) hip.Error {
	if !a.some.Load() {
		return hip.Success
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.of(device).dead
}

// died is what the session has said that it would end of, Success if nothing.
func (a *asyncErrors) died() hip.Error { return a.sticky(hiprpc.AllDevices) }

// take returns what is due of a device, Success if nothing is.
func (a *asyncErrors) take(device int32) hip.Error {
	if !a.some.Load() {
		return hip.Success
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.of(device)
	if d.dead != hip.Success || len(d.queue) == 0 {
		return d.dead
	}
	e := d.queue[0]
	d.queue = d.queue[1:]
	d.last = max(d.last, e.Seq)
	a.look()
	return e.Code
}

// first says whether a failure that came with a reply has not been returned yet; it then counts as returned, and so do those
// before it, which are of the same streams.
func (a *asyncErrors) first(f hiprpc.Failure) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.of(f.Device)
	if f.Seq <= d.last {
		return false
	}
	d.last = f.Seq
	keep := d.queue[:0]
	for _, e := range d.queue {
		if e.Seq == 0 || e.Seq > f.Seq {
			keep = append(keep, e)
		}
	}
	d.queue = keep
	a.look()
	return true
}

// reset forgets everything of a device that has been reset: failures up to number seq are history.
func (a *asyncErrors) reset(device int32, seq uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.of(device)
	d.reset = a.life.Add(1)
	d.queue, d.dead, d.last = nil, hip.Success, max(d.last, seq)
	a.look()
}

// look finds out whether anything is left. Called with mu.
func (a *asyncErrors) look() {
	for i := range a.dev {
		if d := &a.dev[i]; d.dead != hip.Success || len(d.queue) > 0 {
			return
		}
	}
	a.some.Store(false)
}

// due is what a call on a stream must return of earlier ones: what failed on the stream's device.
func (c *Client) due(t hip.Thread, s hip.Stream) hip.Error {
	if !c.async.some.Load() {
		return hip.Success
	}
	return c.async.take(c.streamDevice(t, s))
}

// streamDevice is the device of a stream.
func (c *Client) streamDevice(t hip.Thread, s hip.Stream) int32 {
	if s <= hip.StreamPerThread {
		return t.Device
	}
	return c.handles.Device(hip.HandleStream, uint64(s), t.Device)
}
