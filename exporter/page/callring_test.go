package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// countOf adds up the calls of some steps.
func countOf(c *callRing, a, b int64) map[rpcstats.Call]uint64 {
	n := map[rpcstats.Call]uint64{}
	for call, h := range c.all(a, b, everyCall) {
		n[*call] += h.Count()
	}
	return n
}

// Each step has the calls that ended in it, also after the totals began anew.
func TestCallsOfEachStep(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 5))
		const steps = 50
		c := newCallRing(steps, 1<<30, steps-1)
		totals := rpcstats.NewTotals(rpcstats.Names{})
		want, anew := map[int64]map[rpcstats.Call]uint64{}, map[int64]bool{}
		for i := range int64(140) {
			step := steps + i
			want[step] = map[rpcstats.Call]uint64{}
			if r.IntN(30) == 0 && i > 0 {
				totals, anew[step] = rpcstats.NewTotals(rpcstats.Names{}), true // another worker
			}
			for range r.IntN(30) {
				k := rpcstats.Call{Op: fmt.Sprint("op", r.IntN(5)), Side: "worker", Code: []string{"hipSuccess", "hipErrorOutOfMemory"}[r.IntN(2)]}
				totals.Observe(k.Op, k.Side, k.Code, r.Float64()/100)
				want[step][k]++
			}
			c.put(step, totals.Calls())
		}
		for step := int64(steps + 1); step < steps+140; step++ {
			got := countOf(c, step, step+1)
			if step <= 139 {
				if len(got) != 0 || c.measured(step) {
					t.Fatalf("step %d is too old and there still", step)
				}
				continue
			}
			for k, n := range want[step] {
				// A total that began anew and is at once larger than it was looks as if it went on.
				if got[k] > n || got[k] < n && !anew[step] {
					t.Fatalf("seed %d step %d: %d of %v, want %d", seed, step, got[k], k, n)
				}
			}
		}
	}
}

// What a step has is exact while nothing begins anew.
func TestCallsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	c := newCallRing(100, 1<<30, 99)
	totals := rpcstats.NewTotals(rpcstats.Names{})
	totals.Observe("before", "client", "hipSuccess", 1)
	c.put(100, totals.Calls())
	all := rpcstats.NewTotals(rpcstats.Names{})
	for step := int64(101); step < 180; step++ {
		for range r.IntN(20) {
			op, d := fmt.Sprint("op", r.IntN(9)), r.ExpFloat64()/1000
			totals.Observe(op, "client", "hipSuccess", d)
			all.Observe(op, "client", "hipSuccess", d)
		}
		c.put(step, totals.Calls())
	}
	sums := map[string]*rpcstats.Hist{}
	for call, h := range c.all(0, 1000, everyCall) {
		if sums[call.Op] == nil {
			sums[call.Op] = &rpcstats.Hist{}
		}
		sums[call.Op].Merge(h)
	}
	want := all.Calls()
	if len(sums) != len(want) {
		t.Errorf("%d functions, want %d: what was before the page must not be among them", len(sums), len(want))
	}
	for _, w := range want {
		got := sums[w.Op]
		if got == nil || got.Count() != w.Count() || got.Nanos != w.Nanos {
			t.Errorf("%s: %+v, want %+v", w.Op, got, w.Hist)
			continue
		}
		for _, q := range []float64{0.5, 0.9, 0.99} {
			if a, b := got.Quantile(q), w.Quantile(q); a != b {
				t.Errorf("%s: quantile %v is %v, want %v", w.Op, q, a, b)
			}
		}
	}
}

// Steps in which nothing could be asked are gaps, and calls of an unknown time are in
// no step.
func TestGapInCalls(t *testing.T) {
	c := newCallRing(100, 1<<30, 99)
	totals := rpcstats.NewTotals(rpcstats.Names{})
	put := func(step int64) {
		totals.Observe("op", "worker", "hipSuccess", 1e-3)
		c.put(step, totals.Calls())
	}
	for _, step := range []int64{100, 101, 102, 110, 111} {
		put(step)
	}
	c.put(112, totals.Calls())
	for step, want := range map[int64]int{100: -1, 101: 1, 102: 1, 103: -1, 109: -1, 110: -1, 111: 1, 112: 0, 113: -1} {
		got := -1
		if c.measured(step) {
			got = int(countOf(c, step, step+1)[rpcstats.Call{Op: "op", Side: "worker", Code: "hipSuccess"}])
		}
		if got != want {
			t.Errorf("step %d: %d calls, want %d (-1 is a gap)", step, got, want)
		}
	}
}

// However many kinds of calls there are, the bound holds; the oldest steps go.
func TestCallsAreBounded(t *testing.T) {
	const bound = 256 << 10
	c := newCallRing(720, bound, 719)
	var totals []rpcstats.CallTotal
	for i := range 3 * maxCalls {
		totals = append(totals, rpcstats.CallTotal{Call: rpcstats.Call{Op: fmt.Sprint("op", i%900), Side: "client", Code: fmt.Sprint(i)}, Since: time.Now()})
	}
	for step := int64(720); step < 760; step++ {
		for i := range totals {
			if i%40 == int(step%40) || i < 20 {
				h := totals[i].Hist
				h.Merge(&rpcstats.Hist{Nanos: 5, Buckets: []rpcstats.Bucket{{Index: i % 50, Count: 1}}})
				totals[i].Hist = h
			}
		}
		c.put(step, slices.Clone(totals))
		bytes := 0
		for _, b := range c.steps {
			bytes += len(b)
		}
		if len(c.calls) > maxCalls {
			t.Fatalf("%d kinds of calls", len(c.calls))
		}
		if c.bytes < bytes || bytes > bound {
			t.Fatalf("step %d: %d bytes of steps, counted as %d in all, of %d", step, bytes, c.bytes, bound)
		}
	}
	if c.begin() > 755 {
		t.Errorf("only the steps from %d on are kept", c.begin())
	}
	if c.left == 0 {
		t.Error("nothing was left out")
	}
}

// What was called before an hour leaves its place to what is called now.
func TestOldCallsMakeRoom(t *testing.T) {
	const steps = 10
	c := newCallRing(steps, 16<<20, steps-1)
	call := func(round, i int) rpcstats.CallTotal {
		return rpcstats.CallTotal{
			Call: rpcstats.Call{Op: fmt.Sprint("op", round, "-", i), Side: "client", Code: "hipSuccess"},
			Hist: rpcstats.Hist{Zero: 1},
		}
	}
	step := int64(steps)
	c.put(step, nil)
	for round := range 5 {
		var totals []rpcstats.CallTotal
		for i := range maxCalls {
			totals = append(totals, call(round, i))
		}
		step++
		c.put(step, totals)
		if n := len(countOf(c, step, step+1)); n != maxCalls {
			t.Fatalf("round %d: %d kinds of calls are told apart", round, n)
		}
		for range steps {
			step++
			c.put(step, nil)
		}
	}
	if c.left != 0 || len(c.calls) > maxCalls || len(c.numbers)+len(c.free) != len(c.calls) {
		t.Errorf("%d left out, %d calls, %d numbers, %d free", c.left, len(c.calls), len(c.numbers), len(c.free))
	}
	size := 0
	for call := range c.numbers {
		size += sizeOf(call)
	}
	for _, b := range c.steps {
		size += len(b)
	}
	if c.bytes != size {
		t.Errorf("counted %d bytes of %d", c.bytes, size)
	}
}
