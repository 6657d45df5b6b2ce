package collector

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/rocwire/rocwire/calls/rpcstats"
)

// Classic buckets are every power of two from 1 µs to 16 s: bounds the native
// histogram has too, so that both are exact.
const (
	classicFirst = -20
	classicLast  = 4
	perOctave    = 1 << rpcstats.Schema
	numClassic   = classicLast - classicFirst + 1
)

// durations is one histogram of durations. It is made a native histogram, or classic
// buckets, when it is known which of them a scrape takes.
type durations struct {
	series
	hist      *rpcstats.Hist
	since     time.Time
	exemplars []exemplar
	form      string
}

// Write implements prometheus.Metric.
func (d *durations) Write(m *dto.Metric) error {
	m.Label, m.Histogram = d.labels.pairs, d.dto()
	return nil
}

// duration emits a histogram of durations.
func (e *emitter) duration(m *metric, l *labels, h *rpcstats.Hist, since time.Time, ex []exemplar) {
	if e.allow(m, l) {
		e.out <- &durations{series: series{m, l}, hist: h, since: since, exemplars: ex, form: e.form}
	}
}

// classic counts, for each bound, the durations up to it.
func (d *durations) classic() (counts [numClassic]uint64) {
	sum, rest := d.hist.Zero, d.hist.Buckets
	for i := range counts {
		for len(rest) > 0 && rest[0].Index <= (classicFirst+i)*perOctave {
			sum += rest[0].Count
			rest = rest[1:]
		}
		counts[i] = sum
	}
	return counts
}

// dto is the histogram in the form that client_golang understands.
func (d *durations) dto() *dto.Histogram {
	count, sum := d.hist.Count(), d.hist.Seconds()
	h := &dto.Histogram{SampleCount: &count, SampleSum: &sum, CreatedTimestamp: timestamppb.New(d.since)}
	if d.form != HistogramsNative {
		for i, n := range d.classic() {
			bound := math.Ldexp(1, classicFirst+i)
			h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: &bound, CumulativeCount: &n})
		}
	}
	if d.form != HistogramsClassic {
		schema, threshold, zero := int32(rpcstats.Schema), float64(prometheus.DefNativeHistogramZeroThreshold), d.hist.Zero
		h.Schema, h.ZeroThreshold, h.ZeroCount = &schema, &threshold, &zero
		d.native(h)
	}
	attach(h, d.exemplars)
	return h
}

// native writes the buckets as runs of neighbours, each but the first as the
// difference to the one before.
func (d *durations) native(h *dto.Histogram) {
	next, last := 0, int64(0)
	for i, b := range d.hist.Buckets {
		if i == 0 || b.Index != next {
			offset, none := int32(b.Index-next), uint32(0)
			h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: &offset, Length: &none})
		}
		*h.PositiveSpan[len(h.PositiveSpan)-1].Length++
		n := int64(min(b.Count, math.MaxInt64))
		h.PositiveDelta = append(h.PositiveDelta, n-last)
		next, last = b.Index+1, n
	}
	if len(h.PositiveSpan) == 0 {
		zero, none := int32(0), uint32(0) // what makes it a native one although it is empty
		h.PositiveSpan = []*dto.BucketSpan{{Offset: &zero, Length: &none}}
	}
}
