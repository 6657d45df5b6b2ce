package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// sessionRow is one client of one worker.
type sessionRow struct {
	Host string `json:"host"`
	smi.Session
}

// totalsRow is what all clients of a worker did since it started.
type totalsRow struct {
	Host string `json:"host"`
	smi.SessionTotals
}

func askSessions(ctx context.Context, a *app) ([]answer[*smiremote.SessionList], *problems, error) {
	return ask(ctx, a, "sessions", func(ctx context.Context, w *worker) (*smiremote.SessionList, error) { return w.client.Sessions(ctx) })
}

// sessionText says in short whose a session is.
func sessionText(s *smi.Session) string {
	return text.UserAtHost(&s.Client) + " " + text.Dash(s.Client.Executable)
}

// through says what a session's connection goes through, if its worker tells.
func through(s *smi.Session) string {
	if s.Transport == "" {
		return ""
	}
	return " through " + text.Clean(s.Transport)
}

func (a *app) sessions(ctx context.Context, _ []string) error {
	answers, p, err := askSessions(ctx, a)
	if err != nil {
		return err
	}
	var rows []sessionRow
	totals := []totalsRow{}
	for _, r := range answers {
		for _, s := range r.value.Sessions {
			rows = append(rows, sessionRow{r.worker.address(), s})
		}
		totals = append(totals, totalsRow{r.worker.address(), r.value.Totals})
	}
	return a.show(result{key: "sessions", rows: rows, extra: map[string]any{"totals": totals}, p: p, table: func(w io.Writer) {
		t := a.tableOf(
			text.Column{Title: "SESSION", Right: true}, text.Column{Title: "SINCE"}, text.Column{Title: "VRAM", Right: true}, text.Column{Title: "CALLS", Right: true},
			text.Column{Title: "RECEIVED", Right: true, Drop: 1}, text.Column{Title: "SENT", Right: true, Drop: 2},
		)
		for _, r := range answers {
			for i := range r.value.Sessions {
				s := &r.value.Sessions[i]
				since := "-"
				if !s.Start.IsZero() {
					since = s.Start.Local().Format(time.DateTime)
				}
				a.row(t, r.worker, text.Dash(s.ID), since, text.Bytes(s.VRAM), text.Or(s.Calls), text.Bytes(s.BytesIn), text.Bytes(s.BytesOut))
				t.Note(text.Client(&s.Client), fmt.Sprintf("from %s%s, process %d%s", text.Dash(s.Client.Address), through(s), s.PID, text.Place(&s.Client)))
				if s.Parked {
					t.Note("parked: its connection was cut, and it waits for its client")
				}
				if q := quotasText(s); q != "" {
					t.Note(q)
				}
			}
		}
		a.write(w, t, p, "No client is connected.")
		for _, r := range answers {
			n, who := &r.value.Totals, "the worker"
			if a.several() {
				who = r.worker.label
			}
			fmt.Fprintln(w, text.Clip(fmt.Sprintf("Since %s started: sessions %s, refused %s, calls %s,", text.Clean(who), text.Or(n.Started), text.Or(n.Refused), text.Or(n.Calls)), a.width))
			fmt.Fprintf(w, "received %s, sent %s.\n", text.Bytes(n.BytesIn), text.Bytes(n.BytesOut))
			if n.Untranslated.Or(0) > 0 {
				fmt.Fprintln(w, text.Clip("Kernels are slow: "+text.Or(n.Untranslated)+" times their code was not translated, see the worker's log.", a.width))
			}
		}
	}})
}

// killSessions ends sessions of the one worker.
func (a *app) killSessions(ctx context.Context, ids []string) error {
	if err := a.open(); err != nil {
		return err
	}
	if a.several() {
		return usagef("sessions of which worker? Give one --host")
	}
	p := &problems{workers: 1}
	for _, id := range ids {
		_, err := askOne(ctx, a, a.workers[0], func(ctx context.Context, w *worker) (struct{}, error) {
			return struct{}{}, w.client.KillSession(ctx, id)
		})
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			p.add(a.workers[0], nil, "session "+text.Clean(id), err)
			continue
		}
		fmt.Fprintf(&a.out, "Session %s has been ended.\n", text.Clean(id))
	}
	return p.err()
}

// workerRow is what a worker tells about itself.
type workerRow struct {
	Host    string `json:"host"`
	Machine string `json:"machine"` // its own name
	*smiremote.ServerInfo
}

// showWorkers tells what the workers are and what they allow.
func (a *app) showWorkers(ctx context.Context, _ []string) error {
	answers, p, err := ask(ctx, a, "itself", func(ctx context.Context, w *worker) (*smiremote.ServerInfo, error) { return w.client.Server(ctx) })
	if err != nil {
		return err
	}
	var rows []workerRow
	for _, r := range answers {
		rows = append(rows, workerRow{r.worker.address(), r.value.Host, r.value})
	}
	return a.show(result{key: "workers", rows: rows, p: p, table: func(w io.Writer) {
		t := &text.Table{NoHeader: a.noHeader, Columns: []text.Column{
			{Title: "WORKER", Min: 12}, {Title: "VERSION", Min: 7}, {Title: "CARDS BY", Min: 8}, {Title: "MACHINE", Min: 7}, {Title: "UP", Right: true},
			{Title: "SET"}, {Title: "KILL"}, {Title: "FAULTS"},
		}}
		for _, r := range answers {
			i := r.value
			up := "-"
			if i.Uptime > 0 {
				up = time.Duration(i.Uptime).Round(time.Second).String()
			}
			yes := func(b bool) string { return text.YesNo(smi.Some(b)) }
			t.Row(r.worker.label, text.Dash(i.Version), text.Dash(i.Backend), text.Dash(i.Host), up, yes(i.Set), yes(i.Kill), yes(i.Faults))
		}
		a.write(w, t, p, "")
	}})
}
