package rows

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
)

func total(op string, since time.Time, nanos, zero uint64, buckets ...rpcstats.Bucket) rpcstats.CallTotal {
	return rpcstats.CallTotal{Call: rpcstats.Call{Op: op, Side: "client", Code: "hipSuccess"}, Since: since,
		Hist: rpcstats.Hist{Nanos: nanos, Zero: zero, Buckets: buckets}}
}

// sums adds up a batch's rows of latencies.
type sums struct {
	calls, count uint64
	seconds      float64
	buckets      map[string]uint64 // by op and bucket
}

func (s *sums) add(t *testing.T, b *Batch) {
	t.Helper()
	if s.buckets == nil {
		s.buckets = map[string]uint64{}
	}
	for i := range b.Tables {
		if b.Tables[i].Name != "hip_rpc_latency" {
			continue
		}
		for _, r := range b.Tables[i].Rows {
			v := r.Values
			if v[6].Text() == bucketSum {
				s.calls += v[9].Uint()
				s.seconds += v[10].Float()
				continue
			}
			if v[8].Uint() == 0 || !v[9].IsNull() || !v[10].IsNull() {
				t.Errorf("a row of a bucket: %v", v)
			}
			s.count += v[8].Uint()
			s.buckets[v[3].Text()+" "+v[6].Text()] += v[8].Uint()
		}
	}
}

func TestLatencyRows(t *testing.T) {
	m := newMaker(Options{})
	make1 := func(after time.Duration, list ...rpcstats.CallTotal) []map[string]string {
		b := encoded(t, m.Make(&exporter.Reading{Time: begun.Add(after), Calls: list}))
		m.Keep()
		return cells(b, "hip_rpc_latency")
	}
	old, young := begun.Add(-time.Hour), begun.Add(time.Second)
	two := []rpcstats.Bucket{{Index: -80, Count: 3}, {Index: 8, Count: 1}}
	got := make1(2*time.Second, total("hipMalloc", old, 5e9, 0, two...), total("hipFree", young, 2e9, 1, two...))
	if len(got) != 4 {
		t.Fatalf("%v", got)
	}
	key := map[string]string{"cluster": "c", "node": "node-1", "pool": "p", "op": "hipFree", "side": "client", "code": "hipSuccess", "interval_seconds": "2"}
	for _, r := range got {
		expect(t, r, key)
	}
	expect(t, got[0], map[string]string{"bucket": "sum", "calls": "5", "seconds": "2", "le": "", "count": ""})
	expect(t, got[1], map[string]string{"bucket": "zero", "le": "0", "count": "1", "calls": "", "seconds": ""})
	expect(t, got[2], map[string]string{"bucket": "-80", "le": strconv.FormatFloat(math.Exp2(-10), 'g', -1, 64), "count": "3"})
	expect(t, got[3], map[string]string{"bucket": "8", "le": "2", "count": "1"})

	// The old one's calls since then, nothing of what did not change, and one that is new.
	got = make1(12*time.Second, total("hipMalloc", old, 6e9, 0, rpcstats.Bucket{Index: -80, Count: 3}, rpcstats.Bucket{Index: 8, Count: 3}),
		total("hipFree", young, 2e9, 1, two...), total("hipMemset", begun.Add(-time.Minute), 0, 7))
	if len(got) != 4 {
		t.Fatalf("%v", got)
	}
	expect(t, got[0], map[string]string{"op": "hipMalloc", "bucket": "sum", "calls": "2", "seconds": "1", "interval_seconds": "10"})
	expect(t, got[1], map[string]string{"op": "hipMalloc", "bucket": "8", "count": "2"})
	expect(t, got[2], map[string]string{"op": "hipMemset", "bucket": "sum", "calls": "7", "seconds": "0"})

	// A worker that began again counts from zero.
	got = make1(22*time.Second, total("hipMalloc", begun.Add(15*time.Second), 7e9, 0, rpcstats.Bucket{Index: -80, Count: 30}, rpcstats.Bucket{Index: 8, Count: 30}),
		total("hipFree", young, 1e9, 0, two...))
	if len(got) != 6 {
		t.Fatalf("%v", got)
	}
	expect(t, got[0], map[string]string{"op": "hipMalloc", "calls": "60", "seconds": "7"})
	expect(t, got[3], map[string]string{"op": "hipFree", "calls": "4", "seconds": "1"})
}

