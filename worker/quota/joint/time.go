package joint

import (
	"time"

	"github.com/rocwire/rocwire/worker/quota"
)

const (
	// slices is how many draws a full budget is worth.
	slices = 4
	// untimed is what is drawn where there is no limit of time.
	untimed = time.Second
)

// wait is how long it takes until a budget below 0 is paid.
func wait(budget, share float64) time.Duration {
	const most = 24 * 365 * time.Hour
	if s := -budget / share; s < most.Seconds() {
		return time.Duration(s * float64(time.Second))
	}
	return most
}

// fill adds what the time since the last filling is worth.
func (b *balance) fill(now time.Time, share float64) {
	if !b.filled.IsZero() {
		b.budget = min(b.budget+max(0, now.Sub(b.filled).Seconds())*share, quota.Burst.Seconds()*share)
	}
	b.filled = now
}

// Draw takes a little of the account's time of a card. Where there is none, wait says when there will be.
func (h *Holder) Draw(c Card) (granted, later time.Duration) {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	b := h.at(c)
	if b == nil {
		return 0, time.Second
	}
	share := h.of.limit(c.At).Compute
	if share <= 0 || share >= 1 {
		b.budget, b.filled = 0, h.of.in.clock()
		return untimed, 0
	}
	b.fill(h.of.in.clock(), share)
	if b.budget < 0 {
		return 0, wait(b.budget, share) + time.Microsecond
	}
	granted = time.Duration(min(b.budget, quota.Burst.Seconds()*share/slices) * float64(time.Second))
	b.budget -= granted.Seconds()
	return granted, 0
}

// Spend takes what the session's kernels ran beyond what it has drawn, which the clock bounds: so many are under way at once at most.
func (h *Holder) Spend(c Card, ran time.Duration) {
	h.of.in.mu.Lock()
	defer h.of.in.mu.Unlock()
	b := h.at(c)
	if b == nil {
		return
	}
	most := quota.MaxOutstanding * (h.of.in.clock().Sub(h.joined) + time.Second)
	ran = max(0, min(ran, most-h.spent[c]))
	h.spent[c] += ran
	b.budget -= ran.Seconds()
}
