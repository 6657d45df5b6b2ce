package rocm

import (
	"cmp"
	"math"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
)

// What a program does with virtual memory is judged here, because AMD's library
// believes all it is told: hipMemUnmap and hipMemAddressFree of what is not there
// read at null, a second hipMemRelease reads freed memory, and hipMemMap answers
// that it has mapped what it has not. The memory of the client's range is not
// among this, see placed.

// allocs are allocations of physical memory, reserved addresses, and what is
// mapped there. A token ends with the memory, which lives until it is released
// and nowhere mapped.
type allocs struct {
	mu       sync.Mutex
	all      map[hip.GenericAllocation]*alloc
	reserved map[hip.Ptr]uint64 // sizes
	maps     []mapping          // by address, not overlapping
}

type alloc struct {
	handle   hip.GenericAllocation
	device   int32
	size     uint64
	token    *hip.IpcMemHandle // nil: it was not exported
	maps     int
	released bool
}

type mapping struct {
	base, size uint64
	of         *alloc
}

func (m mapping) end() uint64 { return m.base + m.size }

// made notes a new allocation.
func (x *allocs) made(h hip.GenericAllocation, device int32, size uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[hip.GenericAllocation]*alloc{}
	}
	x.all[h] = &alloc{handle: h, device: device, size: size}
}

// has says whether there is such an allocation.
func (x *allocs) has(h hip.GenericAllocation) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all[h] != nil
}

// at is the index of the first mapping that ends above addr. mu is held.
func (x *allocs) at(addr uint64) int {
	i, _ := slices.BinarySearchFunc(x.maps, addr, func(m mapping, a uint64) int { return cmp.Compare(m.end(), a+1) })
	return i
}

// within says whether all of the range was reserved at once. mu is held.
func (x *allocs) within(addr, n uint64) bool {
	for base, size := range x.reserved {
		if off := addr - uint64(base); off < size && n <= size-off {
			return true
		}
	}
	return false
}

// enter takes addresses for a mapping; false if that makes no sense.
func (x *allocs) enter(addr, size uint64, h hip.GenericAllocation) (m mapping, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.all[h]
	if a == nil || size == 0 || size > a.size || !x.within(addr, size) {
		return m, false
	}
	i := x.at(addr)
	if i < len(x.maps) && x.maps[i].base < addr+size {
		return m, false
	}
	a.maps++
	m = mapping{addr, size, a}
	x.maps = slices.Insert(x.maps, i, m)
	return m, true
}

// take ends the mappings that cover a range exactly, for its caller to unmap; none if there are no such.
func (x *allocs) take(addr, size uint64) []mapping {
	x.mu.Lock()
	defer x.mu.Unlock()
	i := x.at(addr)
	j, end := i, addr
	for ; j < len(x.maps) && x.maps[j].base == end && end-addr < size; j++ {
		end = x.maps[j].end()
	}
	if j == i || end-addr != size {
		return nil
	}
	list := slices.Clone(x.maps[i:j])
	x.maps = slices.Delete(x.maps, i, j)
	return list
}

// restore is for mappings that were not unmapped after all.
func (x *allocs) restore(list []mapping) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, m := range list {
		x.maps = slices.Insert(x.maps, x.at(m.base), m)
	}
}

// gone is the end of a mapping that was entered.
func (r *Runtime) gone(m mapping) {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	x.maps = slices.DeleteFunc(x.maps, func(y mapping) bool { return y == m })
	m.of.maps--
	r.settle(m.of)
}

// settle forgets an allocation that has come to its end. mu is held.
func (r *Runtime) settle(a *alloc) {
	if !a.released || a.maps > 0 {
		return
	}
	if a.token != nil {
		r.broker.Withdraw(hip.ShareToken(a.token.Reserved[:32]))
	}
	if r.allocs.all[a.handle] == a { // the library may have given the handle to another
		delete(r.allocs.all, a.handle)
	}
}

// MemCreate is hipMemCreate.
func (r *Runtime) MemCreate(t hip.Thread, size uint64, prop *hip.MemAllocationProp, flags uint64) (hip.GenericAllocation, hip.Error) {
	h, err := r.memCreate(t, size, prop, flags)
	if err == hip.Success {
		r.allocs.made(h, prop.Location.Id, size)
	}
	return h, err
}

// imported notes an allocation of a descriptor's.
func (r *Runtime) imported(h hip.GenericAllocation, device int32, fd int) {
	// If the kernel does not say it, the library is left to judge. Memory is whole pages; what is not is no memory but says where some is, as the
	// descriptors of a remote library do.
	size := uint64(math.MaxUint64)
	if n, err := unix.Seek(fd, 0, unix.SEEK_END); err == nil && n > 0 && n%int64(os.Getpagesize()) == 0 {
		size = uint64(n)
	}
	r.allocs.made(h, device, size)
}

// MemRelease is hipMemRelease. What is mapped still, and was released, may be released again: hipMemRetainAllocationHandle
// takes no share in AMD's library.
func (r *Runtime) MemRelease(t hip.Thread, handle hip.GenericAllocation) hip.Error {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	a := x.all[handle]
	switch {
	case a == nil:
		return hip.ErrorInvalidValue
	case a.released:
		return hip.Success
	}
	err := r.memRelease(t, handle)
	if err == hip.Success {
		a.released = true
		r.settle(a)
	}
	return err
}

