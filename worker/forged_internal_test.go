package worker

import (
	"testing"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/smi"
)

// A client says itself how many spans it has left out. It cannot push the total to its end.
func TestForgedDroppedSpans(t *testing.T) {
	r := record()
	r.spans.context = rpctrace.NewContext("", 1, 1)
	r.spans.to = func(smi.Client, string, []rpctrace.Span) {}
	for range 3000 {
		if err := r.traced(rpctrace.AppendRecords([]byte{msgSpans}, nil, 1<<53)); err != nil {
			t.Fatal(err)
		}
	}
	if n, _ := r.stats.snapshot().DroppedSpans.Get(); n == 0 || n > r.possible(mostCalls) {
		t.Errorf("%d spans were left out", n)
	}
}
