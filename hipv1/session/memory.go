package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// memory allocates and frees.
func (s *Session) memory(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.MallocVaddrRequest:
		if code := s.captures.RefuseUnsafe(t); code != hip.Success {
			return nil, code
		}
		return nil, s.mallocAt(q.Vaddr, q.Size)
	case *hipv1.MallocRequest:
		if code := s.captures.RefuseUnsafe(t); code != hip.Success {
			return nil, code
		}
		p, code := s.malloc(q.Size, func() (hip.Ptr, hip.Error) {
			if c.h.Op == hipv1.OpMallocHost {
				return s.Runtime.HostMalloc(t, q.Size, q.Flags)
			}
			return s.Runtime.Malloc(t, q.Size)
		})
		return &hipv1.MallocReply{DevicePtr: p}, code
	case *hipv1.MallocAsyncRequest:
		return s.mallocAsync(q.Size, q.Stream, s.current[s.device])
	case *hipv1.FreeRequest:
		if c.h.Op == hipv1.OpFreeHost {
			return nil, s.freed(q.DevicePtr, func(p hip.Ptr) hip.Error { return s.Runtime.HostFree(t, p) })
		}
		return nil, s.free(q.DevicePtr)
	case *hipv1.FreeAsyncRequest:
		return nil, s.freeAsync(q.DevicePtr, q.Stream)
	}
	return nil, hip.ErrorNotSupported
}

// malloc notes what the runtime allocates.
func (s *Session) malloc(size uint64, f func() (hip.Ptr, hip.Error)) (uint64, hip.Error) {
	if !s.Memory.Take(s.PlaceCost) {
		return 0, hip.ErrorOutOfMemory
	}
	p, code := f()
	if code != hip.Success || p == 0 {
		s.Memory.Give(s.PlaceCost)
		return uint64(p), code
	}
	s.mem.add(region{uint64(p), size, s.device, false})
	return uint64(p), hip.Success
}

// mallocAsync allocates in a stream's turn, from a pool if it is not 0.
func (s *Session) mallocAsync(size, name uint64, pool hip.MemPool) (any, hip.Error) {
	st, code := s.stream(name)
	if code != hip.Success {
		return nil, code
	}
	if s.captures.Active() {
		if !s.nodesFor(1) {
			return nil, hip.ErrorOutOfMemory
		}
		defer s.count()
	}
	t := s.thread()
	p, code := s.malloc(size, func() (hip.Ptr, hip.Error) {
		if done, p, code := s.captures.Allocate(t, size, st); done {
			return p, code
		}
		if pool != 0 {
			return s.Runtime.MallocFromPoolAsync(t, size, pool, st)
		}
		return s.Runtime.MallocAsync(t, size, st)
	})
	return &hipv1.MallocReply{DevicePtr: p}, code
}

// freed has memory freed that the session has allocated.
func (s *Session) freed(p uint64, f func(hip.Ptr) hip.Error) hip.Error {
	if p == 0 {
		return hip.Success
	}
	x, ok := s.mem.at(p)
	if !ok {
		return hip.ErrorInvalidValue
	}
	if code := f(hip.Ptr(p)); code != hip.Success {
		return code
	}
	s.mem.remove(p)
	if x.placed {
		s.gone(x)
	} else {
		s.Memory.Give(s.PlaceCost)
	}
	return hip.Success
}

// free waits for the device, as hipFree does.
func (s *Session) free(p uint64) hip.Error {
	t := s.thread()
	if code := s.captures.RefuseUnsafe(t); code != hip.Success {
		return code
	}
	switch known, last, code := s.graphs.Freed(hip.Ptr(p)); {
	case code != hip.Success:
		return code
	case known && !last: // the graph keeps the memory
		return s.Runtime.DeviceSynchronize(t)
	}
	return s.freed(p, func(p hip.Ptr) hip.Error { return s.Runtime.Free(t, p) })
}

func (s *Session) freeAsync(p, name uint64) hip.Error {
	st, code := s.stream(name)
	if code != hip.Success {
		return code
	}
	if p != 0 && !s.mem.has(p, 1) {
		return hip.ErrorInvalidValue
	}
	if s.captures.Active() {
		if !s.nodesFor(1) {
			return hip.ErrorOutOfMemory
		}
		defer s.count()
		if done, code := s.captures.Free(hip.Ptr(p), st); done {
			return code
		}
	}
	switch known, last, code := s.graphs.Freed(hip.Ptr(p)); {
	case code != hip.Success, known && !last:
		return code
	}
	s.Room()
	return s.freed(p, func(p hip.Ptr) hip.Error { return s.Runtime.FreeAsync(s.thread(), p, st) })
}

// filled is fills, and what is asked about memory.
func (s *Session) filled(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case nil:
		free, total, code := s.Runtime.MemGetInfo(t)
		return &hipv1.MemGetInfoReply{FreeBytes: free, TotalBytes: total}, code
	case *hipv1.MemsetRequest:
		return nil, s.memset(c, q)
	case *hipv1.PointerGetAttributesRequest:
		a, code := s.Runtime.PointerGetAttributes(t, hip.Ptr(q.Ptr))
		return &hipv1.PointerGetAttributesReply{
			MemoryType: int32(a.Type), Device: a.Device, DevicePointer: uint64(a.DevicePointer), HostPointer: uint64(a.HostPointer),
			IsManaged: a.IsManaged, AllocationFlags: a.AllocationFlags,
		}, code
	case *hipv1.PointerGetAttributeRequest:
		v, code := s.Runtime.PointerGetAttribute(t, hip.PointerAttribute(q.Attribute), hip.Ptr(q.Ptr))
		return &hipv1.PointerGetAttributeReply{Data: v}, code
	}
	return nil, hip.ErrorNotSupported
}
