package hipremote

import (
	"math/bits"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

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

// Memset3D is hipMemset3D.
func (c *Client) Memset3D(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent) hip.Error {
	ct := c.begin()
	return c.setNow(&ct, hip.OpMemset3D, t, p.Ptr, c.postMemset3DAsync(&ct, t, p, value, extent, hip.StreamNull))
}

// Memset3DAsync is hipMemset3DAsync.
func (c *Client) Memset3DAsync(t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent, st hip.Stream) hip.Error {
	ct := c.begin()
	code := c.postMemset3DAsync(&ct, t, p, value, extent, st)
	c.end(&ct, hip.OpMemset3DAsync, code)
	return code
}

func (c *Client) postMemset3DAsync(ct *callTime, t hip.Thread, p *hip.PitchedPtr, value int32, extent *hip.Extent, st hip.Stream) hip.Error {
	l, code := c.posting(t, st)
	if code == hip.Success {
		code = c.handles.Check(hip.HandleStream, uint64(st))
	}
	if code != hip.Success {
		return code
	}
	n, ok := spread(p, extent)
	if !ok {
		return hip.ErrorInvalidValue
	}
	at, code := c.writesBytes(l, p.Ptr, n)
	if code != hip.Success {
		return code
	}
	q := hiprpc.Memset3DAsyncRequest{Thread: t, PitchedDevPtr: *p, Value: value, Extent: *extent, Stream: st}
	q.PitchedDevPtr.Ptr = at
	return c.send(ct, l, hip.OpMemset3DAsync, q.Append(nil), nil)
}

// spread is how many bytes lie from the first that is set in slices of rows to the last; false if no memory has that many, or they overlap.
func spread(p *hip.PitchedPtr, e *hip.Extent) (n uint64, ok bool) {
	if e.Width == 0 || e.Height == 0 || e.Depth == 0 {
		return 0, true
	}
	rows, slices := e.Height-1, e.Depth-1
	if rows > 0 && e.Width > p.Pitch || slices > 0 && e.Height > p.Ysize {
		return 0, false
	}
	over, slice := bits.Mul64(p.Pitch, p.Ysize)
	if slices > 0 && over != 0 || slices > 0 && e.Width > slice {
		return 0, false
	}
	n = e.Width
	for _, part := range [...][2]uint64{{rows, p.Pitch}, {slices, slice}} {
		high, low := bits.Mul64(part[0], part[1]) // 0 where there is one row, or slice
		if n += low; part[0] > 0 && (high != 0 || n < low) {
			return 0, false
		}
	}
	return n, n <= 1<<62
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