// While nothing is known of calls, their state is kept.
func TestLatencyUnknown(t *testing.T) {
	m := newMaker(Options{})
	m.Make(&exporter.Reading{Time: begun, Calls: []rpcstats.CallTotal{total("a", begun, 1, 1)}})
	m.Keep()
	if n := len(cells(m.Make(&exporter.Reading{Time: begun.Add(10 * time.Second), CallsErr: errors.New("no")}), "hip_rpc_latency")); n != 0 {
		t.Errorf("%d rows out of nothing", n)
	}
	m.Keep()
	got := cells(m.Make(&exporter.Reading{Time: begun.Add(20 * time.Second), Calls: []rpcstats.CallTotal{total("a", begun, 1, 4)}}), "hip_rpc_latency")
	if len(got) != 2 {
		t.Fatal(got)
	}
	expect(t, got[0], map[string]string{"calls": "3", "interval_seconds": "20"})
}

// A total that is away for a while is counted on from where it was.
func TestLatencyGap(t *testing.T) {
	m := newMaker(Options{})
	list := func(n uint64) []rpcstats.CallTotal { return []rpcstats.CallTotal{total("a", begun, n, n)} }
	var got sums
	for i, calls := range [][]rpcstats.CallTotal{list(5), nil, nil, list(7)} {
		got.add(t, m.Make(&exporter.Reading{Time: begun.Add(time.Duration(i) * time.Second), Calls: calls}))
		m.Keep()
	}
	if got.calls != 7 {
		t.Errorf("%d calls", got.calls)
	}
}

// Whatever is put or cannot be put, however often a worker begins again: in the end every
// call was in exactly one row that was kept.
func TestLatencyExactlyOnce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	m := newMaker(Options{})
	now := begun
	var got, want sums
	want.buckets = map[string]uint64{}
	totals := rpcstats.NewTotals(rpcstats.Names{})
	m.Make(&exporter.Reading{Time: now, Calls: totals.Calls()})
	m.Keep()
	for i := range 3000 {
		now = now.Add(time.Second)
		for range rnd.IntN(5) {
			op, d := "op"+strconv.Itoa(rnd.IntN(6)), time.Duration(rnd.ExpFloat64()*1e6)
			totals.Observe(op, "client", "hipSuccess", d.Seconds())
			bucket := bucketZero
			if k, ok := rpcstats.BucketOf(d); ok {
				bucket = strconv.Itoa(k)
			}
			want.calls++
			want.seconds += d.Seconds()
			want.buckets[op+" "+bucket]++
		}
		r := exporter.Reading{Time: now, Calls: totals.Calls()}
		for k := range r.Calls { // the clock of the test
			r.Calls[k].Since = begun.Add(time.Duration(i/500) * 500 * time.Second)
		}
		b := m.Make(&r)
		if i%500 == 499 || rnd.IntN(3) > 0 { // otherwise the queue had no room
			m.Keep()
			got.add(t, encoded(t, b))
		}
		if i%500 == 499 {
			totals = rpcstats.NewTotals(rpcstats.Names{})
		}
	}
	if got.calls != want.calls || got.count != want.calls || math.Abs(got.seconds-want.seconds) > 1e-6 || fmt.Sprint(got.buckets) != fmt.Sprint(want.buckets) {
		t.Errorf("%d calls of %v s, want %d of %v s", got.calls, got.seconds, want.calls, want.seconds)
	}
}

// What does not fit in one batch is in a later one.
func TestLatencyNoRoom(t *testing.T) {
	var list []rpcstats.CallTotal
	for i := range 400 {
		t := total("op"+strconv.Itoa(i), begun, 1e9, 1)
		for k := rpcstats.MinBucket; k <= rpcstats.MaxBucket; k++ {
			t.Buckets = append(t.Buckets, rpcstats.Bucket{Index: k, Count: 2})
		}
		list = append(list, t)
	}
	m := newMaker(Options{})
	var got sums
	for i := 1; i < 10; i++ {
		b := m.Make(&exporter.Reading{Time: begun.Add(time.Duration(i) * time.Second), Calls: list})
		if i > 1 && b.Rows() == 1 {
			break
		}
		got.add(t, encoded(t, b))
		m.Keep()
	}
	if want := uint64(400 * (2*rpcstats.NumBuckets + 1)); got.calls != want || got.count != want || m.Drops().Late == 0 {
		t.Errorf("%d and %d calls, want %d; %+v", got.calls, got.count, want, m.Drops())
	}
}
