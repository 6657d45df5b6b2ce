package mono

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
)

// ticks reads the processor's counter.
func ticks() uint64

// current converts the counter; nil while the operating system's clock is used.
var current atomic.Pointer[anchor]

// Now is the time in nanoseconds since some moment of this process.
func Now() int64 {
	if a := current.Load(); a != nil {
		if d := ticks() - a.ticks; d < window {
			return a.nanos + int64(d*a.scale>>32)
		}
	}
	return calibrated()
}

var (
	settled atomic.Bool  // the operating system's clock it is, for good
	back    atomic.Int64 // what is added to it then
	mu      sync.Mutex
	counter *calibration // under mu; nil before the first look
)

// calibrated is Now when the conversion is missing or due to be looked at again.
func calibrated() int64 {
	if settled.Load() {
		return plain() + back.Load()
	}
	if mu.TryLock() { // otherwise somebody is at it
		calibrate()
		mu.Unlock()
	}
	if a := current.Load(); a != nil {
		return a.at(ticks())
	}
	return plain() + back.Load()
}

func calibrate() {
	if counter == nil {
		// Linux chooses the counter only if it runs at one rate and alike on all processors.
		b, _ := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
		if strings.TrimSpace(string(b)) != "tsc" {
			settled.Store(true)
			return
		}
		counter = &calibration{}
	}
	r := look()
	a, ok := counter.next(r)
	if !ok { // not what it was
		if old := current.Load(); old != nil {
			back.Store(max(0, old.at(r.ticks)-r.nanos))
		}
		settled.Store(true)
	}
	current.Store(a)
}

// look reads both clocks at the same moment, as nearly as a few attempts can.
func look() reading {
	var best reading
	least := ^uint64(0)
	for range 5 {
		t := ticks()
		n := plain()
		if d := ticks() - t; d < least {
			least, best = d, reading{t + d/2, n}
		}
	}
	return best
}
