package hipmulti

import "github.com/rocwire/rocwire/hip"

// exist answers whether all of these are devices.
func (r *Runtime) exist(numbers ...int32) hip.Error {
	d, code := r.devices()
	for _, n := range numbers {
		if _, ok := d.at(n); code == hip.Success && !ok {
			return hip.ErrorInvalidDevice
		}
	}
	return code
}

// pair is two devices at the worker that they are of; same is false if they are of two.
func (r *Runtime) pair(a, b int32) (w member, x, y int32, same bool, code hip.Error) {
	if code = r.exist(a, b); code != hip.Success {
		return
	}
	d := r.devs.Load()
	p, q := d.list[a], d.list[b]
	return r.workers[p.worker], p.device, q.device, p.worker == q.worker, hip.Success
}

// DeviceCanAccessPeer is hipDeviceCanAccessPeer: never between workers.
func (r *Runtime) DeviceCanAccessPeer(device, peer int32) (int32, hip.Error) {
	w, x, y, same, code := r.pair(device, peer)
	if code != hip.Success || !same {
		return 0, code
	}
	return w.DeviceCanAccessPeer(x, y)
}

// DeviceEnablePeerAccess is hipDeviceEnablePeerAccess.
func (r *Runtime) DeviceEnablePeerAccess(t hip.Thread, peer int32, flags uint32) hip.Error {
	w, x, y, same, code := r.pair(t.Device, peer)
	switch {
	case code != hip.Success:
		return code
	case !same && flags != 0:
		return hip.ErrorInvalidValue
	case !same:
		return hip.ErrorInvalidDevice // as AMD's library answers for devices that cannot
	}
	t.Device = x
	return w.DeviceEnablePeerAccess(t, y, flags)
}

// DeviceDisablePeerAccess is hipDeviceDisablePeerAccess.
func (r *Runtime) DeviceDisablePeerAccess(t hip.Thread, peer int32) hip.Error {
	w, x, y, same, code := r.pair(t.Device, peer)
	switch {
	case code != hip.Success:
		return code
	case !same:
		return hip.ErrorInvalidDevice
	}
	t.Device = x
	return w.DeviceDisablePeerAccess(t, y)
}

// ExtGetLinkTypeAndHopCount is hipExtGetLinkTypeAndHopCount. Nothing links devices of different workers: AMD's answer to that is an invalid handle.
func (r *Runtime) ExtGetLinkTypeAndHopCount(t hip.Thread, device1, device2 int32) (linktype, hops uint32, code hip.Error) {
	if device1 == device2 || device1 < 0 || device2 < 0 {
		return 0, 0, hip.ErrorInvalidValue
	}
	w, x, y, same, code := r.pair(device1, device2)
	switch {
	case code != hip.Success:
		return 0, 0, code
	case !same:
		return 0, 0, hip.ErrorInvalidHandle
	}
	t.Device = x
	return w.ExtGetLinkTypeAndHopCount(t, x, y)
}
