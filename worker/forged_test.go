package worker_test

import (
	"testing"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// forge has a client report calls of every function there is with every result, from two sides.
func forge(h *hostile) {
	h.Helper()
	var all []rpcstats.Bucket
	for i := rpcstats.MinBucket; i <= rpcstats.MaxBucket; i += 8 {
		all = append(all, rpcstats.Bucket{Index: i, Count: 1 << 50})
	}
	n := 0
	for _, side := range []rpcstats.Side{rpcstats.Client, rpcstats.Network} {
		for code := range hip.Error(1100) {
			if !code.Valid() {
				continue
			}
			d := &rpcstats.Delta{Side: side}
			for op := range hip.Ops() {
				h := rpcstats.Hist{Nanos: 1 << 60, Buckets: all}
				if len(d.Series)%2 == 0 {
					h = rpcstats.Hist{Zero: 1}
				}
				d.Series = append(d.Series, rpcstats.Series{Op: op, Code: int32(code), Hist: h})
			}
			m := &wire.Msg{Req: d.AppendEncode(nil)}
			if err := h.c.Call(rpcstats.Op, m); err != nil || m.Code != 0 {
				h.Fatalf("a report: %v, code %d", err, m.Code)
			}
			if n++; n == 8 { // enough for more series than there may be
				return
			}
		}
	}
}

// What a client invents about its calls does not grow the worker's figures beyond a bound, nor take an honest client's place.
func TestForgedReports(t *testing.T) {
	w := serve(t, cards(1), worker.Config{})
	for range 3 {
		h := hostileClient(t, w)
		forge(h)
	}
	eventually(t, "forged reports are taken in", func() bool { return len(w.Calls().Calls()) > 500 })
	c := connect(t, w)
	if _, e := c.Malloc(main0, 1<<20); e != hip.Success {
		t.Fatal(e)
	}
	eventually(t, "the honest client's calls have a series of their own", func() bool {
		for _, x := range w.Calls().Calls() {
			if x.Op == "hipMalloc" && x.Side == "worker" {
				return true
			}
		}
		return false
	})
	calls := w.Calls().Calls()
	if len(calls) > 2048+5 {
		t.Errorf("%d series", len(calls))
	}
	for _, x := range calls {
		if x.Count() > 1<<40 || x.Seconds() > 1e6 {
			t.Errorf("%v has %d calls of %v s", x.Call, x.Count(), x.Seconds())
			break
		}
	}
}
