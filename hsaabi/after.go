//go:build linux

package hsaabi

/*
#include "signal.h"
*/
import "C"

import (
	"math"
	"sync"
	"time"
)

// maxAwaited is how many copies wait for their signals at once, each in a thread of the system; those begun later wait for their turn first. A real card has a
// few engines, each of which waits for what the first of its copies waits for: who has that depend on a later copy hangs there already.
const maxAwaited = 64

// copies are those that wait for signals.
type copies struct {
	copyMu  sync.Mutex
	turns   []func() // that nobody has begun, in their order
	waiters int
	over    bool
	begun   sync.WaitGroup
}

// end lets go of copies that still wait, once all signals have ended, and returns when nobody looks at a signal or at memory for a copy any more.
func (c *copies) end() {
	c.copyMu.Lock()
	c.over, c.turns = true, nil
	c.copyMu.Unlock()
	c.begun.Wait()
}

// after calls do when all signals are zero, takes the time, and completes a signal: by 1, or with a negative value if do fails.
func (l *library) after(deps []uint64, completion uint64, do func() status) {
	then := func() {
		begin := C.rw_hsa_now()
		st := do()
		s := signal(completion)
		switch {
		case s == nil:
		case st != HSA_STATUS_SUCCESS:
			C.rw_hsa_subtract(s, math.MaxInt32)
		default:
			s.s.start_ts, s.s.end_ts = begin, C.rw_hsa_now()
			C.rw_hsa_subtract(s, 1)
		}
	}
	for len(deps) > 0 && isZero(deps[0], 0) {
		deps = deps[1:]
	}
	if len(deps) == 0 {
		l.begin(then)
		return
	}
	turn := func() {
		for _, h := range deps { // one after the other: what was zero may be of use for something else by now
			for !isZero(h, time.Second) && current.Load() == l {
			}
		}
		if current.Load() == l { // what it waited for has not ended with the library
			then()
		}
	}
	l.copyMu.Lock()
	full := l.waiters == maxAwaited
	if full && !l.over {
		l.turns = append(l.turns, turn)
	} else if !full {
		l.waiters++
	}
	l.copyMu.Unlock()
	if !full {
		l.begin(func() { l.takeTurns(turn) })
	}
}

// begin starts one, unless the library is at its end.
func (c *copies) begin(f func()) {
	c.copyMu.Lock()
	defer c.copyMu.Unlock()
	if !c.over {
		c.begun.Go(f)
	}
}

// takeTurns does what has its turn, one after the other.
func (c *copies) takeTurns(turn func()) {
	for turn != nil {
		turn()
		c.copyMu.Lock()
		turn = nil
		if len(c.turns) > 0 {
			turn, c.turns = c.turns[0], c.turns[1:]
		} else {
			c.waiters--
		}
		c.copyMu.Unlock()
	}
}

// isZero waits at most so long until a signal is zero, and reports whether it is. One that has ended counts as zero.
func isZero(h uint64, patience time.Duration) bool {
	s := signal(h)
	return s == nil || C.rw_hsa_wait(s, HSA_SIGNAL_CONDITION_EQ, 0, C.uint64_t(patience), false) == 0 || signal(h) == nil
}