// MemGetAllocationPropertiesFromHandle is hipMemGetAllocationPropertiesFromHandle.
func (r *Runtime) MemGetAllocationPropertiesFromHandle(t hip.Thread, h hip.GenericAllocation) (hip.MemAllocationProp, hip.Error) {
	if !r.allocs.has(h) {
		return hip.MemAllocationProp{}, hip.ErrorInvalidValue
	}
	return r.memGetAllocationPropertiesFromHandle(t, h)
}

// MemRetainAllocationHandle is hipMemRetainAllocationHandle. The library would read at null for memory that is not mapped.
func (r *Runtime) MemRetainAllocationHandle(_ hip.Thread, addr hip.Ptr) (hip.GenericAllocation, hip.Error) {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.at(uint64(addr)); i < len(x.maps) && x.maps[i].base <= uint64(addr) {
		return x.maps[i].of.handle, hip.Success
	}
	return 0, hip.ErrorInvalidValue
}

// MemAddressReserve is hipMemAddressReserve.
func (r *Runtime) MemAddressReserve(t hip.Thread, size, alignment uint64, addr hip.Ptr, flags uint64) (hip.Ptr, hip.Error) {
	p, err := r.memAddressReserve(t, size, alignment, addr, flags)
	if err == hip.Success {
		x := &r.allocs
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.reserved == nil {
			x.reserved = map[hip.Ptr]uint64{}
		}
		x.reserved[p] = size
	}
	return p, err
}

// addressFree is hipMemAddressFree. What is mapped there is unmapped.
func (r *Runtime) addressFree(t hip.Thread, p hip.Ptr, size uint64) hip.Error {
	x := &r.allocs
	x.mu.Lock()
	if n, ok := x.reserved[p]; !ok || n != size {
		x.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	delete(x.reserved, p)
	i := x.at(uint64(p))
	j := i
	for j < len(x.maps) && x.maps[j].base-uint64(p) < size {
		j++
	}
	list := slices.Clone(x.maps[i:j])
	x.maps = slices.Delete(x.maps, i, j)
	x.mu.Unlock()
	err := r.unmapAll(t, list)
	if err == hip.Success {
		err = r.memAddressFree(t, p, size)
	}
	if err != hip.Success {
		x.mu.Lock()
		x.reserved[p] = size
		x.mu.Unlock()
	}
	return err
}

// mapAllocation is hipMemMap.
func (r *Runtime) mapAllocation(t hip.Thread, ptr hip.Ptr, size uint64, offset uint64, handle hip.GenericAllocation, flags uint64) hip.Error {
	m, ok := r.allocs.enter(uint64(ptr), size, handle)
	if !ok {
		return hip.ErrorInvalidValue
	}
	err := r.memMap(t, ptr, size, offset, handle, flags)
	if err == hip.Success && !r.isMapped(t, ptr) {
		err = hip.ErrorInvalidValue
	}
	if err != hip.Success {
		r.gone(m)
	}
	return err
}

// isMapped says whether the library has mapped anything at an address, which the answer of its hipMemMap does not.
func (r *Runtime) isMapped(t hip.Thread, ptr hip.Ptr) bool {
	_, err := r.memGetAccess(t, &hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: t.Device}, ptr)
	return err == hip.Success || err == hip.ErrorNotSupported
}

// unmapAllocation is hipMemUnmap. It waits for the device, and nothing else waits for it.
func (r *Runtime) unmapAllocation(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	list := r.allocs.take(uint64(ptr), size)
	if list == nil {
		return hip.ErrorInvalidValue
	}
	return r.unmapAll(t, list)
}

// unmapAll unmaps what was taken, one by one: the library knows no more of a range than what begins there.
func (r *Runtime) unmapAll(t hip.Thread, list []mapping) hip.Error {
	for i, m := range list {
		if err := r.unmap(t, m.of.device, hip.Ptr(m.base), m.size); err != hip.Success {
			r.allocs.restore(list[i:])
			return err
		}
		r.gone(m)
	}
	return hip.Success
}

// endAll ends all allocations of a device and their mappings, which a reset would take from under them.
func (r *Runtime) endAll(device int32) {
	x, t := &r.allocs, hip.Thread{Device: device}
	x.mu.Lock()
	var list []mapping
	x.maps = slices.DeleteFunc(x.maps, func(m mapping) bool {
		if m.of.device == device {
			list = append(list, m)
			return true
		}
		return false
	})
	var handles []hip.GenericAllocation
	for h, a := range x.all {
		if a.device == device && !a.released {
			handles = append(handles, h)
		}
	}
	x.mu.Unlock()
	for _, m := range list {
		_ = r.memUnmap(t, hip.Ptr(m.base), m.size) // in a dead context everything fails, and the reset ends it
		r.gone(m)
	}
	for _, h := range handles {
		_ = r.MemRelease(t, h)
	}
}

// exported says whether a token is of memory of this process.
func (r *Runtime) exported(token hip.ShareToken) bool {
	x := &r.allocs
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.all {
		if a.token != nil && hip.ShareToken(a.token.Reserved[:32]) == token {
			return true
		}
	}
	return false
}
