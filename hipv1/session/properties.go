package session

import (
	"bytes"
	"fmt"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// ofProperties is what follows from a device's properties, or is the session's own.
func (s *Session) ofProperties(c *call) (any, hip.Error) {
	switch q := c.body.(type) {
	case *hipv1.DeviceGetRequest:
		if !s.has(q.Ordinal) {
			return nil, hip.ErrorInvalidDevice
		}
		return &hipv1.DeviceGetReply{Device: uint64(q.Ordinal)}, hip.Success
	case *hipv1.DeviceGetNameRequest:
		p, code := s.propertiesOf(q.Device)
		if code != hip.Success {
			return nil, code
		}
		return &hipv1.DeviceGetNameReply{Name: p.Name}, hip.Success
	case *hipv1.DeviceTotalMemRequest:
		p, code := s.propertiesOf(q.Device)
		if code != hip.Success {
			return nil, code
		}
		return &hipv1.DeviceTotalMemReply{Bytes: p.TotalGlobalMem}, hip.Success
	case *hipv1.DeviceComputeCapabilityRequest:
		p, code := s.propertiesOf(q.Device)
		if code != hip.Success {
			return nil, code
		}
		return &hipv1.DeviceComputeCapabilityReply{Major: p.Major, Minor: p.Minor}, hip.Success
	case *hipv1.DeviceGetUUIDRequest:
		p, code := s.propertiesOf(q.Device)
		if code != hip.Success {
			return nil, code
		}
		return &hipv1.DeviceGetUUIDReply{UUID: p.Uuid.Bytes}, hip.Success
	case *hipv1.DeviceGetPCIBusIDRequest:
		p, code := s.propertiesOf(uint64(uint32(q.Device)))
		if code != hip.Success {
			return nil, code
		}
		v := new(hipv1.DeviceGetPCIBusIDReply)
		hipv1.PutText(v.PCIBusID[:], busID(p))
		return v, hip.Success
	case *hipv1.DeviceGetByPCIBusIDRequest:
		return s.byBusID(q)
	case *hipv1.DeviceGetP2PAttributeRequest:
		return s.peerAttribute(q)
	case *hipv1.ChooseDeviceRequest:
		return s.choose(q)
	case *hipv1.SetValidDevicesRequest: // AMD's library has none either
		return nil, hip.ErrorNotSupported
	}
	return s.hints(c)
}

func busID(p *hip.DevicePropR0600) string {
	return fmt.Sprintf("%04x:%02x:%02x.0", p.PciDomainID, p.PciBusID, p.PciDeviceID)
}

func (s *Session) byBusID(q *hipv1.DeviceGetByPCIBusIDRequest) (any, hip.Error) {
	want, _, _ := bytes.Cut(q.PCIBusID[:], []byte{0})
	for d := range s.devices {
		if p, code := s.propertiesOf(uint64(d)); code == hip.Success && bytes.EqualFold(want, []byte(busID(p))) {
			return &hipv1.DeviceGetByPCIBusIDReply{Device: d}, hip.Success
		}
	}
	return nil, hip.ErrorInvalidValue
}

func (s *Session) peerAttribute(q *hipv1.DeviceGetP2PAttributeRequest) (any, hip.Error) {
	if !s.has(q.SrcDevice) || !s.has(q.DstDevice) || q.SrcDevice == q.DstDevice {
		return nil, hip.ErrorInvalidDevice
	}
	switch hip.DeviceP2PAttr(q.Attr) {
	case hip.DevP2PAttrAccessSupported, hip.DevP2PAttrNativeAtomicSupported, hip.DevP2PAttrPerformanceRank:
		v, code := s.Runtime.DeviceCanAccessPeer(q.SrcDevice, q.DstDevice)
		return &hipv1.DeviceGetP2PAttributeReply{Value: v}, code
	case hip.DevP2PAttrHipArrayAccessSupported:
		return &hipv1.DeviceGetP2PAttributeReply{}, hip.Success
	}
	return nil, hip.ErrorInvalidValue
}

// choose is the device that fulfils most of what is asked for; what is 0 is not.
func (s *Session) choose(q *hipv1.ChooseDeviceRequest) (any, hip.Error) {
	best, most := int32(0), -1
	for d := range s.devices {
		p, code := s.propertiesOf(uint64(d))
		if code != hip.Success {
			return nil, code
		}
		n := 0
		for _, met := range []bool{
			q.TotalGlobalMem != 0 && p.TotalGlobalMem >= q.TotalGlobalMem,
			q.Major != 0 && (p.Major > q.Major || p.Major == q.Major && p.Minor >= q.Minor),
			q.MultiProcessorCount != 0 && p.MultiProcessorCount >= q.MultiProcessorCount,
			q.WarpSize != 0 && p.WarpSize >= q.WarpSize,
			q.MaxThreadsPerBlock != 0 && p.MaxThreadsPerBlock >= q.MaxThreadsPerBlock,
		} {
			if met {
				n++
			}
		}
		if n > most {
			best, most = d, n
		}
	}
	if most < 0 {
		return nil, hip.ErrorNoDevice
	}
	return &hipv1.ChooseDeviceReply{Device: best}, hip.Success
}

// The flags of a device; it begins to spin.
const (
	scheduleSpin = 0x1
	scheduleMask = 0x7
	otherFlags   = 0x18
)

// hints are what no AMD GPU takes, and how a client's threads wait, which changes nothing.
func (s *Session) hints(c *call) (any, hip.Error) {
	switch c.h.Op {
	case hipv1.OpDeviceGetCacheConfig:
		return &hipv1.DeviceCacheConfigReply{CacheConfig: int32(hip.FuncCachePreferNone)}, hip.Success
	case hipv1.OpDeviceGetSharedMemConfig:
		return &hipv1.DeviceSharedMemConfigReply{SharedMemConfig: int32(hip.SharedMemBankSizeFourByte)}, hip.Success
	case hipv1.OpGetDeviceFlags:
		f, ok := s.flags[s.device]
		if !ok {
			f = scheduleSpin
		}
		return &hipv1.DeviceFlagsReply{Flags: f}, hip.Success
	}
	ok := false
	switch q := c.body.(type) {
	case *hipv1.DeviceCacheConfigRequest:
		ok = q.CacheConfig >= int32(hip.FuncCachePreferNone) && q.CacheConfig <= int32(hip.FuncCachePreferEqual)
	case *hipv1.DeviceSharedMemConfigRequest:
		ok = q.SharedMemConfig >= int32(hip.SharedMemBankSizeDefault) && q.SharedMemConfig <= int32(hip.SharedMemBankSizeEightByte)
	case *hipv1.DeviceFlagsRequest:
		f := q.Flags & scheduleMask
		if ok = f&(f-1) == 0 && q.Flags&^(scheduleMask|otherFlags) == 0; ok {
			s.flags[s.device] = f
		}
	}
	if !ok {
		return nil, hip.ErrorInvalidValue
	}
	return nil, hip.Success
}
