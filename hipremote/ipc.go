package hipremote

import "github.com/rocwire/rocwire/hip"

// IpcOpenMemHandle is hipIpcOpenMemHandle: memory of another session of the worker.
func (c *Client) IpcOpenMemHandle(t hip.Thread, handle *hip.IpcMemHandle, flags uint32) (hip.Ptr, hip.Error) {
	p, code := c.ipcOpenMemHandle(t, handle, flags)
	if code == hip.Success {
		code = c.foreign(t, p, true)
	}
	return p, code
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
	if code := c.ipcCloseMemHandle(t, p); code != hip.Success {
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
	p, code := c.memPoolImportPointer(t, pool, data)
	if code == hip.Success {
		code = c.foreign(t, p, false)
	}
	return p, code
}

// IpcGetMemHandle is hipIpcGetMemHandle.
func (c *Client) IpcGetMemHandle(t hip.Thread, p hip.Ptr) (hip.IpcMemHandle, hip.Error) {
	c.share(p) // before anybody can have it
	return c.ipcGetMemHandle(t, p)
}

// MemPoolExportPointer is hipMemPoolExportPointer.
func (c *Client) MemPoolExportPointer(t hip.Thread, p hip.Ptr) (hip.MemPoolPtrExportData, hip.Error) {
	c.share(p)
	return c.memPoolExportPointer(t, p)
}

// share notes that others will look at a block: what is copied to it must be there when the copy returns.
func (c *Client) share(p hip.Ptr) {
	c.mem.mu.Lock()
	defer c.mem.mu.Unlock()
	if b := c.mem.blocks.find(uint64(p)); b != nil {
		b.shared = true
	}
}
