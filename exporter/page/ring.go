package page

import (
	"math"
	"time"
)

// key names a series: a metric, as METRICS.md names it where it is one of those, and
// its labels.
type key struct {
	metric string
	labels [2]label
}

type label struct{ name, value string }

// ring is one figure for each of the last steps, the newest at head. What was not
// measured is NaN.
type ring struct {
	key  key
	rank rank
	vals []float32
	head int64

	// The step that is under way.
	open     int64
	sum      float64 // of a gauge's readings
	n        int
	total    float64 // of a counter, as it was read last
	at       time.Time
	isTotal  bool
	since    float64 // the total at the end of the last step that had one
	sinceAt  time.Time
	hasSince bool
}

// rank says what goes first when there is too much.
type rank uint8

const (
	rankProcess rank = iota
	rankSession
	rankSink
	rankWorker
	rankCard
)

// ringBytes is what a ring takes without its figures, the map's part included.
const ringBytes = 384

// newRing makes a ring of what vals has room for.
func newRing(k key, r rank, vals []float32, head int64) *ring {
	s := &ring{key: k, rank: r, vals: vals, head: head}
	for i := range s.vals {
		s.vals[i] = nan32
	}
	return s
}

var nan32 = float32(math.NaN())

// bytesOf is what a ring of some steps takes.
func bytesOf(steps int) int64 { return int64(4*steps + ringBytes) }

func (s *ring) bytes() int64 { return bytesOf(len(s.vals)) }

// put sets the figure of a step, which is none before head. The steps in between were
// not measured.
func (s *ring) put(step int64, v float32) {
	n := int64(len(s.vals))
	for i := max(s.head+1, step-n+1); i < step; i++ {
		s.vals[i%n] = nan32
	}
	s.vals[step%n], s.head = v, step
}

// get is the figure of a step, NaN if there is none.
func (s *ring) get(step int64) float32 {
	n := int64(len(s.vals))
	if step > s.head || step <= s.head-n || step < 0 {
		return nan32
	}
	return s.vals[step%n]
}

// mean is the mean of the figures from step a up to b, NaN if there are none.
func (s *ring) mean(a, b int64) float32 {
	sum, n := 0.0, 0
	for i := a; i < b; i++ {
		if v := s.get(i); v == v {
			sum, n = sum+float64(v), n+1
		}
	}
	if n == 0 {
		return nan32
	}
	return float32(sum / float64(n))
}

// close ends the step that is under way.
func (s *ring) close() {
	switch {
	case s.n > 0:
		s.put(s.open, float32(s.sum/float64(s.n)))
	case s.isTotal:
		if took := s.at.Sub(s.sinceAt).Seconds(); s.hasSince && took > 0 {
			grew := s.total - s.since
			if grew < 0 { // it began anew, from zero
				grew = s.total
			}
			s.put(s.open, float32(grew/took))
		}
		s.since, s.sinceAt, s.hasSince = s.total, s.at, true
	}
	s.sum, s.n, s.isTotal = 0, 0, false
}
