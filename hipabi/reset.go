package hipabi

import "C"

import "github.com/rocwire/rocwire/hip"

// rw_hipDeviceReset ends the device's context, and with it the meaning of every
// handle of it. Embedded code stays the program's: it is loaded again when it is
// used again.
//
//export rw_hipDeviceReset
func rw_hipDeviceReset(thread uint64) int32 {
	t := threadOf(thread)
	registered.keepManaged(t.Device)
	err := runtime().DeviceReset(t)
	if err == hip.Success {
		modules.forget(t.Device)
		registered.forget(t.Device)
		threadStreams.forget(t.Device)
		memPools.forget(t.Device)
		deviceFlags.Delete(t.Device)
		policies.forget(func(k policyKey) bool { return k.device == t.Device })
		arrays.deleteFunc(func(_ hip.Array, a *array) bool { return a.device == t.Device })
		captures().ForgetRecorded()
		textures.deleteFunc(func(_ hip.TextureObject, x *texture) bool { return x.device == t.Device })
	}
	return int32(err)
}

// forget drops the modules of a device.
func (t *moduleTable) forget(n int32) {
	for _, m := range t.modules.values() {
		if m.device.number == n {
			t.modules.take(m.handle)
			m.forget()
			forgetReferences(m.handle)
		}
	}
}

// forget drops the streams of a device.
func (t *streamTable) forget(n int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for th := range t.m {
		if th.Device == n {
			delete(t.m, th)
		}
	}
}

// all is every embedded image.
func (r *registry) all() []*embedded {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var bs []*embedded
	for _, b := range r.binaries {
		bs = append(bs, b)
	}
	return bs
}

// forget drops what is loaded on a device.
func (r *registry) forget(n int32) {
	for _, b := range r.all() {
		b.mu.Lock()
		if l := b.loaded[n]; l != nil && l.err == hip.Success {
			delete(b.loaded, n)
		}
		for _, v := range b.managed {
			if v.placed != 0 && v.device == n && v.inPlace {
				v.again(hip.Thread{Device: n})
			}
		}
		b.mu.Unlock()
	}
}

// keepManaged takes the managed variables that have moved to memory of a device's
// context back into ordinary memory, so that their values outlive it.
func (r *registry) keepManaged(n int32) {
	for _, b := range r.all() {
		b.mu.Lock()
		for _, v := range b.managed {
			if v.placed != 0 && v.device == n && !v.inPlace {
				v.displace()
			}
		}
		b.mu.Unlock()
	}
}
