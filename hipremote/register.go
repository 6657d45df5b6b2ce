package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// Memory that the program has not from HIP can be anywhere. The worker is asked to have the same addresses for it: then devices see it where the
// program does, as they do with a card in the machine. They may be taken there; registered memory then has other addresses on the devices.

// mirrored says whether the region is known by two addresses.
func (r *hostRegion) mirrored() bool { return r.registered && r.dev != 0 && uint64(r.dev) != r.host }

// claim gives a region its own address on the devices. ErrorMapFailed: it cannot have it.
func (c *Client) claim(l *link, r *hostRegion) hip.Error {
	if !l.claims {
		return hip.ErrorMapFailed
	}
	code := c.plainCall(nil, l, hiprpc.OpHostClaim, hiprpc.Place{Device: r.device, Addr: hip.Ptr(r.host), Size: r.size}.Append(nil))
	if code == hip.Success {
		r.dev, r.claimed = hip.Ptr(r.host), true
	}
	return code
}

// locateRegion gives registered memory its address on the devices.
func (c *Client) locateRegion(l *link, r *hostRegion, inPlace bool) hip.Error {
	if inPlace {
		if code := c.claim(l, r); code != hip.ErrorMapFailed {
			return code
		}
	}
	if c.mem.span.Load() == nil {
		return hip.Success // kernels cannot reach it
	}
	base, ok := c.mem.takeHost(roundUp(r.size))
	if !ok {
		return hip.ErrorOutOfMemory
	}
	r.dev = hip.Ptr(base)
	return hip.Success
}

// HostRegister is hipHostRegister. The memory keeps its address here, and has the same on the device if the worker can have it.
func (c *Client) HostRegister(t hip.Thread, p hip.Ptr, size uint64, flags uint32) hip.Error {
	return c.register(t, p, size, flags, true)
}

// HostRegisterApart is HostRegister with another address on the devices.
func (c *Client) HostRegisterApart(t hip.Thread, p hip.Ptr, size uint64, flags uint32) hip.Error {
	return c.register(t, p, size, flags, false)
}

func (c *Client) register(t hip.Thread, p hip.Ptr, size uint64, flags uint32, inPlace bool) hip.Error {
	_, code := c.timed(hip.OpHostRegister, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code != hip.Success {
			return 0, code
		}
		if flags&^0xF != 0 || !c.registrable(p, size) {
			return 0, hip.ErrorInvalidValue
		}
		done, code := c.registeredBefore(l, t, p, size)
		if done || code != hip.Success {
			return 0, code
		}
		r := &hostRegion{host: uint64(p), size: size, device: t.Device, flags: flags, registered: true, own: &hostBytes(uint64(p), 1)[0]}
		if code := c.locateRegion(l, r, inPlace); code != hip.Success {
			return 0, code
		}
		if code := c.enter(l, r); code != hip.Success {
			return 0, code
		}
		if c.cfg.Eager && r.dev != 0 {
			return 0, c.expose(l, r)
		}
		return 0, hip.Success
	})
	return code
}

// registrable says whether there is memory of the program's own at all of the size bytes at p.
func (c *Client) registrable(p hip.Ptr, size uint64) bool {
	return p != 0 && size != 0 && size <= 1<<46 && uint64(p)+size > uint64(p) && !c.mem.inRange(p) && mapped(uint64(p), size)
}

// registeredBefore prepares memory of which some is registered already: the program may have freed it since, which nobody was told of. As with AMD's
// library that is no error. If all of it is, it is done; otherwise what overlaps it ends.
func (c *Client) registeredBefore(l *link, t hip.Thread, p hip.Ptr, size uint64) (done bool, code hip.Error) {
	m := &c.mem
	for {
		m.mu.RLock()
		b := m.blocks.overlapping(uint64(p), size)
		m.mu.RUnlock()
		switch {
		case b == nil:
			return false, hip.Success
		case b.host == nil || !b.host.registered || b.host.managed || b.host.adopted || b.mirror:
			return false, hip.ErrorHostMemoryAlreadyRegistered // as memory of another kind
		case b.base <= uint64(p) && uint64(p)+size <= b.end():
			return true, hip.Success
		}
		if code := c.freeHost(l, t, b); code != hip.Success && code != hip.ErrorInvalidValue { // another thread was first
			return false, code
		}
	}
}

// enter makes a region of the program's memory known, or gives its address on the devices back.
func (c *Client) enter(l *link, r *hostRegion) hip.Error {
	m := &c.mem
	m.mu.Lock()
	taken := m.blocks.overlaps(r.host, r.size) // another thread was first
	if !taken {
		m.insertHost(r)
	}
	m.mu.Unlock()
	if !taken {
		c.host.add(r)
		return hip.Success
	}
	if r.claimed {
		_ = c.hide(l, r) // it was claimed just now
	} else if r.dev != 0 {
		m.putHost(uint64(r.dev), roundUp(r.size))
	}
	return hip.ErrorHostMemoryAlreadyRegistered
}

// HostUnregister is hipHostUnregister.
func (c *Client) HostUnregister(t hip.Thread, p hip.Ptr) hip.Error { return c.unregister(t, p, false) }

func (c *Client) unregister(t hip.Thread, p hip.Ptr, managed bool) hip.Error {
	_, code := c.timed(hip.OpHostUnregister, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code != hip.Success {
			return 0, code
		}
		if p == 0 {
			return 0, hip.ErrorInvalidValue
		}
		b := c.mem.find(p)
		if b == nil || b.host == nil || !b.host.registered || b.host.managed != managed || b.mirror || b.base != uint64(p) {
			return 0, hip.ErrorHostMemoryNotRegistered
		}
		return 0, c.freeHost(l, t, b)
	})
	return code
}

// ManageHost makes memory of the program managed memory where it lies: see hip.HostManager.
func (c *Client) ManageHost(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	_, code := c.timed(hip.OpMallocManaged, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code != hip.Success {
			return 0, code
		}
		if !c.registrable(p, size) {
			return 0, hip.ErrorInvalidValue
		}
		r := &hostRegion{host: uint64(p), size: size, device: t.Device, flags: hip.MemAttachGlobal, registered: true, managed: true}
		if code := c.claim(l, r); code != hip.Success {
			return 0, code
		}
		if code := c.enter(l, r); code != hip.Success {
			return 0, code
		}
		code = c.expose(l, r)
		if code != hip.Success {
			_ = c.unregister(t, p, true)
		}
		return 0, code
	})
	return code
}

// UnmanageHost ends what ManageHost began.
func (c *Client) UnmanageHost(t hip.Thread, p hip.Ptr) hip.Error { return c.unregister(t, p, true) }

var _ hip.HostManager = (*Client)(nil)
