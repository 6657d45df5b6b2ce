package hipremote

import "github.com/rocwire/rocwire/hip"

// HostMemory is host memory that kernels may use, as the clients of one Space tell each other of it: allocated or registered with one of them, it
// is usable by the devices of all.
type HostMemory struct {
	Base                hip.Ptr // its address in this process
	dev                 hip.Ptr // and on devices, 0 if they cannot reach it
	size                uint64
	flags               uint32
	managed, registered bool
}

// Placed reports whether device addresses are agreed on: those of a worker that could not have the range are its own, and may be another's too. It
// holds once a call has succeeded.
func (c *Client) Placed() bool { return c.mem.span.Load() != nil }

// Report has a failure that this side found returned by the next call for a device that HIP says returns asynchronous errors.
func (c *Client) Report(device int32, code hip.Error) {
	c.async.local(device, c.async.life.Load(), code)
}

// HostMemory is what begins at p, if that is host memory of this client.
func (c *Client) HostMemory(p hip.Ptr) (HostMemory, bool) {
	b := c.mem.find(p)
	if b == nil || b.host == nil || b.host.adopted || b.base != uint64(p) {
		return HostMemory{}, false
	}
	r := b.host
	return HostMemory{p, r.dev, r.size, r.flags, r.managed, r.registered}, true
}

// Adopt makes another client's host memory usable by this one's devices, until Disown. ErrorMapFailed: not at its address there.
func (c *Client) Adopt(h HostMemory) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	r := &hostRegion{host: uint64(h.Base), dev: h.dev, size: h.size, flags: h.flags, managed: h.managed, registered: h.registered, adopted: true}
	m := &c.mem
	if !m.inRange(r.dev) { // of the program's, or this worker has no part in the range
		r.dev = 0
		code := hip.Error(hip.ErrorMapFailed)
		if h.dev == h.Base {
			code = c.claim(l, r)
		}
		if code != hip.Success && (code != hip.ErrorMapFailed || m.span.Load() != nil && h.dev != 0) {
			return code
		}
	}
	m.mu.Lock()
	if m.blocks.overlaps(r.host, r.size) || r.mirrored() && m.blocks.overlaps(uint64(r.dev), r.size) {
		m.mu.Unlock()
		if r.claimed {
			_ = c.hide(l, r) // it was claimed just now
		}
		return hip.ErrorHostMemoryAlreadyRegistered
	}
	m.insertHost(r)
	m.mu.Unlock()
	c.host.add(r)
	if (r.managed || c.cfg.Eager) && r.dev != 0 {
		return c.expose(l, r)
	}
	return hip.Success
}

// Disown ends that, once nothing on this client's devices uses the memory any more.
func (c *Client) Disown(t hip.Thread, p hip.Ptr) hip.Error {
	l, code := c.ready()
	if code != hip.Success {
		return code
	}
	b := c.mem.find(p)
	if b == nil || b.host == nil || !b.host.adopted || b.base != uint64(p) {
		return hip.ErrorInvalidValue
	}
	return c.freeHost(l, t, b)
}
