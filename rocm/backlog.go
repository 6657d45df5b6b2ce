package rocm

/*
#include "library.h"
#include "zz_table.h"
*/
import "C"

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/hip"
)

// The library keeps something of all that its streams have still to do, without
// bound, and says of nothing when it ends. So what each stream is told is
// counted here; behind some of it an event is recorded, a mark, and asked when
// it matters.

const (
	// queuedCost is about what the library keeps of an operation that has not
	// ended, in bytes; see conformance/rocm_backlog.go.
	queuedCost = 4 << 10
	// markAfter is how much a stream is told between two marks.
	markAfter = 64 * queuedCost

	// What is asked is asked again after a while, longer each time.
	leastPoll, mostPoll = 20 * time.Microsecond, time.Millisecond
)

// backlog is what streams have still to do, as far as anybody knows.
type backlog struct {
	bytes atomic.Int64
	ended atomic.Uint64 // marks that were reached

	asking sync.Mutex // held by who asks and ends marks, and records them beside the stream's own calls. Taken before mu
	mu     sync.Mutex // never held while the library is called
	live   map[streamOf]*progress
	gone   []*progress // of streams that were destroyed
}

// progress is a stream's. Amounts are bytes since it was first told something.
type progress struct {
	on                   hip.Thread // of its device
	told, marked, passed int64
	marks                []mark // in order, each once it is recorded
}

// mark is passed when its event is reached.
type mark struct {
	event hip.Event
	upTo  int64
}

// launchCost is what is kept of a launch: of its arguments the command has a copy,
// and memory of the device, which may be this machine's.
func launchCost(l *hip.Launch) int64 { return queuedCost + 2*int64(len(l.Args)) }

// queued counts what a stream has been told, if err is Success, and returns that.
func (r *Runtime) queued(t hip.Thread, s hip.Stream, n int64, err hip.Error) hip.Error {
	if err != hip.Success {
		return err
	}
	b, of := &r.backlog, streamOn(t, s)
	b.mu.Lock()
	p := b.live[of]
	if p == nil {
		b.mu.Unlock()
		on := hip.Thread{Device: t.Device}
		if s > hip.StreamPerThread {
			if device, err := r.StreamGetDevice(t, s); err == hip.Success {
				on.Device = device
			}
		}
		b.mu.Lock()
		if p = b.live[of]; p == nil {
			if b.live == nil {
				b.live = map[streamOf]*progress{}
			}
			p = &progress{on: on}
			b.live[of] = p
		}
	}
	p.told += n
	b.bytes.Add(n)
	due := p.told-p.marked >= markAfter
	b.mu.Unlock()
	if due {
		r.mark(p, s)
		if b.asking.TryLock() { // or marks became more and more where nobody else asks
			r.ask(p)
			b.asking.Unlock()
		}
	}
	return err
}

// mark records an event behind all that a stream has been told. If that fails,
// the next mark is for this, too.
func (r *Runtime) mark(p *progress, s hip.Stream) {
	b := &r.backlog
	b.mu.Lock()
	upTo := p.told
	if upTo == p.marked {
		b.mu.Unlock()
		return
	}
	before := p.marked
	p.marked = upTo
	b.mu.Unlock()
	var event hip.Event
	err := r.recordAt(p.on, &event, r.nulls.at(p.on, s))
	if err != hip.Success && event != 0 {
		_ = r.EventDestroy(p.on, event) // it was never used
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != hip.Success {
		p.marked = min(p.marked, before)
		return
	}
	at, _ := slices.BinarySearchFunc(p.marks, upTo, func(m mark, v int64) int { return int(m.upTo - v) })
	p.marks = slices.Insert(p.marks, at, mark{event, upTo})
}

// markAll marks what no mark is behind yet.
func (r *Runtime) markAll() {
	r.backlog.streams(func(p *progress, s hip.Stream) { r.mark(p, s) })
}

// streams calls f for each stream that was told something, none of which is destroyed meanwhile.
func (b *backlog) streams(f func(p *progress, s hip.Stream)) {
	b.asking.Lock()
	defer b.asking.Unlock()
	b.mu.Lock()
	live := maps.Clone(b.live)
	b.mu.Unlock()
	for of, p := range live {
		f(p, of.s)
	}
}

// ask asks a stream's marks, with asking.
func (r *Runtime) ask(p *progress) {
	b := &r.backlog
	for {
		b.mu.Lock()
		if len(p.marks) == 0 {
			b.mu.Unlock()
			return
		}
		m, known := p.marks[0], p.marks[0].upTo <= p.passed
		b.mu.Unlock()
		if !known && r.eventQuery(p.on, m.event) == hip.ErrorNotReady {
			return
		}
		b.mu.Lock()
		i := slices.Index(p.marks, m)
		p.marks = slices.Delete(p.marks, i, i+1)
		b.pass(p, m.upTo)
		b.mu.Unlock()
		_ = r.EventDestroy(p.on, m.event) // nobody else knows it
	}
}

// pass notes how far a stream has come, with mu.
func (b *backlog) pass(p *progress, upTo int64) {
	if upTo > p.passed {
		b.bytes.Add(p.passed - upTo)
		p.passed = upTo
		b.ended.Add(1)
	}
}

// askAll asks all marks, and drops streams that have nothing left to do.
func (r *Runtime) askAll() {
	b := &r.backlog
	b.asking.Lock()
	defer b.asking.Unlock()
	b.mu.Lock()
	list := slices.Clone(b.gone)
	for _, p := range b.live {
		list = append(list, p)
	}
	b.mu.Unlock()
	for _, p := range list {
		r.ask(p)
	}
	b.mu.Lock()
	b.gone = slices.DeleteFunc(b.gone, func(p *progress) bool { return p.passed == p.told })
	b.mu.Unlock()
}

// idle says whether a device's streams have nothing left to do, as far as is known.
func (b *backlog) idle(device int32) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	busy := func(p *progress) bool { return p.on.Device == device && p.passed != p.told }
	for _, p := range b.live {
		if busy(p) {
			return false
		}
	}
	return !slices.ContainsFunc(b.gone, busy)
}

