package smi

import (
	"context"
	"slices"
	"sync"
	"time"
)

// view is a snapshot that was put together from what is known.
type view struct {
	snap   *Snapshot
	number uint64
	epoch  uint64
	until  time.Time
}

// View is a snapshot that all who ask at about the same time get, together with a
// number that is never 0 and the same only for the same snapshot. It must not be
// changed.
func (s *SharedSource) View(ctx context.Context) (*Snapshot, uint64, error) {
	s.mu.Lock()
	if v := s.current(); v != nil {
		s.mu.Unlock()
		return v.snap, v.number, nil
	}
	epoch := s.epoch
	s.mu.Unlock()

	a := s.ask(ctx, question{what: devices}, true)
	if a.err != nil {
		return nil, 0, a.err
	}
	cards := a.value.([]Device)
	snap := &Snapshot{Devices: make([]DeviceSnapshot, len(cards))}
	var owners map[int][]Owner
	if o := OwnersOf(s); o != nil {
		owners = o.Owners()
	}
	until := a.until
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i, d := range cards {
		c := &snap.Devices[i]
		c.Device, c.Owners = d, owners[d.Index]
		read := func() {
			u := s.card(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			if u.Before(until) {
				until = u
			}
		}
		if s.remembers(d.Index) {
			read()
		} else {
			wg.Go(read)
		}
	}
	wg.Wait()
	snap.Time = time.Now()

	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.current(); v != nil && v.epoch == epoch { // somebody was faster
		return v.snap, v.number, nil
	}
	s.views++
	v := &view{snap: snap, number: s.views, epoch: epoch, until: until}
	if ctx.Err() == nil { // otherwise what is missing is this asker's own fault
		// Parts that were read one after the other must not make everybody put together
		// a view of his own.
		if least := snap.Time.Add(s.opt.Fresh / 2); least.After(v.until) {
			v.until = least
		}
		s.view = v
	}
	return snap, v.number, nil
}

// current is the view, with mu, as long as it is of use.
func (s *SharedSource) current() *view {
	if v := s.view; v != nil && !s.closed && v.epoch == s.epoch && time.Now().Before(v.until) {
		return v
	}
	return nil
}

// parts of a view.
var parts = [...]what{info, metrics, ecc, processes}

// remembers says whether nothing of a card has to be read.
func (s *SharedSource) remembers(index int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, w := range parts {
		if k := s.known[question{w, index}]; k == nil || k.epoch != s.epoch || !now.Before(k.until) {
			return false
		}
	}
	return true
}

// card fills in what there is to know about a card, reading side by side, and says
// how long that stays so.
func (s *SharedSource) card(ctx context.Context, c *DeviceSnapshot) (until time.Time) {
	var got [len(parts)]answer
	var wg sync.WaitGroup
	for i, w := range parts {
		ask := func() { got[i] = s.ask(ctx, question{w, c.Device.Index}, true) }
		if i == len(parts)-1 {
			ask()
		} else {
			wg.Go(ask)
		}
	}
	wg.Wait()
	for i, w := range parts {
		a := &got[i]
		if i == 0 || a.until.Before(until) {
			until = a.until
		}
		failure := FailureOf(a.err)
		switch w {
		case info:
			c.Info, _ = a.value.(*Info)
			c.InfoErr = failure
		case metrics:
			c.Metrics, _ = a.value.(*Metrics)
			c.MetricsErr = failure
			if a.stale {
				m := *c.Metrics
				a.mark(&m.Stale)
				c.Metrics = &m
			}
		case ecc:
			c.ECC, _ = a.value.(*ECC)
			c.ECCErr = failure
			if a.stale {
				e := *c.ECC
				a.mark(&e.Stale)
				c.ECC = &e
			}
		case processes:
			c.Processes, _ = a.value.([]Process)
			c.ProcessesErr = failure
			a.mark(&c.ProcessesStale)
		}
	}
	return until
}

// Snapshot implements Snapshotter.
func (s *SharedSource) Snapshot(ctx context.Context) (*Snapshot, error) {
	v, _, err := s.View(ctx)
	if err != nil {
		return nil, err
	}
	c := &Snapshot{Time: v.Time, Devices: slices.Clone(v.Devices)}
	for i := range c.Devices {
		d := &c.Devices[i]
		d.Info, d.Metrics, d.ECC, d.Processes = d.Info.Clone(), d.Metrics.Clone(), d.ECC.Clone(), CloneProcesses(d.Processes)
		d.Owners = slices.Clone(d.Owners)
		for _, f := range []**Failure{&d.InfoErr, &d.MetricsErr, &d.ECCErr, &d.ProcessesErr} {
			if *f != nil {
				own := **f
				*f = &own
			}
		}
	}
	return c, nil
}
