package rpcstats

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"
)

// bucketBySearch is the definition, without tricks.
func bucketBySearch(d time.Duration) int {
	v := float64(d) / 1e9
	for i, bound := range allBounds {
		if v <= bound {
			return MinBucket + i
		}
	}
	return MaxBucket
}

var allBounds = func() (b [NumBuckets]float64) {
	for i := range b {
		b[i] = Bound(MinBucket + i)
	}
	return b
}()

func TestBucketOf(t *testing.T) {
	check := func(d time.Duration) {
		t.Helper()
		got, ok := BucketOf(d)
		if want := bucketBySearch(d); !ok || got != want {
			t.Fatalf("BucketOf(%d ns) = %d, %v, want %d", d, got, ok, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		check(time.Duration(1 + rng.Int64N(1<<(1+rng.IntN(45)))))
	}
	for b := MinBucket; b <= MaxBucket; b++ { // around every bound
		at := time.Duration(Bound(b) * 1e9)
		for d := max(at-2, 1); d <= at+2; d++ {
			check(d)
		}
	}
	check(math.MaxInt64)
	for _, d := range []time.Duration{0, -1, math.MinInt64} {
		if b, ok := BucketOf(d); ok {
			t.Errorf("BucketOf(%d) = %d, want the zero bucket", d, b)
		}
	}
}

func TestRecorderTake(t *testing.T) {
	r := NewRecorder(Client)
	if d := r.Take(); d != nil {
		t.Fatalf("an unused recorder gave %+v", d)
	}
	r.Record(0x0103, 0, 100*time.Microsecond)
	r.Record(0x0103, 0, 100*time.Microsecond)
	r.Record(0x0103, 0, 0)
	r.Record(0x0103, 2, time.Millisecond)
	r.Record(0x1001, 0, time.Second)
	us, _ := BucketOf(100 * time.Microsecond)
	ms, _ := BucketOf(time.Millisecond)
	want := &Delta{Side: Client, Series: []Series{
		{0x0103, 0, Hist{Nanos: 200_000, Zero: 1, Buckets: []Bucket{{us, 2}}}},
		{0x0103, 2, Hist{Nanos: 1_000_000, Buckets: []Bucket{{ms, 1}}}},
		{0x1001, 0, Hist{Nanos: 1e9, Buckets: []Bucket{{0, 1}}}},
	}}
	got := r.Take()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Take:\n got %+v\nwant %+v", got, want)
	}
	if n := got.Series[0].Count(); n != 3 {
		t.Errorf("Count = %d, want 3", n)
	}
	if d := r.Take(); d != nil {
		t.Errorf("second Take gave %+v", d)
	}
}

// What is too much to count apart is counted together, never lost.
func TestRecorderBounds(t *testing.T) {
	r := NewRecorder(Worker)
	const codes, ops = 1000, 3000
	for c := range int32(codes) {
		r.Record(7, c+1, time.Millisecond)
	}
	for op := range uint16(ops) {
		r.Record(op, 0, time.Millisecond)
	}
	var total, otherCode, otherOp uint64
	d := r.Take()
	for _, s := range d.Series {
		total += s.Count()
		if s.Code == CodeOther {
			otherCode += s.Count()
		}
		if s.Op == OpOther {
			otherOp += s.Count()
		}
	}
	if total != codes+ops || otherCode != codes-maxCodes || otherOp != ops-maxOps {
		t.Errorf("total %d, other codes %d, other functions %d, want %d, %d, %d", total, otherCode, otherOp, codes+ops, codes-maxCodes, ops-maxOps)
	}
	if len(d.Series) > maxOps+maxCodes+2 {
		t.Errorf("%d series", len(d.Series))
	}
	if _, err := Decode(d.AppendEncode(nil), anySide); err != nil {
		t.Error(err)
	}
}

func TestRecorderConcurrent(t *testing.T) {
	r := NewRecorder(Client)
	const each, threads = 20000, 6
	var total Hist
	stop, drained := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	drain := func() {
		if d := r.Take(); d != nil {
			mu.Lock()
			for i := range d.Series {
				total.Merge(&d.Series[i].Hist)
			}
			mu.Unlock()
		}
	}
	go func() {
		defer close(drained)
		for {
			select {
			case <-stop:
				return
			default:
				drain()
			}
		}
	}()
	var wg sync.WaitGroup
	for th := range threads {
		wg.Go(func() {
			for i := range each {
				r.Record(uint16(0x0100+i%7), int32(i%3), time.Duration(th+1)*time.Microsecond)
			}
		})
	}
	wg.Wait()
	close(stop)
	<-drained
	drain()
	if n := total.Count(); n != each*threads {
		t.Errorf("%d calls, want %d", n, each*threads)
	}
	if want := uint64(each * 1000 * (1 + 2 + 3 + 4 + 5 + 6)); total.Nanos != want {
		t.Errorf("sum %d ns, want %d", total.Nanos, want)
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	r := NewRecorder(Client)
	f := func() {
		r.Record(0x0103, 0, 123*time.Microsecond)
		r.Record(0x0103, 2, 123*time.Microsecond)
	}
	f()
	if n := testing.AllocsPerRun(1000, f); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func randomHist(rng *rand.Rand) Hist {
	h := Hist{Nanos: rng.Uint64N(maxNanos), Zero: rng.Uint64N(3)}
	for b := MinBucket; b <= MaxBucket; b++ {
		if rng.IntN(10) == 0 {
			h.Buckets = append(h.Buckets, Bucket{b, 1 + rng.Uint64N(1<<40)})
		}
	}
	return h
}

const anySide Sides = 1<<(maxSide+1) - 2

func TestCodec(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		d := &Delta{Side: Side(1 + rng.IntN(int(maxSide))), Series: []Series{}}
		for range rng.IntN(20) {
			d.Series = append(d.Series, Series{uint16(rng.Uint32()), int32(rng.Uint32()), randomHist(rng)})
		}
		b := d.AppendEncode(nil)
		got, err := Decode(b, anySide)
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("Decode = %+v, %v, want %+v", got, err, d)
		}
		for n := range min(len(b), 4000/(round+1)) { // truncation is noticed
			if _, err := Decode(b[:n], anySide); !errors.Is(err, ErrInvalid) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		if _, err := Decode(append(b, 0), anySide); !errors.Is(err, ErrInvalid) {
			t.Fatalf("a byte too many: %v", err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	ok := (&Delta{Side: Client, Series: []Series{{Op: 1, Hist: Hist{Buckets: []Bucket{{0, 1}}}}}}).AppendEncode(nil)
	if _, err := Decode(ok, anySide); err != nil {
		t.Fatal(err)
	}
	head := func(series ...byte) []byte { return append([]byte{version, 1}, series...) }
	for name, b := range map[string][]byte{
		"nothing":            {},
		"version":            {9, 1, 0},
		"side 0":             {version, 0, 0},
		"side 6":             {version, 6, 0},
		"side 255":           {version, 255, 0},
		"huge series count":  head(0xff, 0xff, 0xff, 0x7f),
		"series without end": head(1, 1, 0, 0, 0, 0),
		"empty bucket":       head(1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0),
		"bucket twice":       head(1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 5, 1, 0, 1),
		"bucket too high":    head(1, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0xCF, 0x02, 1, 1, 1),
		"huge count":         head(1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1),
		"too long":           make([]byte, MaxEncoded+1),
	} {
		if d, err := Decode(b, anySide); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// A peer speaks for itself only.
func TestDecodeSides(t *testing.T) {
	for s := range Side(255) {
		b := (&Delta{Side: s}).AppendEncode(nil)
		for name, c := range map[string]struct {
			from Sides
			want bool
		}{"client": {OfClient, s == Client || s == Queue || s == Execution || s == Network}, "worker": {OfWorker, s == Worker || s == Queue || s == Execution}} {
			if _, err := Decode(b, c.from); (err == nil) != c.want || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("a %s speaks for side %d: %v", name, s, err)
			}
		}
	}
	for s, want := range map[Side]string{Client: "client", Worker: "worker", Queue: "queue", Execution: "execution", Network: "network", 9: "other"} {
		if s.String() != want {
			t.Errorf("side %d is %q", s, s)
		}
	}
}

func TestMergeIsSumOfCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		a, b := randomHist(rng), randomHist(rng)
		want := map[int]uint64{}
		for _, h := range []Hist{a, b} {
			for _, k := range h.Buckets {
				want[k.Index] += k.Count
			}
		}
		sum := a
		sum.Merge(&b)
		last := MinBucket - 1
		for _, k := range sum.Buckets {
			if k.Index <= last || k.Count != want[k.Index] {
				t.Fatalf("bucket %d: %d, want %d (after %d)", k.Index, k.Count, want[k.Index], last)
			}
			last = k.Index
			delete(want, k.Index)
		}
		if len(want) != 0 || sum.Nanos != a.Nanos+b.Nanos || sum.Zero != a.Zero+b.Zero {
			t.Fatalf("missing %v, or sums are wrong", want)
		}
	}
	h := Hist{Nanos: math.MaxUint64 - 1, Buckets: []Bucket{{3, math.MaxUint64 - 1}}}
	h.Merge(&Hist{Nanos: 5, Buckets: []Bucket{{3, 5}}})
	if h.Nanos != math.MaxUint64 || h.Buckets[0].Count != math.MaxUint64 {
		t.Errorf("a full total wrapped: %+v", h)
	}
}

func TestSince(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		before, more := randomHist(rng), randomHist(rng)
		before.Nanos, more.Nanos = before.Nanos/2, more.Nanos/2
		now := before.clone()
		now.Merge(&more)
		if got := now.Since(&before); !reflect.DeepEqual(got, more) {
			t.Fatalf("%+v, want %+v", got, more)
		}
		if got := now.Since(nil); !reflect.DeepEqual(got, now) {
			t.Fatalf("since nothing: %+v", got)
		}
		if got := before.Since(&now); !reflect.DeepEqual(got, before) { // it has started again
			t.Fatalf("%+v, want all of %+v", got, before)
		}
	}
}

func TestMax(t *testing.T) {
	for _, c := range []struct {
		h    Hist
		want float64
	}{{Hist{Zero: 3}, 0}, {Hist{Zero: 1, Buckets: []Bucket{{-8, 1}, {8, 2}}}, 2}} {
		if got := c.h.Max(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.h, got, c.want)
		}
	}
	if m := (&Hist{}).Max(); !math.IsNaN(m) {
		t.Errorf("the longest of nothing = %v", m)
	}
}

func TestQuantile(t *testing.T) {
	r := NewRecorder(Client)
	for i := 1; i <= 1000; i++ {
		r.Record(1, 0, time.Duration(i)*time.Microsecond)
	}
	h := r.Take().Series[0].Hist
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		if got, want := h.Quantile(q), q*1e-3; math.Abs(got/want-1) > 0.1 {
			t.Errorf("quantile %v = %v, want about %v", q, got, want)
		}
	}
	if q := (&Hist{}).Quantile(0.5); !math.IsNaN(q) {
		t.Errorf("the median of nothing = %v", q)
	}
}

func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewPCG(7, 8))
	for s := range maxSide {
		f.Add((&Delta{Side: s + 1}).AppendEncode(nil))
	}
	f.Add((&Delta{Side: Worker, Series: []Series{{1, 2, randomHist(rng)}, {3, 0, Hist{Zero: 1}}}}).AppendEncode(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Decode(b, anySide)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := Decode(d.AppendEncode(nil), anySide)
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Fatalf("%+v became %+v, %v", d, again, err)
		}
		for i := range d.Series {
			h := &d.Series[i].Hist
			g, err := DecodeHist(h.AppendEncode(nil))
			if err != nil || g.Count() != h.Count() {
				t.Fatalf("histogram %+v became %+v, %v", h, g, err)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	r := NewRecorder(Client)
	d := 20 * time.Microsecond
	for b.Loop() {
		r.Record(0x0103, 0, d)
		d += 7
	}
}

func BenchmarkRecordFailed(b *testing.B) {
	r := NewRecorder(Client)
	for b.Loop() {
		r.Record(0x0103, 2, 20*time.Microsecond)
	}
}

func BenchmarkTakeEncode(b *testing.B) {
	r := NewRecorder(Client)
	var buf bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		for op := range uint16(40) {
			r.Record(op, 0, time.Duration(op)*time.Microsecond)
		}
		buf.Reset()
		buf.Write(r.Take().AppendEncode(nil))
	}
}
