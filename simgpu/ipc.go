package simgpu

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// ipcMemLazyEnablePeerAccess is the only flag of hipIpcOpenMemHandle, and has to
// be given.
const ipcMemLazyEnablePeerAccess = 1

// standstill is how long it may take for kernels and copies to come to an end,
// so that memory can be moved to a file.
const standstill = 30 * time.Second

// shares are the memory that this process shares with others by handles.
type shares struct {
	moving   sync.Mutex // held while memory is made shareable
	mu       sync.Mutex
	exported map[hip.ShareToken]struct{}
	opened   map[hip.ShareToken]*opened
	near     int // allocations of which the program's process has the memory
}

// opened is memory of another process, opened once or several times.
type opened struct {
	token hip.ShareToken
	a     *vmem.Alloc
	times int
}

// export makes the allocation at ptr available to other processes. Its pages
// become those of a file, unless they are; what runs on the devices comes to a
// stop meanwhile. ErrorInvalidValue: it is no card memory.
func (r *Runtime) export(ptr hip.Ptr) (ticket, hip.Error) {
	a := r.allocation(ptr)
	if a == nil || a.Kind != vmem.Device {
		return ticket{}, hip.ErrorInvalidValue
	}
	n := noteOf(a)
	r.shares.moving.Lock()
	defer r.shares.moving.Unlock()
	r.shares.mu.Lock()
	f, fd := n.file, -1
	var err error
	if f.near && !f.made && !f.gone {
		fd, err = unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 0)
	}
	r.shares.mu.Unlock()
	if n.freed.Load() || n.imported || f.gone {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return ticket{}, hip.ErrorInvalidValue
	}
	if !f.made {
		if !f.near {
			fd, err = vmem.NewFile(a.Pages())
		}
		if err != nil {
			r.o.Logf("simgpu: %v", err)
			return ticket{}, hip.ErrorOutOfMemory
		}
		defer func() { _ = unix.Close(fd) }() // the broker and the mapping keep it
		token, e := r.o.Broker.Publish(hip.Shared{FD: fd, Size: a.Pages(), Card: uint32(n.d.card), Kind: sharedMemory})
		if e != hip.Success {
			return ticket{}, e
		}
		if !f.near {
			e = r.move(a, fd)
		}
		if e != hip.Success || !r.shares.enter(n, token) {
			r.o.Broker.Withdraw(token)
			return ticket{}, max(e, hip.ErrorInvalidValue)
		}
		f.token = token
	}
	return ticket{token: f.token, offset: uint64(ptr) - a.Base, size: a.Size}, hip.Success
}

// enter notes that an allocation is shared; false if it was freed meanwhile.
func (s *shares) enter(n *note, token hip.ShareToken) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n.file.gone {
		return false
	}
	n.file.made, n.file.token = true, token
	if s.exported == nil {
		s.exported = map[hip.ShareToken]struct{}{}
	}
	s.exported[token] = struct{}{}
	return true
}

// move makes the pages of a those of a file, with their contents.
func (r *Runtime) move(a *vmem.Alloc, fd int) hip.Error {
	if !r.gate.Close(standstill) {
		r.o.Logf("simgpu: memory at %#x cannot be shared: kernels have not come to an end for %v", a.Base, standstill)
		return hip.ErrorNotReady
	}
	defer r.gate.Open()
	return r.moved(a, fd)
}

// moved is move while nothing runs.
func (r *Runtime) moved(a *vmem.Alloc, fd int) hip.Error {
	err := vmem.Fill(fd, a.Base, a.Pages())
	if err == nil {
		err = r.space.Load().Share(a, fd)
	}
	if err != nil {
		r.o.Logf("simgpu: %v", err)
		return hip.ErrorOutOfMemory
	}
	return hip.Success
}

// file is what there is of an allocation's pages in a file.
type file struct {
	made, gone bool // other processes of this kind can have it; the allocation is freed
	token      hip.ShareToken
	near       bool // the program's own process has it, see Near
	fd         int
}

// unshare ends what export began. Those who have the memory keep it.
func (r *Runtime) unshare(n *note) {
	r.shares.mu.Lock()
	f := n.file
	n.file.gone, n.file.near = true, false
	delete(r.shares.exported, f.token)
	if f.near {
		r.shares.near--
	}
	r.shares.mu.Unlock()
	if f.near {
		if !f.made { // whoever still has it mapped finds nothing, and pays for what he writes there
			_ = unix.Fallocate(f.fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 1<<46)
		}
		_ = unix.Close(f.fd)
	}
	if f.made {
		r.o.Broker.Withdraw(f.token)
	}
}

