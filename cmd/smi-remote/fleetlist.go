package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/internal/fleet"
	"github.com/rocwire/rocwire/smi"
)

// States of a worker.
const (
	stateOK          = "ok"
	stateDegraded    = "degraded"    // something is wrong with a card of it
	stateUnreachable = "unreachable" // there is no connection to it
	stateFailed      = "failed"      // it answers with an error
)

// fleetRow is one worker.
type fleetRow struct {
	Host    string                `json:"host"`
	Name    string                `json:"name,omitempty"`    // in the configuration file, or where it was found
	Machine string                `json:"machine,omitempty"` // its own name
	Version string                `json:"version,omitempty"`
	Backend string                `json:"backend,omitempty"`
	Uptime  smi.Opt[smi.Duration] `json:"uptime_seconds"`

	State string `json:"state"`
	Error string `json:"error,omitempty"` // why it is unreachable, or what it could not answer

	// Not available of one that does not answer.
	Count    smi.Opt[int]       `json:"gpu_count"`
	VRAM     smi.Opt[smi.Bytes] `json:"vram_bytes"` // of the cards that tell
	Free     smi.Opt[smi.Bytes] `json:"vram_free_bytes"`
	Sessions smi.Opt[int]       `json:"session_count"` // not available: it does not tell who asks
	Users    []string           `json:"users"`

	GPUs []fleetCard `json:"gpus"`
}

// fleetCard is one card of a worker.
type fleetCard struct {
	smi.Device
	VRAM     smi.Opt[smi.Bytes] `json:"vram_bytes"`
	Free     smi.Opt[smi.Bytes] `json:"vram_free_bytes"`
	Users    []string           `json:"users"`
	Troubles []fleet.Trouble    `json:"troubles"`
}

// fleet lists all workers. None is left out: of one that does not answer there is the reason.
func (a *app) fleet(ctx context.Context, hosts bool) error {
	members, p, err := a.members(ctx, hosts)
	if err != nil {
		return err
	}
	rows := make([]fleetRow, len(members))
	fails := make([]error, len(members))
	for i := range members {
		a.workers = append(a.workers, a.worker(members[i].Worker))
	}
	fleet.SideBySide(len(members), func(i int) { rows[i], fails[i] = a.member(ctx, a.workers[i], &members[i]) })
	if ctx.Err() != nil {
		return errInterrupted
	}
	p.workers = len(members)
	for i, err := range fails {
		if err != nil {
			p.add(a.workers[i], nil, "", err)
		}
	}
	err = a.show(result{key: "workers", rows: rows, p: p, table: func(w io.Writer) { a.fleetTable(w, rows, p) }})
	if a.json || a.csv || err == nil {
		return err
	}
	// The table has the workers' reasons; what is left is of where workers were looked for.
	rest := &problems{workers: p.workers}
	for _, n := range p.list {
		if n.whole {
			rest.list = append(rest.list, n)
		}
	}
	a.complain(rest.err())
	return &said{p, exitCode(p)}
}

// member asks one worker within the time limit, and leaves it.
func (a *app) member(ctx context.Context, w *worker, m *fleet.Worker) (fleetRow, error) {
	defer w.close()
	row := fleetRow{Host: w.address(), Name: m.Shown, State: stateOK}
	r, err := askOne(ctx, a, w, func(ctx context.Context, w *worker) (*fleet.Report, error) { return fleet.Ask(ctx, w.client) })
	if err != nil {
		row.State, row.Error = stateFailed, text.Clean(err.Error())
		if isLost(err) {
			row.State = stateUnreachable
		}
		return row, err
	}
	row.Machine, row.Version, row.Backend = r.Server.Host, r.Server.Version, r.Server.Backend
	if r.Server.Uptime > 0 {
		row.Uptime = smi.Some(r.Server.Uptime)
	}
	if !r.Healthy() {
		row.State = stateDegraded
	}
	row.Count, row.GPUs = smi.Some(len(r.Cards)), []fleetCard{}
	row.VRAM, row.Free = r.Memory()
	row.Users = append([]string{}, r.Users()...)
	if r.SessionsErr == nil {
		row.Sessions = smi.Some(len(r.Sessions))
	}
	for i := range r.Cards {
		k := &r.Cards[i]
		c := fleetCard{Device: k.Device, Users: append([]string{}, k.Users()...), Troubles: append([]fleet.Trouble{}, k.Troubles...)}
		c.VRAM, c.Free = k.Memory()
		row.GPUs = append(row.GPUs, c)
	}
	if err := r.SessionsErr; err != nil && !errors.Is(err, smi.ErrNoPermission) && !errors.Is(err, smi.ErrNotSupported) {
		row.Error = text.Clean("its sessions: " + err.Error())
		return row, err
	}
	return row, nil
}

func (a *app) fleetTable(w io.Writer, rows []fleetRow, p *problems) {
	t := &text.Table{NoHeader: a.noHeader, Columns: []text.Column{
		{Title: "WORKER", Min: 8}, {Title: "ADDRESS", Min: 15, Drop: 2}, {Title: "GPUS", Right: true}, {Title: "VRAM free/total", Right: true},
		{Title: "USED BY", Min: 10}, {Title: "HEALTH", Min: 8}, {Title: "VERSION", Min: 7, Drop: 1},
	}}
	for i := range rows {
		r := &rows[i]
		name := text.Dash(r.Name)
		if r.Name == "" {
			name = text.Dash(r.Machine)
		}
		address := strings.TrimSuffix(r.Host, ":"+defaultPort)
		if r.State == stateUnreachable || r.State == stateFailed {
			t.Row(name, address, "-", "-", "-", r.State, "-")
			t.Note(text.Wrap(r.Error, a.width-5, 4)...)
			continue
		}
		users := text.Clean(strings.Join(r.Users, ", "))
		if users == "" {
			users = "nobody"
		}
		t.Row(name, address, text.Or(r.Count), text.BytesOf(r.Free, r.VRAM), users, r.State, text.Dash(r.Version))
		if r.Error != "" {
			t.Note(r.Error)
		}
		for j := range r.GPUs {
			for _, x := range r.GPUs[j].Troubles {
				t.Note(fmt.Sprintf("GPU %d: %s", r.GPUs[j].Index, text.Clean(x.Detail)))
			}
		}
	}
	a.write(w, t, p, "There is no worker.")
}
