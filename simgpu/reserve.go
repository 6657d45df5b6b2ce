package simgpu

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// reservation is a range of addresses of hipMemAddressReserve.
type reservation struct {
	a    *vmem.Alloc
	mu   sync.RWMutex
	maps []*mapping // by address, not overlapping
}

// mapping is physical memory at a range of addresses.
type mapping struct {
	base, size uint64
	p          *physical
	access     []hip.MemAccessFlags // by device
	host       hip.MemAccessFlags   // of the program's own threads, where no device may do as much
}

func (m *mapping) end() uint64 { return m.base + m.size }

// at is the index of the first mapping that ends above addr. mu is held.
func (v *reservation) at(addr uint64) int {
	i, _ := slices.BinarySearchFunc(v.maps, addr, func(m *mapping, x uint64) int { return cmp.Compare(m.end(), x+1) })
	return i
}

// over are the mappings that lie over the n bytes at addr without a gap, nil if
// there is one. mu is held.
func (v *reservation) over(addr, n uint64) []*mapping {
	i := v.at(addr)
	for j, at := i, addr; ; j++ {
		if j == len(v.maps) || v.maps[j].base > at {
			return nil
		}
		if at = v.maps[j].end(); at-addr >= n {
			return v.maps[i : j+1]
		}
	}
}

// find is the mapping that addr lies in, nil for none.
func (v *reservation) find(addr uint64) *mapping {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if m := v.over(addr, 1); m != nil {
		return m[0]
	}
	return nil
}

// allows says whether a device may do with the n bytes at addr what is wanted.
func (v *reservation) allows(d *device, addr, n uint64, want hip.MemAccessFlags) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	maps := v.over(addr, max(n, 1))
	for _, m := range maps {
		if m.access[d.id]&want != want {
			return false
		}
	}
	return maps != nil
}

// readable says whether some device may read all of the n bytes at addr: only
// then this process can.
func (v *reservation) readable(addr, n uint64) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	maps := v.over(addr, max(n, 1))
	for _, m := range maps {
		if m.pages() == vmem.None {
			return false
		}
	}
	return maps != nil
}

// reservationOf is the one that an address lies in, nil for none.
func (r *Runtime) reservationOf(addr hip.Ptr) *reservation {
	s := r.space.Load()
	if s == nil {
		return nil
	}
	a := s.Lookup(uint64(addr))
	if a == nil || a.Kind != vmem.Virtual {
		return nil
	}
	return noteOf(a).reserved
}

// reaches says whether a device may read, or write, n bytes of an allocation:
// always, unless it is one of addresses alone.
func (d *device) reaches(a *vmem.Alloc, addr, n uint64, want hip.MemAccessFlags) bool {
	return a == nil || a.Kind != vmem.Virtual || noteOf(a).reserved.allows(d, addr, n, want)
}

// MemAddressReserve takes addresses: those at addr if they are free and in the
// range for it, or others. ErrorOutOfMemory also stands for a size or alignment
// that cannot be.
func (r *Runtime) MemAddressReserve(t hip.Thread, size, alignment uint64, addr hip.Ptr, flags uint64) (hip.Ptr, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if flags != 0 {
		return 0, hip.ErrorInvalidValue
	}
	if size == 0 || size%granularity != 0 || alignment&(alignment-1) != 0 {
		return 0, hip.ErrorOutOfMemory
	}
	s, e := r.memory()
	if e != hip.Success {
		return 0, e
	}
	v := &reservation{}
	a, err := s.Reserve(uint64(addr), size, alignment, vmem.Alloc{Card: d.id, Note: &note{d: d, reserved: v}})
	if err != nil {
		return 0, hip.ErrorOutOfMemory
	}
	v.a = a
	return hip.Ptr(a.Base), hip.Success
}

// MemAddressFree gives reserved addresses back. What is still mapped there is
// unmapped.
func (r *Runtime) MemAddressFree(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	v := r.reservationOf(ptr)
	if v == nil || size != v.a.Size || uint64(ptr) != v.a.Base || !noteOf(v.a).freed.CompareAndSwap(false, true) {
		return hip.ErrorInvalidValue
	}
	v.mu.Lock()
	r.unmap(v, func(*mapping) bool { return true })
	v.mu.Unlock()
	r.space.Load().Free(v.a)
	return hip.Success
}

