package exec

import (
	"sync/atomic"
	"time"
)

// Clock is a card's time as it follows from what is executed: each instruction of
// a wave takes a core cycle, whatever the machine does. Where kernels execute one
// after the other, each on one goroutine, it is the same every time.
type Clock struct{ cycles atomic.Uint64 }

// Time is the time since a beginning that means nothing.
func (c *Clock) Time() time.Time {
	n := c.cycles.Load()
	return time.Unix(1+int64(n/(coreMHz*1e6)), int64(n%(coreMHz*1e6)*1000/coreMHz))
}

// executed adds what waves have executed.
func (c *Clock) executed(s *Stats) {
	if c != nil {
		c.cycles.Add(s.cycles())
	}
}

// sleep is what stands for a moment in which no wave does anything.
func (c *Clock) sleep() { c.cycles.Add(uint64(sleepTime.Microseconds()) * coreMHz) }

// cycles are those that the instructions took.
func (s *Stats) cycles() (n uint64) {
	for _, x := range s.Instructions {
		n += x
	}
	return n
}

// cycles is the clock as the wave sees it, in core cycles: with what its workgroup
// has executed and nobody has added yet.
func (w *wave) cycles() uint64 {
	c := w.d.Clock
	if c == nil {
		return uint64(time.Since(started).Nanoseconds()) * coreMHz / 1000
	}
	n := c.cycles.Load()
	for _, o := range w.wg.waves {
		o.flushTally()
		n += o.stats.cycles()
	}
	return n
}
