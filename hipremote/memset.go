package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
)

// hipMemset and its kin are what they are in HIP: the asynchronous functions on the null stream, waited for where the memory is not the beginning
// of an allocation of the device.

// Memset is hipMemset.
func (c *Client) Memset(t hip.Thread, dst hip.Ptr, value int32, sizeBytes uint64) hip.Error {
	e := setRequest(t, dst)
	e.I32(value)
	e.U64(sizeBytes)
	return c.setNow(hip.OpMemset, hip.OpMemsetAsync, t, dst, e)
}

// MemsetD8 is hipMemsetD8.
func (c *Client) MemsetD8(t hip.Thread, dst hip.Ptr, value uint8, count uint64) hip.Error {
	e := setRequest(t, dst)
	e.U8(value)
	e.U64(count)
	return c.setNow(hip.OpMemsetD8, hip.OpMemsetD8Async, t, dst, e)
}

// MemsetD16 is hipMemsetD16.
func (c *Client) MemsetD16(t hip.Thread, dst hip.Ptr, value uint16, count uint64) hip.Error {
	e := setRequest(t, dst)
	e.U16(value)
	e.U64(count)
	return c.setNow(hip.OpMemsetD16, hip.OpMemsetD16Async, t, dst, e)
}

// MemsetD32 is hipMemsetD32.
func (c *Client) MemsetD32(t hip.Thread, dst hip.Ptr, value int32, count uint64) hip.Error {
	e := setRequest(t, dst)
	e.I32(value)
	e.U64(count)
	return c.setNow(hip.OpMemsetD32, hip.OpMemsetD32Async, t, dst, e)
}

// Memset2D is hipMemset2D.
func (c *Client) Memset2D(t hip.Thread, dst hip.Ptr, pitch uint64, value int32, width, height uint64) hip.Error {
	e := setRequest(t, dst)
	e.U64(pitch)
	e.I32(value)
	e.U64(width)
	e.U64(height)
	return c.setNow(hip.OpMemset2D, hip.OpMemset2DAsync, t, dst, e)
}

func setRequest(t hip.Thread, dst hip.Ptr) *wire.Enc {
	e := &wire.Enc{B: make([]byte, 0, 64)}
	e.I32(t.Device)
	e.U32(t.ID)
	e.U64(uint64(dst))
	return e
}

// setNow is the function op by way of its asynchronous form.
func (c *Client) setNow(op, later uint16, t hip.Thread, dst hip.Ptr, e *wire.Enc) hip.Error {
	e.U64(uint64(hip.StreamNull))
	ct := c.begin()
	code := c.doPost(&ct, later, e.B)
	if code == hip.Success && !c.setLater(dst) {
		code = c.StreamSynchronize(t, hip.StreamNull)
	}
	c.end(&ct, op, code)
	return code
}

// setLater says whether memory at p is set without waiting for it.
func (c *Client) setLater(p hip.Ptr) bool {
	b := c.mem.find(p)
	return b != nil && b.host == nil && b.base == uint64(p)
}
