package main

import (
	"context"
	"strings"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// callRow is what the calls of one function, measured at one side, did in some time.
type callRow struct {
	Host   string  `json:"host"`
	Op     string  `json:"function"`
	Side   string  `json:"side"` // client or worker
	Calls  uint64  `json:"calls"`
	Errors uint64  `json:"errors"` // of the calls
	Rate   float64 `json:"calls_per_second"`
	Failed float64 `json:"errors_per_second"`
	Total  float64 `json:"total_seconds"`
	P50    float64 `json:"p50_seconds"`
	P90    float64 `json:"p90_seconds"`
	P99    float64 `json:"p99_seconds"`
	Max    float64 `json:"max_seconds"`
	// Shares of the time, null where it was not taken apart.
	Queue     smi.Opt[smi.Ratio] `json:"queue_share"`
	Network   smi.Opt[smi.Ratio] `json:"network_share"`
	Execution smi.Opt[smi.Ratio] `json:"execution_share"`

	worker *worker
}

// callReading is what a worker told at a moment.
type callReading struct {
	calls []rpcstats.CallTotal
	at    time.Time
}

// callRows are the rows of what a worker counted after before, or altogether if that
// is nil.
func callRows(w *worker, before *callReading, now callReading) []callRow {
	old := map[rpcstats.Call]*rpcstats.Hist{}
	if before != nil {
		for i := range before.calls {
			old[before.calls[i].Call] = &before.calls[i].Hist
		}
	}
	type key struct{ op, side string }
	type sum struct {
		rpcstats.Hist
		failed uint64
		since  time.Time
	}
	sums := map[key]*sum{}
	var order []key // that of the worker: by function and side
	for i := range now.calls {
		c := &now.calls[i]
		k := key{c.Op, c.Side}
		s := sums[k]
		if s == nil {
			s = &sum{since: c.Since}
			sums[k] = s
			order = append(order, k)
		}
		d := c.Hist.Since(old[c.Call])
		s.Merge(&d)
		if c.Code != success {
			s.failed += d.Count()
		}
		if c.Since.Before(s.since) {
			s.since = c.Since
		}
	}
	part := func(op, side string) float64 {
		if s := sums[key{op, side}]; s != nil {
			return s.Seconds()
		}
		return 0
	}
	var rows []callRow
	for _, k := range order {
		s := sums[k]
		n := s.Count()
		if n == 0 || k.side != sideClient && k.side != sideWorker {
			continue
		}
		r := callRow{
			Host: w.address(), Op: k.op, Side: k.side, Calls: n, Errors: s.failed, Total: s.Seconds(),
			P50: s.Quantile(0.5), P90: s.Quantile(0.9), P99: s.Quantile(0.99), Max: s.Max(), worker: w,
		}
		from := s.since
		if before != nil {
			from = before.at
		}
		if d := now.at.Sub(from).Seconds(); d > 0 {
			r.Rate, r.Failed = float64(n)/d, float64(s.failed)/d
		}
		queue, execution, network := part(k.op, "queue"), part(k.op, "execution"), 0.0
		if k.side == sideClient {
			network = part(k.op, "network")
		}
		// Calls that nobody waits for have no phases: what is left of the whole is theirs. An older worker counts its own time of them.
		if parts := queue + execution + network; parts > 0 && (k.side == sideWorker || network > 0) {
			whole := max(parts, s.Seconds())
			share := func(x float64) smi.Opt[smi.Ratio] { return smi.Some(smi.Ratio(x / whole)) }
			r.Queue, r.Execution = share(queue), share(execution)
			if k.side == sideClient {
				r.Network = share(network)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// Sides of a callRow, and the result of a call that is no error.
const (
	sideClient = "client"
	sideWorker = "worker"
	success    = "hipSuccess"
)

// callOptions say which calls are shown, and how.
type callOptions struct {
	interval time.Duration
	once     bool
	slowest  bool
	sort     string
	side     string // "" for both
	names    []string
}

// named says whether a function is one of those asked for: its name contains one of
// the words.
func (o *callOptions) named(op string) bool {
	for _, n := range o.names {
		if strings.Contains(strings.ToLower(op), strings.ToLower(n)) {
			return true
		}
	}
	return len(o.names) == 0
}

// callOrders are what rows can be ordered by, most first.
var callOrders = []struct {
	name string
	of   func(*callRow) float64
}{
	{"time", func(r *callRow) float64 { return r.Total }},
	{"rate", func(r *callRow) float64 { return r.Rate }},
	{"errors", func(r *callRow) float64 { return r.Failed }},
	{"p50", func(r *callRow) float64 { return r.P50 }},
	{"p90", func(r *callRow) float64 { return r.P90 }},
	{"p99", func(r *callRow) float64 { return r.P99 }},
	{"max", func(r *callRow) float64 { return r.Max }},
	{"name", func(*callRow) float64 { return 0 }},
}

func orderNames() (names []string) {
	for _, o := range callOrders {
		names = append(names, o.name)
	}
	return names
}

// readCalls asks the workers.
func readCalls(ctx context.Context, a *app) ([]answer[callReading], *problems, error) {
	return ask(ctx, a, "calls", func(ctx context.Context, w *worker) (callReading, error) {
		calls, err := w.client.Calls(ctx)
		return callReading{calls, now()}, err
	})
}

// now is the time; tests have their own.
var now = time.Now
