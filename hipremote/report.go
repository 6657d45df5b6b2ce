package hipremote

import (
	"time"

	"github.com/rocwire/rocwire/exporter/rpcstats"
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

func (c *Client) sendReport(l *link) {
	d := c.stats.Take()
	if d == nil {
		return
	}
	_ = l.Post(rpcstats.Op, d.AppendEncode(nil), nil) // what a lost connection does not take is of no use to anybody
}
