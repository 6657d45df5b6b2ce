package worker

import (
	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
)

// Host memory that the client's program has not from HIP lies at an address of its own choice. Here a copy of it lies at the same address, if that is
// free in this process (claims), and is registered with the runtime: devices see it there.

// registration is how claimed memory is registered: for all devices.
const registration = hip.HostRegisterPortable | hip.HostRegisterMapped

// doHostClaim takes addresses for host memory of the client, which lies there. No kernel sees them before doHostExpose.
func (s *session) doHostClaim(r *wire.Request) {
	p, t, ok := s.place(r)
	if !ok {
		return
	}
	s.mayWait(r, func(r *wire.Request) { s.reply(r, s.claim(t, p), nil) })
}

func (s *session) claim(t hip.Thread, p hiprpc.Place) hip.Error {
	h := &s.host
	h.try.Do(func() { h.inPlace = s.seesInPlace(t) })
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.inPlace || !h.claims.take(uint64(p.Addr), p.Size) {
		return hip.ErrorMapFailed
	}
	return hip.Success
}

// seesInPlace tries whether devices see registered memory at its own address. The page stays registered: to end that waits for whatever the streams
// have to do, and this may be in the midst of it.
func (s *session) seesInPlace(t hip.Thread) bool {
	if s.hosts != nil {
		return true // this is the simulator's way
	}
	b, err := unix.Mmap(-1, 0, hip.Granule, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return false
	}
	p := addressOf(b)
	if s.rt.HostRegister(t, p, hip.Granule, registration) != hip.Success {
		_ = unix.Munmap(b)
		return false
	}
	d, code := s.rt.HostGetDevicePointer(t, p, 0)
	return code == hip.Success && d == p
}

// registerClaim gives the devices a claim. The table is locked.
func (s *session) registerClaim(t hip.Thread, addr hip.Ptr, size uint64) hip.Error {
	if !s.host.claims.clear(uint64(addr)) {
		return hip.ErrorOutOfMemory
	}
	return s.rt.HostRegister(t, addr, size, registration)
}

// doHostRelease ends a claim, once the devices have done what they were told.
func (s *session) doHostRelease(r *wire.Request) {
	t, addr, ok := s.hostAddress(r)
	if !ok {
		return
	}
	s.mayWait(r, func(r *wire.Request) { s.reply(r, s.release(t, addr), nil) })
}

func (s *session) release(t hip.Thread, addr hip.Ptr) hip.Error {
	h := &s.host
	h.mu.Lock()
	_, ok := h.claims.find(uint64(addr))
	x := h.open[addr]
	delete(h.open, addr)
	h.mu.Unlock()
	if !ok {
		return hip.ErrorInvalidValue
	}
	code := hip.Success
	if x != nil {
		code = s.rt.HostUnregister(t, addr) // it waits, and those that it waits for may need the table
		s.ended(x)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if y := h.open[addr]; y != nil { // exposed again meanwhile, against the client's own interest
		delete(h.open, addr)
		s.ended(y)
	}
	h.claims.give(uint64(addr))
	return code
}

// end waits for who is just looking at a region, and lets nobody do so any more. It says how large the region was, 0 if it has ended before.
func (x *hostRegion) end() (size int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	size = x.size
	x.size, x.twin = 0, nil
	if x.watch != nil {
		x.watch.Close()
	}
	return size
}

// clearHost forgets the regions of a device that was reset. Their claims remain.
func (s *session) clearHost(t hip.Thread) {
	h := &s.host
	var claimed []hip.Ptr
	h.mu.Lock()
	for addr, x := range h.open {
		if x.device != t.Device {
			continue
		}
		delete(h.open, addr)
		s.ended(x)
		if x.claimed {
			claimed = append(claimed, addr)
		}
	}
	h.mu.Unlock()
	h.streams.Forget(t.Device)
	for _, addr := range claimed {
		_ = s.rt.HostUnregister(t, addr) // as far as the runtime has not forgotten it, too
	}
}
