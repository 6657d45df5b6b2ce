package simgpu

import (
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu/card"
)

// Copied accounts a copy that the caller made itself, through DeviceBytes: n bytes to (in) or from the memory at ptr. It waits when the link
// to the card was made slower.
func (r *Runtime) Copied(ptr hip.Ptr, n uint64, in bool, took time.Duration) {
	a := r.allocation(ptr)
	if a == nil || !onCard(a.Kind) {
		return
	}
	dir := card.CardToHost
	if in {
		dir = card.HostToCard
	}
	d := noteOf(a).d
	d.meter.Copied(dir, n, uint64(d.slowLink(max(took, 0))))
}