// coming begins a call that waits until a stream, or with every all of a device's, has nothing left to do; the function that it gives ends it.
func (r *Runtime) coming(t hip.Thread, s hip.Stream, every bool) (come func()) {
	b := &r.backlog
	if b.bytes.Load() == 0 {
		return func() {}
	}
	type point struct {
		p    *progress
		upTo int64
	}
	var points []point
	b.mu.Lock()
	defer b.mu.Unlock()
	if every {
		for _, p := range b.live {
			if p.on.Device == t.Device {
				points = append(points, point{p, p.told})
			}
		}
	} else if p := b.live[streamOn(t, s)]; p != nil {
		points = append(points, point{p, p.told})
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, x := range points {
			b.pass(x.p, x.upTo)
		}
	}
}

// StreamDestroy is hipStreamDestroy. What the stream has still to do goes on.
func (r *Runtime) StreamDestroy(t hip.Thread, s hip.Stream) hip.Error {
	if err := r.graphs.leave(t, s); err != hip.Success {
		return err
	}
	end := r.endStream
	if s > hip.StreamPerThread && r.streamQuery(t, s) == hip.ErrorNotReady { // others wait for what it has still to do, as long as the library knows it
		r.leaving.mu.Lock()
		defer r.leaving.mu.Unlock()
		err := r.leaving.add(r, t, s, s, func(t hip.Thread) func() {
			_ = r.endStream(t, s) // nobody is there to hear of it
			return nil
		})
		if err != hip.Success {
			return err
		}
		end = func(hip.Thread, hip.Stream) hip.Error { return hip.Success }
	}
	b, of := &r.backlog, streamOn(t, s)
	b.mu.Lock()
	p := b.live[of]
	b.mu.Unlock()
	if p == nil {
		return end(t, s)
	}
	r.mark(p, s)
	b.asking.Lock() // nobody records anything there from now on
	b.mu.Lock()
	delete(b.live, of) // the handle may be another's as soon as it is destroyed
	b.gone = append(b.gone, p)
	b.mu.Unlock()
	b.asking.Unlock()
	err := end(t, s)
	if err != hip.Success {
		b.mu.Lock()
		if _, ok := b.live[of]; !ok {
			b.live[of] = p
			b.gone = slices.DeleteFunc(b.gone, func(x *progress) bool { return x == p })
		}
		b.mu.Unlock()
	}
	return err
}

// forgetQueued is for a device that is reset: its streams do nothing any more, and its events are not asked.
func (r *Runtime) forgetQueued(device int32) {
	b := &r.backlog
	b.asking.Lock()
	defer b.asking.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for of, p := range b.live {
		if p.on.Device == device {
			b.pass(p, p.told)
			delete(b.live, of)
		}
	}
	b.gone = slices.DeleteFunc(b.gone, func(p *progress) bool {
		if p.on.Device != device {
			return false
		}
		b.pass(p, p.told)
		return true
	})
}

// Queued is how much all streams have still to do, as far as is known, in bytes of
// host memory.
func (r *Runtime) Queued() int64 { return r.backlog.bytes.Load() }

// Ended changes whenever something of it ends, as far as WaitQueued finds out.
func (r *Runtime) Ended() uint64 { return r.backlog.ended.Load() }

// WaitQueued waits until at most so much is queued; false if stop was closed before.
func (r *Runtime) WaitQueued(most int64, stop <-chan struct{}) bool {
	b := &r.backlog
	r.markAll()
	for pause := leastPoll; ; pause = min(2*pause, mostPoll) {
		if r.askAll(); b.bytes.Load() <= most {
			return true
		}
		select {
		case <-stop:
			return false
		case <-time.After(pause):
		}
	}
}
