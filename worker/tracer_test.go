package worker

import (
	"errors"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/wire"
)

func testTracer() *tracer {
	return newTracer(&wire.Hello{TraceSeed: 7, TraceEvery: 1})
}

func TestTracerWantsAClientThatDoes(t *testing.T) {
	if newTracer(&wire.Hello{TraceSeed: 7}) != nil {
		t.Error("traces what nobody wants traced")
	}
	var none *tracer
	none.reset()
	if l, n := none.take(true); l != nil || n != 0 || none.wantsKernel(nil, nil) {
		t.Error("nothing has spans")
	}
}

// The client's clock does not count: its span goes where the worker's fits into it, whoever reports first.
func TestTracerJoins(t *testing.T) {
	worker := rpctrace.Record{Kind: rpctrace.Worker, Request: 5, Start: 1e18, Duration: 40, Bytes: 8}
	for name, c := range map[string]struct {
		client rpctrace.Record
		start  int64
	}{
		"a clock behind": {rpctrace.Record{Kind: rpctrace.Client, Request: 5, Start: 1e17, Duration: 100}, 1e18 - 30},
		"a clock ahead":  {rpctrace.Record{Kind: rpctrace.Client, Request: 5, Start: 2e18, Duration: 100}, 1e18 - 30},
		"did not wait":   {rpctrace.Record{Kind: rpctrace.Client, Request: 5, Start: 2e18, Duration: 10}, 1e18},
		"went before":    {rpctrace.Record{Kind: rpctrace.Client, Request: 5, Start: 1e18 - 7, Duration: 10}, 1e18 - 7},
	} {
		for _, order := range [][2]rpctrace.Record{{worker, c.client}, {c.client, worker}} {
			x := testTracer()
			x.add(order[0], 0)
			x.add(order[1], 0)
			l, dropped := x.take(false)
			if len(l) != 2 || dropped != 0 || l[0].Kind != rpctrace.Client || l[0].Start != c.start || l[0].Alone || l[1].Start != worker.Start || l[1].Alone || l[0].Bytes != 8 {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

// A span whose other half never comes is told alone, when nothing more can come or time is up.
func TestTracerAlone(t *testing.T) {
	x := testTracer()
	x.add(rpctrace.Record{Kind: rpctrace.Worker, Request: 5}, 1<<62) // just now
	if l, _ := x.take(false); len(l) != 0 {
		t.Errorf("%+v", l)
	}
	x.add(rpctrace.Record{Kind: rpctrace.Worker, Request: 6}, -int64(patience)-1)
	if l, _ := x.take(false); len(l) != 1 || !l[0].Alone || l[0].Request != 6 {
		t.Errorf("%+v", l)
	}
	x.add(rpctrace.Record{Kind: rpctrace.Worker, Request: 5}, 1<<62) // numbers come again after 2^32 requests
	if l, _ := x.take(true); len(l) != 2 || !l[0].Alone || !l[1].Alone {
		t.Errorf("%+v", l)
	}
}

// A client speaks of its own traced calls only, and not for the worker.
func TestTracerRefuses(t *testing.T) {
	few := newTracer(&wire.Hello{TraceSeed: 7, TraceEvery: 1 << 20})
	for name, r := range map[string]rpctrace.Record{
		"the worker's": {Kind: rpctrace.Worker}, "a kernel's": {Kind: rpctrace.Kernel}, "alone": {Kind: rpctrace.Client, Alone: true}, "not traced": {Kind: rpctrace.Client, Request: 3},
	} {
		x := testTracer()
		if name == "not traced" {
			x = few
		}
		if err := x.report(rpctrace.AppendRecords(nil, []rpctrace.Record{r}, 0)); !errors.Is(err, rpctrace.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := testTracer()
	list := make([]rpctrace.Record, rpctrace.MaxRecords)
	for i := range list {
		list[i] = rpctrace.Record{Kind: rpctrace.Client, Request: uint32(i + 1), Start: int64(time.Second)}
	}
	for range 3 {
		if err := x.report(rpctrace.AppendRecords(nil, list, 1)); err != nil {
			t.Fatal(err)
		}
	}
	l, dropped := x.take(true)
	if len(l) >= 3*len(list) || uint64(len(l))+dropped != uint64(3*len(list)+3) {
		t.Errorf("%d spans, %d dropped", len(l), dropped)
	}
}
