package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// printJSON prints v.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// snapshot reads everything. What a card could not tell is in its failures.
func (a *app) snapshot(ctx context.Context) (*smi.Snapshot, error) {
	if err := a.connect(ctx); err != nil {
		return nil, err
	}
	return a.client.Snapshot(ctx)
}

// failures is what cards could not tell, as one error; not supported is none.
func failures(what string, s *smi.Snapshot, of func(*smi.DeviceSnapshot) *smi.Failure) error {
	var errs []error
	for i := range s.Devices {
		if f := of(&s.Devices[i]); f != nil && f.Code != smi.ErrNotSupported {
			errs = append(errs, fmt.Errorf("GPU %d: %s: %s", i, what, clean(f.Detail)))
		}
	}
	return errors.Join(errs...)
}

func list(ctx context.Context, a *app, args []string) error {
	if err := noMore(args); err != nil {
		return err
	}
	s, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	failed := failures("information", s, func(d *smi.DeviceSnapshot) *smi.Failure { return d.InfoErr })
	cards := make([]smi.Info, len(s.Devices))
	for i := range s.Devices {
		cards[i].Device = s.Devices[i].Device
		if info := s.Devices[i].Info; info != nil {
			cards[i] = *info
		}
	}
	if a.json {
		return errors.Join(a.printJSON(map[string]any{"worker": a.client.Address(), "gpus": cards}), failed)
	}
	if len(cards) == 0 {
		fmt.Fprintf(a.out, "Worker %s has no GPU.\n", a.client.Address())
		return failed
	}
	t := table{columns: []column{{"GPU", right, 0}, {"BDF", left, 0}, {"NAME", left, 34}, {"TARGET", left, 8}, {"VRAM", right, 0}}}
	for i := range cards {
		c := &cards[i]
		t.row(strconv.Itoa(i), or(c.BDF), clean(c.Name), dash(clean(base(c.Target))), orBytes(c.VRAM.Size))
	}
	t.print(a.out)
	return failed
}

// base is a target without its features: gfx942:sramecc+ is gfx942.
func base(target string) string {
	name, _, _ := strings.Cut(target, ":")
	return name
}

func info(ctx context.Context, a *app, args []string) error {
	if len(args) == 0 {
		return usagef("info of which GPU? (smi-remote info 0)")
	}
	index, err := gpuArg(args[0])
	if err == nil {
		err = noMore(args[1:])
	}
	if err == nil {
		err = a.connect(ctx)
	}
	if err != nil {
		return err
	}
	i, err := a.client.Info(ctx, index)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(i)
	}
	printInfo(a.out, i)
	return nil
}

// gpuMetrics is one card in the JSON of metrics.
type gpuMetrics struct {
	Device  smi.Device   `json:"device"`
	Metrics *smi.Metrics `json:"metrics"`
	Error   *smi.Failure `json:"error,omitempty"`
}

func metrics(ctx context.Context, a *app, args []string) error {
	if len(args) > 0 {
		index, err := gpuArg(args[0])
		if err == nil {
			err = noMore(args[1:])
		}
		if err != nil {
			return err
		}
		return metricsOf(ctx, a, index)
	}
	s, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	failed := failures("metrics", s, func(d *smi.DeviceSnapshot) *smi.Failure { return d.MetricsErr })
	if a.json {
		gpus := make([]gpuMetrics, len(s.Devices))
		for i, d := range s.Devices {
			gpus[i] = gpuMetrics{d.Device, d.Metrics, d.MetricsErr}
		}
		return errors.Join(a.printJSON(map[string]any{"worker": a.client.Address(), "gpus": gpus}), failed)
	}
	t := table{columns: []column{
		{"GPU", right, 0}, {"GFX%", right, 0}, {"UMC%", right, 0}, {"VRAM used/total", right, 0}, {"gfx/mem MHz", right, 0},
		{"W now/cap", right, 0}, {"°C e/h/mem", right, 0}, {"ENERGY", right, 0},
	}}
	for i := range s.Devices {
		m := s.Devices[i].Metrics
		if m == nil {
			m = &smi.Metrics{}
		}
		t.row(strconv.Itoa(i), orPercent(m.Activity.GFX), orPercent(m.Activity.UMC),
			orBytes(m.VRAM.Used)+"/"+orBytes(m.VRAM.Total),
			orMHz(m.Clock(smi.ClockGFX))+"/"+orMHz(m.Clock(smi.ClockMem)),
			orRound(m.Power.Draw())+"/"+orRound(m.Power.Cap),
			orRound(m.Temperature(smi.SensorEdge))+"/"+orRound(m.Temperature(smi.SensorHotspot))+"/"+orRound(m.Temperature(smi.SensorMem)),
			orJoules(m.Energy))
	}
	t.print(a.out)
	return failed
}

