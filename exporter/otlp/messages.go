package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// messages makes OTLP's messages of what the SDK's readers give. Attributes that several
// points have are made once.
type messages struct {
	known map[attribute.Distinct]attributes
}

type attributes struct {
	set  attribute.Set // different ones may meet in the key
	list []*common.KeyValue
}

func newMessages() *messages { return &messages{map[attribute.Distinct]attributes{}} }

func (m *messages) attrs(set attribute.Set) []*common.KeyValue {
	a, ok := m.known[set.Equivalent()]
	if !ok || !a.set.Equals(&set) {
		a = attributes{set, protoAttrs(set.ToSlice())}
		m.known[set.Equivalent()] = a
	}
	return a.list
}

func (m *messages) resource(rm *metricdata.ResourceMetrics) *metricspb.ResourceMetrics {
	out := &metricspb.ResourceMetrics{Resource: &resourcepb.Resource{Attributes: protoAttrs(rm.Resource.Attributes())}, SchemaUrl: rm.Resource.SchemaURL()}
	for _, s := range rm.ScopeMetrics {
		scope := &metricspb.ScopeMetrics{SchemaUrl: s.Scope.SchemaURL, Scope: &common.InstrumentationScope{
			Name: s.Scope.Name, Version: s.Scope.Version, Attributes: protoAttrs(s.Scope.Attributes.ToSlice()),
		}}
		for i := range s.Metrics {
			scope.Metrics = append(scope.Metrics, m.metric(&s.Metrics[i]))
		}
		out.ScopeMetrics = append(out.ScopeMetrics, scope)
	}
	return out
}

func (m *messages) metric(in *metricdata.Metrics) *metricspb.Metric {
	out := &metricspb.Metric{Name: in.Name, Description: in.Description, Unit: in.Unit}
	switch d := in.Data.(type) {
	case metricdata.Gauge[int64]:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers(m, d.DataPoints)}}
	case metricdata.Gauge[float64]:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers(m, d.DataPoints)}}
	case metricdata.Sum[int64]:
		out.Data = sum(d.IsMonotonic, numbers(m, d.DataPoints))
	case metricdata.Sum[float64]:
		out.Data = sum(d.IsMonotonic, numbers(m, d.DataPoints))
	case metricdata.Histogram[float64]:
		h := &metricspb.Histogram{AggregationTemporality: cumulative}
		for i := range d.DataPoints {
			p := &d.DataPoints[i]
			h.DataPoints = append(h.DataPoints, &metricspb.HistogramDataPoint{
				Attributes: m.attrs(p.Attributes), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time), Count: p.Count, Sum: &p.Sum,
				ExplicitBounds: p.Bounds, BucketCounts: p.BucketCounts, Exemplars: exemplarMessages(p.Exemplars),
			})
		}
		out.Data = &metricspb.Metric_Histogram{Histogram: h}
	case metricdata.ExponentialHistogram[float64]:
		h := &metricspb.ExponentialHistogram{AggregationTemporality: cumulative}
		for i := range d.DataPoints {
			p := &d.DataPoints[i]
			h.DataPoints = append(h.DataPoints, &metricspb.ExponentialHistogramDataPoint{
				Attributes: m.attrs(p.Attributes), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time), Count: p.Count, Sum: &p.Sum,
				Scale: p.Scale, ZeroCount: p.ZeroCount, ZeroThreshold: p.ZeroThreshold, Exemplars: exemplarMessages(p.Exemplars),
				Positive: buckets(p.PositiveBucket), Negative: buckets(p.NegativeBucket),
			})
		}
		out.Data = &metricspb.Metric_ExponentialHistogram{ExponentialHistogram: h}
	}
	return out
}

const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func sum(monotonic bool, list []*metricspb.NumberDataPoint) *metricspb.Metric_Sum {
	return &metricspb.Metric_Sum{Sum: &metricspb.Sum{AggregationTemporality: cumulative, IsMonotonic: monotonic, DataPoints: list}}
}

func numbers[N int64 | float64](m *messages, list []metricdata.DataPoint[N]) []*metricspb.NumberDataPoint {
	out := make([]*metricspb.NumberDataPoint, len(list))
	for i := range list {
		p := &list[i]
		out[i] = &metricspb.NumberDataPoint{Attributes: m.attrs(p.Attributes), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time)}
		switch v := any(p.Value).(type) {
		case int64:
			out[i].Value = &metricspb.NumberDataPoint_AsInt{AsInt: v}
		case float64:
			out[i].Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: v}
		}
	}
	return out
}

func buckets(b metricdata.ExponentialBucket) *metricspb.ExponentialHistogramDataPoint_Buckets {
	return &metricspb.ExponentialHistogramDataPoint_Buckets{Offset: b.Offset, BucketCounts: b.Counts}
}

func exemplarMessages(list []metricdata.Exemplar[float64]) []*metricspb.Exemplar {
	out := make([]*metricspb.Exemplar, len(list))
	for i, x := range list {
		out[i] = &metricspb.Exemplar{TimeUnixNano: nanos(x.Time), Value: &metricspb.Exemplar_AsDouble{AsDouble: x.Value}, TraceId: x.TraceID, SpanId: x.SpanID}
	}
	return out
}

// nanos is a time as OTLP has it, 0 for one that is not known.
func nanos(t time.Time) uint64 {
	n, _ := unixNano(t)
	return n
}
