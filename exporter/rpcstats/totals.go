package rpcstats

import (
	"math"
	"sort"
	"strings"
	"sync"
	"time"
)

// Totals adds up how long calls took: the deltas of session processes and clients,
// and single observations. It answers as the running totals since it was made.
//
// What it keeps is bounded. Functions and results without a name, and what is too
// much, are counted under "other": a peer that invents opcodes costs one series.
type Totals struct {
	names Names
	now   func() time.Time

	mu     sync.Mutex
	series map[Call]*total
	slow   slowMinutes
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
	hist  Hist
	since time.Time
}

const (
	other    = "other"
	maxCalls = 4096 // kinds of calls kept apart
	maxLabel = 128
)

// NewTotals returns totals that have counted nothing.
func NewTotals(names Names) *Totals {
	return &Totals{names: names, now: time.Now, series: map[Call]*total{}}
}

// Merge adds a delta.
func (r *Totals) Merge(d *Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range d.Series {
		s := &d.Series[i]
		r.add(Call{Op: name(r.names.Op, s.Op), Side: d.Side.String(), Code: name(r.names.Code, s.Code)}, &s.Hist)
	}
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
	r.add(Call{Op: label(op), Side: label(side), Code: label(code)}, &h)
}

func (r *Totals) add(c Call, h *Hist) {
	t := r.series[c]
	if t == nil {
		if len(r.series) >= maxCalls {
			c = Call{Op: other, Side: other, Code: other}
			t = r.series[c]
		}
		if t == nil {
			t = &total{since: r.now()}
			r.series[c] = t
		}
	}
	t.hist.Merge(h)
}

// Calls is every running total, in order of Op, Side, Code.
func (r *Totals) Calls() []CallTotal {
	r.mu.Lock()
	list := make([]CallTotal, 0, len(r.series))
	for c, t := range r.series {
		h := t.hist
		h.Buckets = append([]Bucket(nil), h.Buckets...)
		list = append(list, CallTotal{Call: c, Hist: h, Since: t.since})
	}
	r.mu.Unlock()
	sort.Slice(list, func(i, j int) bool {
		a, b := list[i].Call, list[j].Call
		if a.Op != b.Op {
			return a.Op < b.Op
		}
		if a.Side != b.Side {
			return a.Side < b.Side
		}
		return a.Code < b.Code
	})
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