func metricsOf(ctx context.Context, a *app, index int) error {
	if err := a.connect(ctx); err != nil {
		return err
	}
	m, err := a.client.Metrics(ctx, index)
	if err != nil {
		return err
	}
	ds, err := a.client.Devices(ctx)
	if err != nil {
		return err
	}
	if index >= len(ds) { // it has gone since
		return smi.NoDevice(index, len(ds))
	}
	if a.json {
		return a.printJSON(gpuMetrics{Device: ds[index], Metrics: m})
	}
	printMetrics(a.out, &ds[index], m)
	return nil
}

func processes(ctx context.Context, a *app, args []string) error {
	if err := noMore(args); err != nil {
		return err
	}
	s, err := a.snapshot(ctx)
	if err != nil {
		return err
	}
	failed := failures("processes", s, func(d *smi.DeviceSnapshot) *smi.Failure { return d.ProcessesErr })
	all := []smi.Process{}
	for _, d := range s.Devices {
		all = append(all, d.Processes...)
	}
	if a.json {
		return errors.Join(a.printJSON(map[string]any{"worker": a.client.Address(), "processes": all}), failed)
	}
	if len(all) == 0 {
		if failed == nil {
			fmt.Fprintln(a.out, "No process uses a GPU.")
		}
		return failed
	}
	t := table{columns: []column{
		{"GPU", right, 0}, {"PID", right, 0}, {"PROGRAM", left, 28}, {"VRAM", right, 0}, {"BUSY", right, 0}, {"CU", right, 0},
	}}
	for i := range all {
		p := &all[i]
		t.row(strconv.Itoa(p.Device), strconv.FormatUint(uint64(p.PID), 10), dash(clean(p.Name)), orBytes(p.VRAM), orSeconds(p.Busy), or(p.CUOccupancy))
		if p.Client != nil {
			t.note("for "+clientText(p.Client), "session "+clean(p.Session)+placeText(p.Client))
		}
	}
	t.print(a.out)
	return failed
}

func sessions(ctx context.Context, a *app, args []string) error {
	if err := noMore(args); err != nil {
		return err
	}
	if err := a.connect(ctx); err != nil {
		return err
	}
	l, err := a.client.Sessions(ctx)
	if err != nil {
		return err
	}
	if a.json {
		if l.Sessions == nil {
			l.Sessions = []smi.Session{}
		}
		return a.printJSON(map[string]any{"worker": a.client.Address(), "sessions": l.Sessions, "totals": l.Totals})
	}
	t := table{columns: []column{
		{"SESSION", right, 0}, {"SINCE", left, 0}, {"VRAM", right, 0}, {"CALLS", right, 0}, {"RECEIVED", right, 0}, {"SENT", right, 0},
	}}
	for i := range l.Sessions {
		s := &l.Sessions[i]
		since := "-"
		if !s.Start.IsZero() {
			since = s.Start.Local().Format(time.DateTime)
		}
		t.row(clean(s.ID), since, orBytes(s.VRAM), or(s.Calls), orBytes(s.BytesIn), orBytes(s.BytesOut))
		t.note(clientText(&s.Client), "from "+dash(clean(s.Client.Address))+", process "+strconv.FormatUint(uint64(s.PID), 10)+placeText(&s.Client))
	}
	if len(l.Sessions) == 0 {
		fmt.Fprintln(a.out, "No client is connected.")
	} else {
		t.print(a.out)
	}
	n := l.Totals
	fmt.Fprintf(a.out, "Since the worker started: %s sessions, %s refused, %s calls,\n%s received, %s sent.\n",
		or(n.Started), or(n.Refused), or(n.Calls), orBytes(n.BytesIn), orBytes(n.BytesOut))
	return nil
}
