package otlp

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// maxExemplars bounds the exemplars of one series in one reading.
const maxExemplars = 8

// exemplars are single calls that lead from a histogram to a trace.
type exemplars map[rpcstats.Call][]metricdata.Exemplar[float64]

// exemplarsOf makes exemplars of the slow calls of sampled traces that ended after the
// reading before.
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
		c.Counted(func(as rpcstats.Call, d time.Duration) {
			if len(e[as]) < maxExemplars {
				e[as] = append(e[as], metricdata.Exemplar[float64]{Time: end, Value: d.Seconds(), TraceID: trace})
			}
		})
	}
	return e
}
