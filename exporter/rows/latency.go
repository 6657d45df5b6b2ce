package rows

import (
	"math"
	"strconv"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// Tags of rows that are no numbered bucket.
const (
	bucketZero = "zero"
	bucketSum  = "sum"
)

// maxTotals is how many running totals are remembered; package rpcstats keeps fewer.
const maxTotals = 8192

// callState is what is known of the running totals.
type callState struct {
	at     time.Time // of the reading; zero: there was none
	totals map[rpcstats.Call]*counted
}

// counted is a running total up to which rows were made.
type counted struct {
	at    time.Time // of the reading
	since time.Time // when the total began
	hist  rpcstats.Hist
}

// latency makes the rows of what was added to the running totals, and returns the
// state after them. A total whose rows do not fit keeps its old state.
func (b *builder) latency(before *callState) callState {
	r := b.reading
	if r.CallsErr != nil {
		return *before
	}
	place := &b.maker.place
	host := []Value{textOf(place.Cluster), textOf(place.Host), textOf(place.Pool)}
	after := callState{at: r.Time, totals: make(map[rpcstats.Call]*counted, len(r.Calls))}
	for i := range r.Calls {
		t := &r.Calls[i]
		base, from := b.baseOf(before, t)
		if base == nil {
			after.totals[t.Call] = &counted{at: r.Time, since: t.Since, hist: t.Hist}
			continue
		}
		added := subtract(&t.Hist, base)
		if added.Count() > 0 {
			if !b.room(rpcLatency, len(added.Buckets)+2) {
				after.totals[t.Call] = &counted{at: from, since: t.Since, hist: *base}
				b.maker.drops.Late++
				continue
			}
			b.histogram(host, t.Call, &added, r.Time.Sub(from))
		}
		after.totals[t.Call] = &counted{at: r.Time, since: t.Since, hist: t.Hist}
	}
	for call, old := range before.totals {
		if after.totals[call] == nil && len(after.totals) < maxTotals {
			after.totals[call] = old // it may come back, and must not count twice
		}
	}
	return after
}

// baseOf is from what a total is counted, and since when; nil if only later calls count.
func (b *builder) baseOf(before *callState, t *rpcstats.CallTotal) (*rpcstats.Hist, time.Time) {
	old := before.totals[t.Call]
	switch {
	case old == nil && !before.at.IsZero():
		return &rpcstats.Hist{}, before.at
	case old == nil && t.Since.Before(b.maker.begun):
		return nil, b.maker.begun // it may be in rows of an earlier process
	case old == nil:
		return &rpcstats.Hist{}, b.maker.begun
	case t.Since.After(old.since) || fallen(&old.hist, &t.Hist):
		return &rpcstats.Hist{}, old.at // it began again
	}
	return &old.hist, old.at
}

// fallen reports that now does not contain all that before has.
func fallen(before, now *rpcstats.Hist) bool {
	if now.Nanos < before.Nanos || now.Zero < before.Zero {
		return true
	}
	rest := now.Buckets
	for _, k := range before.Buckets {
		for len(rest) > 0 && rest[0].Index < k.Index {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Index != k.Index || rest[0].Count < k.Count {
			return true
		}
	}
	return false
}

// subtract is now without base, which it contains.
func subtract(now, base *rpcstats.Hist) rpcstats.Hist {
	h := rpcstats.Hist{Nanos: now.Nanos - base.Nanos, Zero: now.Zero - base.Zero}
	rest := base.Buckets
	for _, k := range now.Buckets {
		if len(rest) > 0 && rest[0].Index == k.Index {
			k.Count -= rest[0].Count
			rest = rest[1:]
		}
		if k.Count > 0 {
			h.Buckets = append(h.Buckets, k)
		}
	}
	return h
}

func (b *builder) histogram(host []Value, call rpcstats.Call, h *rpcstats.Hist, length time.Duration) {
	key := append(host[:len(host):len(host)], textOf(call.Op), textOf(call.Side), textOf(call.Code))
	took := floatOf(math.Max(0, length.Seconds()))
	row := func(bucket string, values ...Value) {
		b.add(rpcLatency, append(append(key[:len(key):len(key)], textOf(bucket)), values...)...)
	}
	row(bucketSum, Value{}, Value{}, uintOf(h.Count()), floatOf(h.Seconds()), took)
	if h.Zero > 0 {
		row(bucketZero, floatOf(0), uintOf(h.Zero), Value{}, Value{}, took)
	}
	for _, k := range h.Buckets {
		row(strconv.Itoa(k.Index), floatOf(rpcstats.Bound(k.Index)), uintOf(k.Count), Value{}, Value{}, took)
	}
}
