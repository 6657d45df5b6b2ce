package rpcstats

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"
	"time"
)

func testTotals() *Totals {
	r := NewTotals(Names{
		Op: func(op uint16) string {
			if op == 0x0103 {
				return "hipMalloc"
			}
			return ""
		},
		Code: func(code int32) string {
			return map[int32]string{0: "hipSuccess", 2: "hipErrorOutOfMemory"}[code]
		},
	})
	r.now = func() time.Time { return time.Unix(1000, 0) }
	return r
}

func TestTotals(t *testing.T) {
	r := testTotals()
	rec := NewRecorder(Worker)
	for range 3 { // three deltas of two calls
		rec.Record(0x0103, 0, time.Millisecond)
		rec.Record(0x0103, 2, time.Second)
		r.Merge(rec.Take())
	}
	rec.Record(0x7777, -5, time.Second) // nobody knows it
	rec.Record(0x7778, -6, time.Second)
	r.Merge(rec.Take())
	r.Observe("hipMalloc", "client", "hipSuccess", 0.001)
	r.Observe("hipMalloc", "client", "hipSuccess", math.NaN())

	ms, _ := BucketOf(time.Millisecond)
	since := time.Unix(1000, 0)
	want := []CallTotal{
		{Call{"hipMalloc", "client", "hipSuccess"}, Hist{Nanos: 1e6, Zero: 1, Buckets: []Bucket{{ms, 1}}}, since},
		{Call{"hipMalloc", "worker", "hipErrorOutOfMemory"}, Hist{Nanos: 3e9, Buckets: []Bucket{{0, 3}}}, since},
		{Call{"hipMalloc", "worker", "hipSuccess"}, Hist{Nanos: 3e6, Buckets: []Bucket{{ms, 3}}}, since},
		{Call{"other", "worker", "other"}, Hist{Nanos: 2e9, Buckets: []Bucket{{0, 2}}}, since},
	}
	got := r.Calls()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Calls:\n got %+v\nwant %+v", got, want)
	}
	r.Observe("hipMalloc", "client", "hipSuccess", 0.001)
	if !reflect.DeepEqual(got, want) {
		t.Error("what came later changed an answer")
	}
}

// A peer that invents names costs one series, and no call is lost.
func TestTotalsBound(t *testing.T) {
	r := NewTotals(Names{})
	const n = maxCalls + 500
	for i := range n {
		r.Observe(fmt.Sprint("op", i), "client", "x\xff", 1)
	}
	calls := r.Calls()
	var sum uint64
	for _, c := range calls {
		sum += c.Count()
		if c.Code != "x\uFFFD" && c.Code != other {
			t.Fatalf("code %q", c.Code)
		}
	}
	if len(calls) > maxCalls+1 || sum != n {
		t.Errorf("%d series with %d calls, want at most %d with %d", len(calls), sum, maxCalls+1, n)
	}
}

func TestTotalsConcurrent(t *testing.T) {
	r := testTotals()
	rec := NewRecorder(Client)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				rec.Record(0x0103, 0, time.Duration(i))
				if d := rec.Take(); d != nil {
					r.Merge(d)
				}
				r.Calls()
			}
		})
	}
	wg.Wait()
	if d := rec.Take(); d != nil {
		r.Merge(d)
	}
	if n := r.Calls()[0].Count(); n != 2000 {
		t.Errorf("%d calls, want 2000", n)
	}
}
