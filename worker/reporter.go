package worker

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/calls/rpctrace"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
)

// reportEvery is how often a session process reports to the parent.
const reportEvery = time.Second

// maxSpans is how many spans fit into one message to the parent.
const maxSpans = (maxControl - 64) / rpctrace.MaxRecord

// reporter tells the parent what the session measures.
type reporter struct {
	ctl   *control
	stats func() wire.Stats
	s     *session
	ended bool          // this is the last report
	waits chan received // what the client measured
}

// received is a client's report and when it came, as mono.Now.
type received struct {
	clientReport
	at int64
}

// maxReceived is how many reports of a client wait to be passed on.
const maxReceived = 32

func newReporter(ctl *control, stats func() wire.Stats, s *session) *reporter {
	return &reporter{ctl: ctl, stats: stats, s: s, waits: make(chan received, maxReceived)}
}

// client takes a client's report. One that comes faster than it can be passed on is dropped: a client decides how often it sends.
func (r *reporter) client(c clientReport) {
	select {
	case r.waits <- received{c, mono.Now()}:
	default:
	}
}

func (r *reporter) run(stop <-chan struct{}) {
	t := time.NewTicker(reportEvery)
	defer t.Stop()
	r.send()
	for {
		select {
		case <-t.C:
			r.send()
		case <-stop:
			r.s.trace.finish(r.s.rt)
			r.ended = true
			r.send()
			return
		}
	}
}

// send reports the totals, every histogram that has something new, and the slowest calls.
func (r *reporter) send() {
	var pieces [][]byte
	for _, d := range r.s.times.take() {
		pieces = append(pieces, splitDelta(d)...)
	}
	slow := r.s.times.slowest.Take(mono.Now())
	for len(r.waits) > 0 {
		c := <-r.waits
		pieces = append(pieces, splitDelta(c.delta)...)
		for _, x := range c.slow {
			x.Age += mono.Since(c.at)
			slow = append(slow, x)
		}
	}
	st := r.stats()
	in, out := r.s.near.copied()
	p := progress{BytesIn: st.BytesIn + in, BytesOut: st.BytesOut + out, Calls: r.s.calls.Load()}
	if f := r.s.untranslated; f != nil {
		p.Untranslated = f()
	}
	if op := r.s.op.Load(); op != 0 {
		p.Op, p.OpFor = uint16(op), max(0, mono.Since(r.s.opSince.Load()))
	}
	if len(pieces) == 0 {
		pieces = [][]byte{nil}
	}
	for _, d := range pieces {
		if r.ctl.send(encodeReport(p, d), -1) != nil {
			return // the parent is gone; the other goroutine ends the process
		}
	}
	for len(slow) > 0 {
		n := min(len(slow), rpcstats.MaxSlow)
		if r.ctl.send(rpcstats.AppendSlow([]byte{msgSlow}, slow[:n]), -1) != nil {
			return
		}
		slow = slow[n:]
	}
	spans, dropped := r.s.trace.take(r.ended)
	for len(spans) > 0 || dropped > 0 {
		n := min(len(spans), maxSpans)
		if r.ctl.send(rpctrace.AppendRecords([]byte{msgSpans}, spans[:n], dropped), -1) != nil {
			return
		}
		spans, dropped = spans[n:], 0
	}
}
