package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter/local"
)

// latencies are a histogram as OTLP has them: bucket i of scale s holds what lies in
// (2^(i/2^s), 2^((i+1)/2^s)].
type latencies struct {
	scale  int32
	count  uint64
	zero   uint64
	sum    float64
	offset int32
	counts []uint64

	exemplars []metricdata.Exemplar[float64]
}

// ofHist is a histogram of rpcstats. Its bucket i ends where OTLP's bucket i begins.
func ofHist(h *rpcstats.Hist) latencies {
	l := latencies{scale: rpcstats.Schema, count: h.Count(), zero: h.Zero, sum: h.Seconds()}
	if len(h.Buckets) == 0 {
		return l
	}
	first, last := h.Buckets[0].Index, h.Buckets[len(h.Buckets)-1].Index
	l.offset = int32(first) - 1
	l.counts = make([]uint64, last-first+1)
	for _, b := range h.Buckets {
		l.counts[b.Index-first] = b.Count
	}
	return l
}

// ofSizes is a histogram of sizes: powers of two, the first bucket those up to 1.
func ofSizes(s *local.Sizes) latencies {
	l := latencies{sum: s.Sum, offset: -1, counts: s.Buckets}
	for _, n := range s.Buckets {
		l.count += n
	}
	return l
}

func exponential(list []spread, now time.Time) metricdata.Aggregation {
	out := make([]metricdata.ExponentialHistogramDataPoint[float64], len(list))
	for i := range list {
		s := &list[i]
		out[i] = metricdata.ExponentialHistogramDataPoint[float64]{
			Attributes: s.attrs, StartTime: s.start, Time: now, Count: s.count, Sum: s.sum, Scale: s.scale, ZeroCount: s.zero,
			PositiveBucket: metricdata.ExponentialBucket{Offset: s.offset, Counts: s.counts}, Exemplars: s.exemplars,
		}
	}
	return metricdata.ExponentialHistogram[float64]{DataPoints: out, Temporality: metricdata.CumulativeTemporality}
}

// Explicit bounds are powers of two, which exponential buckets have as bounds too, so
// that both are exact: of a time from 1 µs to 16 s, of a size from 1 to 2^32.
var timeBounds, sizeBounds = powers(-20, 4), powers(0, 32)

func powers(first, last int) []float64 {
	var list []float64
	for e := first; e <= last; e++ {
		list = append(list, math.Ldexp(1, e))
	}
	return list
}

func explicitBuckets(list []spread, now time.Time) metricdata.Aggregation {
	out := make([]metricdata.HistogramDataPoint[float64], len(list))
	for i := range list {
		s := &list[i]
		bounds := timeBounds
		if s.scale == 0 {
			bounds = sizeBounds
		}
		out[i] = metricdata.HistogramDataPoint[float64]{
			Attributes: s.attrs, StartTime: s.start, Time: now, Count: s.count, Sum: s.sum, Bounds: bounds, BucketCounts: s.within(bounds),
			Exemplars: s.exemplars,
		}
	}
	return metricdata.Histogram[float64]{DataPoints: out, Temporality: metricdata.CumulativeTemporality}
}

// within counts what lies between bounds, which are powers of two.
func (l *latencies) within(bounds []float64) []uint64 {
	out := make([]uint64, len(bounds)+1)
	out[0] = l.zero
	at := 0
	for i, n := range l.counts {
		upper := math.Exp2(float64(int(l.offset)+i+1) / float64(int(1)<<l.scale))
		for at < len(bounds) && bounds[at] < upper {
			at++
		}
		out[at] += n
	}
	return out
}
