package hipremote

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// callTimes is how long this process's calls took.
type callTimes struct {
	total                     *rpcstats.Recorder
	queue, execution, network *rpcstats.Recorder // of calls that waited for the worker, which told its time
	slowest                   rpcstats.Slowest
}

func newCallTimes() callTimes {
	return callTimes{
		total: rpcstats.NewRecorder(rpcstats.Client), queue: rpcstats.NewRecorder(rpcstats.Queue),
		execution: rpcstats.NewRecorder(rpcstats.Execution), network: rpcstats.NewRecorder(rpcstats.Network),
	}
}

// callTime is one HIP call: when it began, and what the worker told of the messages it waited for, one after the other. Nil, its methods do
// without.
type callTime struct {
	begin   int64
	worker  wire.Timing // of all replies together
	replies uint32
	untimed bool        // a reply did not say how long it took
	request uint32      // number of the last message
	traced  *tracedCall // nil unless one of its messages is traced
}

func (c *Client) begin() callTime { return callTime{begin: mono.Now()} }

// end counts a call that returns code. What of its time was not the worker's was the network's, as far as the worker has told its own.
func (c *Client) end(ct *callTime, op uint16, code hip.Error) {
	d := mono.Since(ct.begin)
	network := time.Duration(-1)
	c.times.total.Record(op, int32(code), d)
	if ct.timed() {
		network = max(0, d-ct.worker.Total())
		c.times.queue.Record(op, int32(code), ct.worker.Queue)
		c.times.execution.Record(op, int32(code), ct.worker.Execution)
		c.times.network.Record(op, int32(code), network)
	}
	if c.times.slowest.Wants(d) {
		slow := rpcstats.Slow{
			Op: op, Code: int32(code), Request: ct.request, Client: true, Total: d, Queue: -1, Network: network, Execution: -1,
		}
		if ct.timed() {
			slow.Queue, slow.Execution = ct.worker.Queue, ct.worker.Execution
		}
		c.times.slowest.Add(ct.begin, slow)
	}
	if ct.traced != nil {
		ct.traced.end(op, int32(code))
	}
}

func (ct *callTime) timed() bool { return ct.replies > 0 && !ct.untimed }

// call sends a request of the call and waits for its reply.
func (ct *callTime) call(l *link, op uint16, m *wire.Msg) error {
	begin := ct.next(l)
	err := l.Call(op, m)
	if ct != nil && err == nil {
		ct.sent(l, m.ID(), begin, len(m.Bulk)+m.DstN)
		ct.replies++
		if m.Timed {
			ct.worker.Queue += m.Timing.Queue
			ct.worker.Execution += m.Timing.Execution
		} else {
			ct.untimed = true
		}
	}
	return err
}

// post sends a request of the call that is not answered.
func (ct *callTime) post(l *link, op uint16, req, bulk []byte) error {
	begin := ct.next(l)
	id, err := l.PostID(op, req, bulk)
	if ct != nil && err == nil {
		ct.sent(l, id, begin, len(bulk))
	}
	return err
}

// start sends a request of the call whose reply it does not wait for.
func (ct *callTime) start(l *link, op uint16, m *wire.Msg, done func(*wire.Msg, error)) error {
	begin, n := ct.next(l), len(m.Bulk)+len(m.Dst)
	id, err := l.GoID(op, m, done)
	if ct != nil && err == nil {
		ct.sent(l, id, begin, n)
	}
	return err
}

// next is when the call's next message begins: the first with the call itself. It is only looked at where calls are traced.
func (ct *callTime) next(l *link) int64 {
	if ct == nil || l.trace == nil {
		return 0
	}
	if ct.request == 0 {
		return ct.begin
	}
	return mono.Now()
}

// sent notes a message of the call that carries n bytes of bulk data.
func (ct *callTime) sent(l *link, id uint32, begin int64, n int) {
	ct.request = id
	if l.trace != nil && l.trace.context.Traced(id) {
		if ct.traced == nil {
			ct.traced = &tracedCall{trace: l.trace}
		}
		ct.traced.message(id, begin, uint64(n))
	}
}
