package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
)

// starts remembers since when running totals run, for those whose source does not say.
// OpenTelemetry's data model has a rule for a total whose start is unknown: it starts
// with its first observation. One that falls began anew after the last.
type starts struct {
	began time.Time // of this process's readings
	last  time.Time // of the reading before; zero: there was none
	known map[seriesKey]*running
}

// running is one total.
type running struct {
	attrs attribute.Set
	start time.Time
	value float64
	seen  time.Time
}

// forget is how long a series that is gone is remembered: a card may be silent for a
// while and come back with the same totals.
const forget = 15 * time.Minute

func newStarts(began time.Time) *starts {
	return &starts{began: began, known: map[seriesKey]*running{}}
}

// of is the start of a total whose value is v now. since is when it began at the
// earliest: known from the source, or the time of a reading that did not have it yet.
func (s *starts) of(m *metric, attrs attribute.Set, v float64, now, since time.Time) time.Time {
	key := seriesKey{m.id, attrs.Equivalent()}
	r := s.known[key]
	switch {
	case r == nil || !r.attrs.Equals(&attrs):
		r = &running{attrs: attrs, start: now}
		if !since.IsZero() && since.Before(now) {
			r.start = since
		}
		s.known[key] = r
	case since.After(r.seen): // another one of the same name
		r.start = since
	case v < r.value:
		r.start = r.seen
	}
	r.value, r.seen = v, now
	return r.start
}

// done ends a reading.
func (s *starts) done(now time.Time) {
	for k, r := range s.known {
		if now.Sub(r.seen) > forget {
			delete(s.known, k)
		}
	}
	s.last = now
}

// before is the value of a total at the last reading that had it, and when that was.
func (s *starts) before(m *metric, attrs attribute.Set) (v float64, at time.Time, ok bool) {
	r := s.known[seriesKey{m.id, attrs.Equivalent()}]
	if r == nil || !r.attrs.Equals(&attrs) {
		return 0, time.Time{}, false
	}
	return r.value, r.seen, true
}
