package page

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// FunctionSpan is the answer of /api/v1/functions: what the functions that take most
// time cost over time, on the axis of a Span.
type FunctionSpan struct {
	Begin float64        `json:"begin"`
	Step  float64        `json:"step_seconds"`
	Count int            `json:"count"`
	List  []FunctionLine `json:"functions"` // those with most time first
}

// FunctionLine is one function over time.
type FunctionLine struct {
	Op     string `json:"op"`
	Side   string `json:"side"`             // client or worker, whichever is measured
	Rate   points `json:"calls_per_second"` // failing ones too
	Failed points `json:"failed_per_second"`
	Time   points `json:"time_ratio"` // seconds that callers spent in it in a second
	P50    points `json:"p50_seconds"`
	P99    points `json:"p99_seconds"`
}

const (
	defaultTop = 6
	maxTop     = 32
)

// functionSpan answers with the top functions of an axis.
func (p *Page) functionSpan(q *query) (any, error) {
	top := int(q.number("top", defaultTop, 1, maxTop))
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.axisOf(q)
	if q.err != nil {
		return nil, q.err
	}
	s := &FunctionSpan{Begin: p.begin(a), Step: p.stepSeconds(a), Count: a.len(), List: []FunctionLine{}}
	for _, op := range p.calls.dearest(a, top) {
		s.List = append(s.List, p.functionLine(a, op))
	}
	return s, nil
}

// dearest are the functions with most time, n at most.
func (c *callRing) dearest(a axis, n int) []string {
	times := map[string]float64{}
	sides := map[string]string{}
	for call, h := range c.all(a.from, a.to, everyCall) {
		side, ok := sides[call.Op]
		if !ok {
			side = c.side(call.Op)
			sides[call.Op] = side
		}
		if call.Side == side {
			times[call.Op] += h.Seconds()
		}
	}
	ops := make([]string, 0, len(times))
	for op := range times {
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(x, y string) int { return cmp.Or(cmp.Compare(times[y], times[x]), cmp.Compare(x, y)) })
	return ops[:min(n, len(ops))]
}

func everyCall(*rpcstats.Call) bool { return true }

func (p *Page) functionLine(a axis, op string) FunctionLine {
	f := FunctionLine{Op: clean(op), Side: p.calls.side(op)}
	for _, v := range []*points{&f.Rate, &f.Failed, &f.Time, &f.P50, &f.P99} {
		*v = slices.Repeat(points{nan32}, a.len())
	}
	want := func(k *rpcstats.Call) bool { return k.Op == op && k.Side == f.Side }
	for i := range a.len() {
		at := a.from + int64(i)*a.per
		seconds := p.calls.seconds(at, at+a.per, p.opt.Step)
		if seconds == 0 {
			continue
		}
		var sum rpcstats.Hist
		var failed uint64
		for k, h := range p.calls.all(at, at+a.per, want) {
			sum.Merge(h)
			if !succeeded(k.Code) {
				failed += h.Count()
			}
		}
		f.Rate[i], f.Failed[i] = float32(float64(sum.Count())/seconds), float32(float64(failed)/seconds)
		f.Time[i] = float32(sum.Seconds() / seconds)
		f.P50[i], f.P99[i] = float32(sum.Quantile(0.5)), float32(sum.Quantile(0.99))
	}
	return f
}
