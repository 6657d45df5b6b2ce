package exporter

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
	hist      *rpcstats.Hist
	since     time.Time
	exemplars []exemplar
	form      string
}

// duration emits a histogram of durations.
func (e *emitter) duration(m *metric, l *labels, h *rpcstats.Hist, since time.Time, ex []exemplar) {
	if e.allow(m, l) {
		e.add(m, sample{labels: l, durations: &durations{hist: h, since: since, exemplars: ex, form: e.form}})
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

// bounds are the labels of the classic buckets, in both text formats.
var bounds, boundsOM = func() (text, om [numClassic + 1]string) {
	for i := range numClassic {
		b := math.Ldexp(1, classicFirst+i)
		text[i], om[i] = string(appendFloat(nil, b)), string(appendFloatOM(nil, b))
	}
	text[numClassic], om[numClassic] = "+Inf", "+Inf"
	return text, om
}()

// appendText formats the series of the histogram.
func (d *durations) appendText(b []byte, name string, labels string, openMetrics bool) []byte {
	le, number := &bounds, appendFloat
	if openMetrics {
		le, number = &boundsOM, appendFloatOM
	}
	count := d.hist.Count()
	open := "{"
	if labels != "" {
		open = labels[:len(labels)-1] + ","
	}
	bucket := func(bound string, n uint64) {
		b = append(append(append(b, name...), "_bucket"...), open...)
		b = append(append(append(b, `le="`...), bound...), `"} `...)
		b = append(appendUint(b, n), '\n')
	}
	if d.form != HistogramsNative {
		for i, n := range d.classic() {
			bucket(le[i], n)
		}
	}
	bucket(le[numClassic], count)
	b = append(append(append(append(b, name...), "_sum"...), labels...), ' ')
	b = append(number(b, d.hist.Seconds()), '\n')
	b = append(append(append(append(b, name...), "_count"...), labels...), ' ')
	return append(appendUint(b, count), '\n')
}
