package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// synced is told that a synchronizing call has succeeded: what its stream did is done, and host memory must show it. at is when it was asked.
func (c *Client) synced(ct *callTime, l *link, op uint16, req []byte, at moment) hip.Error {
	c.funcs.order()
	device := int32(uint32(u64(req, 0)))
	switch op {
	case hip.OpDeviceSynchronize:
		c.deviceIdle(l, device, at)
	case hip.OpStreamSynchronize, hip.OpStreamQuery:
		st := hip.Stream(u64(req, 8))
		c.nullIdle(device, st, at)
		c.settle(l, device, st, false, at)
	}
	return c.pull(ct, l)
}

// deviceIdle is told that a device has nothing to do of what was posted before a moment.
func (c *Client) deviceIdle(l *link, device int32, at moment) {
	if c.onlyDevice() {
		c.work.reached(at.work)
	}
	c.tasksOf(device).reached(at.tasks)
	c.settle(l, device, 0, true, at)
}

// nullIdle is told that a stream has nothing to do. If it is the null stream, and the device has no other, neither has the device.
func (c *Client) nullIdle(device int32, st hip.Stream, at moment) {
	if st <= hip.StreamLegacy && c.handles.streams.empty() {
		c.tasksOf(device).reached(at.tasks)
	}
}

// onlyDevice says whether the worker has one device, as far as the program has asked.
func (c *Client) onlyDevice() bool {
	n, code := c.GetDeviceCount()
	return code == hip.Success && n == 1
}

// DeviceReset is hipDeviceReset: everything on the device is gone afterwards.
func (c *Client) DeviceReset(t hip.Thread) hip.Error {
	seq, code := c.resetThere(t) // also out of a dead context
	if code != hip.Success {
		return code
	}
	c.async.reset(seq)
	c.handles.clear(t.Device)
	c.later.forget(t.Device)
	l := c.link.Load()
	var back uint64 // bytes that are credit again
	m := &c.mem
	m.mu.Lock()
	keep, managed := m.blocks[:0], []*hostRegion(nil)
	for _, b := range m.blocks {
		switch {
		case b.device != t.Device || b.host != nil && (!b.host.managed || b.host.adopted):
			keep = append(keep, b)
			continue
		case b.host != nil:
			managed = append(managed, b.host)
			decommit(b.base, b.size)
			if m.shared != nil {
				m.shared.put(b.base, b.size)
				continue
			}
		default:
			back += b.size
		}
		if b.size != 0 && m.places != nil {
			m.places.put(b.base, b.size)
		}
	}
	clear(m.blocks[len(keep):])
	m.blocks = keep
	var freed []*block
	for _, b := range m.freed {
		if b.device != t.Device {
			freed = append(freed, b)
			continue
		}
		back += b.size
		if m.places != nil {
			m.places.put(b.base, b.size)
		}
	}
	m.freed = freed
	m.mu.Unlock()
	for _, r := range managed {
		c.host.remove(r)
	}
	c.host.forget(t.Device)
	if back != 0 && t.Device >= 0 && t.Device < maxDevices {
		c.giveCredit(nil, l, t.Device, back)
	}
	return hip.Success
}

// resetThere asks the worker to reset a device, and gets the number of the last failure before that.
func (c *Client) resetThere(t hip.Thread) (uint64, hip.Error) {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	e := wire.Enc{B: m.Req[:0]}
	e.I32(t.Device)
	e.U32(t.ID)
	m.Req = e.B
	code := c.call(hip.OpDeviceReset, m)
	return u64(m.Rep, 0), code
}
