package page

import (
	"math"
	"time"
)

// store keeps series within a bound. It is not safe for several goroutines.
type store struct {
	steps    int // of one series
	maxBytes int64
	bytes    int64
	series   map[key]*ring
	slots    *slots // for their figures
	left     uint64 // series that there was no room for, each counted at every step

	open int64 // the step under way
	now  time.Time
	full [rankCard + 1]int64 // the step in which there was no room for a rank
}

func newStore(steps int, maxBytes int64) *store {
	return &store{steps: steps, maxBytes: maxBytes, series: map[key]*ring{}, slots: newSlots(steps), open: -1}
}

// begin says when the next readings are of, and ends the step before if it is over.
func (s *store) begin(step int64, now time.Time) {
	if step > s.open {
		s.end()
		s.open = step
	}
	s.now = now
}

// end closes all series, and forgets those that have nothing left to show.
func (s *store) end() {
	for k, r := range s.series {
		r.close()
		if r.head <= s.open-int64(s.steps) {
			s.drop(k, r)
		}
	}
}

// gauge adds one reading; a step's figure is the mean of its readings.
func (s *store) gauge(k key, r rank, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if x := s.of(k, r); x != nil {
		x.sum += v
		x.n++
	}
}

// counter notes a running total; a step's figure is by how much it grew in a second.
func (s *store) counter(k key, r rank, total float64) {
	if math.IsNaN(total) || math.IsInf(total, 0) {
		return
	}
	if x := s.of(k, r); x != nil {
		x.total, x.at, x.isTotal = total, s.now, true
	}
}

// of is the series of a key, made if there is room; otherwise nil.
func (s *store) of(k key, r rank) *ring {
	x := s.series[k]
	if x == nil {
		for s.bytes+bytesOf(s.steps) > s.maxBytes {
			if s.full[r] == s.open || !s.evict(r) {
				s.full[r] = s.open // which need not be found out again for each
				s.left++
				return nil
			}
		}
		x = newRing(k, r, s.slots.take(), s.open-1)
		s.series[k] = x
		s.bytes += x.bytes()
	}
	x.open = s.open
	return x
}

// evict makes room for a series of a rank: what is not measured any more goes first,
// the longest ended before the others, then what is of a lower rank.
func (s *store) evict(r rank) bool {
	var victim *ring
	for _, x := range s.series {
		ended := x.open < s.open-1
		if !ended && x.rank >= r {
			continue
		}
		if victim == nil || before(x, victim) {
			victim = x
		}
	}
	if victim == nil {
		return false
	}
	s.drop(victim.key, victim)
	return true
}

func (s *store) drop(k key, r *ring) {
	delete(s.series, k)
	s.bytes -= r.bytes()
	s.slots.give(r.vals)
	r.vals = nil // whoever still has the ring must not see another's figures
}

func before(a, b *ring) bool {
	if a.open != b.open {
		return a.open < b.open
	}
	return a.rank < b.rank
}

// last is the figure of a series in the last step that ended.
func (s *store) last(k key) (float64, bool) {
	r := s.series[k]
	if r == nil {
		return 0, false
	}
	v := r.get(s.open - 1)
	return float64(v), v == v
}
