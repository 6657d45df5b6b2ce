package otlp

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/exporter/push"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

var caller = smi.Client{Address: "10.1.2.3:40112", Host: "train-3", PID: 99, Executable: "/usr/bin/python3.12", User: "ada", Pod: "train-3-xyz", Namespace: "ml"}

// someSpans are one call: as the client saw it, on the worker, and the kernel it ran.
func someSpans() []rpctrace.Span {
	trace := [16]byte{1, 2, 3}
	return []rpctrace.Span{
		{TraceID: trace, ID: [8]byte{1}, Parent: [8]byte{9}, Kind: rpctrace.Client, Op: "hipLaunchKernel", Code: "hipSuccess", Start: smitest.Then, Duration: 100 * time.Microsecond, Device: -1},
		{TraceID: trace, ID: [8]byte{2}, Parent: [8]byte{1}, Kind: rpctrace.Worker, Op: "hipLaunchKernel", Code: "hipErrorOutOfMemory", Start: smitest.Then.Add(20 * time.Microsecond), Duration: 50 * time.Microsecond},
		{TraceID: trace, ID: [8]byte{3}, Parent: [8]byte{2}, Kind: rpctrace.Kernel, Op: "hipLaunchKernel", Start: smitest.Then.Add(30 * time.Microsecond), Duration: 10 * time.Microsecond,
			Device: 1, Stream: 0x7f00, Kernel: "_Z3addPfS_i", Grid: [3]uint32{1024, 2, 1}, Block: [3]uint32{256, 1, 1}, Bytes: 4096},
	}
}

func traceSink(t *testing.T, change func(*Options)) *Sink {
	t.Helper()
	return newSink(t, nil, func(o *Options) {
		o.BatchDelay = 10 * time.Millisecond
		change(o)
	})
}

func attrsOf(s *tracepb.Span) map[string]string {
	got := map[string]string{}
	for _, k := range s.Attributes {
		got[k.Key] = showValue(k.Value)
	}
	return got
}

// Spans arrive with their kind, their parent, what the call was about and whose it was.
func TestTraces(t *testing.T) {
	for _, protocol := range []string{HTTP, GRPC} {
		t.Run(protocol, func(t *testing.T) {
			r := &receiver{}
			s := traceSink(t, func(o *Options) {
				o.Traces.Protocol, o.Traces.Endpoint = protocol, r.overHTTP(t)
				if protocol == GRPC {
					o.Traces.Endpoint = "http://" + r.overGRPC(t)
				}
			})
			ctx, stop := contextOf(t)
			done := make(chan struct{})
			go func() {
				s.Run(ctx)
				close(done)
			}()
			s.Traces().Spans(caller, "17", someSpans())
			eventually(t, "the spans come", func() bool { _, n := r.count(); return n > 0 })
			stop()
			<-done
			spans, resources := r.spans()
			if len(spans) != 3 {
				t.Fatalf("%d spans", len(spans))
			}
			for i, want := range []struct {
				id, parent byte
				kind       tracepb.Span_SpanKind
				name       string
				status     string
				attrs      map[string]string
				resource   string
			}{
				{1, 9, tracepb.Span_SPAN_KIND_CLIENT, "hipLaunchKernel", "", map[string]string{
					"rpc.system.name": "hip", "rpc.method": "hipLaunchKernel", "rpc.response.status_code": "hipSuccess", "rocwire.session.id": "17",
				}, "service.name=python3.12"},
				{2, 1, tracepb.Span_SPAN_KIND_SERVER, "hipLaunchKernel", "hipErrorOutOfMemory", map[string]string{
					"rpc.system.name": "hip", "rpc.method": "hipLaunchKernel", "rpc.response.status_code": "hipErrorOutOfMemory", "error.type": "hipErrorOutOfMemory",
					"rocwire.session.id": "17", "client.address": "10.1.2.3", "client.port": "40112",
					"rocwire.client.host": "train-3", "rocwire.client.pid": "99", "rocwire.client.executable": "/usr/bin/python3.12", "rocwire.client.user": "ada",
					"rocwire.client.pod": "train-3-xyz", "rocwire.client.namespace": "ml",
				}, "service.name=rocwire.test"},
				{3, 2, tracepb.Span_SPAN_KIND_INTERNAL, "_Z3addPfS_i", "", map[string]string{
					"rocwire.session.id": "17", "hip.device.index": "1", "hip.stream": "0x7f00", "hip.kernel.name": "_Z3addPfS_i", "hip.kernel.grid": "[1024 2 1]",
					"hip.kernel.block": "[256 1 1]", "hip.bytes": "4096",
				}, "service.name=rocwire.test"},
			} {
				var s *tracepb.Span
				for j := range spans {
					if spans[j].SpanId[0] == want.id {
						s = spans[j]
						if !strings.Contains(resources[j], want.resource) {
							t.Errorf("span %d is of %s, want %s", want.id, resources[j], want.resource)
						}
					}
				}
				if s == nil || s.Kind != want.kind || s.Name != want.name || s.ParentSpanId[0] != want.parent || len(s.TraceId) != 16 {
					t.Fatalf("span %d: %v", want.id, s)
				}
				if (s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) != (want.status != "") || s.Status.GetMessage() != want.status {
					t.Errorf("span %d has the status %v", want.id, s.Status)
				}
				if got := attrsOf(s); fmt.Sprint(got) != fmt.Sprint(want.attrs) {
					t.Errorf("span %d has %v, want %v", want.id, got, want.attrs)
				}
				sent := someSpans()[i]
				if s.StartTimeUnixNano != uint64(sent.Start.UnixNano()) || s.EndTimeUnixNano-s.StartTimeUnixNano != uint64(sent.Duration) {
					t.Errorf("span %d lasts from %d to %d", want.id, s.StartTimeUnixNano, s.EndTimeUnixNano)
				}
			}
		})
	}
}

