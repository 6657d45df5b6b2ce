package worker

import "time"

// What a session can have done in a second at most: it reports its totals itself, and may have been taken over. So nobody pushes the worker's
// totals to the end of their range.
const (
	mostBytes = 128 << 30
	mostCalls = 20_000_000
)

// possible is how much of something a session can have done by now, at so much in a second.
func (r *sessionRecord) possible(perSecond uint64) uint64 {
	const slack = 2 * time.Second // the start is taken before the session begins, a report takes a moment
	return uint64((time.Since(r.start) + slack).Seconds() * float64(perSecond))
}
