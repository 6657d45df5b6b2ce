package otlp

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/smi"
)

// Traces takes spans and puts them on a queue, in batches. All methods may be called
// from any goroutine; a nil Traces takes nothing.
type Traces struct {
	opt    Options
	worker []*common.KeyValue // resource of the program this is
	put    func(record []byte) error
	log    *slog.Logger
	lost   atomic.Uint64
	full   chan struct{} // there is a batch; capacity 1

	mu      sync.Mutex
	waiting []batch
	spans   int // in waiting
}

// batch are spans of one session.
type batch struct {
	client  smi.Client
	session string
	spans   []rpctrace.Span
}

func newTraces(opt Options, worker []*common.KeyValue, put func([]byte) error) *Traces {
	return &Traces{opt: opt, worker: worker, put: put, log: opt.Log, full: make(chan struct{}, 1)}
}

// Spans takes the spans of a session's calls, which it copies. It never waits: what is too
// much is dropped and counted.
func (t *Traces) Spans(client smi.Client, session string, spans []rpctrace.Span) {
	if t == nil || len(spans) == 0 {
		return
	}
	t.mu.Lock()
	if room := t.opt.MaxSpans - t.spans; len(spans) > room {
		t.lost.Add(uint64(len(spans) - room))
		spans = spans[:room]
	}
	if len(spans) > 0 {
		t.waiting = append(t.waiting, batch{client, session, append([]rpctrace.Span(nil), spans...)})
		t.spans += len(spans)
	}
	full := t.spans >= t.opt.BatchSpans
	t.mu.Unlock()
	if full {
		select {
		case t.full <- struct{}{}:
		default:
		}
	}
}

// Dropped is how many spans were dropped so far.
func (t *Traces) Dropped() uint64 {
	if t == nil {
		return 0
	}
	return t.lost.Load()
}

// run puts what waits on the queue until ctx is done, and then a last time.
func (t *Traces) run(ctx context.Context) {
	tick := time.NewTicker(t.opt.BatchDelay)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			t.flush()
			return
		case <-tick.C:
		case <-t.full:
		}
		t.flush()
	}
}

// flush makes requests of what waits.
func (t *Traces) flush() {
	t.mu.Lock()
	list := t.waiting
	t.waiting, t.spans = nil, 0
	t.mu.Unlock()
	r := request{worker: t.worker, version: t.opt.Version}
	for i := range list {
		b := &list[i]
		for len(b.spans) > 0 {
			n := min(len(b.spans), t.opt.BatchSpans-r.spans)
			part := *b
			part.spans, b.spans = b.spans[:n], b.spans[n:]
			t.lost.Add(uint64(r.add(&part)))
			if r.spans >= t.opt.BatchSpans {
				t.send(&r)
			}
		}
	}
	t.send(&r)
}

func (t *Traces) send(r *request) {
	n, msg := r.spans, r.message()
	*r = request{worker: r.worker, version: r.version}
	if len(msg.ResourceSpans) == 0 {
		return
	}
	body, err := proto.Marshal(msg)
	var record []byte
	if err == nil {
		record, err = pack(body)
	}
	if err == nil {
		err = t.put(record)
	}
	if err != nil {
		t.lost.Add(uint64(n))
		t.log.Warn("spans are lost", "spans", n, "reason", err)
	}
}

// request collects spans by the resource that they belong to: calls as a client saw them
// to that program, all else to the worker.
type request struct {
	worker    []*common.KeyValue
	version   string
	resources []*trace.ResourceSpans
	of        map[smi.Client]*trace.ScopeSpans // nil key value: the worker's
	own       *trace.ScopeSpans
	spans     int
}

// add tells how many spans make no sense.
func (r *request) add(b *batch) (bad int) {
	r.spans += len(b.spans)
	for i := range b.spans {
		s := spanOf(&b.spans[i], &b.client, b.session)
		if s == nil {
			bad++
			continue
		}
		to := r.scope(b.spans[i].Kind, &b.client)
		to.Spans = append(to.Spans, s)
	}
	return bad
}

func (r *request) scope(k rpctrace.Kind, c *smi.Client) *trace.ScopeSpans {
	if k != rpctrace.Client {
		if r.own == nil {
			r.own = r.resource(r.worker)
		}
		return r.own
	}
	to := r.of[*c]
	if to == nil {
		to = r.resource(protoAttrs(clientResource(c)))
		if r.of == nil {
			r.of = map[smi.Client]*trace.ScopeSpans{}
		}
		r.of[*c] = to
	}
	return to
}

func (r *request) resource(a []*common.KeyValue) *trace.ScopeSpans {
	s := &trace.ScopeSpans{Scope: &common.InstrumentationScope{Name: scope, Version: r.version}, SchemaUrl: semconv.SchemaURL}
	r.resources = append(r.resources, &trace.ResourceSpans{
		Resource: &resourcepb.Resource{Attributes: a}, ScopeSpans: []*trace.ScopeSpans{s}, SchemaUrl: semconv.SchemaURL,
	})
	return s
}

func (r *request) message() *collectortrace.ExportTraceServiceRequest {
	return &collectortrace.ExportTraceServiceRequest{ResourceSpans: r.resources}
}
