package hipremote

import (
	"slices"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// A worker that has no agreed range of addresses puts the variables of modules where it likes: nothing tells such an address from one of this process
// but that the worker has named it. In an agreed range they tell what the worker has from addresses where nothing is.

// learnModuleGetGlobal notes where a module's variable is.
func (c *Client) learnModuleGetGlobal(q *hiprpc.ModuleGetGlobalRequest, p *hiprpc.ModuleGetGlobalReply) {
	m := &c.mem
	if p.Dptr == 0 || p.Bytes == 0 || p.Bytes > 1<<46 {
		return
	}
	b := &block{base: uint64(p.Dptr), want: p.Bytes, device: q.Thread.Device, module: q.Hmod}
	m.mu.Lock()
	defer m.mu.Unlock()
	list := &m.blocks
	if m.inRange(p.Dptr) {
		list = &m.variables
	}
	if list.overlaps(b.base, b.want) {
		return // known, or an address that this process uses otherwise
	}
	list.insert(b)
	if list == &m.blocks {
		m.outside.Store(true)
	}
}

// isVariable says whether an address of the agreed range is that of a module's variable.
func (m *memory) isVariable(p hip.Ptr) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.variables.find(uint64(p)) != nil
}

// unload forgets the variables of a module.
func (m *memory) unload(h hip.Module) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := func(b *block) bool { return b.module == h }
	if m.outside.Load() {
		m.blocks = slices.DeleteFunc(m.blocks, of)
		m.last.Store(nil)
	}
	m.variables = slices.DeleteFunc(m.variables, of)
}

// forgetVariables does so for all modules of a device.
func (m *memory) forgetVariables(device int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.variables = slices.DeleteFunc(m.variables, func(b *block) bool { return b.device == device })
}

// exists says whether the worker has n bytes at an address of which the client does not know.
func (c *Client) exists(t hip.Thread, p hip.Ptr, n uint64) hip.Error {
	base, size, code := c.MemGetAddressRange(t, p)
	if code == hip.ErrorNotFound || code == hip.Success && n > size-uint64(p-base) {
		return hip.ErrorInvalidValue
	}
	return code
}
