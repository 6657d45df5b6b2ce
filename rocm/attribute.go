package rocm

import "github.com/rocwire/rocwire/hip"

// The addresses of a device's registers that flush what the host wrote are this
// process's. A client has no use for them, and gets null, which is what a library
// says that cannot map them.

// DeviceGetAttribute is hipDeviceGetAttribute. For an address the library writes
// eight bytes where the call has room for an int, so it is not asked.
func (r *Runtime) DeviceGetAttribute(attr hip.DeviceAttribute, device int32) (int32, hip.Error) {
	if attr == hip.DeviceAttributeHdpMemFlushCntl || attr == hip.DeviceAttributeHdpRegFlushCntl {
		_, err := r.deviceGetAttribute(hip.DeviceAttributeWarpSize, device) // is there such a device?
		return 0, err
	}
	return r.deviceGetAttribute(attr, device)
}

// GetDevicePropertiesR0600 is hipGetDevicePropertiesR0600.
func (r *Runtime) GetDevicePropertiesR0600(device int32) (*hip.DevicePropR0600, hip.Error) {
	p, err := r.getDevicePropertiesR0600(device)
	p.HdpMemFlushCntl, p.HdpRegFlushCntl = 0, 0
	return p, err
}
