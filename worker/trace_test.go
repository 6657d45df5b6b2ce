package worker_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/worker"
)

// spans collects what a worker tells of traced calls.
type spans struct {
	mu      sync.Mutex
	list    []rpctrace.Span
	clients map[string]smi.Client // by session
}

func (s *spans) take(client smi.Client, session string, list []rpctrace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, list...)
	if s.clients == nil {
		s.clients = map[string]smi.Client{}
	}
	s.clients[session] = client
}

func (s *spans) all() []rpctrace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// traced does a copy and a launch with every call traced, ends the session and gives the spans.
func traced(t *testing.T, every uint32) []rpctrace.Span {
	t.Helper()
	var got spans
	w := serve(t, cards(1), worker.Config{Spans: got.take})
	c := connectWith(t, w, hipremote.Config{TraceEvery: every})
	f := kernel(t, c, "spin", "spin")
	p, e := c.Malloc(main0, 1<<20)
	must(t, "Malloc", e)
	host := make([]byte, 1<<20)
	must(t, "Memcpy", c.Memcpy(main0, at(host), p, uint64(len(host)), hip.MemcpyDeviceToHost))
	must(t, "launch", launch(c, f, 0, p, uint64(1000), uint32(64)))
	must(t, "launch", launch(c, f, 0, p, uint64(1000), uint32(64))) // is posted
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	if n := w.SessionTotals().DroppedSpans.Or(99); n != 0 {
		t.Errorf("%d spans dropped", n)
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	if len(got.list) > 0 && (len(got.clients) != 1 || got.clients["1"].Executable == "") {
		t.Errorf("spans of %+v", got.clients)
	}
	return got.list
}

const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// A traced call is a span of the client, in it one of the worker, and below that the kernel's.
func TestTrace(t *testing.T) {
	t.Setenv("TRACEPARENT", traceParent)
	list := traced(t, 1)
	byID := map[[8]byte]rpctrace.Span{}
	for _, s := range list {
		if _, twice := byID[s.ID]; twice {
			t.Errorf("twice: %+v", s)
		}
		byID[s.ID] = s
		if hex.EncodeToString(s.TraceID[:]) != traceParent[3:35] || s.Code != "hipSuccess" {
			t.Errorf("%+v", s)
		}
	}
	find := func(k rpctrace.Kind, op string) (found []rpctrace.Span) {
		for _, s := range list {
			if s.Kind == k && s.Op == op {
				found = append(found, s)
			}
		}
		return found
	}
	for _, op := range []string{"hipMemcpy", "hipModuleLaunchKernel", "hipDeviceSynchronize", "hipModuleLoadData"} {
		clients, workers := find(rpctrace.Client, op), find(rpctrace.Worker, op)
		if len(clients) == 0 || len(clients) != len(workers) {
			t.Errorf("%s: %d spans of clients, %d of workers", op, len(clients), len(workers))
		}
		for _, s := range clients {
			if hex.EncodeToString(s.Parent[:]) != traceParent[36:52] {
				t.Errorf("%s: %+v is not below the program's span", op, s)
			}
		}
		for _, s := range workers {
			c, ok := byID[s.Parent]
			if !ok || c.Kind != rpctrace.Client || c.Op != op {
				t.Errorf("%s: %+v is below %+v", op, s, c)
			}
			if s.Start.Before(c.Start) || op != "hipModuleLaunchKernel" && s.Start.Add(s.Duration).After(c.Start.Add(c.Duration)) {
				t.Errorf("%s: %v for %v is not within %v for %v", op, s.Start, s.Duration, c.Start, c.Duration)
			}
		}
	}
	if c := find(rpctrace.Client, "hipMemcpy"); len(c) == 1 && c[0].Bytes != 1<<20 {
		t.Errorf("%+v", c[0])
	}
	kernels := find(rpctrace.Kernel, "hipModuleLaunchKernel")
	if len(kernels) != 2 {
		t.Errorf("%d kernels", len(kernels))
	}
	for _, s := range kernels {
		w, ok := byID[s.Parent]
		if !ok || w.Kind != rpctrace.Worker || w.Op != s.Op || s.Start.Before(w.Start) {
			t.Errorf("%+v is below %+v", s, w)
		}
		if s.Kernel != "spin" || s.Grid != [3]uint32{1, 1, 1} || s.Block != [3]uint32{64, 1, 1} || s.Device != 0 || s.Stream != 0 || s.Duration <= 0 {
			t.Errorf("%+v", s)
		}
	}
	if len(kernels) == 2 { // one stream: one after the other
		slices.SortFunc(kernels, func(a, b rpctrace.Span) int { return a.Start.Compare(b.Start) })
		if a, b := kernels[0], kernels[1]; bytes.Equal(a.ID[:], b.ID[:]) {
			t.Errorf("%+v and %+v", a, b)
		}
	}
}

// Without a context each call is a trace of its own.
func TestTraceWithoutParent(t *testing.T) {
	t.Setenv("TRACEPARENT", "")
	traces := map[[16]byte][8]byte{}
	list := traced(t, 1)
	for _, s := range list {
		if s.Kind == rpctrace.Client {
			if _, twice := traces[s.TraceID]; twice || s.Parent != ([8]byte{}) {
				t.Errorf("%+v", s)
			}
			traces[s.TraceID] = s.ID
		}
	}
	for _, s := range list {
		if id, ok := traces[s.TraceID]; s.Kind == rpctrace.Worker && (!ok || s.Parent != id) {
			t.Errorf("%+v", s)
		}
	}
	if len(traces) == 0 {
		t.Error("no traces")
	}
}

// What nobody wants is not traced.
func TestNoTrace(t *testing.T) {
	t.Setenv("TRACEPARENT", traceParent)
	if list := traced(t, 0); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	w := serve(t, cards(1), config()) // exports no traces
	c := connectWith(t, w, hipremote.Config{TraceEvery: 1})
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
	if err := c.Flush(); err != nil {
		t.Error(err)
	}
	must(t, "DeviceSynchronize", c.DeviceSynchronize(main0))
}

// A session that traces everything is bounded, and what was too much is counted.
func TestTraceIsBounded(t *testing.T) {
	var got spans
	w := serve(t, cards(1), worker.Config{Spans: got.take})
	c := connectWith(t, w, hipremote.Config{TraceEvery: 1})
	const n = 6 * rpctrace.MaxRate
	for range n {
		must(t, "StreamQuery", c.StreamQuery(main0, 0))
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is gone", func() bool { return len(w.Sessions()) == 0 })
	all := uint64(len(got.all()))
	// Two spans of each call, less what the client has dropped before the worker heard of it.
	if dropped := w.SessionTotals().DroppedSpans.Or(0); all+dropped > 2*n || all+dropped < n || all < rpctrace.MaxRate {
		t.Errorf("%d spans, %d dropped of %d calls", all, dropped, n)
	}
}
