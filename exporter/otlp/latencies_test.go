package otlp

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/local"
)

// What arrives has the same quantiles as what was counted, and its bounds are true.
func TestLatencies(t *testing.T) {
	totals := rpcstats.NewTotals(rpcstats.Names{})
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		totals.Observe("hipLaunchKernel", "client", "hipSuccess", math.Exp(r.NormFloat64()*2-9))
	}
	totals.Observe("hipLaunchKernel", "client", "hipSuccess", 0)
	totals.Observe("hipLaunchKernel", "client", "hipSuccess", 1e9) // longer than the last bucket
	calls := totals.Calls()
	calls[0].Since = began
	src := &source{r: exporter.Reading{Time: began.Add(time.Hour), Calls: calls}}
	_, a := collect(t, src, nil)
	key := a.has(t, "hip.rpc.duration", "rocwire.side", "client", "rpc.method", "hipLaunchKernel", "rpc.response.status_code", "hipSuccess")
	p := a.spreads[key]
	if p == nil {
		t.Fatal("no histogram")
	}
	want := &calls[0].Hist
	if p.Count != want.Count() || p.ZeroCount != 1 || p.Scale != 3 || math.Abs(p.GetSum()-want.Seconds()) > 1e-6*want.Seconds() {
		t.Errorf("count %d zero %d scale %d sum %g, want %d 1 3 %g", p.Count, p.ZeroCount, p.Scale, p.GetSum(), want.Count(), want.Seconds())
	}
	if a.starts[key] != uint64(began.UnixNano()) {
		t.Errorf("it starts at %d, want %d", a.starts[key], began.UnixNano())
	}
	// By the protocol's definition: bucket i holds (base^i, base^(i+1)].
	base := math.Exp2(math.Exp2(-float64(p.Scale)))
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.9999} {
		seen, got := float64(p.ZeroCount), 0.0
		for i, n := range p.Positive.BucketCounts {
			if seen += float64(n); seen >= q*float64(p.Count) {
				got = math.Pow(base, float64(int(p.Positive.Offset)+i)+0.5)
				break
			}
		}
		if w := want.Quantile(q); math.Abs(got-w) > 1e-9*w {
			t.Errorf("quantile %g is %g, want %g", q, got, w)
		}
	}
	sum := p.ZeroCount
	for i, n := range p.Positive.BucketCounts {
		sum += n
		if n > 0 && (i == 0) != (want.Buckets[0].Index-1 == int(p.Positive.Offset)+i) {
			t.Errorf("the first bucket is %d, want %d", p.Positive.Offset, want.Buckets[0].Index-1)
		}
	}
	if sum != p.Count {
		t.Errorf("the buckets hold %d of %d", sum, p.Count)
	}
}

// A duration lies in the bucket whose bounds contain it.
func TestBucketBounds(t *testing.T) {
	for _, d := range []time.Duration{1, 999, 1000, 1024, time.Microsecond + 1, time.Millisecond, time.Second, time.Second + 1, time.Hour} {
		b, ok := rpcstats.BucketOf(d)
		if !ok {
			t.Fatal(d)
		}
		l := ofHist(&rpcstats.Hist{Nanos: uint64(d), Buckets: []rpcstats.Bucket{{Index: b, Count: 1}}})
		low, high := math.Exp2(float64(l.offset)/8), math.Exp2(float64(l.offset+1)/8)
		if s := d.Seconds(); s <= low*(1-1e-12) || s > high*(1+1e-12) {
			t.Errorf("%v is in (%g, %g]", d, low, high)
		}
	}
}

// Fixed bounds count what lies up to them.
func TestExplicitBuckets(t *testing.T) {
	totals := rpcstats.NewTotals(rpcstats.Names{})
	values := []float64{0, 1e-9, 1e-6, 3e-6, 1, 1.001, 15.9, 16.1, 4000}
	for _, v := range values {
		totals.Observe("op", "worker", "hipSuccess", v)
	}
	src := &source{r: exporter.Reading{Time: time.Now(), Calls: totals.Calls()}}
	_, a := collect(t, src, func(o *Options) { o.ExplicitBuckets = true })
	p := a.sets[a.has(t, "hip.rpc.duration")]
	if p == nil {
		t.Fatal("no histogram with fixed bounds")
	}
	if len(p.BucketCounts) != len(p.ExplicitBounds)+1 || p.ExplicitBounds[0] != math.Ldexp(1, -20) || p.ExplicitBounds[len(p.ExplicitBounds)-1] != 16 {
		t.Fatalf("%d buckets, bounds %v", len(p.BucketCounts), p.ExplicitBounds)
	}
	at := 0
	for i, bound := range append(p.ExplicitBounds, math.Inf(1)) {
		want := 0
		for at+want < len(values) && values[at+want] <= bound {
			want++
		}
		at += want
		if p.BucketCounts[i] != uint64(want) {
			t.Errorf("%d are up to %g, want %d", p.BucketCounts[i], bound, want)
		}
	}
	if p.Count != uint64(len(values)) {
		t.Error("count", p.Count)
	}
}

func TestSizes(t *testing.T) {
	s := local.Sizes{Buckets: []uint64{2, 0, 3}, Sum: 14} // up to 1, and 3 in (2, 4]
	l := ofSizes(&s)
	if l.count != 5 || l.scale != 0 || l.offset != -1 || l.sum != 14 {
		t.Errorf("%+v", l)
	}
	if got := l.within(sizeBounds); got[0] != 2 || got[1] != 0 || got[2] != 3 {
		t.Errorf("up to 1, 2, 4: %v", got[:3])
	}
}
