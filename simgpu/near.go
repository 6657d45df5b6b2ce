package simgpu

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// maxNear bounds the allocations whose memory the program's process has: each is a descriptor.
const maxNear = 1024

// Near is the memory of the card allocation at ptr as a file, for the process on this machine whose it is: who maps it sees what kernels and copies do, and they
// see what he does. The descriptor is the caller's. ErrorInvalidValue: there is no such allocation, or its memory is another program's, too. ErrorNotReady:
// something is under way, and memory that is used cannot be put in another place.
func (r *Runtime) Near(t hip.Thread, ptr hip.Ptr) (fd int, base hip.Ptr, size uint64, e hip.Error) {
	if _, e = r.enter(t); e != hip.Success {
		return -1, 0, 0, e
	}
	defer r.leave()
	a := r.allocation(ptr)
	if a == nil || a.Kind != vmem.Device || noteOf(a).imported || noteOf(a).block.Load() != nil {
		return -1, 0, 0, hip.ErrorInvalidValue
	}
	r.shares.moving.Lock()
	defer r.shares.moving.Unlock()
	fd, e = r.shares.nearBy(noteOf(a))
	if e == hip.Success && fd < 0 {
		fd, e = r.bringNear(a)
	}
	return fd, hip.Ptr(a.Base), a.Pages(), e
}

// nearBy is a descriptor of memory that is in a file already, -1 if it is in none.
func (s *shares) nearBy(n *note) (fd int, e hip.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &n.file
	switch {
	case n.freed.Load() || f.gone || f.made && !f.near:
		return -1, hip.ErrorInvalidValue
	case f.near:
		return duplicate(f.fd)
	case s.near >= maxNear:
		return -1, hip.ErrorOutOfMemory
	}
	return -1, hip.Success
}

// bringNear puts the pages of a in a file of their own, while nothing runs. moving is held.
func (r *Runtime) bringNear(a *vmem.Alloc) (fd int, e hip.Error) {
	if !r.gate.TryClose() {
		return -1, hip.ErrorNotReady
	}
	defer r.gate.Open()
	file, err := vmem.NewFile(a.Pages())
	if err != nil {
		r.o.Logf("simgpu: %v", err)
		return -1, hip.ErrorOutOfMemory
	}
	if e = r.moved(a, file); e == hip.Success {
		n := noteOf(a)
		r.shares.mu.Lock()
		defer r.shares.mu.Unlock()
		if e = hip.ErrorInvalidValue; !n.file.gone {
			if fd, e = duplicate(file); e == hip.Success {
				n.file.near, n.file.fd = true, file
				r.shares.near++
				return fd, hip.Success
			}
		}
	}
	_ = unix.Close(file)
	return -1, e
}

func duplicate(fd int) (int, hip.Error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, hip.ErrorOutOfMemory
	}
	return own, hip.Success
}
