package rocm

import (
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/internal/poll"
)

// AMD's hipMemUnmap puts a barrier into the hardware queue of the library's null stream, and waits for it with locks held that hipMemMap takes. Streams share
// hardware queues: the barrier may be behind a kernel that looks at a value in memory until a host function has returned, and that function may be waiting for
// memory. So memory is unmapped when no stream of the device has anything to do, and while none is told anything.

// Until there is such a moment:
const (
	// Where nobody waits it is looked for one after a while, longer each time.
	leastPause, mostPause = 50 * time.Microsecond, 10 * time.Millisecond
	// Where somebody does the streams are told nothing until it comes: for so long at most, longer each time, and for no more than a part of the time.
	leastPatience, mostPatience = 100 * time.Microsecond, 100 * time.Millisecond
	restAfter                   = 4 // times as long
	// stuckAfter is how long nothing that streams were told may end before they may be waiting for who waits for them.
	stuckAfter = time.Second
)

// moment is who waits for a quiet moment of a device.
type moment struct {
	device int32
	hurry  func() bool // somebody waits for it
	over   func() bool // nobody has any use for it any more
}

// whenQuiet has do called once the device is quiet; false if it was not.
func (r *Runtime) whenQuiet(m moment, do func()) bool {
	patience := time.Duration(0)
	for pause := leastPause; !m.over(); pause = min(2*pause, mostPause) {
		if m.hurry() {
			patience = min(max(2*patience, leastPatience), mostPatience)
			pause = restAfter * patience
		} else {
			patience = 0
		}
		if (patience > 0 || r.idle(m.device)) && r.telling.TryLock() {
			quiet := false
			begin := mono.Now()
			poll.Until(func() bool {
				quiet = r.idle(m.device)
				return quiet || mono.Since(begin) >= patience
			})
			if quiet {
				do()
			}
			r.telling.Unlock()
			if quiet {
				return true
			}
		}
		time.Sleep(pause)
	}
	return false
}

// idle says whether a device's streams have done all that they were told.
func (r *Runtime) idle(device int32) bool {
	r.markAll()
	r.askAll()
	return r.backlog.idle(device)
}

// stuck is a function that says whether nothing has ended for long.
func (r *Runtime) stuck() func() bool {
	last, since := r.Ended(), mono.Now()
	return func() bool {
		if n := r.Ended(); n != last {
			last, since = n, mono.Now()
		}
		return mono.Since(since) >= stuckAfter
	}
}

// unmap is hipMemUnmap of what a program has mapped, in the turn of the device's null stream. If that cannot be when the device is quiet it is at once.
func (r *Runtime) unmap(t hip.Thread, device int32, ptr hip.Ptr, size uint64) (err hip.Error) {
	if err = r.StreamSynchronize(hip.Thread{ID: t.ID, Device: device}, hip.StreamNull); err != hip.Success {
		return err
	}
	now := func() { err = r.memUnmap(t, ptr, size) }
	if !r.whenQuiet(moment{device, func() bool { return true }, r.stuck()}, now) {
		now()
	}
	return err
}
