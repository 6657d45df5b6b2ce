package tlsrecord

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// Records of one direction are independent of each other once their numbers are known, so those of a long message are made and opened by several cores.
const (
	spanRecords = 4 // of a share of the work: some ten microseconds
	leastShared = 4 // shares from which on others are asked
	maxHelpers  = 3
)

// team has shares of work done by other cores, too, as long as these have nothing else to do. It is of one goroutine at a time.
type team struct {
	rest int // shared work that is yet to be done alone
	last int // what rest was the last time
}

const (
	helpSoon  = int64(20 * time.Microsecond) // how long a share takes, with some to spare: not worth a sleep
	helpLate  = int64(60 * time.Microsecond) // who waits longer for a share has asked a core that had something else to do
	maxAlone  = 256
	someSpins = 64 // between looks at the time
)

// begin has f called with 0 to n-1, in any order and by several goroutines at once, as far as others have time; finish does the rest.
func (t *team) begin(n int, f func(i int)) *work {
	w := &work{n: int64(n), f: f, finished: make(chan struct{})}
	helpers := min(n-1, maxHelpers, runtime.GOMAXPROCS(0)-1)
	switch {
	case n < leastShared:
	case t.rest > 0:
		t.rest--
	default:
		for w.asked < helpers {
			w.asked++
			go w.run()
		}
	}
	return w
}

// finish returns when all calls of w have.
func (t *team) finish(w *work) {
	mine := w.run()
	if w.asked == 0 {
		return
	}
	start := mono.Now()
	w.wait(start)
	if int64(mine) == w.n || mono.Now()-start > helpLate {
		t.last = min(2*t.last+1, maxAlone)
		t.rest = t.last
		return
	}
	t.last /= 2
}

// work is what a team does.
type work struct {
	n           int64
	f           func(i int)
	asked       int
	begun, done atomic.Int64
	finished    chan struct{}
}

// run does what nobody else has begun, and says how much that was.
func (w *work) run() (did int) {
	for i := w.begun.Add(1) - 1; i < w.n; i = w.begun.Add(1) - 1 {
		w.f(int(i))
		did++
		if w.done.Add(1) == w.n {
			close(w.finished)
		}
	}
	return did
}

// wait waits for what others have begun.
func (w *work) wait(start int64) {
	for mono.Now()-start < helpSoon {
		for range someSpins {
			if w.done.Load() == w.n {
				return
			}
		}
	}
	<-w.finished
}
