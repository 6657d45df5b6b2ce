package rocm

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/internal/poll"
)

// Memory that a program has freed may not be free yet: what was placed waits for its device to be quiet, and what pools have for its stream.

// withRoom tries again when memory was missing and some that was being freed is there now, also if that was while it was tried.
func (r *Runtime) withRoom(try func() hip.Error) (err hip.Error) {
	last := mono.Now() // that any came
	poll.Until(func() bool {
		seen := r.roomMade()
		if err = try(); err != hip.ErrorOutOfMemory {
			return true
		}
		r.placed.settle()
		r.awaitFree(seen)
		if r.roomMade() != seen {
			last = mono.Now()
			return false
		}
		if r.frees.late.ended.Load() == 0 {
			return true
		}
		r.letGoOfDone()
		return mono.Since(last) >= mostPatience
	})
	return err
}

// roomMade changes whenever memory that was being freed is free.
func (r *Runtime) roomMade() uint64 { return r.placed.ends() + r.frees.late.ended.Load() }

// awaitFree waits until some memory is free that was not when as much room was made, or none is freed late, or streams do not go on any more.
func (r *Runtime) awaitFree(seen uint64) {
	stuck := r.stuck()
	poll.Until(func() bool {
		if r.roomMade() != seen || !r.frees.late.some() {
			return true
		}
		r.markAll()
		r.askAll()
		return stuck()
	})
}

// letGoOfDone waits for the streams that have nothing to do: the library keeps what they have done, and the memory that it used, until then.
func (r *Runtime) letGoOfDone() {
	if !r.telling.TryLock() { // or it might wait indeed
		return
	}
	defer r.telling.Unlock()
	r.backlog.streams(func(p *progress, s hip.Stream) {
		if s = r.nulls.at(p.on, s); r.streamQuery(p.on, s) == hip.Success {
			_ = r.streamSynchronize(p.on, s)
		}
	})
}
