package otlp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// A slow call of a sampled trace is an exemplar of the series it was counted in, once.
func TestExemplars(t *testing.T) {
	reading := fullReading()
	trace := strings.Repeat("0af7", 8)
	at := reading.Time.Add(-10 * time.Second)
	call := rpcstats.SlowCall{
		Op: "hipMalloc", Code: "hipSuccess", Start: at, Total: 90 * time.Microsecond, Queue: -1, Network: 85 * time.Microsecond, Execution: -1, TraceID: trace,
	}
	old, future, never, bad := call, call, call, call
	old.Start, future.Start, never.Start, bad.TraceID = time.Unix(1<<40, 0), reading.Time.Add(time.Hour), time.Time{}, "xyz"
	zero := call
	zero.TraceID = strings.Repeat("0", 32)
	reading.Slow = []rpcstats.SlowCall{call, old, future, never, bad, zero}
	src := &source{r: reading}
	r := &receiver{}
	s := newSink(t, src, func(o *Options) { o.Metrics.Endpoint = r.overHTTP(t) })
	s.Export()
	src.tick(time.Minute)
	s.Export()
	send(t, s)
	a := r.arrived()
	var all []*metricspb.Exemplar
	for key, p := range a.spreads {
		for _, e := range p.Exemplars {
			all = append(all, e)
			if !strings.Contains(key, "rocwire.side=client") || !strings.Contains(key, "rpc.method=hipMalloc,") || !strings.HasSuffix(key, fmt.Sprint(reading.Time.UnixNano())) {
				t.Errorf("an exemplar of %s", key)
			}
		}
	}
	if len(all) != 1 || fmt.Sprintf("%x", all[0].TraceId) != trace || all[0].GetAsDouble() != 90e-6 || all[0].TimeUnixNano != uint64(at.Add(call.Total).UnixNano()) {
		t.Errorf("%v", all)
	}
}

// One series has so many exemplars at most.
func TestManyExemplars(t *testing.T) {
	now := time.Now()
	var slow []rpcstats.SlowCall
	for range 100 {
		slow = append(slow, rpcstats.SlowCall{
			Op: "op", Code: "c", Start: now.Add(-time.Second), Total: 3, Queue: 1, Execution: 2, Network: -1, TraceID: strings.Repeat("ab", 16),
		})
	}
	e := exemplarsOf(slow, time.Time{}, now)
	for side, n := range map[string]int{"worker": maxExemplars, "queue": maxExemplars, "execution": maxExemplars, "client": 0, "network": 0} {
		if got := len(e[rpcstats.Call{Op: "op", Side: side, Code: "c"}]); got != n {
			t.Errorf("%d exemplars of %s, want %d", got, side, n)
		}
	}
}
