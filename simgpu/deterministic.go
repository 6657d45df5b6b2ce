package simgpu

import (
	"time"

	"github.com/rocwire/rocwire/simgpu/exec"
)

// now is the clock of events.
func (o *Options) now() func() time.Time {
	if o.Deterministic {
		return o.clock.Time
	}
	return time.Now
}

// alone waits until no other kernel executes, if each is to be alone, and returns
// what is to be called behind it. The grids of a launch on several devices wait
// for each other and are not alone.
func (r *Runtime) alone(x *exec.Dispatch, g *gridSync) func() {
	if !r.o.Deterministic {
		return func() {}
	}
	x.Clock = r.o.clock
	if g.shared != nil {
		return func() {}
	}
	r.turn.Lock()
	return r.turn.Unlock
}
