package hipremote

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hip/memop"
)

// StreamWaitValue32 is hipStreamWaitValue32.
func (c *Client) StreamWaitValue32(t hip.Thread, st hip.Stream, p hip.Ptr, value, flags, mask uint32) hip.Error {
	return c.memOp(t, st, &memop.Op{Ptr: p, Value: uint64(value), Mask: uint64(mask), Wait: true, Compare: flags})
}

// StreamWaitValue64 is hipStreamWaitValue64.
func (c *Client) StreamWaitValue64(t hip.Thread, st hip.Stream, p hip.Ptr, value uint64, flags uint32, mask uint64) hip.Error {
	return c.memOp(t, st, &memop.Op{Ptr: p, Value: value, Mask: mask, Wide: true, Wait: true, Compare: flags})
}

// StreamWriteValue32 is hipStreamWriteValue32.
func (c *Client) StreamWriteValue32(t hip.Thread, st hip.Stream, p hip.Ptr, value, flags uint32) hip.Error {
	return c.memOp(t, st, &memop.Op{Ptr: p, Value: uint64(value), Compare: flags})
}

// StreamWriteValue64 is hipStreamWriteValue64.
func (c *Client) StreamWriteValue64(t hip.Thread, st hip.Stream, p hip.Ptr, value uint64, flags uint32) hip.Error {
	return c.memOp(t, st, &memop.Op{Ptr: p, Value: value, Wide: true, Compare: flags})
}

// StreamBatchMemOp is hipStreamBatchMemOp. Operations on device memory only are one message; others go one by one.
func (c *Client) StreamBatchMemOp(t hip.Thread, st hip.Stream, ops []hip.StreamBatchMemOpParamsUnion, flags uint32) hip.Error {
	if len(ops) == 0 || len(ops) > memop.MaxBatch || flags != 0 {
		return hip.ErrorInvalidValue
	}
	_, code := c.timed(hip.OpStreamBatchMemOp, func() (hip.Ptr, hip.Error) {
		l, code := c.ready()
		if code == hip.Success {
			code = c.due(t, st)
		}
		if code != hip.Success {
			return 0, code
		}
		if code := c.handles.stream(st); code != hip.Success {
			return 0, code
		}
		list, hosts := make([]memop.Op, len(ops)), false
		for i := range ops {
			o, ok := memop.Of(&ops[i])
			if !ok {
				return 0, hip.ErrorInvalidValue
			}
			list[i] = o
			r, code := c.judgeMemOp(t, &o)
			if code != hip.Success {
				return 0, code
			}
			hosts = hosts || r != nil
		}
		if !hosts {
			q := hiprpc.StreamBatchMemOpRequest{Thread: t, Stream: st, ParamArray: ops, Flags: flags}
			return 0, c.send(nil, l, hip.OpStreamBatchMemOp, q.Append(nil), nil)
		}
		for i := range list {
			if code := c.memOp(t, st, &list[i]); code != hip.Success {
				return 0, code
			}
		}
		return 0, hip.Success
	})
	return code
}

// memOp queues an operation: on device memory at the worker, on memory of this process here, when the stream gets there.
func (c *Client) memOp(t hip.Thread, st hip.Stream, o *memop.Op) hip.Error {
	ct := c.begin()
	code := c.queueMemOp(&ct, t, st, o)
	c.end(&ct, opOf(o), code)
	return code
}

func (c *Client) queueMemOp(ct *callTime, t hip.Thread, st hip.Stream, o *memop.Op) hip.Error {
	l, code := c.ready()
	if code == hip.Success {
		code = c.due(t, st)
	}
	if code != hip.Success {
		return code
	}
	if o.Ptr == 0 {
		return hip.ErrorInvalidValue
	}
	if code := c.handles.stream(st); code != hip.Success {
		return code
	}
	r, code := c.judgeMemOp(t, o)
	if code != hip.Success {
		return code
	}
	if r != nil {
		return c.launchHostFunc(ct, t, st, func() { c.hostOp(l, r, o) })
	}
	var b [64]byte
	return c.send(ct, l, opOf(o), memOpRequest(t, st, o, b[:0]), nil)
}

