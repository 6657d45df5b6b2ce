package simgpu

import (
	"encoding/binary"

	"github.com/rocwire/rocwire/hip"
)

// poolMark begins what stands for a pool in another process.
const poolMark = "rwpool1\x00"

// MemPoolExportToShareableHandle describes a pool for another process: what may
// be reused and who has access, as AMD's does. The memory is no part of it; see
// MemPoolExportPointer.
func (r *Runtime) MemPoolExportToShareableHandle(t hip.Thread, h hip.MemPool, handleType hip.MemAllocationHandleType, flags uint32) (hip.IpcMemHandle, hip.Error) {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return hip.IpcMemHandle{}, e
	}
	defer r.leave()
	if flags != 0 || handleType != hip.MemHandleTypePosixFileDescriptor || handleType != p.props.HandleTypes {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	var out hip.IpcMemHandle
	copy(out.Reserved[:8], poolMark)
	p.mu.Lock()
	defer p.mu.Unlock()
	out.Reserved[8] = byte(number(p.reuse.events) | number(p.reuse.opportunistic)<<1 | number(p.reuse.internal)<<2)
	var access uint64 // two bits for each device
	for id, f := range p.access {
		if id < 32 {
			access |= uint64(f&3) << (2 * id)
		}
	}
	binary.LittleEndian.PutUint64(out.Reserved[16:], access)
	return out, hip.Success
}

// MemPoolImportFromShareableHandle makes a pool, of the first device as AMD's
// does, from a description.
func (r *Runtime) MemPoolImportFromShareableHandle(t hip.Thread, token *hip.IpcMemHandle, handleType hip.MemAllocationHandleType, flags uint32) (hip.MemPool, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if token == nil || flags != 0 || handleType != hip.MemHandleTypePosixFileDescriptor || string(token.Reserved[:8]) != poolMark {
		return 0, hip.ErrorInvalidValue
	}
	p := newPool(r.devices[0], defaultProps(0))
	b := token.Reserved[8]
	p.reuse = reuse{b&1 != 0, b&2 != 0, b&4 != 0}
	access := binary.LittleEndian.Uint64(token.Reserved[16:])
	for _, d := range r.devices {
		if f := hip.MemAccessFlags(access >> (2 * d.id) & 3); d.id != 0 && d.id < 32 && f != hip.MemAccessFlagsProtNone {
			p.access[d.id] = f
		}
	}
	r.pools.put(p.handle, p)
	return p.handle, hip.Success
}

// MemPoolExportPointer makes memory of a pool available to another process.
func (r *Runtime) MemPoolExportPointer(t hip.Thread, ptr hip.Ptr) (hip.MemPoolPtrExportData, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.MemPoolPtrExportData{}, e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.MemPoolPtrExportData{}, hip.ErrorInvalidValue
	}
	k, e := r.export(ptr)
	if e == hip.ErrorInvalidValue {
		e = hip.ErrorOutOfMemory // as AMD's says of what is no memory
	}
	return hip.MemPoolPtrExportData(k.handle()), e
}

// MemPoolImportPointer is memory that was exported, as busy memory of a pool.
// Freeing it ends this process's hold of it.
func (r *Runtime) MemPoolImportPointer(t hip.Thread, h hip.MemPool, data *hip.MemPoolPtrExportData) (hip.Ptr, hip.Error) {
	p, e := r.pool(t, h)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if data == nil {
		return 0, hip.ErrorInvalidValue
	}
	handle := hip.IpcMemHandle(*data)
	k := ticketOf(&handle)
	a, e := r.attach(p.d, k)
	if e != hip.Success {
		if e == hip.ErrorInvalidValue {
			e = hip.ErrorOutOfMemory
		}
		return 0, e
	}
	b := &poolBlock{p: p, a: a, imported: true}
	noteOf(a).d.pooled.Add(a.Pages())
	noteOf(a).block.Store(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy[a.Base] = b
	p.used.add(a.Size)
	p.reserved.add(a.Size)
	return hip.Ptr(a.Base + k.offset), hip.Success
}
