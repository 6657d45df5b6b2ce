package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// receiver is an OTLP receiver that keeps all it gets.
type receiver struct {
	collectormetrics.UnimplementedMetricsServiceServer
	collectortrace.UnimplementedTraceServiceServer

	mu      sync.Mutex
	metrics []*collectormetrics.ExportMetricsServiceRequest
	traces  []*collectortrace.ExportTraceServiceRequest
	headers []http.Header
	paths   []string

	// answer, when set, is asked before a request is taken.
	answer func(w http.ResponseWriter) bool
	// rejected is what is told as partial success.
	rejected int64
	fail     error // of gRPC
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var in io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in = z
	}
	body, err := io.ReadAll(in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.headers, r.paths = append(r.headers, req.Header.Clone()), append(r.paths, req.URL.Path)
	if r.answer != nil && !r.answer(w) {
		return
	}
	var reply proto.Message
	if strings.HasSuffix(req.URL.Path, "traces") {
		m := &collectortrace.ExportTraceServiceRequest{}
		err = proto.Unmarshal(body, m)
		r.traces, reply = append(r.traces, m), &collectortrace.ExportTraceServiceResponse{}
	} else {
		m := &collectormetrics.ExportMetricsServiceRequest{}
		err = proto.Unmarshal(body, m)
		r.metrics, reply = append(r.metrics, m), r.taken()
	}
	if err != nil || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, fmt.Sprint("bad request ", err), http.StatusBadRequest)
		return
	}
	out, err := proto.Marshal(reply)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(out)
}

func (r *receiver) taken() *collectormetrics.ExportMetricsServiceResponse {
	m := &collectormetrics.ExportMetricsServiceResponse{}
	if r.rejected > 0 {
		m.PartialSuccess = &collectormetrics.ExportMetricsPartialSuccess{RejectedDataPoints: r.rejected, ErrorMessage: "too old"}
	}
	return m
}

// metricsServer and traceServer are needed because both services have a method Export.
type metricsServer struct {
	collectormetrics.UnimplementedMetricsServiceServer
	r *receiver
}

func (s metricsServer) Export(ctx context.Context, m *collectormetrics.ExportMetricsServiceRequest) (*collectormetrics.ExportMetricsServiceResponse, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.note(ctx)
	if s.r.fail != nil {
		return nil, s.r.fail
	}
	s.r.metrics = append(s.r.metrics, m)
	return s.r.taken(), nil
}

type traceServer struct {
	collectortrace.UnimplementedTraceServiceServer
	r *receiver
}

func (s traceServer) Export(ctx context.Context, m *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.r.note(ctx)
	if s.r.fail != nil {
		return nil, s.r.fail
	}
	s.r.traces = append(s.r.traces, m)
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// note keeps the metadata of a gRPC call as headers.
func (r *receiver) note(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	h := http.Header{}
	for k, v := range md {
		h[http.CanonicalHeaderKey(k)] = v
	}
	r.headers = append(r.headers, h)
}

// overHTTP serves r; the URL is a base endpoint.
func (r *receiver) overHTTP(t *testing.T) string {
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s.URL
}

// overGRPC serves r.
func (r *receiver) overGRPC(t *testing.T, opts ...grpc.ServerOption) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(opts...)
	collectormetrics.RegisterMetricsServiceServer(s, metricsServer{r: r})
	collectortrace.RegisterTraceServiceServer(s, traceServer{r: r})
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(s.Stop)
	return ln.Addr().String()
}

func (r *receiver) count() (metrics, traces int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.metrics), len(r.traces)
}

// arrived is every point that came, by metric, attributes and time.
type arrived struct {
	metrics map[string]*metricspb.Metric // the first of each name
	points  map[string]int               // how often "name{attributes}@time" came
	values  map[string]float64
	attrs   map[string]map[string]string
	starts  map[string]uint64
	spreads map[string]*metricspb.ExponentialHistogramDataPoint
	sets    map[string]*metricspb.HistogramDataPoint
}

func (r *receiver) arrived() *arrived {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &arrived{
		metrics: map[string]*metricspb.Metric{}, points: map[string]int{}, values: map[string]float64{}, attrs: map[string]map[string]string{},
		starts: map[string]uint64{}, spreads: map[string]*metricspb.ExponentialHistogramDataPoint{}, sets: map[string]*metricspb.HistogramDataPoint{},
	}
	for _, req := range r.metrics {
		for _, rm := range req.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				for _, m := range sm.Metrics {
					a.metric(m)
				}
			}
		}
	}
	return a
}

func (a *arrived) metric(m *metricspb.Metric) {
	if a.metrics[m.Name] == nil {
		a.metrics[m.Name] = m
	}
	note := func(kvs []*common.KeyValue, at, start uint64) string {
		key := fmt.Sprintf("%s%s@%d", m.Name, show(kvs), at)
		a.points[key]++
		a.starts[key] = start
		a.attrs[key] = map[string]string{}
		for _, k := range kvs {
			a.attrs[key][k.Key] = showValue(k.Value)
		}
		return key
	}
	number := func(list []*metricspb.NumberDataPoint) {
		for _, p := range list {
			key := note(p.Attributes, p.TimeUnixNano, p.StartTimeUnixNano)
			a.values[key] = p.GetAsDouble() + float64(p.GetAsInt())
		}
	}
	number(m.GetGauge().GetDataPoints())
	number(m.GetSum().GetDataPoints())
	for _, p := range m.GetExponentialHistogram().GetDataPoints() {
		a.spreads[note(p.Attributes, p.TimeUnixNano, p.StartTimeUnixNano)] = p
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		a.sets[note(p.Attributes, p.TimeUnixNano, p.StartTimeUnixNano)] = p
	}
}

// show is attributes in a fixed form.
func show(kvs []*common.KeyValue) string {
	var list []string
	for _, k := range kvs {
		list = append(list, k.Key+"="+showValue(k.Value))
	}
	sort.Strings(list)
	return "{" + strings.Join(list, ",") + "}"
}

func showValue(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_ArrayValue:
		var list []string
		for _, x := range v.ArrayValue.Values {
			list = append(list, showValue(x))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return fmt.Sprint(v)
}

// spans are all that came, with the resource each belongs to.
func (r *receiver) spans() (list []*tracepb.Span, resources []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.traces {
		for _, rs := range req.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					list, resources = append(list, s), append(resources, show(rs.Resource.Attributes))
				}
			}
		}
	}
	return list, resources
}

// eventually waits until f is true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatal("it did not happen that ", what)
}

// arrive is what points are when they arrive.
func arrive(t *testing.T, sm []metricdata.ScopeMetrics) *arrived {
	t.Helper()
	r := &receiver{}
	err := encode(&metricdata.ResourceMetrics{Resource: resource.Empty(), ScopeMetrics: sm}, func(body []byte) error {
		m := &collectormetrics.ExportMetricsServiceRequest{}
		r.metrics = append(r.metrics, m)
		return proto.Unmarshal(body, m)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.arrived()
}