// opOf is the call that an operation is on its own.
func opOf(o *memop.Op) uint16 {
	switch {
	case o.Wait && o.Wide:
		return hip.OpStreamWaitValue64
	case o.Wait:
		return hip.OpStreamWaitValue32
	case o.Wide:
		return hip.OpStreamWriteValue64
	}
	return hip.OpStreamWriteValue32
}

// memOpRequest is the message for an operation on device memory.
func memOpRequest(t hip.Thread, st hip.Stream, o *memop.Op, b []byte) []byte {
	switch opOf(o) {
	case hip.OpStreamWaitValue32:
		q := hiprpc.StreamWaitValue32Request{Thread: t, Stream: st, Ptr: o.Ptr, Value: uint32(o.Value), Flags: o.Compare, Mask: uint32(o.Mask)}
		return q.Append(b)
	case hip.OpStreamWaitValue64:
		q := hiprpc.StreamWaitValue64Request{Thread: t, Stream: st, Ptr: o.Ptr, Value: o.Value, Flags: o.Compare, Mask: o.Mask}
		return q.Append(b)
	case hip.OpStreamWriteValue32:
		q := hiprpc.StreamWriteValue32Request{Thread: t, Stream: st, Ptr: o.Ptr, Value: uint32(o.Value), Flags: o.Compare}
		return q.Append(b)
	}
	q := hiprpc.StreamWriteValue64Request{Thread: t, Stream: st, Ptr: o.Ptr, Value: o.Value, Flags: o.Compare}
	return q.Append(b)
}

// judgeMemOp checks an operation's memory and comparison, and finds the region of this process that it is about; nil for device memory.
func (c *Client) judgeMemOp(t hip.Thread, o *memop.Op) (*hostRegion, hip.Error) {
	if !o.Valid() {
		return nil, hip.ErrorInvalidValue
	}
	b := c.mem.find(o.Ptr)
	switch {
	case b == nil && (!c.mem.inRange(o.Ptr) || c.placed(o.Ptr)):
		return nil, hip.ErrorInvalidValue
	case b == nil: // a variable of a module, if anything
		base, size, code := c.MemGetAddressRange(t, o.Ptr)
		if code != hip.Success || o.Size() > size-uint64(o.Ptr-base) {
			return nil, hip.ErrorInvalidValue
		}
		return nil, hip.Success
	}
	if o.Size() > b.end()-uint64(o.Ptr) {
		return nil, hip.ErrorInvalidValue
	}
	return b.host, hip.Success
}

// pauses between two looks at memory that a stream waits for, and at what the device has written there meanwhile.
const (
	shortPause = 5 * time.Microsecond
	longPause  = 200 * time.Microsecond
	pullPause  = time.Millisecond
)

// hostOp does an operation on memory of this process, as a function that a stream has come to: what the device wrote before is here, and what
// happens here is on the device before the stream goes on.
func (c *Client) hostOp(l *link, r *hostRegion, o *memop.Op) {
	at := uint64(o.Ptr)
	if at-r.host >= r.size { // the device's address
		at = r.host + uint64(o.Ptr-r.dev)
	}
	if !o.Wait {
		access(at, o, true)
		return
	}
	next := time.Now().Add(pullPause)
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		v, ok := access(at, o, false)
		if !ok || o.Passes(v) {
			return
		}
		if now := time.Now(); now.After(next) { // a kernel may be who writes it
			if c.pullRegion(nil, l, r, 0) != hip.Success {
				return
			}
			next = time.Now().Add(max(pullPause, 20*time.Since(now)))
		}
		if !sleep(c.ctx, pause) {
			return
		}
	}
}

// sleep waits; false if ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// access writes the operation's value, or reads what is there; false if the program has unmapped the memory meanwhile.
func access(at uint64, o *memop.Op, write bool) (v uint64, ok bool) {
	b := hostBytes(at, o.Size())
	ok = there(func() {
		if write {
			o.Store(b)
		} else {
			v = o.Load(b)
		}
	})
	return v, ok
}
