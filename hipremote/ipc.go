package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// IpcOpenMemHandle is hipIpcOpenMemHandle: memory of another session of the worker.
func (c *Client) IpcOpenMemHandle(t hip.Thread, handle *hip.IpcMemHandle, flags uint32) (hip.Ptr, hip.Error) {
	if handle == nil {
		return 0, hip.ErrorInvalidValue
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.IpcOpenMemHandleRequest{Thread: t, Handle: *handle, Flags: flags}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpIpcOpenMemHandle, m); code != hip.Success {
		return 0, code
	}
	var rep hiprpc.IpcOpenMemHandleReply
	if !rep.Decode(m.Rep) {
		return 0, c.violation(hip.OpIpcOpenMemHandle)
	}
	return rep.DevPtr, c.foreign(t, rep.DevPtr, true)
}

// foreign notes memory of another session. What is opened again is known already.
func (c *Client) foreign(t hip.Thread, p hip.Ptr, open bool) hip.Error {
	b := c.mem.find(p)
	if b == nil {
		base, size, code := c.MemGetAddressRange(t, p)
		if code != hip.Success {
			return code
		}
		c.mem.mu.Lock()
		if b = c.mem.blocks.find(uint64(p)); b == nil {
			b = &block{base: uint64(base), want: size, device: t.Device}
			c.mem.blocks.insert(b)
		}
		c.mem.mu.Unlock()
	}
	if open {
		c.mem.mu.Lock()
		b.opened++
		c.mem.mu.Unlock()
	}
	return hip.Success
}

// IpcCloseMemHandle is hipIpcCloseMemHandle.
func (c *Client) IpcCloseMemHandle(t hip.Thread, p hip.Ptr) hip.Error {
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.IpcCloseMemHandleRequest{Thread: t, DevPtr: p}
	m.Req = q.Append(m.Req[:0])
	code := c.call(hip.OpIpcCloseMemHandle, m)
	if code != hip.Success {
		return code
	}
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	if b := c.mem.blocks.find(uint64(p)); b != nil && b.opened > 0 {
		if b.opened--; b.opened == 0 {
			c.mem.blocks.remove(b)
		}
	}
	return hip.Success
}

// MemPoolImportPointer is hipMemPoolImportPointer.
func (c *Client) MemPoolImportPointer(t hip.Thread, pool hip.MemPool, data *hip.MemPoolPtrExportData) (hip.Ptr, hip.Error) {
	if data == nil {
		return 0, hip.ErrorInvalidValue
	}
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.MemPoolImportPointerRequest{Thread: t, MemPool: pool, ExportData: *data}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpMemPoolImportPointer, m); code != hip.Success {
		return 0, code
	}
	var rep hiprpc.MemPoolImportPointerReply
	if !rep.Decode(m.Rep) {
		return 0, c.violation(hip.OpMemPoolImportPointer)
	}
	return rep.DevPtr, c.foreign(t, rep.DevPtr, false)
}
