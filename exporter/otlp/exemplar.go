package otlp

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rocwire/rocwire/exporter/rpcstats"
)

// maxExemplars bounds the exemplars of one series in one reading.
const maxExemplars = 8

// exemplars are single calls that lead from a histogram to a trace.
type exemplars map[rpcstats.Call][]metricdata.Exemplar[float64]

// exemplarsOf makes exemplars of the slow calls of sampled traces that ended after the
// reading before. What a call was counted as follows from the figures that it has: the
// whole of it on the client's side, what the worker saw on the worker's, and its parts.
func exemplarsOf(slow []rpcstats.SlowCall, since, now time.Time) exemplars {
	e := exemplars{}
	for i := range slow {
		c := &slow[i]
		trace, err := hex.DecodeString(c.TraceID) // clients send it, and may send anything
		if err != nil || len(trace) != 16 || [16]byte(trace) == [16]byte{} {
			continue
		}
		end := c.Start.Add(max(c.Total, 0))
		if _, ok := unixNano(end); !ok || !end.After(since) || end.After(now) {
			continue
		}
		add := func(side string, d time.Duration) {
			k := rpcstats.Call{Op: c.Op, Side: side, Code: c.Code}
			if d >= 0 && len(e[k]) < maxExemplars {
				e[k] = append(e[k], metricdata.Exemplar[float64]{Time: end, Value: d.Seconds(), TraceID: trace})
			}
		}
		if c.Network >= 0 {
			add("client", c.Total)
		}
		if c.Queue >= 0 && c.Execution >= 0 {
			add("worker", c.Queue+c.Execution)
		}
		add("queue", c.Queue)
		add("execution", c.Execution)
		add("network", c.Network)
	}
	return e
}