// attach maps what was exported under a ticket. ErrorInvalidValue: nothing was.
func (r *Runtime) attach(d *device, k ticket) (*vmem.Alloc, hip.Error) {
	space, e := r.memory()
	if e != hip.Success {
		return nil, e
	}
	s, owner, e := r.fetch(k.token, sharedMemory)
	if e != hip.Success {
		return nil, e
	}
	defer func() { _ = unix.Close(s.FD) }()
	if owner == nil {
		owner = d
	}
	size := s.Size
	if k.size <= size && vmem.RoundUp(k.size) == size {
		size = k.size
	}
	if k.offset >= size || !owner.takeImport(s.Size) {
		return nil, hip.ErrorInvalidValue
	}
	a, err := space.AllocShared(size, vmem.Alloc{Kind: vmem.Device, Card: owner.id, Note: &note{d: owner, imported: true}}, s.FD)
	if err != nil {
		owner.takeImport(-s.Size)
		r.o.Logf("simgpu: %v", err)
		return nil, hip.ErrorOutOfMemory
	}
	return a, hip.Success
}

// takeImport counts memory of other processes, who account for it as long as
// they live: no more than the card has. n is negative (mod 2^64) to give back.
func (d *device) takeImport(n uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sum := d.imported + n; int64(n) < 0 || sum <= d.meter.Capacity() {
		d.imported = sum
		return true
	}
	return false
}

// IpcGetMemHandle is what another process opens memory of this one by.
func (r *Runtime) IpcGetMemHandle(t hip.Thread, ptr hip.Ptr) (hip.IpcMemHandle, hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return hip.IpcMemHandle{}, e
	}
	defer r.leave()
	if ptr == 0 {
		return hip.IpcMemHandle{}, hip.ErrorInvalidValue
	}
	k, e := r.export(ptr)
	if e != hip.Success {
		return hip.IpcMemHandle{}, e
	}
	return k.handle(), hip.Success
}

// IpcOpenMemHandle is memory of another process, at an address of this one's.
// Opened again it is at the same address, until it was closed as often.
// ErrorInvalidContext: it is this process's own.
func (r *Runtime) IpcOpenMemHandle(t hip.Thread, handle *hip.IpcMemHandle, flags uint32) (hip.Ptr, hip.Error) {
	d, e := r.enter(t)
	if e != hip.Success {
		return 0, e
	}
	defer r.leave()
	if handle == nil || flags != ipcMemLazyEnablePeerAccess {
		return 0, hip.ErrorInvalidValue
	}
	k := ticketOf(handle)
	if k.size == 0 {
		return 0, hip.ErrorInvalidValue
	}
	r.shares.mu.Lock()
	defer r.shares.mu.Unlock()
	if _, own := r.shares.exported[k.token]; own {
		return 0, hip.ErrorInvalidContext
	}
	o := r.shares.opened[k.token]
	if o == nil {
		a, e := r.attach(d, k)
		if e == hip.ErrorInvalidValue {
			return 0, hip.ErrorInvalidDevicePointer
		} else if e != hip.Success {
			return 0, e
		}
		o = &opened{token: k.token, a: a}
		noteOf(a).opened = o
		if r.shares.opened == nil {
			r.shares.opened = map[hip.ShareToken]*opened{}
		}
		r.shares.opened[k.token] = o
	} else if k.offset >= o.a.Size {
		return 0, hip.ErrorInvalidDevicePointer
	}
	o.times++
	return hip.Ptr(o.a.Base + k.offset), hip.Success
}

// IpcCloseMemHandle ends one IpcOpenMemHandle, after everything the devices were
// told to do is done.
func (r *Runtime) IpcCloseMemHandle(t hip.Thread, ptr hip.Ptr) hip.Error {
	if _, e := r.enter(t); e != hip.Success {
		return e
	}
	defer r.leave()
	a := r.allocation(ptr)
	if ptr == 0 || a == nil || noteOf(a).opened == nil {
		return hip.ErrorInvalidValue
	}
	r.drain()
	o := noteOf(a).opened
	r.shares.mu.Lock()
	if o.times == 0 {
		r.shares.mu.Unlock()
		return hip.ErrorInvalidValue
	}
	o.times--
	last := o.times == 0
	if last {
		delete(r.shares.opened, o.token)
	}
	r.shares.mu.Unlock()
	if last {
		r.release(a)
	}
	return hip.Success
}
