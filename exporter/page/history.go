package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// Span is the answer of /api/v1/history: series on one axis of time. Value i of a
// series is of the time from Begin + i·Step on, for Step; null was not measured.
type Span struct {
	Begin float64  `json:"begin"` // seconds since 1970
	Step  float64  `json:"step_seconds"`
	Count int      `json:"count"`
	List  []Series `json:"series"`
	Cut   int      `json:"series_left_out"` // because the answer would be too long
}

// Series is one figure over time.
type Series struct {
	Metric string            `json:"metric"`
	Labels map[string]string `json:"labels"`
	Values points            `json:"values"`
}

// points are figures; NaN is written as null.
type points []float32

// MarshalJSON writes six digits, more than any sensor has.
func (p points) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(p)+2)
	b = append(b, '[')
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, f, 'g', 6, 32)
		}
	}
	return append(b, ']'), nil
}

const (
	maxPoints    = 1440    // of one series in one answer
	maxAnswer    = 1 << 18 // points of all series in one answer
	defaultSpan  = time.Hour
	defaultCount = 240
)

// axis is a span of steps, `per` of which make one point.
type axis struct {
	from, to int64 // the end is not part of it
	per      int64
}

func (a axis) len() int { return int((a.to - a.from) / a.per) }

// axisOf reads the parameters minutes (how far back), points (how many at most) and
// since (seconds since 1970: only what is newer, or has changed since). The steps of
// a point are the same whenever it is asked for. The caller holds the lock.
func (p *Page) axisOf(q *query) axis {
	back := time.Duration(q.number("minutes", defaultSpan.Minutes(), 0, maxHistory.Minutes()) * float64(time.Minute))
	count := int64(q.number("points", defaultCount, 1, maxPoints))
	now := p.opt.now()
	end := p.store.open // which is not over
	if end < 0 {
		end = p.grid.of(now)
	}
	length := min(int64(p.steps), max(1, int64(back/p.opt.Step)))
	per := max(1, (length+count-1)/count)
	a := axis{from: max(0, end-length) / per * per, to: (end + per - 1) / per * per, per: per}
	if since := q.number("since", 0, 0, math.MaxInt32*2); since > 0 {
		ago := now.Sub(time.Unix(0, int64(since*1e9)))
		at := p.grid.of(now.Add(-ago))
		a.from = min(max(a.from, at/per*per), a.to)
	}
	return a
}

func (p *Page) begin(a axis) float64 {
	return float64(p.grid.time(a.from, p.opt.now()).UnixNano()) / 1e9
}

func (p *Page) stepSeconds(a axis) float64 {
	return (time.Duration(a.per) * p.opt.Step).Seconds()
}

// history answers with the series of the parameters metric (which may be repeated;
// none: all), gpu and session, of each metric the top largest if that is given.
func (p *Page) history(q *query) (any, error) {
	top := int(q.number("top", 0, 0, 1<<16))
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.axisOf(q)
	s := &Span{Begin: p.begin(a), Step: p.stepSeconds(a), Count: a.len(), List: []Series{}}
	if q.err != nil {
		return nil, q.err
	}
	for _, r := range largest(p.chosen(q), a, top) {
		if a.len()*(len(s.List)+1) > maxAnswer {
			s.Cut++
			continue
		}
		v := Series{Metric: r.key.metric, Labels: map[string]string{}, Values: make(points, a.len())}
		for _, l := range r.key.labels {
			if l.name != "" {
				v.Labels[l.name] = l.value
			}
		}
		for i := range v.Values {
			at := a.from + int64(i)*a.per
			v.Values[i] = r.mean(at, at+a.per)
		}
		s.List = append(s.List, v)
	}
	return s, nil
}

// chosen are the series that are asked for, in order.
func (p *Page) chosen(q *query) []*ring {
	var list []*ring
	for k, r := range p.store.series {
		if m := q.values["metric"]; len(m) > 0 && !slices.Contains(m, k.metric) {
			continue
		}
		if k.has("gpu", q.values.Get("gpu")) && k.has("session", q.values.Get("session")) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *ring) int { return compareKeys(a.key, b.key) })
	return list
}

// has says whether a label has a value; "" is any.
func (k key) has(name, value string) bool {
	return value == "" || k.labels[0] == label{name, value} || k.labels[1] == label{name, value}
}

func compareKeys(a, b key) int {
	c := cmp.Compare(a.metric, b.metric)
	for i := range a.labels {
		x, y := a.labels[i], b.labels[i]
		// Numbers in the order of numbers: a shorter one is smaller.
		c = cmp.Or(c, cmp.Compare(x.name, y.name), cmp.Compare(len(x.value), len(y.value)), cmp.Compare(x.value, y.value))
	}
	return c
}

// largest keeps, of each metric, the n series with the largest mean; 0 is all.
func largest(list []*ring, a axis, n int) []*ring {
	if n == 0 {
		return list
	}
	var kept []*ring
	for len(list) > 0 {
		same := 1
		for same < len(list) && list[same].key.metric == list[0].key.metric {
			same++
		}
		group := slices.Clone(list[:same])
		list = list[same:]
		size := func(r *ring) float32 {
			if v := r.mean(a.from, a.to); v == v {
				return v
			}
			return -1
		}
		slices.SortStableFunc(group, func(x, y *ring) int { return cmp.Compare(size(y), size(x)) })
		kept = append(kept, group[:min(n, len(group))]...)
	}
	return kept
}
