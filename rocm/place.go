package rocm

import (
	"github.com/rocwire/rocwire/hip"
)

// A real library places memory itself. But it has virtual memory: addresses can be
// reserved with a hint, and physical memory mapped there. That is how a remote
// client's addresses are had here: the range is reserved once, and each MallocAt
// is physical memory of its own in it, in one piece, because the library takes
// no copy or fill that goes over the end of a mapping.

const (
	// placeUnit is in what memory is placed: AMD's granularity for dedicated
	// cards, and a multiple of all others.
	placeUnit = 2 << 20
	// smallestRange is the part of a range below which it is not worth having.
	smallestRange = 1 << 30
	// roomLeft is what a library that chooses the addresses itself keeps of what it
	// has for them, for the program's own reservations: all but one in so many.
	roomLeft = 4
)

// Unit is placeUnit, or 0 where a device does not know virtual memory, or the first one may not use another's: copies of mapped memory that only the second
// device may use fault in AMD's library.
func (r *Runtime) Unit() uint64 {
	n, err := r.GetDeviceCount()
	if err != hip.Success || n == 0 || r.table.hipMemAddressReserve == nil || r.table.hipMemCreate == nil || r.table.hipMemMap == nil ||
		r.table.hipMemSetAccess == nil || r.table.hipMemUnmap == nil || r.table.hipMemRelease == nil || r.table.hipMemAddressFree == nil {
		return 0
	}
	for d := range n {
		if yes, err := r.DeviceGetAttribute(hip.DeviceAttributeVirtualMemoryManagementSupported, d); err != hip.Success || yes == 0 {
			return 0
		}
		if d > 0 {
			if can, err := r.DeviceCanAccessPeer(0, d); err != hip.Success || can == 0 {
				return 0
			}
		}
		prop := physicalOn(d)
		g, err := r.MemGetAllocationGranularity(hip.Thread{Device: d}, &prop, hip.MemAllocationGranularityMinimum)
		if err != hip.Success || g == 0 || placeUnit%g != 0 {
			return 0
		}
	}
	return placeUnit
}

func physicalOn(device int32) hip.MemAllocationProp {
	return hip.MemAllocationProp{Type: hip.MemAllocationTypePinned, Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: device}}
}

// ReserveRange is hip.Placer's. own does not matter: what is not placed lies where
// the library wants it.
func (r *Runtime) ReserveRange(all, _ hip.Span, part bool) (hip.Span, hip.Error) {
	if r.placed.ready() || all.Base == 0 || all.Base%placeUnit != 0 || all.Size%(2*placeUnit) != 0 || all.Base+all.Size < all.Base {
		return hip.Span{}, hip.ErrorInvalidValue
	}
	access, err := r.reach()
	if err != hip.Success {
		return hip.Span{}, err
	}
	got, ok := r.reserveIn(all, all.Size)
	for size := all.Size / 2; part && !ok && size >= smallestRange; size /= 2 {
		if got, ok = r.reserveIn(all, size); ok && got.Base != all.Base {
			_ = r.addressFree(hip.Thread{}, hip.Ptr(got.Base), got.Size) // it was reserved just now
			got, ok = r.reserveIn(all, size/roomLeft)
		}
	}
	if !ok {
		return hip.Span{}, hip.ErrorInvalidValue
	}
	r.placed.start(got, access)
	return got, hip.Success
}

// reserveIn reserves size bytes of addresses in all, if possible at its beginning.
func (r *Runtime) reserveIn(all hip.Span, size uint64) (hip.Span, bool) {
	p, err := r.MemAddressReserve(hip.Thread{}, size, placeUnit, hip.Ptr(all.Base), 0)
	if err != hip.Success {
		return hip.Span{}, false
	}
	if uint64(p)%placeUnit != 0 || !all.Contains(uint64(p), size) {
		_ = r.addressFree(hip.Thread{}, p, size) // it was reserved just now
		return hip.Span{}, false
	}
	return hip.Span{Base: uint64(p), Size: size}, true
}

// reach is, for the memory of each device, the devices that may use it: as of
// hipMalloc, every one that can.
func (r *Runtime) reach() ([][]hip.MemAccessDesc, hip.Error) {
	n, err := r.GetDeviceCount()
	if err != hip.Success {
		return nil, err
	}
	access := make([][]hip.MemAccessDesc, n)
	for d := range n {
		for peer := range n {
			if peer != d {
				if can, err := r.DeviceCanAccessPeer(peer, d); err != hip.Success || can == 0 {
					continue
				}
			}
			access[d] = append(access[d], hip.MemAccessDesc{
				Location: hip.MemLocation{Type: hip.MemLocationTypeDevice, Id: peer}, Flags: hip.MemAccessFlagsProtReadWrite,
			})
		}
	}
	return access, hip.Success
}

// Grant is hip.Placer's: nothing is granted.
func (r *Runtime) Grant(hip.Thread, uint64, uint64) (uint64, hip.Error) {
	return 0, hip.ErrorNotSupported
}

// Return is hip.Placer's: nothing is granted.
func (r *Runtime) Return(hip.Thread, uint64) hip.Error { return hip.ErrorNotSupported }

// MallocAt is hip.Placer's.
func (r *Runtime) MallocAt(t hip.Thread, addr hip.Ptr, size uint64) hip.Error {
	p := &r.placed
	x := &region{base: uint64(addr), size: size, device: t.Device}
	again, err := p.enter(x)
	if err != hip.Success || again {
		return err
	}
	err = r.withRoom(func() hip.Error { return r.back(t, x) })
	if err != hip.Success {
		p.remove(x)
		return err
	}
	p.made(x)
	return hip.Success
}

// back puts physical memory at a region's addresses.
func (r *Runtime) back(t hip.Thread, x *region) hip.Error {
	prop := physicalOn(x.device)
	if r.broker != nil { // other processes may have it, see ipcHandle
		prop.RequestedHandleType = hip.MemHandleTypePosixFileDescriptor
	}
	h, err := r.MemCreate(t, x.size, &prop, 0)
	if err == hip.ErrorNotSupported && r.broker != nil {
		prop.RequestedHandleType = hip.MemHandleTypeNone
		h, err = r.MemCreate(t, x.size, &prop, 0)
	}
	if err != hip.Success {
		return err
	}
	if err = r.memMap(t, hip.Ptr(x.base), x.size, 0, h, 0); err == hip.Success {
		if err = r.memSetAccess(t, hip.Ptr(x.base), x.size, r.placed.access[x.device]); err == hip.Success {
			x.handle = h
			return hip.Success
		}
		if r.isMapped(t, hip.Ptr(x.base)) {
			_ = r.memUnmap(t, hip.Ptr(x.base), x.size) // the failure that counts is known
		}
	}
	_ = r.MemRelease(t, h)
	return err
}

// giveBack ends a region that was taken and that nothing uses any more, once the device is quiet, unless it was wanted again before.
func (r *Runtime) giveBack(x *region) {
	r.placed.freed(x)
	m := moment{x.device, r.placed.hurry, func() bool { return !r.placed.is(x, freed) }}
	r.whenQuiet(m, func() {
		if r.placed.end(x) {
			r.release(x)
		}
	})
}

// release gives the memory of a region back.
func (r *Runtime) release(x *region) {
	t := hip.Thread{Device: x.device}
	_ = r.memUnmap(t, hip.Ptr(x.base), x.size) // nobody is there to hear of it, and in a dead context everything fails
	_ = r.MemRelease(t, x.handle)
	r.placed.remove(x)
}
