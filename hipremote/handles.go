package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/handles"
)

// sessionHandles are those of this session, so that a posted call with a wrong one fails itself.
type sessionHandles struct {
	handles.Table
	arrays arraySet
	shared interprocess
}

func (h *sessionHandles) stream(s hip.Stream) hip.Error {
	return h.Check(hip.HandleStream, uint64(s))
}

func (h *sessionHandles) event(e hip.Event) hip.Error { return h.Check(hip.HandleEvent, uint64(e)) }

// StreamGetDevice is hipStreamGetDevice. It is asked before every launch on a stream, so it is answered here.
func (c *Client) StreamGetDevice(t hip.Thread, stream hip.Stream) (int32, hip.Error) {
	if _, code := c.ready(); code != hip.Success {
		return 0, code
	}
	if stream <= hip.StreamLegacy {
		return t.Device, hip.Success
	}
	if code := c.handles.stream(stream); code != hip.Success {
		return 0, code
	}
	return c.handles.Device(hip.HandleStream, uint64(stream), t.Device), hip.Success
}

// clear forgets what was on a device that was reset.
func (h *sessionHandles) clear(device int32) {
	h.Clear(device)
	h.arrays.clear(device)
}

// destroy runs a call that ends an object. Its handle is gone before, as it may be another's as soon as the worker has destroyed it.
func (c *Client) destroy(t hip.Thread, k hip.HandleKind, h uint64, call func() hip.Error) hip.Error {
	switch k {
	case hip.HandleStream:
		c.lastOf(t, hip.Stream(h))
	case hip.HandleModule:
		c.launches.clear() // a function's handle may come again
	}
	o, known := c.handles.Take(k, h)
	a, shaped := c.handles.arrays.take(k, h)
	code := call()
	switch {
	case code != hip.Success:
	case k == hip.HandleModule:
		c.mem.unload(hip.Module(h))
		c.functions.unloaded(hip.Module(h))
	case k == hip.HandleEvent:
		c.handles.shared.remove(hip.Event(h))
		c.recordings.drop(hip.Event(h))
	}
	if code != hip.Success {
		if known {
			c.handles.Restore(k, h, o)
		}
		if shaped {
			c.handles.arrays.put(hip.Array(h), a)
		}
	}
	return code
}
