package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/exporter/otlp"
	"github.com/rocwire/rocwire/simgpu"
	simcard "github.com/rocwire/rocwire/simgpu/card"
	"github.com/rocwire/rocwire/smi"
)

// conformOTLP sends metrics and traces to an OpenTelemetry Collector, by gRPC and HTTP.
// The collector passes them on to us, and what comes out must be what went in: every
// point with its type, unit, attributes, times and buckets, and every span.
func conformOTLP(ctx context.Context, o *options) (failed int, err error) {
	program, err := buildCollector(ctx, o)
	if err != nil {
		return 0, err
	}
	reading, err := simulated(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for _, protocol := range []string{otlp.GRPC, otlp.HTTP} {
		wrong, n, err := throughCollector(ctx, program, protocol, reading)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", protocol, err)
		}
		failed += told(fmt.Sprintf("OpenTelemetry Collector, %s, %d points and spans", protocol, n), wrong)
	}
	missing, err := workerThroughCollector(ctx, o, program)
	if err != nil {
		return failed, err
	}
	failed += told("OpenTelemetry Collector, hip-worker and a HIP program", missing)
	fmt.Printf("OTLP through the OpenTelemetry Collector %s: %d failed, %.0f s\n", collectorVersion, failed, time.Since(began).Seconds())
	return failed, nil
}

// told prints how one test went; 1 if it failed.
func told(name string, wrong []string) int {
	word := "passed"
	if len(wrong) > 0 {
		word = "FAILED"
	}
	fmt.Printf("%-60s %s\n", name, word)
	for i, w := range wrong {
		if i == 20 {
			fmt.Printf("    and %d more\n", len(wrong)-i)
			break
		}
		fmt.Println("    " + w)
	}
	return min(len(wrong), 1)
}

// frozen is a reading that does not change, so that it can be sent twice.
type frozen exporter.Reading

func (f *frozen) Read() exporter.Reading { return exporter.Reading(*f) }

// simulated is a reading of simulated cards and of some calls.
func simulated(ctx context.Context) (*frozen, error) {
	seg, err := simcard.Create([]uint64{1 << 30, 1 << 30}, 1)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	src, err := simgpu.NewSource(simgpu.Options{Segment: seg})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	calls := rpcstats.NewTotals(rpcstats.Names{})
	for i := range 1000 {
		calls.Observe("hipLaunchKernel", "client", "hipSuccess", float64(20+i)*1e-6)
		calls.Observe("hipLaunchKernel", "worker", "hipSuccess", float64(5+i%7)*1e-6)
		calls.Observe("hipLaunchKernel", "queue", "hipSuccess", 1e-6)
	}
	calls.Observe("hipMalloc", "client", "hipErrorOutOfMemory", 0.25)
	e, err := exporter.New(exporter.Options{Source: src, Calls: calls})
	if err != nil {
		return nil, err
	}
	e.Poll(ctx)
	time.Sleep(10 * time.Millisecond) // totals begin before they are read
	r := frozen(e.Read())
	return &r, nil
}

// throughCollector sends everything through a collector and straight to us, and compares.
func throughCollector(ctx context.Context, program, protocol string, from *frozen) (wrong []string, n int, err error) {
	var through, direct catch
	to, stopThrough, err := through.serve()
	if err != nil {
		return nil, 0, err
	}
	defer stopThrough()
	straight, stopDirect, err := direct.serve()
	if err != nil {
		return nil, 0, err
	}
	defer stopDirect()
	c, err := startCollector(ctx, program, to)
	if err != nil {
		return nil, 0, err
	}
	log := ""
	defer func() {
		if log == "" {
			c.stop()
		}
	}()
	endpoint := "http://" + c.http
	if protocol == otlp.GRPC {
		endpoint = "http://" + c.grpc
	}
	if err := sendAll(ctx, from, endpoint, protocol); err != nil {
		return nil, 0, err
	}
	if err := sendAll(ctx, from, "http://"+straight, otlp.HTTP); err != nil {
		return nil, 0, err
	}
	want := direct.all()
	for end := time.Now().Add(20 * time.Second); len(through.all()) < len(want) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	got := through.all()
	for what, times := range want {
		if got[what] != times {
			wrong = append(wrong, fmt.Sprintf("came %d times instead of %d: %s", got[what], times, tail(what, 600)))
		}
	}
	for what := range got {
		if want[what] == 0 {
			wrong = append(wrong, "came from nowhere: "+tail(what, 600))
		}
	}
	page, err := fetchText(ctx, "http://"+c.prometheus+"/metrics")
	if err != nil {
		return nil, 0, err
	}
	for _, series := range []string{"hw_gpu_memory_limit_bytes{", "hw_energy_joules_total{", "hw_power_watts{", "hw_temperature_celsius{", "rocwire_exporter_source_up"} {
		if !strings.Contains(page, "\n"+series) {
			wrong = append(wrong, "its Prometheus page does not have "+series)
		}
	}
	log = c.stop()
	for _, words := range []string{"hip.rpc.duration", "hw.gpu.utilization", "_Z3addPfS_i"} {
		if !strings.Contains(log, words) {
			wrong = append(wrong, "its debug output does not have "+words)
		}
	}
	return wrong, len(want), nil
}

// sendAll sends one reading and some spans.
func sendAll(ctx context.Context, from *frozen, endpoint, protocol string) error {
	sig := otlp.Signal{Endpoint: endpoint, Protocol: protocol}
	s, err := otlp.New(otlp.Options{Metrics: sig, Traces: sig, Service: "rocwire.conformance", Interval: time.Hour, BatchDelay: time.Hour}, from)
	if err != nil {
		return err
	}
	s.Traces().Spans(smi.Client{Host: "client", Executable: "/usr/bin/train", PID: 7, Address: "10.0.0.1:5"}, "1", madeSpans(from.Time))
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		s.Run(ctx)
		close(done)
	}()
	stop() // it reads once more, and sends what waits
	<-done
	for _, st := range s.Stats() {
		if st.Waiting > 0 || st.Sent == 0 || st.Refused > 0 {
			return fmt.Errorf("%s: %d sent, %d refused, %d wait: %s", st.Name, st.Sent, st.Refused, st.Waiting, st.LastError)
		}
	}
	return s.Close()
}

// catch is a receiver that notes what it gets, one text for each point and span.
type catch struct {
	mu    sync.Mutex
	items map[string]int
}

func (c *catch) serve() (addr string, stop func(), err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(ln) }()
	return ln.Addr().String(), func() { srv.Close() }, nil
}

func (c *catch) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.items)
}

func (c *catch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(unzipped(r))
	var items []string
	if strings.HasSuffix(r.URL.Path, "/v1/traces") {
		var m collectortrace.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &m)
		}
		items = spanTexts(&m)
	} else {
		var m collectormetrics.ExportMetricsServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &m)
		}
		items = pointTexts(&m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[string]int{}
	}
	for _, i := range items {
		c.items[i]++
	}
}
