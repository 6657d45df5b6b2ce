package simgpu

import (
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
)

// Copied accounts a copy that the caller made itself, through DeviceBytes: n bytes to (in) or from the memory at ptr.
func (r *Runtime) Copied(ptr hip.Ptr, n uint64, in bool, took time.Duration) {
	a := r.allocation(ptr)
	if a == nil || !onCard(a.Kind) {
		return
	}
	dir := card.CardToHost
	if in {
		dir = card.HostToCard
	}
	noteOf(a).d.meter.Copied(dir, n, uint64(max(took, 0)))
}
