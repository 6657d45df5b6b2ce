package session

import (
	"unsafe"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// has reports whether there is a device of that number.
func (s *Session) has(device int32) bool { return device >= 0 && device < s.devices }

func (s *Session) aboutDevice(c *call) (any, hip.Error) {
	t := s.thread()
	switch c.h.Op {
	case hipv1.OpGetDeviceCount:
		if s.devices == 0 {
			return nil, hip.ErrorNoDevice
		}
		return &hipv1.DeviceCountReply{Count: s.devices}, hip.Success
	case hipv1.OpGetDevice:
		return &hipv1.GetDeviceReply{DeviceID: s.device}, hip.Success
	case hipv1.OpDeviceSynchronize:
		if code := s.captures.RefuseAll(hip.ErrorStreamCaptureUnsupported); code != hip.Success {
			return nil, code
		}
		code := s.Runtime.DeviceSynchronize(t)
		s.settle(s.device)
		return nil, code
	case hipv1.OpDeviceReset:
		return nil, s.reset()
	case hipv1.OpSetDevice:
		if d := c.body.(*hipv1.DeviceRequest).DeviceID; s.has(d) {
			s.device = d
			return nil, hip.Success
		}
		return nil, hip.ErrorInvalidDevice
	case hipv1.OpGetDeviceProperties:
		return s.properties(c.body.(*hipv1.DeviceRequest).DeviceID)
	case hipv1.OpDeviceGetStreamPriorityRange:
		least, greatest, code := s.Runtime.DeviceGetStreamPriorityRange(t)
		return &hipv1.DeviceGetStreamPriorityRangeReply{LeastPriority: least, GreatestPriority: greatest}, code
	}
	switch q := c.body.(type) {
	case *hipv1.DeviceAttributeRequest:
		v, code := s.Runtime.DeviceGetAttribute(hip.DeviceAttribute(q.Attribute), q.DeviceID)
		return &hipv1.DeviceAttributeReply{Value: v}, code
	case *hipv1.DeviceLimitRequest:
		if c.h.Op == hipv1.OpDeviceSetLimit {
			return nil, s.Runtime.DeviceSetLimit(t, hip.Limit(q.Limit), q.Value)
		}
		v, code := s.Runtime.DeviceGetLimit(t, hip.Limit(q.Limit))
		return &hipv1.DeviceLimitReply{Value: v}, code
	case *hipv1.DeviceCanAccessPeerRequest:
		v, code := s.Runtime.DeviceCanAccessPeer(q.DeviceID, q.PeerDeviceID)
		return &hipv1.DeviceCanAccessPeerReply{CanAccessPeer: v}, code
	case *hipv1.DevicePeerAccessRequest:
		if c.h.Op == hipv1.OpDeviceEnablePeerAccess {
			return nil, s.Runtime.DeviceEnablePeerAccess(t, q.PeerDeviceID, q.Flags)
		}
		return nil, s.Runtime.DeviceDisablePeerAccess(t, q.PeerDeviceID)
	}
	return s.ofProperties(c)
}

// propertiesOf is what a device is; its number may come as a handle of eight bytes.
func (s *Session) propertiesOf(device uint64) (*hip.DevicePropR0600, hip.Error) {
	if device >= uint64(s.devices) {
		return nil, hip.ErrorInvalidDevice
	}
	return s.Runtime.GetDevicePropertiesR0600(int32(device))
}

// properties is all of them, in the form of the client's dialect.
func (s *Session) properties(device int32) (any, hip.Error) {
	p, code := s.propertiesOf(uint64(uint32(device)))
	if code != hip.Success {
		return nil, code
	}
	if s.dialect != hipv1.February && s.dialect != hipv1.Later {
		return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)), hip.Success // types of package hip have the layouts of HIP's C structs
	}
	v := &hipv1.DevicePropertiesReply{
		Name: p.Name, TotalGlobalMem: p.TotalGlobalMem, SharedMemPerBlock: p.SharedMemPerBlock, RegsPerBlock: p.RegsPerBlock, WarpSize: p.WarpSize,
		MaxThreadsPerBlock: p.MaxThreadsPerBlock, MaxThreadsDim: p.MaxThreadsDim, MaxGridSize: p.MaxGridSize, ClockRate: p.ClockRate,
		MemoryClockRate: p.MemoryClockRate, MemoryBusWidth: p.MemoryBusWidth, Major: p.Major, Minor: p.Minor, MultiProcessorCount: p.MultiProcessorCount,
		L2CacheSize: p.L2CacheSize, MaxThreadsPerMultiProcessor: p.MaxThreadsPerMultiProcessor, ComputeMode: p.ComputeMode, PCIBusID: p.PciBusID,
		PCIDeviceID: p.PciDeviceID, PCIDomainID: p.PciDomainID, Integrated: p.Integrated, CanMapHostMemory: p.CanMapHostMemory, ConcurrentKernels: p.ConcurrentKernels,
	}
	copy(v.GCNArchName[:], p.GcnArchName[:])
	return v, hip.Success
}

// reset ends everything that the client has on its device, and the names of it.
func (s *Session) reset() hip.Error {
	if code := s.captures.RefuseAll(hip.ErrorStreamCaptureUnsupported); code != hip.Success {
		return code
	}
	if code := s.Runtime.DeviceReset(s.thread()); code != hip.Success {
		return code
	}
	d := s.device
	for name, x := range s.streams {
		if x.device == d {
			drop(s, s.streams, hip.HandleStream, name)
		}
	}
	for name, x := range s.events {
		if x.device == d {
			drop(s, s.events, hip.HandleEvent, name)
		}
	}
	for name, m := range s.modules {
		if m.device == d {
			s.forgetModule(name, m)
		}
	}
	if _, ok := s.own[d]; ok {
		delete(s.own, d)
		s.Memory.Give(s.Cost(hip.HandleStream))
	}
	for _, x := range s.mem.list {
		if x.device == d {
			s.Memory.Give(s.PlaceCost)
			if x.placed {
				s.place.owed[d] += pages(x.size)
			}
		}
	}
	s.mem.clear(d)
	delete(s.current, d)
	delete(s.flags, d)
	s.settle(d)
	s.failed = hip.Success
	return hip.Success
}
