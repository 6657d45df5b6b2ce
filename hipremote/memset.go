package hipremote

import "github.com/rocwire/rocwire/hip"

// hipMemset and its kin are what they are in HIP: the asynchronous functions on the null stream, waited for where the memory is not the beginning
// of an allocation of the device.

// Memset is hipMemset.
func (c *Client) Memset(t hip.Thread, dst hip.Ptr, value int32, sizeBytes uint64) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemset, t, dst, c.postMemsetAsync(&ct, t, dst, value, sizeBytes, hip.StreamNull))
}

// MemsetD8 is hipMemsetD8.
func (c *Client) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, count uint64) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemsetD8, t, dst, c.postMemsetD8Async(&ct, t, dst, value, count, hip.StreamNull))
}

// MemsetD16 is hipMemsetD16.
func (c *Client) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, count uint64) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemsetD16, t, dst, c.postMemsetD16Async(&ct, t, dst, value, count, hip.StreamNull))
}

// MemsetD32 is hipMemsetD32.
func (c *Client) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, count uint64) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemsetD32, t, dst, c.postMemsetD32Async(&ct, t, dst, value, count, hip.StreamNull))
}

// Memset2D is hipMemset2D.
func (c *Client) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemset2D, t, dst, c.postMemset2DAsync(&ct, t, dst, pitch, value, width, height, hip.StreamNull))
}

// setNow ends a call op whose asynchronous form has answered code.
func (c *Client) setNow(ct *callTime, op uint16, t hip.Thread, dst hip.Ptr, code hip.Error) hip.Error {
	if code == hip.Success && !c.setLater(dst) {
		code = c.StreamSynchronize(t, hip.StreamNull)
	}
	c.end(ct, op, code)
	return code
}

// setLater says whether memory at p is set without waiting for it.
func (c *Client) setLater(p hip.Ptr) bool {
	b := c.mem.find(p)
	return b != nil && b.host == nil && b.base == uint64(p)
}
