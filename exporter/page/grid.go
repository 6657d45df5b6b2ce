package page

import "time"

// grid numbers the steps of time. It goes by the monotonic clock, so that setting the
// clock neither stops the history nor runs over it.
type grid struct {
	epoch time.Time // the begin of step 0, on a whole step of the wall clock, with a monotonic reading
	step  time.Duration
}

// newGrid makes a grid in which the step before back is not negative.
func newGrid(now time.Time, step time.Duration, steps int) grid {
	begin := now.Add(-now.Sub(now.Truncate(step)))
	return grid{epoch: begin.Add(-time.Duration(steps) * step), step: step}
}

func (g grid) of(t time.Time) int64 { return int64(t.Sub(g.epoch) / g.step) }

// time is when a step began, by the clock as it is set now.
func (g grid) time(step int64, now time.Time) time.Time {
	t := g.epoch.Round(0).Add(time.Duration(step) * g.step)
	drift := now.Round(0).Sub(g.epoch.Round(0)) - now.Sub(g.epoch)
	return t.Add(drift.Round(g.step))
}