// Nobody waits for a receiver: what is too much is dropped and counted, and what makes no
// sense as well; the rest arrives once the receiver is there, also after a restart.
func TestTracesOutage(t *testing.T) {
	r := &receiver{}
	var up atomic.Bool
	r.answer = func(w http.ResponseWriter) bool {
		if !up.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
		return up.Load()
	}
	endpoint, dir := r.overHTTP(t), t.TempDir()
	open := func() (s *Sink, end func()) {
		s, err := New(Options{
			Traces: Signal{Endpoint: endpoint}, BatchDelay: time.Hour, BatchSpans: 10, MaxSpans: 25, Queue: push.Options{Dir: dir, Drain: time.Minute},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := contextOf(t)
		done := make(chan struct{})
		go func() {
			s.Run(ctx)
			close(done)
		}()
		return s, func() {
			stop()
			<-done
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	s, end := open()
	bad := someSpans()
	bad[0].ID, bad[1].TraceID, bad[2].Start = [8]byte{}, [16]byte{}, time.Time{}
	s.Traces().Spans(caller, "1", append(bad, numbered(0, 6)...)) // 9, less than a batch
	s.Traces().Spans(caller, "2", numbered(6, 30))                // only 16 find room, at least
	eventually(t, "they are on the queue", func() bool { return s.Stats()[0].Waiting > 0 })
	lost := s.Traces().Dropped()
	end()
	lost = max(lost, s.Traces().Dropped())
	if lost < 3+14 {
		t.Errorf("%d spans were dropped", lost)
	}
	up.Store(true)
	s, end = open()
	eventually(t, "they arrive", func() bool { return s.Stats()[0].Waiting == 0 && s.Stats()[0].Sent > 0 })
	end()
	spans, _ := r.spans()
	seen := map[string]bool{}
	for _, s := range spans {
		seen[string(s.SpanId)] = true
	}
	if len(spans) != 22 || len(seen) != 22 {
		t.Errorf("%d spans arrived, %d of them different, want 22", len(spans), len(seen))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.traces {
		n := 0
		for _, rs := range req.ResourceSpans {
			n += len(rs.ScopeSpans[0].Spans)
		}
		if n > 10 {
			t.Errorf("a request has %d spans", n)
		}
	}
}

func numbered(from, n int) (list []rpctrace.Span) {
	for i := range n {
		s := someSpans()[0]
		s.ID = [8]byte{7, byte(from + i)}
		list = append(list, s)
	}
	return list
}

// What a client says about itself may be anything.
func TestHostileSpans(t *testing.T) {
	s := rpctrace.Span{
		TraceID: [16]byte{1}, ID: [8]byte{1}, Op: "\xff", Code: strings.Repeat("\xc3", 1<<16), Kernel: strings.Repeat("k", 1<<16), Start: time.Unix(1<<40, 0),
		Duration: -5, Device: -7, Bytes: 1<<64 - 1, Stream: 1<<64 - 1,
	}
	c := smi.Client{Address: "nonsense", Executable: "../..//", Host: "\xff"}
	if spanOf(&s, &c, "\xff") != nil {
		t.Error("a span of the year 36812")
	}
	s.Start = smitest.Then
	for k := range rpctrace.Kind(5) {
		s.Kind = k
		out := spanOf(&s, &c, "\xff")
		if out.EndTimeUnixNano != out.StartTimeUnixNano {
			t.Error("it ends before it begins")
		}
		var r request
		r.add(&batch{c, "\xff", []rpctrace.Span{s}})
		if _, err := proto.Marshal(r.message()); err != nil {
			t.Error(err)
		}
		for _, a := range out.Attributes {
			if len(showValue(a.Value)) > maxKernel {
				t.Errorf("%s has %d bytes", a.Key, len(showValue(a.Value)))
			}
		}
	}
	var none *Traces
	none.Spans(c, "", numbered(0, 1))
	if none.Dropped() != 0 {
		t.Error("nobody drops")
	}
}