// MemMap puts an allocation, from its beginning, at reserved addresses. No device
// may access it yet. The size may be less than the allocation's; AMD's takes no
// offset, and neither does this.
func (r *Runtime) MemMap(t hip.Thread, ptr hip.Ptr, size, offset uint64, h hip.GenericAllocation, flags uint64) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	p, ok := r.physicals.get(h)
	v := r.reservationOf(ptr)
	addr := uint64(ptr)
	if !ok || v == nil || size == 0 || offset != 0 || flags != 0 || addr%vmem.PageSize != 0 || size%vmem.PageSize != 0 ||
		size > p.size || size > v.a.End()-addr {
		return hip.ErrorInvalidValue
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	i := v.at(addr)
	if p.fd < 0 || noteOf(v.a).freed.Load() || i < len(v.maps) && v.maps[i].base < addr+size {
		return hip.ErrorInvalidValue
	}
	if err := r.space.Load().Map(addr, size, p.fd, 0); err != nil {
		r.o.Logf("simgpu: %v", err)
		return hip.ErrorOutOfMemory
	}
	p.maps++
	v.maps = slices.Insert(v.maps, i, &mapping{base: addr, size: size, p: p, access: make([]hip.MemAccessFlags, len(r.devices))})
	return hip.Success
}

// MemUnmap ends one or more whole mappings, after what the devices were told
// before is done.
func (r *Runtime) MemUnmap(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	v := r.lockMapped(ptr, size)
	if v == nil {
		return hip.ErrorInvalidValue
	}
	v.mu.Unlock()
	r.drain()
	return r.unmapWhole(ptr, size)
}

// MemUnmapNow is MemUnmap as the driver does it: it waits for nothing, and what still uses the addresses faults.
func (r *Runtime) MemUnmapNow(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	return r.unmapWhole(ptr, size)
}

// unmapWhole ends one or more whole mappings.
func (r *Runtime) unmapWhole(ptr hip.Ptr, size uint64) hip.Error {
	v := r.lockMapped(ptr, size)
	if v == nil {
		return hip.ErrorInvalidValue
	}
	defer v.mu.Unlock()
	r.unmapRange(v, ptr, size)
	return hip.Success
}

// lockMapped is the reservation, with mu held, that has whole mappings over the range exactly; nil for none.
func (r *Runtime) lockMapped(ptr hip.Ptr, size uint64) *reservation {
	v := r.reservationOf(ptr)
	if v == nil || size == 0 || size > v.a.End()-uint64(ptr) {
		return nil
	}
	v.mu.Lock()
	if !v.cover(uint64(ptr), size) {
		v.mu.Unlock()
		return nil
	}
	return v
}

// cover says whether whole mappings cover the range exactly. mu is held.
func (v *reservation) cover(addr, n uint64) bool {
	maps := v.over(addr, n)
	return maps != nil && maps[0].base == addr && maps[len(maps)-1].end() == addr+n
}

// unmapRange ends the mappings that lie in the range. v.mu is held.
func (r *Runtime) unmapRange(v *reservation, ptr hip.Ptr, size uint64) {
	r.unmap(v, func(m *mapping) bool { return m.base >= uint64(ptr) && m.end() <= uint64(ptr)+size })
}

// unmap ends the mappings that which chooses. v.mu is held.
func (r *Runtime) unmap(v *reservation, which func(*mapping) bool) {
	var gone []*mapping
	v.maps = slices.DeleteFunc(v.maps, func(m *mapping) bool {
		if which(m) {
			gone = append(gone, m)
			return true
		}
		return false
	})
	for _, m := range gone {
		r.mapped.change(func(w *mappedWindows) { w.remove(m) })
		r.space.Load().Unmap(m.base, m.size)
		m.p.mu.Lock()
		m.p.maps--
		r.drop(m.p)
		m.p.mu.Unlock()
	}
	if len(gone) > 0 {
		r.showWindows()
	}
}

// MemSetAccess says which devices may use mapped memory: whole mappings.
func (r *Runtime) MemSetAccess(t hip.Thread, ptr hip.Ptr, size uint64, desc []hip.MemAccessDesc) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if len(desc) == 0 {
		return hip.ErrorInvalidValue
	}
	for i := range desc {
		switch f := desc[i].Flags; {
		case !r.checkLocation(&desc[i].Location), f != hip.MemAccessFlagsProtNone && f != hip.MemAccessFlagsProtRead && f != hip.MemAccessFlagsProtReadWrite:
			return hip.ErrorInvalidValue
		}
	}
	v := r.lockMapped(ptr, size)
	if v == nil {
		return hip.ErrorInvalidValue
	}
	defer v.mu.Unlock()
	for _, m := range v.over(uint64(ptr), size) {
		access := slices.Clone(m.access)
		for i := range desc {
			access[desc[i].Location.Id] = desc[i].Flags
		}
		if e := r.protect(m, access, m.host); e != hip.Success {
			return e
		}
		r.mapped.change(func(w *mappedWindows) { w.add(m) })
	}
	r.showWindows()
	return hip.Success
}

