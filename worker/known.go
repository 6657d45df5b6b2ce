package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// known is what a client is told of its devices before it asks, the first device first: over a long way each question costs a program's
// start a round trip.
func (s *session) known() []hiprpc.Answer {
	n, code := s.rt.GetDeviceCount()
	if code != hip.Success {
		return nil
	}
	k := answers{}
	k.add(hip.OpGetDeviceCount, nil, (&hiprpc.GetDeviceCountReply{Count: n}).Append(nil))
	for d := range n {
		p, code := s.rt.GetDevicePropertiesR0600(d)
		if code != hip.Success {
			continue
		}
		k.add(hip.OpGetDevicePropertiesR0600, (&hiprpc.GetDevicePropertiesR0600Request{DeviceId: d}).Append(nil), (&hiprpc.GetDevicePropertiesR0600Reply{Prop: *p}).Append(nil))
		for _, a := range askedFirst {
			if v, code := s.rt.DeviceGetAttribute(a, d); code == hip.Success {
				k.add(hip.OpDeviceGetAttribute, (&hiprpc.DeviceGetAttributeRequest{Attr: a, DeviceId: d}).Append(nil), (&hiprpc.DeviceGetAttributeReply{Pi: v}).Append(nil))
			}
		}
	}
	return k.list
}

// askedFirst are the attributes that libraries ask for when they start.
var askedFirst = []hip.DeviceAttribute{
	hip.DeviceAttributeComputeCapabilityMajor, hip.DeviceAttributeComputeCapabilityMinor, hip.DeviceAttributeMultiprocessorCount, hip.DeviceAttributeWarpSize,
	hip.DeviceAttributeMaxThreadsPerBlock, hip.DeviceAttributeMaxSharedMemoryPerBlock, hip.DeviceAttributeMaxThreadsPerMultiProcessor,
	hip.DeviceAttributeManagedMemory, hip.DeviceAttributeConcurrentManagedAccess, hip.DeviceAttributePageableMemoryAccess,
	hip.DeviceAttributeMemoryPoolsSupported, hip.DeviceAttributeVirtualMemoryManagementSupported, hip.DeviceAttributeCooperativeLaunch,
	hip.DeviceAttributeClockRate, hip.DeviceAttributeMemoryClockRate, hip.DeviceAttributeL2CacheSize, hip.DeviceAttributeImageSupport,
	hip.DeviceAttributePciBusId, hip.DeviceAttributePciDeviceId, hip.DeviceAttributePciDomainID,
}

// answers gathers as many as a client takes.
type answers struct {
	list []hiprpc.Answer
	size int
}

func (k *answers) add(op uint16, req, rep []byte) {
	if n := k.size + len(req) + len(rep); n <= hiprpc.MaxKnown {
		k.list, k.size = append(k.list, hiprpc.Answer{Op: op, Req: req, Rep: rep}), n
	}
}
