package simgpu

import (
	"github.com/rocwire/rocwire/codeobject"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/queue"
)

// Loaded is a code object in a device's memory, for who finds kernels and variables in it without HIP.
type Loaded struct{ m *module }

// Load loads a code object, or the one of a bundle that fits. define are the addresses of what it refers to and does not define. The image is the
// caller's again. Errors: those of package codeobject, hip.ErrorOutOfMemory.
func (r *Runtime) Load(device int32, image []byte, define map[string]uint64) (*Loaded, error) {
	d, e := r.enter(hip.Thread{Device: device})
	if e != hip.Success {
		return nil, e
	}
	defer r.leave()
	m, err := d.load(image, define)
	if err != nil {
		return nil, err
	}
	return &Loaded{m}, nil
}

// Object is what was loaded; its addresses are relative to Base.
func (l *Loaded) Object() *codeobject.Object { return l.m.object }

// Base is where it lies.
func (l *Loaded) Base() uint64 { return l.m.alloc.Base }

// Unload ends it, after everything its device was told to do is done.
func (l *Loaded) Unload() {
	queue.WaitAll(l.m.d.queues.All())
	l.m.d.r.unload(l.m)
}
