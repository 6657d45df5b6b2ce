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
			b = &block{base: uint64(base), want: size, device: t.Device, shared: true}
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
			c.mem.remove(b)
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

// IpcGetMemHandle is hipIpcGetMemHandle.
func (c *Client) IpcGetMemHandle(t hip.Thread, p hip.Ptr) (hip.IpcMemHandle, hip.Error) {
	c.share(p) // before anybody can have it
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.IpcGetMemHandleRequest{Thread: t, DevPtr: p}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpIpcGetMemHandle, m); code != hip.Success {
		return hip.IpcMemHandle{}, code
	}
	var rep hiprpc.IpcGetMemHandleReply
	if !rep.Decode(m.Rep) {
		return hip.IpcMemHandle{}, c.violation(hip.OpIpcGetMemHandle)
	}
	return rep.Handle, hip.Success
}

// MemPoolExportPointer is hipMemPoolExportPointer.
func (c *Client) MemPoolExportPointer(t hip.Thread, p hip.Ptr) (hip.MemPoolPtrExportData, hip.Error) {
	c.share(p)
	m := wire.GetMsg()
	defer wire.PutMsg(m)
	q := hiprpc.MemPoolExportPointerRequest{Thread: t, DevPtr: p}
	m.Req = q.Append(m.Req[:0])
	if code := c.call(hip.OpMemPoolExportPointer, m); code != hip.Success {
		return hip.MemPoolPtrExportData{}, code
	}
	var rep hiprpc.MemPoolExportPointerReply
	if !rep.Decode(m.Rep) {
		return hip.MemPoolPtrExportData{}, c.violation(hip.OpMemPoolExportPointer)
	}
	return rep.ExportData, hip.Success
}

// share notes that others will look at a block: what is copied to it must be there when the copy returns.
func (c *Client) share(p hip.Ptr) {
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	if b := c.mem.blocks.find(uint64(p)); b != nil {
		b.shared = true
	}
}
