package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// come is what a synchronizing call's success says has come to an end.
type come struct {
	device int32
	stream hip.Stream
	event  uint64
	what   reach
}

// of is the device that it was on.
func (s *come) of(c *Client) int32 {
	if s.what == ofEvent {
		return c.handles.Device(hip.HandleEvent, s.event, s.device)
	}
	return c.streamDevice(hip.Thread{Device: s.device}, s.stream)
}

// reach is how much has come to an end.
type reach uint8

const (
	ofEvent  reach = iota // what an event stands for
	ofStream              // everything on a stream
	ofDevice              // everything on a device
)

// callSync is call for what synchronizes: it returns failures of earlier calls, each once, and afterwards host memory shows what was done.
func (c *Client) callSync(op uint16, m *wire.Msg, s come) hip.Error {
	ct := c.begin()
	code := c.doSync(&ct, op, m, s)
	c.end(&ct, op, code)
	return code
}

func (c *Client) doSync(ct *callTime, op uint16, m *wire.Msg, s come) hip.Error {
	l, code := c.calling(op, hip.Thread{Device: s.of(c)}, hip.StreamNull)
	if code != hip.Success {
		return code
	}
	before, life := c.before(s.device), c.async.life.Load()
	var at recording
	if op == hip.OpEventSynchronize {
		at = c.recordings.of(hip.Event(s.event))
	}
	if err := ct.call(l, op, m); err != nil {
		return c.broken(l, err)
	}
	if code = hip.Error(m.Code); !code.Valid() {
		code = hip.ErrorUnknown
	}
	if f := (hiprpc.Failure{}); code != hip.Success && f.Decode(m.Rep) && !c.async.first(f) {
		code = hip.Success // it has been returned already
	}
	switch {
	case code == hip.Success:
		c.reached(hip.Event(s.event), at)
		if code = c.synced(ct, l, s, ended{idleUpTo(m.Rep, before), -1, before}); code == hip.Success && hip.TraitsOf(op)&hip.ReturnsErrors != 0 {
			code = c.async.take(s.of(c)) // what this side found while the stream got here
		}
	case hiprpc.Sticky(code):
		c.async.kill(s.of(c), life, code)
	}
	return code
}

// synced is told that a synchronizing call has succeeded: what its stream did is done, and host memory must show it. x is what the worker said besides.
func (c *Client) synced(ct *callTime, l *link, s come, x ended) hip.Error {
	c.funcs.order()
	switch s.what {
	case ofDevice:
		x.device = s.device
		return c.deviceIdle(ct, l, x)
	case ofStream:
		x.device = c.emptied(s.device, s.stream)
		c.settle(s.device, s.stream, false, x.at)
	}
	return c.show(ct, l, x)
}

// idleUpTo is up to where everything on all devices has ended, 0 if the results of a call that was made at a moment do not say that.
func idleUpTo(results []byte, at moment) uint64 {
	if hiprpc.Idle(results) {
		return at.work
	}
	return 0
}

// deviceIdle is told that a device has come to an end.
func (c *Client) deviceIdle(ct *callTime, l *link, x ended) hip.Error {
	if c.onlyDevice() {
		x.work = x.at.work
	}
	c.settle(x.device, 0, true, x.at)
	return c.show(ct, l, x)
}

// emptied is the device that has nothing to do when a stream has nothing, -1 if that cannot be said: if it is the null stream, and the device has no other, it is
// that device.
func (c *Client) emptied(device int32, st hip.Stream) int32 {
	if st <= hip.StreamLegacy && c.handles.None(hip.HandleStream) {
		return device
	}
	return -1
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
	c.async.reset(t.Device, seq)
	c.graphs.reset(t.Device)
	c.recordings.drop()
	c.aside.Forget(t.Device)
	l := c.link.Load()
	var back uint64 // bytes that are credit again
	m := &c.mem
	m.mu.Lock()
	keep, managed := m.blocks[:0], []*hostRegion(nil)
	for _, b := range m.blocks {
		switch {
		case b.device != t.Device || b.host != nil && (!b.host.managed || b.host.adopted || b.host.registered):
			keep = append(keep, b)
			continue
		case b.host != nil:
			managed = append(managed, b.host)
			decommit(b.base, b.size)
			if size := m.hostSize(b.size); m.shared != nil {
				m.shared.put(b.base, size)
			} else if m.places != nil {
				m.places.put(b.base, size)
			}
			continue
		case b.arena != nil:
			continue // goes with its arena
		default:
			back += b.size
		}
		b.far()
		if b.size != 0 && m.places != nil {
			m.places.put(b.base, b.size)
		}
	}
	clear(m.blocks[len(keep):])
	m.blocks = keep
	m.last.Store(nil)
	if uint32(t.Device) < maxDevices {
		o := &m.pools[t.Device]
		for _, b := range append(o.held, o.idle...) {
			if b.arena != nil {
				continue
			}
			back += b.size
			b.far()
			if m.places != nil {
				m.places.put(b.base, b.size)
			}
		}
		*o = ownPool{}
		for _, s := range m.arenas[t.Device] {
			if m.places != nil {
				m.places.put(s.base, s.size)
			}
		}
		m.arenas[t.Device] = nil
	}
	m.mu.Unlock()
	for _, r := range managed {
		c.host.remove(r)
	}
	c.host.forget(t.Device)
	m.forgetVariables(t.Device)
	c.settle(t.Device, 0, true, c.before(t.Device)) // of other devices' memory, by streams that are gone
	c.handles.clear(t.Device)
	if back != 0 && m.unit == 0 && t.Device >= 0 && t.Device < maxDevices {
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
	c.launches.clear() // a function's handle may come again
	code := c.call(hip.OpDeviceReset, m)
	return u64(m.Rep, 0), code
}