// protect has the pages of a mapping allow what is given now.
func (r *Runtime) protect(m *mapping, access []hip.MemAccessFlags, host hip.MemAccessFlags) hip.Error {
	now := mapping{access: access, host: host}
	if err := r.space.Load().Protect(m.base, m.size, now.pages()); err != nil {
		r.o.Logf("simgpu: %v", err)
		return hip.ErrorOutOfMemory
	}
	m.access, m.host = access, host
	return hip.Success
}

// pages is what the pages must allow so that each device, and the program, can do what it may.
func (m *mapping) pages() vmem.Access {
	f := m.host
	for _, a := range m.access {
		f |= a
	}
	switch f {
	case hip.MemAccessFlagsProtRead:
		return vmem.Read
	case hip.MemAccessFlagsProtReadWrite:
		return vmem.ReadWrite
	}
	return vmem.None
}

// MemGetAccess is what MemSetAccess said last.
func (r *Runtime) MemGetAccess(t hip.Thread, location *hip.MemLocation, ptr hip.Ptr) (uint64, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	v := r.reservationOf(ptr)
	if v == nil || !r.checkLocation(location) {
		return 0, hip.ErrorInvalidValue
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	m := v.over(uint64(ptr), 1)
	if m == nil {
		return 0, hip.ErrorInvalidValue
	}
	return uint64(m[0].access[location.Id]), hip.Success
}

// MemRetainAllocationHandle is the allocation that is mapped at an address.
func (r *Runtime) MemRetainAllocationHandle(t hip.Thread, addr hip.Ptr) (hip.GenericAllocation, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if v := r.reservationOf(addr); v != nil {
		if m := v.find(uint64(addr)); m != nil {
			return m.p.handle, hip.Success
		}
	}
	return 0, hip.ErrorInvalidValue
}

// mappedWindows are the mappings that devices may access, where each device has
// to be told its own: with one card, page protection says it all.
type mappedWindows struct {
	mu   sync.Mutex
	maps []*mapping // by address
}

func (w *mappedWindows) change(f func(*mappedWindows)) {
	w.mu.Lock()
	f(w)
	w.mu.Unlock()
}

func (w *mappedWindows) remove(m *mapping) {
	if i := slices.Index(w.maps, m); i >= 0 {
		w.maps = slices.Delete(w.maps, i, i+1)
	}
}

func (w *mappedWindows) add(m *mapping) {
	w.remove(m)
	i, _ := slices.BinarySearchFunc(w.maps, m.base, func(o *mapping, x uint64) int { return cmp.Compare(o.base, x) })
	w.maps = slices.Insert(w.maps, i, m)
}

// of is what a device may access, adjacent mappings as one.
func (w *mappedWindows) of(d *device) (list []exec.Window) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.maps {
		f := m.access[d.id]
		if f&hip.MemAccessFlagsProtRead == 0 {
			continue
		}
		x := exec.Window{Base: m.base, Size: m.size, ReadOnly: f != hip.MemAccessFlagsProtReadWrite}
		if n := len(list); n > 0 && list[n-1].Base+list[n-1].Size == x.Base && list[n-1].ReadOnly == x.ReadOnly {
			list[n-1].Size += x.Size
			continue
		}
		list = append(list, x)
	}
	return list
}

// showWindows tells every device what it may access beside the range.
func (r *Runtime) showWindows() {
	g := &r.registered
	g.mu.RLock()
	defer g.mu.RUnlock()
	r.show(r.space.Load(), g.windows())
}

// show is showWindows with the registered memory given, which does not change
// meanwhile.
func (r *Runtime) show(s *space, registered []exec.Window) {
	r.showing.Lock()
	defer r.showing.Unlock()
	s.program.Memory().SetWindows(registered)
	for i, v := range s.views {
		v.SetWindows(append(slices.Clone(registered), r.mapped.of(r.devices[i])...))
	}
}
