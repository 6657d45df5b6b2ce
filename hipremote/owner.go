package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// owner is the device whose memory the n bytes at p are, -1 if they are not one's alone. What the program has mapped to addresses itself, and
// where variables of modules are, the worker knows.
func (c *Client) owner(t hip.Thread, s *side, p hip.Ptr, n uint64) int32 {
	switch {
	case !s.device || s.region != nil || s.on >= 0:
		return s.on
	case c.onlyDevice():
		return 0
	}
	first := c.deviceAt(t, p)
	if c.deviceAt(t, p+hip.Ptr(n-1)) != first {
		return -1
	}
	return first
}

// deviceAt asks the worker whose memory is at an address, -1 if it does not say.
func (c *Client) deviceAt(t hip.Thread, p hip.Ptr) int32 {
	l, code := c.ready()
	if code != hip.Success {
		return -1
	}
	q := hiprpc.PointerGetAttributeRequest{Thread: t, Attribute: hip.DrvPointerAttributeDeviceOrdinal, Ptr: p}
	v, code := c.callU64(nil, l, hip.OpPointerGetAttribute, q.Append(nil))
	if code != hip.Success || v >= maxDevices {
		return -1
	}
	return int32(v)
}
