package exporter

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/rocwire/rocwire/exporter/rpcstats"
)

func init() {
	registerCollector("rpc", func(o *Options) collector { return &rpcCollector{o.Calls} })
}

var (
	rpcDuration = define(histogram, "hip_rpc_duration_seconds",
		"How long calls took, by function and result: side client is issue to return in the program, side worker is arrival to reply.", "op", "side", "code")
	// A metric of their own: the phases are parts of what the sides are the whole of,
	// and a sum over all series of either counts nothing twice.
	rpcPhase = define(histogram, "hip_rpc_phase_duration_seconds",
		"Where the time of calls went: phase queue is the wait on the worker, execution what followed there, network the client's time without the worker's.", "op", "phase", "code")
)

// phases are the Side of totals that are parts of a call and no whole.
var phases = map[string]bool{"queue": true, "execution": true, "network": true}

// rpcCollector makes the call latencies.
type rpcCollector struct{ src CallSource }

func (c *rpcCollector) update(_ *view, emit *emitter) error {
	if c.src == nil {
		return nil
	}
	if err := unknown(c.src); err != nil {
		return err
	}
	traced := exemplars{}
	if s, ok := c.src.(SlowCallSource); ok {
		traced = exemplarsOf(s.SlowCalls())
	}
	for _, t := range c.src.Calls() {
		m, values := rpcDuration, []string{t.Op, t.Side, t.Code}
		if phases[t.Side] {
			m = rpcPhase
		}
		if !emit.allow(m, makeLabels(m, values)) {
			continue
		}
		h, err := newLatency(m, &t, values) // with the values made clean
		if err == nil {
			h.exemplars = traced[t.Call]
			err = emit.write(m, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Classic buckets are every power of two from 1 µs to 16 s: bounds the native
// histogram has too, so that both are exact.
const (
	classicFirst = -20
	classicLast  = 4
	perOctave    = 1 << rpcstats.Schema
)

// latency is one series in both forms: a native histogram for scrapes that take
// it, classic buckets for the text format.
type latency struct {
	prometheus.Metric
	classic   []*dto.Bucket
	exemplars []exemplar
}

func newLatency(of *metric, t *rpcstats.CallTotal, labels []string) (*latency, error) {
	positive := make(map[int]int64, len(t.Buckets))
	for _, b := range t.Buckets {
		positive[b.Index] = int64(min(b.Count, math.MaxInt64))
	}
	m, err := prometheus.NewConstNativeHistogram(of.desc, t.Count(), t.Seconds(), positive, nil, t.Zero,
		rpcstats.Schema, prometheus.DefNativeHistogramZeroThreshold, t.Since, labels...)
	if err != nil {
		return nil, err
	}
	return &latency{Metric: m, classic: classicBuckets(&t.Hist)}, nil
}

// classicBuckets counts, for each bound, the durations up to it.
func classicBuckets(h *rpcstats.Hist) []*dto.Bucket {
	list := make([]*dto.Bucket, 0, classicLast-classicFirst+1)
	sum, rest := h.Zero, h.Buckets
	for e := classicFirst; e <= classicLast; e++ {
		for len(rest) > 0 && rest[0].Index <= e*perOctave {
			sum += rest[0].Count
			rest = rest[1:]
		}
		bound, n := math.Ldexp(1, e), sum
		list = append(list, &dto.Bucket{UpperBound: &bound, CumulativeCount: &n})
	}
	return list
}

// Write implements prometheus.Metric.
func (l *latency) Write(out *dto.Metric) error {
	if err := l.Metric.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = l.classic
	attach(out.Histogram, l.exemplars)
	return nil
}
