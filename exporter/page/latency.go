package page

import (
	"slices"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// LatencySpan is the answer of /api/v1/latency: what calls cost over time, of one
// function or of all together. Its lists are on the axis of a Span.
type LatencySpan struct {
	Begin float64 `json:"begin"`
	Step  float64 `json:"step_seconds"`
	Count int     `json:"count"`
	Op    string  `json:"op"`   // "": all
	Side  string  `json:"side"` // client or worker, whichever is measured

	Rate   points `json:"calls_per_second"`
	Failed points `json:"failed_per_second"`
	P50    points `json:"p50_seconds"`
	P90    points `json:"p90_seconds"`
	P99    points `json:"p99_seconds"`

	// Mean times of the parts of a call, over all calls: those that wait for no answer have none, so together they are at most the mean of a call.
	Network   points `json:"network_mean_seconds"`
	Queue     points `json:"queue_mean_seconds"`
	Execution points `json:"execution_mean_seconds"`

	Heat Heat `json:"heat"`
}

// Heat says how many calls took how long: Counts[i][j] of point i took at most
// Bounds[j] seconds and more than the bound before; the last has no bound. A point
// that was not measured is null.
type Heat struct {
	Bounds []float64  `json:"bounds_seconds"`
	Counts [][]uint64 `json:"counts"`
}

// The heat map's rows are powers of two from 1 µs to 16 s.
const (
	heatFirst = -20
	heatLast  = 4
	perOctave = 1 << rpcstats.Schema
)

// heatRow is the row of a bucket.
func heatRow(bucket int) int {
	// The smallest e with bucket ≤ e·perOctave.
	e := (bucket + perOctave - 1) >> rpcstats.Schema
	return min(max(e, heatFirst), heatLast+1) - heatFirst
}

// latency answers with the function of the parameter op, "" for all, and the axis of
// the same parameters as a history.
func (p *Page) latency(q *query) (any, error) {
	op := q.values.Get("op")
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.axisOf(q)
	if q.err != nil {
		return nil, q.err
	}
	s := &LatencySpan{Begin: p.begin(a), Step: p.stepSeconds(a), Count: a.len(), Op: clean(op), Heat: Heat{Counts: make([][]uint64, a.len())}}
	for e := heatFirst; e <= heatLast; e++ {
		s.Heat.Bounds = append(s.Heat.Bounds, rpcstats.Bound(e*perOctave))
	}
	s.Side = p.calls.side(op)
	for _, v := range []*points{&s.Rate, &s.Failed, &s.P50, &s.P90, &s.P99, &s.Network, &s.Queue, &s.Execution} {
		*v = slices.Repeat(points{nan32}, a.len())
	}
	for i := range a.len() {
		at := a.from + int64(i)*a.per
		s.point(i, p.calls, at, at+a.per, p.opt.Step, op)
	}
	return s, nil
}

// side is the one that has been measured of a function.
func (c *callRing) side(op string) string {
	side := sideWorker
	for i := range c.calls {
		if k := &c.calls[i]; (op == "" || k.Op == op) && k.Side == sideClient {
			side = sideClient
		}
	}
	return side
}

// point fills in point i from the steps from a up to b.
func (s *LatencySpan) point(i int, c *callRing, a, b int64, step time.Duration, op string) {
	seconds := c.seconds(a, b, step)
	if seconds == 0 {
		return
	}
	sum := map[string]*rpcstats.Hist{s.Side: {}, sideNetwork: {}, sideQueue: {}, sideExecution: {}}
	var failed uint64
	want := func(k *rpcstats.Call) bool { return (op == "" || k.Op == op) && sum[k.Side] != nil }
	for k, h := range c.all(a, b, want) {
		sum[k.Side].Merge(h)
		if k.Side == s.Side && !succeeded(k.Code) {
			failed += h.Count()
		}
	}
	h := sum[s.Side]
	s.Heat.Counts[i] = heatOf(h)
	s.Rate[i], s.Failed[i] = float32(float64(h.Count())/seconds), float32(float64(failed)/seconds)
	s.P50[i], s.P90[i], s.P99[i] = float32(h.Quantile(0.5)), float32(h.Quantile(0.9)), float32(h.Quantile(0.99))
	for side, to := range map[string]points{sideNetwork: s.Network, sideQueue: s.Queue, sideExecution: s.Execution} {
		if m, ok := partOf(sum[side], h).Get(); ok {
			to[i] = float32(m)
		}
	}
}

func heatOf(h *rpcstats.Hist) []uint64 {
	rows := make([]uint64, heatLast-heatFirst+2)
	rows[0] = h.Zero
	for _, b := range h.Buckets {
		rows[heatRow(b.Index)] += b.Count
	}
	return rows
}
