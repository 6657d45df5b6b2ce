package worker

import (
	"fmt"

	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// spanSink takes the spans of one session in the parent.
type spanSink struct {
	dropped uint64            // that were counted so far
	context *rpctrace.Context // nil: the session's calls are not traced
	to      func(client smi.Client, session string, spans []rpctrace.Span)
	budgets [3]rpctrace.Budget // of the client's, the worker's and the kernels' spans, for a process that does not keep to its own
}

// spanSink is for the session of a client that says hello.
func (s *Server) spanSink(h *wire.Hello) spanSink {
	if s.cfg.Spans == nil {
		return spanSink{}
	}
	return spanSink{budgets: [3]rpctrace.Budget{{Batches: true}, {Batches: true}, {Batches: true}}, context: rpctrace.NewContext(h.TraceParent, h.TraceSeed, h.TraceEvery), to: s.cfg.Spans}
}

// traced takes in a msgSpans. A process that sends more than it may is not believed about the rest.
func (r *sessionRecord) traced(msg []byte) error {
	list, dropped, err := rpctrace.DecodeRecords(msg[1:])
	if err != nil {
		return fmt.Errorf("%w: %w", errControl, err)
	}
	if r.spans.context == nil {
		return fmt.Errorf("%w: spans of a session that is not traced", errControl)
	}
	spans := make([]rpctrace.Span, 0, len(list))
	now := mono.Now()
	for i := range list {
		if r.spans.budgets[list[i].Kind-rpctrace.Client].Take(now) {
			spans = append(spans, r.spans.context.Span(&list[i], hiprpc.OpName(list[i].Op), codeName(list[i].Code)))
		}
	}
	for i := range r.spans.budgets {
		dropped += r.spans.budgets[i].Dropped()
	}
	dropped = min(dropped, r.possible(mostCalls)-min(r.spans.dropped, r.possible(mostCalls))) // the client says so
	r.spans.dropped += dropped
	r.stats.dropSpans(dropped)
	if len(spans) > 0 {
		r.spans.to(r.client, r.name(), spans)
	}
	return nil
}

// codeName is the name of a result, "" if there is none.
func codeName(c int32) string {
	if !hip.Error(c).Valid() {
		return ""
	}
	return hip.Error(c).Name()
}
