package simgpu

import (
	"context"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/vmem"
)

// Flags of launches on several devices.
const (
	multiNoPreSync  = 1
	multiNoPostSync = 2
)

// LaunchKernelMultiDevice launches a kernel on each of several devices, all or
// none. The streams are waited for before and after, unless flags say not to.
// Cooperative grids run at the same time and can synchronize with each other.
// ErrorInvalidHandle for a null stream, ErrorInvalidDevice for two on one
// device, otherwise what LaunchKernel says.
func (r *Runtime) LaunchKernelMultiDevice(t hip.Thread, launches []hip.Launch, flags uint32) hip.Error {
	_, e := r.enter(t)
	if e != hip.Success {
		return e
	}
	defer r.leave()
	if len(launches) == 0 || len(launches) > len(r.devices) || flags > multiNoPreSync|multiNoPostSync {
		return hip.ErrorInvalidValue
	}
	type part struct {
		st    *stream
		k     *launch
		marks [2]*event
	}
	parts := make([]part, len(launches))
	seen := map[*device]bool{}
	threads, cooperative := uint64(0), false
	for i := range launches {
		l, p := &launches[i], &parts[i]
		if l.Block.X == 0 || l.Block.Y == 0 || l.Block.Z == 0 {
			return hip.ErrorInvalidConfiguration
		}
		if l.Stream == hip.StreamNull || l.Stream == hip.StreamLegacy {
			return hip.ErrorInvalidHandle
		}
		if p.st, p.k, p.marks, e = r.prepare(t, l); e != hip.Success {
			return e
		}
		if seen[p.st.d] {
			return hip.ErrorInvalidDevice
		}
		seen[p.st.d] = true
		p.k.grid = gridSync{id: uint32(i), before: threads}
		threads += uint64(p.k.global[0]) * uint64(p.k.global[1]) * uint64(p.k.global[2])
		cooperative = cooperative || p.k.cooperative
	}
	if cooperative {
		a, e := parts[0].st.d.allocate(8, vmem.Runtime, 0)
		if e != hip.Success {
			return e
		}
		clear(vmem.Raw(a.Base, 8))
		s := &gridShared{r: r, mem: a, grids: uint32(len(parts))}
		s.left.Store(int32(len(parts)))
		s.ctx, s.cancel = context.WithCancelCause(context.Background())
		for i := range parts {
			parts[i].k.grid.shared, parts[i].k.grid.size = s, threads
		}
	}
	wait := func() {
		for i := range parts {
			parts[i].st.q.Fence().Wait()
		}
	}
	if flags&multiNoPreSync == 0 {
		wait()
	}
	// In one order on all streams: two launches whose grids wait for each other
	// must not each hold a device that the other one needs.
	r.multi.Lock()
	for _, p := range parts {
		p.st.launch(p.k, p.marks)
	}
	r.multi.Unlock()
	if flags&multiNoPostSync == 0 {
		wait()
	}
	return hip.Success
}
