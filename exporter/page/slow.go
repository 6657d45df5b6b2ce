package page

import (
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/exporter"
	"github.com/rocwire/rocwire/smi"
)

// SlowCall is one call that took long. What nobody measured is null.
type SlowCall struct {
	Session   string                `json:"session"`
	Client    *Client               `json:"client"` // null: nothing is known of it
	Ended     bool                  `json:"ended"`  // the session has ended; the client is then what the call itself told: host, process and program
	Op        string                `json:"op"`
	Code      string                `json:"code"`
	Kernel    string                `json:"kernel"`
	Start     time.Time             `json:"start"`
	Total     smi.Opt[smi.Duration] `json:"total_seconds"`
	Queue     smi.Opt[smi.Duration] `json:"queue_seconds"`
	Network   smi.Opt[smi.Duration] `json:"network_seconds"`
	Execution smi.Opt[smi.Duration] `json:"execution_seconds"`
}

const maxSlow = 50

// slow adds the slowest calls to the table, with whose they were.
func (p *Page) slow(t *CallTable, r *exporter.Reading) {
	clients := make(map[string]*smi.Client, len(r.Sessions))
	for i := range r.Sessions {
		clients[r.Sessions[i].ID] = &r.Sessions[i].Client
	}
	for i := range r.Slow[:min(len(r.Slow), maxSlow)] {
		c := &r.Slow[i]
		whose, runs := clients[c.Session]
		if !runs && c.Client != (rpcstats.Caller{}) {
			whose = &smi.Client{Host: c.Client.Host, Executable: c.Client.Executable, PID: c.Client.PID}
		}
		t.Slow = append(t.Slow, SlowCall{
			Session: clean(c.Session), Client: clientOf(whose), Ended: !runs, Op: clean(c.Op), Code: clean(c.Code), Kernel: clean(c.Kernel),
			Start: c.Start, Total: measured(c.Total), Queue: measured(c.Queue), Network: measured(c.Network), Execution: measured(c.Execution),
		})
	}
}

// measured is a duration of a SlowCall, negative where nobody measured it.
func measured(d time.Duration) smi.Opt[smi.Duration] {
	if d < 0 {
		return smi.None[smi.Duration]()
	}
	return smi.Some(smi.Duration(d))
}
