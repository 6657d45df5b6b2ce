package rpcstats

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// named gives every opcode and code a name, so that only the bounds keep what is forged small.
func named() (*Totals, *time.Time) {
	now := time.Unix(1000, 0)
	r := NewTotals(Names{Op: func(op uint16) string { return fmt.Sprint("op", op) }, Code: func(c int32) string { return fmt.Sprint("code", c) }})
	r.now = func() time.Time { return now }
	return r, &now
}

// forged is a delta of n functions from op on, one call each that filled every bucket.
func forged(op, n int) *Delta {
	var all []Bucket
	for i := MinBucket; i <= MaxBucket; i++ {
		all = append(all, Bucket{i, 1})
	}
	d := &Delta{Side: Client}
	for i := range n {
		d.Series = append(d.Series, Series{Op: uint16(op + i), Hist: Hist{Nanos: maxNanos, Buckets: all}})
	}
	return d
}

func count(r *Totals, want func(CallTotal) bool) (series int, calls uint64) {
	for _, c := range r.Calls() {
		if want(c) {
			series++
			calls += c.Count()
		}
	}
	return series, calls
}

func all(CallTotal) bool { return true }

// What a session brings is bounded, no call is lost of what it brings beyond, and all of it goes with the session.
func TestForgedReportsGo(t *testing.T) {
	r, now := named()
	honest, bad := r.Reporter(), r.Reporter()
	defer honest.End()
	honest.Merge(&Delta{Side: Worker, Series: []Series{{Op: 1, Hist: Hist{Zero: 7}}}})
	for i := range 20 {
		bad.Merge(forged(100+500*i, 500))
	}
	series, calls := count(r, all)
	possible, _ := BucketOf(Patience)
	if most := maxOwn + 2; series > most {
		t.Errorf("%d series, want at most %d", series, most)
	}
	if want := uint64(7 + 20*500*(possible-MinBucket+1)); calls != want {
		t.Errorf("%d calls, want %d", calls, want)
	}
	bad.End()
	bad.Merge(forged(1, 5)) // too late
	*now = now.Add(lasting - time.Second)
	if n, _ := count(r, all); n != series {
		t.Errorf("%d series before the time", n)
	}
	*now = now.Add(time.Second)
	if n, calls := count(r, all); n != 1 || calls != 7 {
		t.Errorf("%d series and %d calls are left", n, calls)
	}
}

// However many sessions forge reports, one that comes later has room.
func TestHonestSessionHasRoom(t *testing.T) {
	r, _ := named()
	var bad []*Reporter
	for i := range 10 {
		bad = append(bad, r.Reporter())
		bad[i].Merge(forged(2000*i, 2000))
	}
	mine := func(c CallTotal) bool { return c.Side == "worker" && c.Op != other }
	tell := func() {
		p := r.Reporter()
		defer p.End()
		d := &Delta{Side: Worker}
		for i := range 100 {
			d.Series = append(d.Series, Series{Op: uint16(30000 + i), Hist: Hist{Zero: 1}})
		}
		p.Merge(d)
		if n, calls := count(r, mine); n != 100 || calls < 100 {
			t.Errorf("%d series with %d calls of an honest session", n, calls)
		}
		if n, _ := count(r, all); n > maxCalls+2 {
			t.Errorf("%d series", n)
		}
	}
	tell() // while they are there
	for _, p := range bad {
		p.End()
	}
	tell() // after they have gone
}

// Counts and durations that cannot be are not believed.
func TestImpossibleFigures(t *testing.T) {
	r, now := named()
	p := r.Reporter()
	defer p.End()
	year, _ := BucketOf(time.Hour)
	p.Merge(&Delta{Side: Client, Series: []Series{
		{Op: 1, Hist: Hist{Nanos: maxNanos, Buckets: []Bucket{{0, 1}, {year, 5}}}},
		{Op: 2, Hist: Hist{Zero: maxCount}},
		{Op: 3, Hist: Hist{Buckets: []Bucket{{year, math.MaxUint32}}}},
	}})
	calls := r.Calls()
	if len(calls) != 1 || calls[0].Op != "op1" || calls[0].Count() != 1 || calls[0].Seconds() > 1.001 {
		t.Errorf("%+v", calls)
	}
	*now = now.Add(2 * time.Hour) // now the session is old enough
	p.Merge(&Delta{Side: Client, Series: []Series{{Op: 1, Hist: Hist{Nanos: uint64(time.Hour), Buckets: []Bucket{{year, 1}}}}}})
	if n, c := count(r, all); n != 1 || c != 2 {
		t.Errorf("%d series, %d calls", n, c)
	}
}

// A session that fills a minute with slow calls leaves the others theirs.
func TestSlowCallsOfEverybody(t *testing.T) {
	r, _ := named()
	for i := range 100 {
		r.AddSlow("bad", Caller{}, []Slow{{Request: uint32(i), Total: time.Duration(1e12 + i)}})
	}
	for i := range 3 {
		r.AddSlow("good", Caller{}, []Slow{{Request: uint32(i), Total: time.Duration(1 + i)}})
	}
	for i := range 100 {
		r.AddSlow("bad", Caller{}, []Slow{{Request: uint32(1000 + i), Total: time.Duration(2e12 + i)}})
	}
	n := 0
	for _, c := range r.SlowCalls() {
		if c.Session == "good" {
			n++
		}
	}
	if n != 3 {
		t.Errorf("%d slow calls of the honest session are left", n)
	}
}

// Reporters of all kinds at once; the race detector and the sums judge.
func TestReportersConcurrent(t *testing.T) {
	r, _ := named()
	done := make(chan struct{})
	for g := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 10 {
				p := r.Reporter()
				p.Merge(forged(g*1000+i, 600))
				r.Calls()
				p.End()
			}
		}()
	}
	for range 4 {
		<-done
	}
	if len(r.reporters) != 0 {
		t.Errorf("%d reporters are left", len(r.reporters))
	}
}
