package simgpu

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// granularity is the unit of hipMemAddressReserve, as on AMD's cards.
const granularity = hip.Granule

// physical is card memory without an address: what hipMemCreate makes. It lives
// until it was released and is mapped nowhere.
type physical struct {
	d        *device // whose memory it is
	prop     hip.MemAllocationProp
	handle   hip.GenericAllocation
	size     uint64
	imported bool // another process accounts for it

	mu       sync.Mutex
	fd       int // -1 when it is gone
	released bool
	maps     int
	token    hip.ShareToken // of its export, zero if there was none
}

// checkProp checks what an allocation is to be like.
func (r *Runtime) checkProp(prop *hip.MemAllocationProp) bool {
	return prop != nil && prop.Type == hip.MemAllocationTypePinned && r.checkLocation(&prop.Location)
}

// checkLocation says whether a location is one of the devices.
func (r *Runtime) checkLocation(l *hip.MemLocation) bool {
	return l != nil && l.Type == hip.MemLocationTypeDevice && l.Id >= 0 && int(l.Id) < len(r.devices)
}

// MemGetAllocationGranularity is the unit of sizes and addresses.
func (r *Runtime) MemGetAllocationGranularity(t hip.Thread, prop *hip.MemAllocationProp, option hip.MemAllocationGranularityFlags) (uint64, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if !r.checkProp(prop) || option != hip.MemAllocationGranularityMinimum && option != hip.MemAllocationGranularityRecommended {
		return 0, hip.ErrorInvalidValue
	}
	return granularity, hip.Success
}

// MemCreate allocates card memory without an address. Its size is in whole
// pages of hip.Granule.
func (r *Runtime) MemCreate(t hip.Thread, size uint64, prop *hip.MemAllocationProp, flags uint64) (hip.GenericAllocation, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if size == 0 || flags != 0 || !r.checkProp(prop) {
		return 0, hip.ErrorInvalidValue
	}
	if h := prop.RequestedHandleType; h != hip.MemHandleTypeNone && h != hip.MemHandleTypePosixFileDescriptor {
		return 0, hip.ErrorNotSupported
	}
	d := r.devices[prop.Location.Id]
	if size > d.meter.Capacity() {
		return 0, hip.ErrorOutOfMemory
	}
	if size%hip.Granule != 0 {
		return 0, hip.ErrorInvalidValue
	}
	if !d.take(size) {
		return 0, hip.ErrorOutOfMemory
	}
	fd, err := vmem.NewFile(size)
	if err != nil {
		d.meter.Give(size)
		r.o.Logf("simgpu: %v", err)
		return 0, hip.ErrorOutOfMemory
	}
	return r.newPhysical(&physical{d: d, prop: *prop, size: size, fd: fd}), hip.Success
}

func (r *Runtime) newPhysical(p *physical) hip.GenericAllocation {
	p.handle = hip.GenericAllocation(r.handle())
	r.physicals.put(p.handle, p)
	return p.handle
}

// drop ends p once it was released and is not mapped. mu is held.
func (r *Runtime) drop(p *physical) {
	if !p.released || p.maps > 0 || p.fd < 0 {
		return
	}
	_ = unix.Close(p.fd)
	p.fd = -1
	if p.token != (hip.ShareToken{}) {
		r.o.Broker.Withdraw(p.token)
	}
	if !p.imported {
		p.d.meter.Give(p.size)
	}
	r.physicals.take(p.handle)
}

// MemRelease ends the program's hold of an allocation; it lives on as long as it
// is mapped. As on AMD's, a handle that MemRetainAllocationHandle returned needs
// no release of its own, and one is no error while the memory is mapped.
func (r *Runtime) MemRelease(t hip.Thread, h hip.GenericAllocation) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	p, ok := r.physicals.get(h)
	if !ok {
		return hip.ErrorInvalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = true
	r.drop(p)
	return hip.Success
}

// MemGetAllocationPropertiesFromHandle is what MemCreate was told.
func (r *Runtime) MemGetAllocationPropertiesFromHandle(t hip.Thread, h hip.GenericAllocation) (hip.MemAllocationProp, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.MemAllocationProp{}, e
	}
	defer r.leave()
	p, ok := r.physicals.get(h)
	if !ok {
		return hip.MemAllocationProp{}, hip.ErrorInvalidValue
	}
	return p.prop, hip.Success
}

// MemExportToShareableHandle makes an allocation available to other processes,
// and later ones of this process, under a token.
func (r *Runtime) MemExportToShareableHandle(t hip.Thread, h hip.GenericAllocation, handleType hip.MemAllocationHandleType, flags uint64) (hip.IpcMemHandle, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.IpcMemHandle{}, e
	}
	defer r.leave()
	p, ok := r.physicals.get(h)
	if !ok || flags != 0 || handleType != hip.MemHandleTypePosixFileDescriptor || p.prop.RequestedHandleType != handleType {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	if p.token == (hip.ShareToken{}) {
		token, e := r.o.Broker.Publish(hip.Shared{FD: p.fd, Size: p.size, Card: uint32(p.d.card), Kind: sharedPhysical})
		if e != hip.Success {
			return hip.IpcMemHandle{}, e
		}
		p.token = token
	}
	return ticket{token: p.token}.handle(), hip.Success
}

// MemImportFromShareableHandle is the allocation that was exported under a token.
func (r *Runtime) MemImportFromShareableHandle(t hip.Thread, token *hip.IpcMemHandle, handleType hip.MemAllocationHandleType) (hip.GenericAllocation, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if token == nil || handleType != hip.MemHandleTypePosixFileDescriptor {
		return 0, hip.ErrorInvalidValue
	}
	s, owner, e := r.fetch(ticketOf(token).token, sharedPhysical)
	if e != hip.Success {
		return 0, e
	}
	if owner == nil { // of a card that this process does not see
		owner = d
	}
	prop := hip.MemAllocationProp{
		Type: hip.MemAllocationTypePinned, RequestedHandleType: handleType,
		Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: d.id},
	}
	return r.newPhysical(&physical{d: owner, prop: prop, size: s.Size, fd: s.FD, imported: true}), hip.Success
}

// withdraw ends what is shared of allocations: the runtime closes.
func (r *Runtime) withdraw() {
	for _, p := range r.physicals.takeIf(func(*physical) bool { return true }) {
		p.mu.Lock()
		if p.token != (hip.ShareToken{}) {
			r.o.Broker.Withdraw(p.token)
		}
		if p.fd >= 0 {
			_ = unix.Close(p.fd)
			p.fd = -1
		}
		p.mu.Unlock()
	}
}

// forgetPhysical unmaps and ends the allocations of a device that was reset.
func (r *Runtime) forgetPhysical(d *device) {
	if s := r.space.Load(); s != nil {
		s.Each(func(a *vmem.Alloc) bool {
			if v := noteOf(a).reserved; v != nil {
				v.mu.Lock()
				r.unmap(v, func(m *mapping) bool { return m.p.d == d })
				v.mu.Unlock()
			}
			return true
		})
	}
	for _, p := range r.physicals.list(func(p *physical) bool { return p.d == d }) {
		p.mu.Lock()
		p.released = true
		r.drop(p)
		p.mu.Unlock()
	}
}
