package rocm

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// extents are memory by address: that of the host which was registered, of which the library knows what it was told, but says of the range of such an
// address that it begins at null; and variables, see ModuleGetGlobal.
type extents struct {
	mu   sync.Mutex
	list []extent // they do not overlap: the library refuses that
}

type extent struct {
	base, size uint64
	device     int32
	module     hip.Module // whose variable it is
}

// at is the index of the first extent that ends above addr. mu is held.
func (x *extents) at(addr uint64) int {
	i, _ := slices.BinarySearchFunc(x.list, addr, func(e extent, a uint64) int { return cmp.Compare(e.base+e.size, a+1) })
	return i
}

// find is the extent that an address lies in.
func (x *extents) find(addr hip.Ptr) (extent, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := x.at(uint64(addr)); i < len(x.list) && x.list[i].base <= uint64(addr) {
		return x.list[i], true
	}
	return extent{}, false
}

func (x *extents) add(e extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = slices.Insert(x.list, x.at(e.base), e)
}

// drop takes out what is gone.
func (x *extents) drop(gone func(extent) bool) (dropped []extent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = slices.DeleteFunc(x.list, func(e extent) bool {
		if gone(e) {
			dropped = append(dropped, e)
			return true
		}
		return false
	})
	return dropped
}

// HostRegister is hipHostRegister.
func (r *Runtime) HostRegister(t hip.Thread, ptr hip.Ptr, size uint64, flags uint32) hip.Error {
	err := r.hostRegister(t, ptr, size, flags)
	if err == hip.Success {
		r.registered.add(extent{base: uint64(ptr), size: size, device: t.Device})
	}
	return err
}

// HostUnregister is hipHostUnregister.
func (r *Runtime) HostUnregister(t hip.Thread, ptr hip.Ptr) hip.Error {
	err := r.hostUnregister(t, ptr)
	if err == hip.Success {
		r.registered.drop(func(e extent) bool { return e.base == uint64(ptr) })
	}
	return err
}
