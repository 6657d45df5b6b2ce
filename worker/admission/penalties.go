package admission

import (
	"sync"
	"time"
)

// What a failure costs its address. An address is refused once it owes more than penaltyLeast: so a health check that connects every few seconds,
// or somebody who mistypes, is not.
const (
	Silent  = time.Second     // it went without having said who it is, or was too slow
	Garbage = 5 * time.Second // it said something else
	Denied  = 5 * time.Second // it may not come in

	penaltyLeast = 15 * time.Second
)

// maxPenalties bounds the addresses that are remembered.
const maxPenalties = 1 << 14

// Penalties remember addresses whose connections come to nothing. What they owe goes by itself with time.
type Penalties struct {
	most time.Duration
	now  func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
}

// NewPenalties are such that an address is refused for at most that long; none is refused if it is not positive.
func NewPenalties(most time.Duration) *Penalties {
	return &Penalties{most: most, now: time.Now, until: map[string]time.Time{}}
}

// Add adds what a failure costs.
func (p *Penalties) Add(s Source, cost time.Duration) {
	if s.Shared || p.most <= 0 {
		return
	}
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	owes := max(0, p.until[s.Key].Sub(now))
	if owes == 0 && len(p.until) >= maxPenalties {
		p.forget(now)
	}
	p.until[s.Key] = now.Add(min(owes+cost, penaltyLeast+p.most))
}

// forget makes room: those who owe nothing go, or an eighth of those who do.
func (p *Penalties) forget(now time.Time) {
	for k, t := range p.until {
		if !t.After(now) {
			delete(p.until, k)
		}
	}
	for k := range p.until {
		if len(p.until) < maxPenalties-maxPenalties/8 {
			return
		}
		delete(p.until, k)
	}
}

// Check refuses a source that owes too much.
func (p *Penalties) Check(s Source) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, known := p.until[s.Key]
	if left := until.Sub(p.now()) - penaltyLeast; known && left > 0 {
		return refuse("too many connections from this address have failed; try again in %v (--max-penalty)", left.Round(time.Second)+time.Second)
	}
	return nil
}
