package mono

import "math/bits"

const (
	// window is for how many ticks a conversion is used before it is looked at again: one to two seconds. Within it the product below
	// cannot overflow, as the counter makes at least one tick a nanosecond.
	window = 1 << 32
	// enough is how many nanoseconds apart two readings must be to tell the counter's rate: an error of 100 ns in each is then 10 ppm.
	enough = 20e6
	// slowest is the rate of the slowest counter that is used, in ticks/s.
	slowest = 1e9
)

// reading is both clocks at one moment.
type reading struct {
	ticks uint64
	nanos int64
}

// anchor converts ticks to nanoseconds.
type anchor struct {
	ticks uint64 // at the moment
	nanos int64  // that Now calls this
	scale uint64 // nanoseconds in a tick, times 2^32
}

// at converts any number of ticks. Those before the anchor, which another processor may read, count as its moment.
func (a *anchor) at(t uint64) int64 {
	d := t - a.ticks
	if int64(d) < 0 {
		return a.nanos
	}
	hi, lo := bits.Mul64(d, a.scale)
	return a.nanos + int64(hi<<32|lo>>32)
}

// calibration finds the counter's rate against the operating system's clock, better as time goes on, and notices if it changes.
type calibration struct {
	first, last reading
	anchor      *anchor
}

// next takes a reading and gives the conversion from there on, nil if there is none yet. It goes on where the one before has come to, so
// that Now does not jump. False: the counter cannot be used, or no longer.
func (c *calibration) next(r reading) (*anchor, bool) {
	if c.first == (reading{}) {
		c.first, c.last = r, r
		return nil, true
	}
	if r.nanos-c.last.nanos < enough {
		return c.anchor, r.ticks >= c.first.ticks
	}
	scale, ok := rate(c.first, r)
	recent, ok2 := rate(c.last, r)
	if !ok || !ok2 || c.anchor != nil && apart(recent, c.anchor.scale) {
		return nil, false
	}
	at := r.nanos
	if c.anchor != nil {
		at = c.anchor.at(r.ticks)
	}
	c.last, c.anchor = r, &anchor{r.ticks, at, scale}
	return c.anchor, true
}

// rate is the nanoseconds in a tick, times 2^32, between two readings; false if that is no rate to use.
func rate(from, to reading) (uint64, bool) {
	d, n := to.ticks-from.ticks, uint64(to.nanos-from.nanos)
	if int64(d) <= 0 || to.nanos <= from.nanos {
		return 0, false
	}
	hi, lo := bits.Mul64(n, 1<<32)
	if hi >= d {
		return 0, false
	}
	scale, _ := bits.Div64(hi, lo, d)
	return scale, scale > 0 && scale <= 1e9/slowest<<32
}

// apart says that two rates differ by more than a thousandth.
func apart(a, b uint64) bool { return max(a, b)-min(a, b) > b/1000 }
