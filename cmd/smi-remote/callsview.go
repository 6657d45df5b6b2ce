package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// calls shows how long calls took: once since the workers started, or again and again
// what happened meanwhile.
func (a *app) calls(ctx context.Context, o *callOptions) error {
	show := a.callsSince
	if o.slowest {
		show = a.slowest
	}
	if o.once || !a.terminal || a.json || a.csv {
		return show(ctx, o, nil)
	}
	before := map[*worker]callReading{}
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	for {
		last := show(ctx, o, before)
		if ctx.Err() != nil {
			a.out.Reset()
			return nil // that is how it ends
		}
		body := "\x1b[H\x1b[2J\x1b[3J" + a.out.String()
		a.out.Reset()
		a.out.WriteString(body)
		if code := a.report(last); last != nil && code == exitUsage {
			return &said{last, code}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// callsSince shows a row for each function and side. before, if it is not nil, has
// the readings since which calls count, and gets the new ones.
func (a *app) callsSince(ctx context.Context, o *callOptions, before map[*worker]callReading) error {
	answers, p, err := readCalls(ctx, a)
	if err != nil {
		return err
	}
	var rows []callRow
	for _, r := range answers {
		was, again := before[r.worker]
		all := callRows(r.worker, nil, r.value)
		if again {
			all = callRows(r.worker, &was, r.value)
		}
		for _, row := range all {
			if o.named(row.Op) && (o.side == "" || row.Side == o.side) {
				rows = append(rows, row)
			}
		}
		if before != nil {
			before[r.worker] = r.value
		}
	}
	for _, by := range callOrders {
		if by.name == o.sort {
			slices.SortStableFunc(rows, func(a, b callRow) int {
				return cmp.Or(cmp.Compare(by.of(&b), by.of(&a)), strings.Compare(a.Op, b.Op), strings.Compare(a.Side, b.Side))
			})
		}
	}
	return a.show(result{key: "calls", rows: rows, p: p, table: func(w io.Writer) {
		if before != nil {
			fmt.Fprintf(w, "Calls every %v, by %s  %s\n", o.interval, o.sort, now().Format(time.TimeOnly))
		}
		t := a.tableOf(
			text.Column{Title: "FUNCTION", Min: 18}, text.Column{Title: "SIDE"}, text.Column{Title: "CALLS/S", Right: true}, text.Column{Title: "ERR/S", Right: true, Drop: 3},
			text.Column{Title: "P50", Right: true, Drop: 1}, text.Column{Title: "P90", Right: true, Drop: 4}, text.Column{Title: "P99", Right: true},
			text.Column{Title: "MAX", Right: true, Drop: 2}, text.Column{Title: "QUE/NET/EXE %", Right: true},
		)
		for i := range rows {
			r := &rows[i]
			where := "-"
			if r.Queue.Ok() {
				where = text.Percent(r.Queue) + "/" + text.Percent(r.Network) + "/" + text.Percent(r.Execution)
			}
			a.row(t, r.worker, text.Dash(r.Op), r.Side, text.Rate(r.Rate), text.Rate(r.Failed), text.Latency(r.P50), text.Latency(r.P90), text.Latency(r.P99),
				text.Latency(r.Max), where)
		}
		a.write(w, t, p, "No calls.")
	}})
}

// slowRow is one slow call of one worker.
type slowRow struct {
	Host       string                `json:"host"`
	Session    string                `json:"session"`
	ClientHost string                `json:"client_host"`
	PID        uint32                `json:"client_pid"`
	Executable string                `json:"client_executable"`
	Op         string                `json:"function"`
	Code       string                `json:"result"`
	Kernel     string                `json:"kernel,omitempty"`
	TraceID    string                `json:"trace_id,omitempty"` // of OpenTelemetry
	Start      time.Time             `json:"start"`
	Total      smi.Duration          `json:"total_seconds"`
	Queue      smi.Opt[smi.Duration] `json:"queue_seconds"`
	Network    smi.Opt[smi.Duration] `json:"network_seconds"`
	Execution  smi.Opt[smi.Duration] `json:"execution_seconds"`

	worker *worker
}

// measured is a figure of a slow call that is negative if nobody measured it.
func measured(d time.Duration) smi.Opt[smi.Duration] {
	if d < 0 {
		return smi.None[smi.Duration]()
	}
	return smi.Some(smi.Duration(d))
}

// slowest shows the calls that took longest in the last ten minutes.
func (a *app) slowest(ctx context.Context, o *callOptions, _ map[*worker]callReading) error {
	answers, p, err := ask(ctx, a, "slow calls", func(ctx context.Context, w *worker) ([]rpcstats.SlowCall, error) { return w.client.SlowCalls(ctx) })
	if err != nil {
		return err
	}
	var rows []slowRow
	for _, r := range answers {
		for _, c := range r.value {
			if o.named(c.Op) {
				rows = append(rows, slowRow{
					r.worker.address(), c.Session, c.Client.Host, c.Client.PID, c.Client.Executable, c.Op, c.Code, c.Kernel, c.TraceID, c.Start,
					smi.Duration(c.Total), measured(c.Queue), measured(c.Network), measured(c.Execution), r.worker,
				})
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b slowRow) int { return cmp.Compare(b.Total, a.Total) })
	return a.show(result{key: "slow_calls", rows: rows, p: p, table: func(w io.Writer) {
		t := a.tableOf(
			text.Column{Title: "SESSION", Right: true}, text.Column{Title: "FUNCTION", Min: 18}, text.Column{Title: "AT", Drop: 1}, text.Column{Title: "TOOK", Right: true},
			text.Column{Title: "QUEUE", Right: true}, text.Column{Title: "NETWORK", Right: true}, text.Column{Title: "EXEC", Right: true},
		)
		span := func(d smi.Opt[smi.Duration]) string {
			return text.With(d, func(d smi.Duration) string { return text.Latency(d.Seconds()) })
		}
		for i := range rows {
			r := &rows[i]
			a.row(t, r.worker, text.Dash(r.Session), text.Dash(r.Op), r.Start.Local().Format(time.TimeOnly), text.Latency(r.Total.Seconds()),
				span(r.Queue), span(r.Network), span(r.Execution))
			t.Note(slowNote(r))
		}
		a.write(w, t, p, "No calls in the last ten minutes.")
	}})
}

// slowNote says whose a call was, and what is special about it.
func slowNote(r *slowRow) string {
	note := fmt.Sprintf("for process %d on %s, %s", r.PID, text.Dash(r.ClientHost), text.Dash(r.Executable))
	if r.Kernel != "" {
		note = "kernel " + text.Clean(r.Kernel) + " " + note
	}
	if r.Code != success {
		note = text.Clean(r.Code) + " " + note
	}
	return note
}
