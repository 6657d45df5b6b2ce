package worker

import (
	"sync"
	"time"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// patience is how long the span of one side waits for the other side's of the same call. A client reports once a second.
const patience = 4 * time.Second

// tracer keeps a session's spans until they are reported: its own and the client's of the same calls together, so that their times fit. A nil
// one traces nothing.
type tracer struct {
	context *rpctrace.Context
	budget  rpctrace.Budget // of the session's own spans
	client  rpctrace.Budget // of the client's
	clock   int64           // mono.Now plus this is ns since 1970

	mu      sync.Mutex
	waiting map[uint32]waitingSpan // by request
	ready   []rpctrace.Record
	dropped uint64
	resets  uint64 // of devices: events from before are gone
	kernels kernelSpans
}

// waitingSpan is a span of one side; the other side's may follow.
type waitingSpan struct {
	rpctrace.Record
	since int64 // as mono.Now
}

// newTracer is for a client that wants its calls traced, nil for another.
func newTracer(h *wire.Hello) *tracer {
	c := rpctrace.NewContext(h.TraceParent, h.TraceSeed, h.TraceEvery)
	if c == nil {
		return nil
	}
	return &tracer{context: c, clock: time.Now().UnixNano() - mono.Now(), waiting: map[uint32]waitingSpan{}, client: rpctrace.Budget{Batches: true}}
}

// called notes a call that is or is about to be answered. Messages that are no HIP function are no calls of the program's.
func (t *tracer) called(r *wire.Request, code hip.Error, took wire.Timing) {
	if !t.context.Traced(r.ID) || hip.OpName(r.Op) == "" {
		return
	}
	now := mono.Now()
	if !t.budget.Take(now) {
		return
	}
	t.add(rpctrace.Record{
		Kind: rpctrace.Worker, Request: r.ID, Op: r.Op, Code: int32(code), Start: r.Started() - int64(took.Queue) + t.clock, Duration: took.Total(), Bytes: uint64(r.BulkLen),
	}, now)
}

// report takes in a client's records.
func (t *tracer) report(b []byte) error {
	list, dropped, err := rpctrace.DecodeRecords(b)
	if err != nil {
		return err
	}
	now := mono.Now()
	for _, r := range list {
		if r.Kind != rpctrace.Client || r.Alone || !t.context.Traced(r.Request) {
			return rpctrace.ErrInvalid
		}
	}
	for _, r := range list {
		if t.client.Take(now) {
			r.Start = max(0, now+t.clock-r.Start)
			t.add(r, now)
		}
	}
	t.mu.Lock()
	t.dropped += dropped
	t.mu.Unlock()
	return nil
}

// add joins a span with the other side's, or lets it wait for that.
func (t *tracer) add(r rpctrace.Record, now int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	other, ok := t.waiting[r.Request]
	if !ok || other.Kind == r.Kind {
		if ok {
			t.ready = append(t.ready, other.alone())
		}
		t.waiting[r.Request] = waitingSpan{r, now}
		return
	}
	delete(t.waiting, r.Request)
	client, worker := r, other.Record
	if client.Kind == rpctrace.Worker {
		client, worker = worker, client
	}
	if slack := client.Duration - worker.Duration; slack >= 0 {
		client.Start = worker.Start - int64(slack/2)
	} else {
		client.Start = min(client.Start, worker.Start) // it did not wait
	}
	client.Bytes = max(client.Bytes, worker.Bytes)
	worker.Bytes = client.Bytes
	t.ready = append(t.ready, client, worker)
}

func (w waitingSpan) alone() rpctrace.Record {
	w.Record.Alone = true
	return w.Record
}

// take gives what is ready, and with last everything.
func (t *tracer) take(last bool) (list []rpctrace.Record, dropped uint64) {
	if t == nil {
		return nil, 0
	}
	now := mono.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, w := range t.waiting {
		if last || now-w.since > int64(patience) {
			delete(t.waiting, id)
			t.ready = append(t.ready, w.alone())
		}
	}
	list, dropped = t.ready, t.dropped+t.budget.Dropped()+t.client.Dropped()
	t.ready, t.dropped = nil, 0
	return list, dropped
}
