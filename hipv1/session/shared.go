package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// shared is memory and events of several programs, and memory pools.
func (s *Session) shared(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.IPCGetMemHandleRequest:
		if !s.mem.has(q.DevicePtr, 1) {
			return nil, hip.ErrorInvalidValue
		}
		h, code := s.Runtime.IpcGetMemHandle(t, hip.Ptr(q.DevicePtr))
		return &hipv1.IPCGetMemHandleReply{Handle: h.Reserved}, code
	case *hipv1.IPCOpenMemHandleRequest:
		return s.openMemory(q)
	case *hipv1.IPCCloseMemHandleRequest:
		return nil, s.freed(q.DevicePtr, func(p hip.Ptr) hip.Error { return s.Runtime.IpcCloseMemHandle(t, p) })
	case *hipv1.IPCGetEventHandleRequest:
		e, code := s.event(q.Event)
		if code != hip.Success {
			return nil, code
		}
		h, code := s.Runtime.IpcGetEventHandle(t, e)
		return &hipv1.IPCGetEventHandleReply{Handle: h.Reserved}, code
	case *hipv1.IPCOpenEventHandleRequest:
		name, code := s.newEvent(func() (hip.Event, hip.Error) {
			return s.Runtime.IpcOpenEventHandle(t, &hip.IpcEventHandle{Reserved: q.Handle})
		})
		return &hipv1.IPCOpenEventHandleReply{Event: name}, code
	}
	return s.ofPool(c)
}

func (s *Session) openMemory(q *hipv1.IPCOpenMemHandleRequest) (any, hip.Error) {
	t := s.thread()
	if !s.Memory.Take(s.PlaceCost) {
		return nil, hip.ErrorOutOfMemory
	}
	p, code := s.Runtime.IpcOpenMemHandle(t, &hip.IpcMemHandle{Reserved: q.Handle}, q.Flags)
	if code == hip.Success {
		var base hip.Ptr
		var n uint64
		if base, n, code = s.Runtime.MemGetAddressRange(t, p); code == hip.Success {
			s.mem.add(region{uint64(base), n, s.device, false})
			return &hipv1.IPCOpenMemHandleReply{DevicePtr: uint64(p)}, hip.Success
		}
		_ = s.Runtime.IpcCloseMemHandle(t, p)
	}
	s.Memory.Give(s.PlaceCost)
	return nil, code
}

func (s *Session) ofPool(c *call) (any, hip.Error) {
	t := s.thread()
	switch q := c.body.(type) {
	case *hipv1.MemPoolCreateRequest:
		return s.createPool(q)
	case *hipv1.DeviceGetMemPoolRequest:
		return s.devicePool(c, q.Device)
	case *hipv1.DeviceSetMemPoolRequest:
		p, code := s.pool(q.MemPool)
		if !s.has(q.Device) {
			return nil, hip.ErrorInvalidDevice
		}
		if code == hip.Success {
			s.current[q.Device] = p
		}
		return nil, code
	case *hipv1.MallocFromPoolAsyncRequest:
		p, code := s.pool(q.MemPool)
		if code != hip.Success {
			return nil, code
		}
		return s.mallocAsync(q.Size, q.Stream, p)
	case *hipv1.MemPoolDestroyRequest:
		return nil, s.destroyPool(q.MemPool)
	case *hipv1.MemPoolSetAttributeRequest:
		p, code := s.pool(q.MemPool)
		if code != hip.Success {
			return nil, code
		}
		return nil, s.Runtime.MemPoolSetAttribute(t, p, hip.MemPoolAttr(q.Attr), q.Value)
	case *hipv1.MemPoolGetAttributeRequest:
		p, code := s.pool(q.MemPool)
		if code != hip.Success {
			return nil, code
		}
		v, code := s.Runtime.MemPoolGetAttribute(t, p, hip.MemPoolAttr(q.Attr))
		return &hipv1.MemPoolGetAttributeReply{Value: v}, code
	case *hipv1.MemPoolTrimToRequest:
		p, code := s.pool(q.MemPool)
		if code != hip.Success {
			return nil, code
		}
		return nil, s.Runtime.MemPoolTrimTo(p, q.MinBytesToHold)
	}
	return nil, hip.ErrorNotSupported
}

func (s *Session) createPool(q *hipv1.MemPoolCreateRequest) (any, hip.Error) {
	if !s.Memory.Take(s.Cost(hip.HandleMemPool)) {
		return nil, hip.ErrorOutOfMemory
	}
	s.Memory.Give(s.Cost(hip.HandleMemPool)) // naming takes it
	p, code := s.Runtime.MemPoolCreate(s.thread(), &hip.MemPoolProps{
		AllocType: hip.MemAllocationType(q.AllocType), HandleTypes: hip.MemAllocationHandleType(q.HandleTypes),
		Location: hip.MemLocation{Type: hip.MemLocationType(q.LocationType), Id: q.LocationID}, MaxSize: q.MaxSize,
	})
	if code != hip.Success {
		return nil, code
	}
	name, ok := s.namePool(p)
	if !ok {
		_ = s.Runtime.MemPoolDestroy(s.thread(), p)
		return nil, hip.ErrorOutOfMemory
	}
	return &hipv1.MemPoolCreateReply{MemPool: name}, hip.Success
}

// namePool is a pool's one name.
func (s *Session) namePool(p hip.MemPool) (uint64, bool) {
	if name, ok := s.poolNames[p]; ok {
		return name, true
	}
	name, ok := add(s, &s.pools, hip.HandleMemPool, 0, p)
	if ok {
		s.poolNames[p] = name
	}
	return name, ok
}

func (s *Session) destroyPool(name uint64) hip.Error {
	p, code := s.pool(name)
	if code == hip.Success {
		code = s.Runtime.MemPoolDestroy(s.thread(), p)
	}
	if code != hip.Success {
		return code
	}
	drop(s, s.pools, hip.HandleMemPool, name)
	delete(s.poolNames, p)
	for d, x := range s.current {
		if x == p {
			delete(s.current, d)
		}
	}
	return hip.Success
}

// devicePool is a device's own pool, or the one that it uses now.
func (s *Session) devicePool(c *call, device int32) (any, hip.Error) {
	if !s.has(device) {
		return nil, hip.ErrorInvalidDevice
	}
	p, chosen := s.current[device]
	if !chosen || c.h.Op == hipv1.OpDeviceGetDefaultMemPool {
		var code hip.Error
		if p, code = s.Runtime.DeviceGetDefaultMemPool(device); code != hip.Success {
			return nil, code
		}
	}
	name, ok := s.namePool(p)
	if !ok {
		return nil, hip.ErrorOutOfMemory
	}
	return &hipv1.DeviceGetMemPoolReply{MemPool: name}, hip.Success
}
