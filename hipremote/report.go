package hipremote

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/internal/mono"
)

// reportEvery is how often the client tells the worker what its calls cost.
const reportEvery = time.Second

// report sends what was measured while the connection lasts.
func (c *Client) report(l *link) {
	t := time.NewTicker(reportEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if l.Err() != nil {
				return
			}
			c.sendReport(l)
		case <-l.stop:
			return
		}
	}
}

// sendReport sends what was measured since the last time. What a lost connection does not take is of no use to anybody.
func (c *Client) sendReport(l *link) {
	if d := c.times.total.Take(); d != nil {
		_ = l.Post(rpcstats.Op, d.AppendEncode(nil), nil)
	}
	if l.trace != nil {
		l.trace.report(l)
	}
	if !l.timed {
		return
	}
	phases := []*rpcstats.Recorder{c.times.network, c.times.queue, c.times.execution}
	if !l.phases {
		phases = phases[:1]
	}
	for _, r := range phases {
		if d := r.Take(); d != nil {
			_ = l.Post(rpcstats.Op, d.AppendEncode(nil), nil)
		}
	}
	if list := c.times.slowest.Take(mono.Now()); len(list) > 0 {
		_ = l.Post(rpcstats.OpSlow, rpcstats.AppendSlow(nil, list), nil)
	}
}
