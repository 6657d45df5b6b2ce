package simgpu

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/exec"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// registered is host memory of the program's that kernels may use: through
// windows beside the device's address range, at its own address.
type registered struct {
	mu   sync.RWMutex
	list []region // by address
}

type region struct {
	base, size uint64
	flags      uint32
	managed    bool // a managed variable of the program's
	d          *device
	hints      *hints
}

func (g region) kind() vmem.Kind {
	if g.managed {
		return vmem.Managed
	}
	return vmem.Host
}

// find is the region that holds the n bytes at addr.
func (g *registered) find(addr, n uint64) (region, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	i, _ := slices.BinarySearchFunc(g.list, addr, func(r region, a uint64) int { return cmp.Compare(r.base, a) })
	if i == len(g.list) || g.list[i].base > addr {
		i--
	}
	if i < 0 || addr-g.list[i].base > g.list[i].size || n > g.list[i].size-(addr-g.list[i].base) {
		return region{}, false
	}
	return g.list[i], true
}

// windows are the regions as kernels see them. mu is held.
func (g *registered) windows() []exec.Window {
	var w []exec.Window
	for _, r := range g.list {
		w = append(w, exec.Window{Base: r.base, Size: r.size})
	}
	return w
}

// Flags of hipHostRegister.
const registerFlags = 0x1 | 0x2 | 0x4 | 0x8

// HostRegister lets kernels use memory that the program allocated elsewhere, at
// its own address. As with AMD's runtime, memory may be registered that is: the
// program may have freed it meanwhile. Nothing changes if all of it was;
// otherwise what overlaps it ends.
func (r *Runtime) HostRegister(t hip.Thread, ptr hip.Ptr, size uint64, flags uint32) hip.Error {
	if flags&^registerFlags != 0 {
		return hip.ErrorInvalidValue
	}
	return r.register(t, ptr, size, flags, false)
}

// ManageHost makes memory of the program managed memory, where it lies. See
// hip.HostManager.
func (r *Runtime) ManageHost(t hip.Thread, ptr hip.Ptr, size uint64) hip.Error {
	return r.register(t, ptr, size, attachGlobal, true)
}

// UnmanageHost ends what ManageHost began.
func (r *Runtime) UnmanageHost(t hip.Thread, ptr hip.Ptr) hip.Error {
	return r.endRegistration(t, ptr, true, true)
}

func (r *Runtime) register(t hip.Thread, ptr hip.Ptr, size uint64, flags uint32, managed bool) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	base := uint64(ptr)
	if base == 0 || size == 0 || size > ^uint64(0)-base {
		return hip.ErrorInvalidValue
	}
	s, e := r.memory()
	if e != hip.Success {
		return e
	}
	if base+size > s.Base() && base < s.Base()+s.Size() {
		if r.allocation(ptr) != nil {
			return hip.ErrorHostMemoryAlreadyRegistered
		}
		return hip.ErrorInvalidValue
	}
	if addr := guard(func() { touch(base, size) }); addr != 0 {
		r.o.Logf("simgpu: registering %d bytes at %v: address %#x cannot be accessed", size, ptr, addr)
		return hip.ErrorInvalidValue
	}
	g := &r.registered
	g.mu.Lock()
	defer g.mu.Unlock()
	var overlaps []region
	for _, x := range g.list {
		if x.base < base+size && base < x.base+x.size {
			overlaps = append(overlaps, x)
		}
	}
	for _, x := range overlaps {
		if x.managed || managed {
			return hip.ErrorHostMemoryAlreadyRegistered
		}
		if x.base <= base && base+size <= x.base+x.size {
			return hip.Success
		}
	}
	g.end(func(x region) bool { return slices.Contains(overlaps, x) })
	i, _ := slices.BinarySearchFunc(g.list, base, func(r region, a uint64) int { return cmp.Compare(r.base, a) })
	g.list = slices.Insert(g.list, i, region{base, size, flags, managed, d, &hints{}})
	r.show(s, g.windows())
	d.meter.TakeHost(vmem.RoundUp(size))
	return hip.Success
}

// Readable reports whether the program's memory at an address is there. The program can take it away again, of course.
func Readable(addr, size uint64) bool {
	return size <= ^uint64(0)-addr && guard(func() { touch(addr, size) }) == 0
}

// touch reads a byte of every page.
func touch(base, size uint64) {
	var sum byte
	for a := base; a-base < size; a = (a | (vmem.PageSize - 1)) + 1 {
		sum += vmem.Raw(a, 1)[0]
	}
	runtime.KeepAlive(sum) // or nothing is read
}

// HostUnregister ends what HostRegister began, after everything the devices
// were told to do is done.
func (r *Runtime) HostUnregister(t hip.Thread, ptr hip.Ptr) hip.Error {
	return r.endRegistration(t, ptr, false, true)
}

// HostUnregisterNow is HostUnregister as the driver does it: it waits for nothing.
func (r *Runtime) HostUnregisterNow(t hip.Thread, ptr hip.Ptr) hip.Error {
	return r.endRegistration(t, ptr, false, false)
}

func (r *Runtime) endRegistration(t hip.Thread, ptr hip.Ptr, managed, wait bool) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.ErrorInvalidValue
	}
	this := func(g region) bool { return g.base == uint64(ptr) && g.managed == managed }
	if g, ok := r.registered.find(uint64(ptr), 1); !ok || !this(g) {
		return hip.ErrorHostMemoryNotRegistered
	}
	if wait {
		r.drain()
	}
	if !r.unregister(this) {
		return hip.ErrorHostMemoryNotRegistered
	}
	return hip.Success
}

// unregister ends all regions that which chooses, and says whether there were.
func (r *Runtime) unregister(which func(region) bool) bool {
	g := &r.registered
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.end(which) {
		return false
	}
	r.show(r.space.Load(), g.windows())
	return true
}

// end takes out the regions that which chooses, and says whether there were. mu
// is held.
func (g *registered) end(which func(region) bool) bool {
	n := len(g.list)
	g.list = slices.DeleteFunc(g.list, func(x region) bool {
		if which(x) {
			x.d.meter.GiveHost(vmem.RoundUp(x.size))
			return true
		}
		return false
	})
	return len(g.list) != n
}
