package simgpu

// Queued is how much all streams have still to do, in bytes of host memory.
func (r *Runtime) Queued() int64 { return r.gate.Load.Bytes() }

// Ended is how much of what was queued has ended.
func (r *Runtime) Ended() uint64 { return r.gate.Load.Ended() }

// WaitQueued waits until at most so much is queued; false if stop was closed before.
func (r *Runtime) WaitQueued(most int64, stop <-chan struct{}) bool {
	return r.gate.Load.Wait(most, stop)
}
