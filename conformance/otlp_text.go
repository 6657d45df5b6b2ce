package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/calls/rpctrace"
)

// pointTexts writes each point with all that belongs to it.
func pointTexts(m *collectormetrics.ExportMetricsServiceRequest) (list []string) {
	for _, rm := range m.ResourceMetrics {
		resource := texts(rm.Resource.GetAttributes())
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				if strings.HasPrefix(m.Name, "rocwire.exporter.") {
					continue // of the sender itself
				}
				head := fmt.Sprintf("%s %s %s %s %s ", m.Name, m.Unit, sm.Scope.GetName(), rm.SchemaUrl, resource)
				for _, p := range pointsOf(m) {
					list = append(list, head+p)
				}
			}
		}
	}
	return list
}

// pointsOf are the points of a metric; a kind that we do not send has none.
func pointsOf(m *metricspb.Metric) (list []string) {
	number := func(kind string, points []*metricspb.NumberDataPoint) {
		for _, p := range points {
			list = append(list, fmt.Sprintf("%s %s %d %d %v", kind, texts(p.Attributes), p.StartTimeUnixNano, p.TimeUnixNano, p.Value))
		}
	}
	switch d := m.Data.(type) {
	case *metricspb.Metric_Gauge:
		number("gauge", d.Gauge.DataPoints)
	case *metricspb.Metric_Sum:
		number(fmt.Sprintf("sum %v %t", d.Sum.AggregationTemporality, d.Sum.IsMonotonic), d.Sum.DataPoints)
	case *metricspb.Metric_ExponentialHistogram:
		for _, p := range d.ExponentialHistogram.DataPoints {
			list = append(list, fmt.Sprintf("histogram %v %s %d %d %d %g %d %d %d %v", d.ExponentialHistogram.AggregationTemporality, texts(p.Attributes),
				p.StartTimeUnixNano, p.TimeUnixNano, p.Count, p.GetSum(), p.Scale, p.ZeroCount, p.Positive.GetOffset(), p.Positive.GetBucketCounts()))
		}
	}
	return list
}

// spanTexts writes each span with the resource it belongs to.
func spanTexts(m *collectortrace.ExportTraceServiceRequest) (list []string) {
	for _, rs := range m.ResourceSpans {
		resource := texts(rs.Resource.GetAttributes())
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				list = append(list, fmt.Sprintf("%s %v %x %x %x %d %d %s %v %s", s.Name, s.Kind, s.TraceId, s.SpanId, s.ParentSpanId, s.StartTimeUnixNano,
					s.EndTimeUnixNano, texts(s.Attributes), s.Status.GetCode(), resource))
			}
		}
	}
	return list
}

// texts are attributes in a fixed order.
func texts(list []*common.KeyValue) string {
	out := make([]string, len(list))
	for i, k := range list {
		v, err := proto.MarshalOptions{Deterministic: true}.Marshal(k.Value)
		if err != nil {
			v = []byte(err.Error())
		}
		out[i] = fmt.Sprintf("%s=%q", k.Key, v)
	}
	sort.Strings(out)
	return "{" + strings.Join(out, ",") + "}"
}

// unzipped is a request's body.
func unzipped(r *http.Request) io.Reader {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return r.Body
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return strings.NewReader("not gzip") // no message either
	}
	return z
}

// fetchText gets a page.
func fetchText(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	return string(b), err
}

// madeSpans are one call: as the client saw it, on the worker, and its kernel.
func madeSpans(at time.Time) []rpctrace.Span {
	trace := [16]byte{1, 2, 3}
	return []rpctrace.Span{
		{TraceID: trace, ID: [8]byte{1}, Kind: rpctrace.Client, Op: "hipLaunchKernel", Code: "hipSuccess", Start: at, Duration: time.Millisecond},
		{TraceID: trace, ID: [8]byte{2}, Parent: [8]byte{1}, Kind: rpctrace.Worker, Op: "hipLaunchKernel", Code: "hipErrorOutOfMemory", Start: at, Duration: time.Microsecond},
		{TraceID: trace, ID: [8]byte{3}, Parent: [8]byte{2}, Kind: rpctrace.Kernel, Kernel: "_Z3addPfS_i", Grid: [3]uint32{64, 1, 1}, Block: [3]uint32{64, 1, 1}, Start: at, Duration: time.Microsecond},
	}
}
