package hipremote

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// A worker that has no agreed range of addresses puts the variables of modules where it likes: nothing tells such an address from one of this process
// but that the worker has named it.

// learnModuleGetGlobal notes where a module's variable is.
func (c *Client) learnModuleGetGlobal(q *hiprpc.ModuleGetGlobalRequest, p *hiprpc.ModuleGetGlobalReply) {
	m := &c.mem
	if p.Dptr == 0 || p.Bytes == 0 || p.Bytes > 1<<46 || m.inRange(p.Dptr) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks.overlaps(uint64(p.Dptr), p.Bytes) {
		return // known, or an address that this process uses otherwise
	}
	m.blocks.insert(&block{base: uint64(p.Dptr), want: p.Bytes, device: q.Thread.Device, module: q.Hmod})
	m.outside.Store(true)
}

// unload forgets the variables of a module.
func (m *memory) unload(h hip.Module) {
	if !m.outside.Load() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	keep := m.blocks[:0]
	for _, b := range m.blocks {
		if b.module != h {
			keep = append(keep, b)
		}
	}
	clear(m.blocks[len(keep):])
	m.blocks = keep
}
