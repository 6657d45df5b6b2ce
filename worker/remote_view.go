package worker

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/worker/quota"
)

// remoteView is a runtime for a program that shares no memory with its cards while kernels run. What the program and a kernel write to memory that both
// reach, managed memory say, the other one has when a call has waited. A card speaks of programs on its machine when it says that both may write at once,
// that their atomics are in order, or that it reaches memory nobody told it of: a program that believed that here would lose what it wrote.
type remoteView struct{ *quota.Runtime }

// GetDevicePropertiesR0600 implements hip.Runtime.
func (e remoteView) GetDevicePropertiesR0600(id int32) (*hip.DevicePropR0600, hip.Error) {
	p, code := e.Runtime.GetDevicePropertiesR0600(id)
	if code != hip.Success {
		return p, code
	}
	own := *p
	own.HostNativeAtomicSupported, own.ConcurrentManagedAccess, own.DirectManagedMemAccessFromHost = 0, 0, 0
	own.PageableMemoryAccess, own.PageableMemoryAccessUsesHostPageTables = 0, 0
	return &own, code
}

// DeviceGetAttribute implements hip.Runtime, and agrees with the properties.
func (e remoteView) DeviceGetAttribute(attr hip.DeviceAttribute, id int32) (int32, hip.Error) {
	v, code := e.Runtime.DeviceGetAttribute(attr, id)
	switch attr {
	case hip.DeviceAttributeHostNativeAtomicSupported, hip.DeviceAttributeConcurrentManagedAccess, hip.DeviceAttributeDirectManagedMemAccessFromHost,
		hip.DeviceAttributePageableMemoryAccess, hip.DeviceAttributePageableMemoryAccessUsesHostPageTables:
		if code == hip.Success {
			v = 0
		}
	}
	return v, code
}
