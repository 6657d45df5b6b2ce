package simgpu

import (
	"context"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// GetDeviceCount is the number of cards.
func (r *Runtime) GetDeviceCount() (int32, hip.Error) { return int32(len(r.devices)), hip.Success }

// GetDevicePropertiesR0600 describes a card.
func (r *Runtime) GetDevicePropertiesR0600(id int32) (*hip.DevicePropR0600, hip.Error) {
	if id < 0 || int(id) >= len(r.devices) {
		return nil, hip.ErrorInvalidDevice
	}
	p := *r.devices[id].props
	return &p, hip.Success
}

// DeviceGetAttribute agrees with GetDevicePropertiesR0600.
func (r *Runtime) DeviceGetAttribute(a hip.DeviceAttribute, id int32) (int32, hip.Error) {
	if id < 0 || int(id) >= len(r.devices) {
		return 0, hip.ErrorInvalidDevice
	}
	v, ok := r.product.attribute(r.devices[id].props, a)
	if !ok {
		return 0, hip.ErrorInvalidValue
	}
	return v, hip.Success
}

// context is what kernels of the device run under.
func (d *device) context() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ctx
}

// DeviceSynchronize waits until the device has done everything it was told.
func (r *Runtime) DeviceSynchronize(t hip.Thread) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	queue.WaitAll(d.queues.All())
	d.waited()
	return d.status()
}

// Idle reports whether nothing that was queued is under way on any device.
func (r *Runtime) Idle() bool {
	for _, d := range r.devices {
		if !d.queues.Idle() {
			return false
		}
	}
	return true
}

// DeviceReset ends the device's context and begins a new one: work is dropped,
// kernels are stopped, streams, events, modules and memory of the device are
// gone. It also revives a device whose context a fault or a reset of the card ended;
// not one that does not answer (ErrorNoDevice). Capacity that was
// granted stays granted.
func (r *Runtime) DeviceReset(t hip.Thread) hip.Error {
	d, e := r.enterAny(t.Device)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	c := d.meter.Condition()
	if c.Gone {
		return hip.ErrorNoDevice
	}
	d.end(hip.ErrorContextIsDestroyed, errClosed)
	r.graphs.DeviceReset(d.id)
	queue.WaitAll(d.queues.All())
	for _, s := range r.streams.takeIf(func(s *stream) bool { return s.d == d }) {
		s.q.Close()
	}
	for _, v := range r.events.takeIf(func(v *event) bool { return v.d == d }) {
		if v.shared != nil {
			v.shared.close(r.o.Broker)
		}
	}
	r.functions.takeIf(func(f *function) bool { return f.m.d == d })
	r.forgetImages(d)
	for _, m := range r.modules.takeIf(func(m *module) bool { return m.d == d }) {
		r.unload(m)
	}
	r.pools.takeIf(func(p *pool) bool {
		if p.d == d {
			p.forget()
		}
		return p.d == d && !p.own()
	})
	r.forgetPhysical(d)
	if s := r.space.Load(); s != nil {
		s.Each(func(a *vmem.Alloc) bool {
			if n := noteOf(a); n.d == d && a.Kind != vmem.Runtime && a.Kind != vmem.Virtual && n.freed.CompareAndSwap(false, true) {
				r.release(a)
			}
			return true
		})
	}
	d.services.reset(r)
	r.unregister(func(g region) bool { return g.d == d })
	d.renew.Lock()
	defer d.renew.Unlock()
	d.mu.Lock()
	clear(d.peers)
	d.ctx, d.cancel = context.WithCancelCause(context.Background())
	d.mu.Unlock()
	d.queues.Resume()
	d.resets.Store(c.Resets)
	d.fault.Store(0)
	return hip.Success
}

// DeviceCanAccessPeer: all cards reach each other's memory.
func (r *Runtime) DeviceCanAccessPeer(id, peer int32) (int32, hip.Error) {
	if id < 0 || int(id) >= len(r.devices) || peer < 0 || int(peer) >= len(r.devices) {
		return 0, hip.ErrorInvalidDevice
	}
	if id == peer {
		return 0, hip.Success
	}
	return 1, hip.Success
}

// DeviceEnablePeerAccess only keeps the books: the memory of all cards is one
// address range, and kernels reach all of it.
func (r *Runtime) DeviceEnablePeerAccess(t hip.Thread, peer int32, flags uint32) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if flags != 0 {
		return hip.ErrorInvalidValue
	}
	if peer < 0 || int(peer) >= len(r.devices) || peer == d.id {
		return hip.ErrorInvalidDevice
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.peers[peer] {
		return hip.ErrorPeerAccessAlreadyEnabled
	}
	d.peers[peer] = true
	return hip.Success
}

// DeviceDisablePeerAccess: see DeviceEnablePeerAccess.
func (r *Runtime) DeviceDisablePeerAccess(t hip.Thread, peer int32) hip.Error {
	d, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if peer < 0 || int(peer) >= len(r.devices) || peer == d.id {
		return hip.ErrorInvalidDevice
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.peers[peer] {
		return hip.ErrorPeerAccessNotEnabled
	}
	delete(d.peers, peer)
	return hip.Success
}
