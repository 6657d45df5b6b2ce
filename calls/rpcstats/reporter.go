package rpcstats

import (
	"math/bits"
	"time"
)

// Bounds of what is believed of one reporter.
const (
	maxOwn  = 512             // kinds of calls that it counts apart
	maxRate = 20_000_000      // calls in a second, of one side
	burst   = 2 * time.Second // of maxRate at once
)

// Patience is how much longer than a session has been there its calls may have taken: its
// client had to connect.
const Patience = time.Minute

// A Reporter adds to totals what one session and its client report. What it reports is
// bounded: how many totals it has a part in, and counts and durations by how long it has
// been there, so that nobody can push a total to the end of its range. Once it has ended
// the totals that only it has counted in are kept for ten minutes.
type Reporter struct {
	r     *Totals
	began time.Time

	// With r.mu.
	calls   map[Call]*total
	counted map[Side]uint64
	refused time.Time // when there was no room for a call
	ended   bool
}

// Reporter is a new one. It is to be ended.
func (r *Totals) Reporter() *Reporter {
	p := &Reporter{r: r, began: r.now(), calls: map[Call]*total{}, counted: map[Side]uint64{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reporters[p] = struct{}{}
	return p
}

// Merge adds a delta. What cannot be true of it is left out.
func (p *Reporter) Merge(d *Delta) {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.ended {
		return
	}
	age := r.now().Sub(p.began)
	for i := range d.Series {
		h := d.Series[i].Hist.within(age + Patience)
		n := addSat(p.counted[d.Side], h.Count())
		if n == p.counted[d.Side] || float64(n) > maxRate*(age+burst).Seconds() {
			continue
		}
		p.counted[d.Side] = n
		r.add(r.call(d.Side, &d.Series[i]), &h, p)
	}
}

// End lets go of the reporter's totals. What comes later is left out.
func (p *Reporter) End() {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.ended {
		return
	}
	p.ended = true
	delete(r.reporters, p)
	for _, t := range p.calls {
		if t.owners--; t.owners == 0 {
			t.left = r.now()
		}
	}
	p.calls = nil
}

// full reports whether the reporter has no room for a call.
func (p *Reporter) full(c Call) bool {
	return p.calls[c] == nil && len(p.calls) >= maxOwn
}

// own notes that the reporter has a part in a total.
func (p *Reporter) own(c Call, t *total) {
	if p.calls[c] != nil {
		return
	}
	p.calls[c] = t
	t.owners++
}

// within is the part of h that calls of at most d can be, with a sum that its buckets allow.
func (h *Hist) within(d time.Duration) Hist {
	last, _ := BucketOf(d)
	n := len(h.Buckets)
	for n > 0 && h.Buckets[n-1].Index > last {
		n--
	}
	w := Hist{Zero: h.Zero, Buckets: h.Buckets[:n:n]}
	for _, b := range w.Buckets {
		w.Nanos = addSat(w.Nanos, mulSat(b.Count, uint64(Bound(b.Index)*1e9)+1))
	}
	w.Nanos = min(w.Nanos, h.Nanos)
	return w
}

func mulSat(a, b uint64) uint64 {
	if over, n := bits.Mul64(a, b); over == 0 {
		return n
	}
	return 1<<64 - 1
}
