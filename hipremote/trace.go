package hipremote

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// tracer keeps this process's spans of traced calls until they are reported.
type tracer struct {
	context *rpctrace.Context
	budget  rpctrace.Budget

	mu      sync.Mutex
	records []rpctrace.Record // Start is as mono.Now
	dropped uint64
}

func newTracer(h *wire.Hello) *tracer {
	return &tracer{context: rpctrace.NewContext(h.TraceParent, h.TraceSeed, h.TraceEvery)}
}

// add keeps a span, unless there are too many already.
func (t *tracer) add(r rpctrace.Record) {
	ok := t.budget.Take(mono.Now())
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok {
		return // counted by the budget
	}
	if len(t.records) >= rpctrace.MaxRecords {
		t.dropped++
		return
	}
	t.records = append(t.records, r)
}

// report sends what there is to the worker.
func (t *tracer) report(l *link) {
	t.mu.Lock()
	list, dropped := t.records, t.dropped+t.budget.Dropped()
	t.records, t.dropped = nil, 0
	t.mu.Unlock()
	if len(list) == 0 && dropped == 0 {
		return
	}
	now := mono.Now()
	for i := range list {
		list[i].Start = max(0, now-list[i].Start)
	}
	_ = l.Post(rpctrace.Op, rpctrace.AppendRecords(nil, list, dropped), nil) // what a lost connection does not take is of no use to anybody
}

// tracedCall is a HIP call of which at least one message is traced. A message's span lasts until the next traced one of the call begins, so that
// the span of a call of one message is the whole call.
type tracedCall struct {
	trace *tracer
	open  rpctrace.Record // of the last message
	done  []rpctrace.Record
}

// message begins a span.
func (t *tracedCall) message(id uint32, begin int64, bytes uint64) {
	if t.open.Request != 0 {
		t.open.Duration = time.Duration(max(0, begin-t.open.Start))
		t.done = append(t.done, t.open)
	}
	t.open = rpctrace.Record{Kind: rpctrace.Client, Request: id, Start: begin, Bytes: bytes}
}

// end is told how the call ended, now.
func (t *tracedCall) end(op uint16, code int32) {
	t.open.Duration = mono.Since(t.open.Start)
	for _, r := range append(t.done, t.open) {
		r.Op, r.Code = op, code
		t.trace.add(r)
	}
}
