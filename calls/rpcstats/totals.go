package rpcstats

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Totals adds up how long calls took: the deltas of session processes and clients,
// and single observations. It answers with running totals.
//
// What it keeps is bounded. Functions and results without a name, and what is too
// much, are counted under "other", each side by itself: a peer that invents opcodes
// costs one series, and no call is lost. A total lasts as long as there is a [Reporter]
// that has counted in it, and ten minutes more; then it is forgotten, and begins anew.
type Totals struct {
	names Names
	now   func() time.Time

	mu        sync.Mutex
	series    map[Call]*total
	reporters map[*Reporter]struct{}
	changed   bool        // since snapshot was made
	snapshot  []CallTotal // what Calls answers
	slow      slowMinutes
}

// Names gives the label values of opcodes and result codes; "" for what has none.
type Names struct {
	Op   func(op uint16) string
	Code func(code int32) string
}

// Call says what was called, where it was measured, and how it ended.
type Call struct {
	Op   string // the function, "hipMalloc"
	Side string // "client", "worker", or a phase: "queue", "execution", "network"
	Code string // the result, "hipSuccess"
}

// CallTotal is the running total of one kind of call.
type CallTotal struct {
	Call
	Hist
	Since time.Time // when the total began
}

type total struct {
	hist   Hist // its buckets are replaced, never changed
	since  time.Time
	owners int       // reporters that have counted in it and have not ended
	left   time.Time // when there was none any more
	kept   bool      // it is not only reporters'
}

const (
	other    = "other"
	maxCalls = 2048             // kinds of calls kept apart
	lasting  = 10 * time.Minute // what nobody counts in any more
	maxLabel = 128
)

// NewTotals returns totals that have counted nothing.
func NewTotals(names Names) *Totals {
	return &Totals{names: names, now: time.Now, series: map[Call]*total{}, reporters: map[*Reporter]struct{}{}}
}

// Merge adds a delta that is nobody's, and stays.
func (r *Totals) Merge(d *Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range d.Series {
		r.add(r.call(d.Side, &d.Series[i]), &d.Series[i].Hist, nil)
	}
}

func (r *Totals) call(side Side, s *Series) Call {
	return Call{Op: name(r.names.Op, s.Op), Side: side.String(), Code: name(r.names.Code, s.Code)}
}

func name[T any](f func(T) string, v T) string {
	if f != nil {
		if n := f(v); n != "" {
			return n
		}
	}
	return other
}

// Observe adds one call.
func (r *Totals) Observe(op, side, code string, seconds float64) {
	var d time.Duration // NaN and what is negative count as 0
	if seconds > 0 {
		d = time.Duration(math.Round(min(seconds, 1e9) * 1e9))
	}
	h := Hist{Zero: 1}
	if b, ok := BucketOf(d); ok {
		h = Hist{Nanos: uint64(d), Buckets: []Bucket{{Index: b, Count: 1}}}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(Call{Op: label(op), Side: label(side), Code: label(code)}, &h, nil)
}

// add counts in the total of a call, or in that of all others of its side. by may be nil.
func (r *Totals) add(c Call, h *Hist, by *Reporter) {
	r.changed = true
	t := r.series[c]
	if c != rest(c.Side) && (by != nil && by.full(c) || t == nil && !r.room(by)) {
		c = rest(c.Side)
		t = r.series[c]
	}
	if t == nil {
		t = &total{since: r.now()}
		r.series[c] = t
	}
	if by != nil {
		by.own(c, t)
	} else {
		t.kept = true
	}
	t.hist.Merge(h)
}

// rest is the call that stands for all of a side that have no total of their own.
func rest(side string) Call { return Call{Op: other, Side: side, Code: other} }

// Calls is every running total, in order of Op, Side, Code. Nothing of it may be changed.
func (r *Totals) Calls() []CallTotal {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	if !r.changed {
		return r.snapshot
	}
	list := make([]CallTotal, 0, len(r.series))
	for c, t := range r.series {
		list = append(list, CallTotal{Call: c, Hist: t.hist, Since: t.since})
	}
	slices.SortFunc(list, func(a, b CallTotal) int {
		return cmp.Or(strings.Compare(a.Op, b.Op), strings.Compare(a.Side, b.Side), strings.Compare(a.Code, b.Code))
	})
	r.changed, r.snapshot = false, list
	return list
}

// label makes a label value of any text.
func label(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxLabel {
		s = strings.ToValidUTF8(s[:maxLabel], "")
	}
	if s == "" {
		return other
	}
	return s
}
