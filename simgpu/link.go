package simgpu

import "github.com/rocwire/rocwire/hip"

// Link types as HSA numbers them.
const (
	linkPCIe = 2
	linkXGMI = 4
)

// ExtGetLinkTypeAndHopCount says how two cards are linked, as Source.Topology
// does: over XGMI, or over PCIe by way of the host.
func (r *Runtime) ExtGetLinkTypeAndHopCount(t hip.Thread, device1, device2 int32) (linkType, hops uint32, e hip.Error) {
	if _, e := r.enter(t); e != hip.Success {
		return 0, 0, e
	}
	defer r.leave()
	if device1 == device2 || device1 < 0 || device2 < 0 {
		return 0, 0, hip.ErrorInvalidValue
	}
	if int(device1) >= len(r.devices) || int(device2) >= len(r.devices) {
		return 0, 0, hip.ErrorInvalidDevice
	}
	if r.product.chip.linked(r.devices[device1].card, r.devices[device2].card) {
		return linkXGMI, 1, hip.Success
	}
	return linkPCIe, 2, hip.Success
}
