package quota

import "time"

// Joint is an account that the session has together with others, which somebody else keeps: what one of them takes of a device, all have less of. What
// the session itself may have holds beside it. Each method may wait for an answer; none is called with a lock that [Runtime.SetLimits] needs.
type Joint interface {
	// Take takes size bytes, or as much of it as there is, in whole pages, if that is least.
	Take(device int32, size, least uint64) (got uint64)
	// Add notes bytes that the session has already and is about to give back.
	Add(device int32, size uint64)
	Give(device int32, size uint64)
	// Left is how much there still is, with what others would give way with.
	Left(device int32) uint64
	// Room has others give way to an allocation, and reports whether it is worth while to try again.
	Room(device int32, size uint64) bool
	// Draw takes a little of a device's time; where there is none it says when there will be.
	Draw(device int32) (granted, later time.Duration)
	// Spend takes time that kernels have run beyond what was drawn. It does not wait.
	Spend(device int32, ran time.Duration)
}

// SetJoint sets the account of the memory of all devices, of their time, or of both. It is called before anything else.
func (q *Runtime) SetJoint(j Joint, memory, compute bool) {
	for _, d := range q.devices {
		if memory {
			d.joint = j
		}
		if compute {
			d.time.joint = j
		}
	}
}

// Trim gives back to the joint account what pools keep and nothing uses. A pool that is just growing knows what it needs itself.
func (q *Runtime) Trim() {
	for _, d := range q.devices {
		if q.pools != nil && d.joint != nil && d.pooled.mu.TryLock() {
			q.pools.TrimPools(d.index)
			q.settled(d, 0)
			d.pooled.mu.Unlock()
		}
	}
}

// jointly takes size bytes of a device from the joint account, if there is one, or as much of it as there is, if that is least; with press, others give way
// if need be.
func (d *device) jointly(size, least uint64, press bool) (got uint64) {
	if d.joint == nil || size == 0 {
		return size
	}
	for range mostPresses {
		if got = d.joint.Take(d.index, size, least); got >= least || !press || !d.joint.Room(d.index, least) {
			break
		}
	}
	return got
}

// disjoin gives back to the joint account.
func (d *device) disjoin(size uint64) {
	if d.joint != nil && size > 0 {
		d.joint.Give(d.index, size)
	}
}
