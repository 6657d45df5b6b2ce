package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// events runs amd-smi event while a simulated card is reset and another gets too hot,
// and ends it as a person does, with q.
func (a *amdSMI) events(ctx context.Context) (r outcome) {
	in, typed := io.Pipe()
	go func() {
		defer typed.Close()
		// Again, as nobody knows when amd-smi listens: Python takes long to start on a busy machine.
		for _, fault := range slices.Repeat([][]string{{"set", "reset", "0"}, {"set", "thermal", "1"}, {"clear", "thermal", "1"}}, 3) {
			if sleep(ctx, 2*time.Second); ctx.Err() != nil {
				return
			}
			if _, err := a.remote(ctx, append([]string{"sim"}, fault...)...); err != nil {
				_, _ = typed.Write([]byte(err.Error() + "\n"))
			}
		}
		sleep(ctx, 2*time.Second)
		_, _ = typed.Write([]byte("q\n"))
	}()
	text, err := a.run(ctx, in, "event", "--json")
	_ = in.Close()
	if err != nil {
		r.say("%v", err)
		return r
	}
	var seen []string
	for at := strings.IndexByte(text, '['); at >= 0; at = strings.IndexByte(text, '[') {
		text = text[at:]
		d := json.NewDecoder(strings.NewReader(text))
		var events []struct {
			GPU   int    `json:"gpu"`
			Event string `json:"event"`
		}
		if err := d.Decode(&events); err != nil {
			r.say("%v in %s", err, tail(text, 200))
			return r
		}
		for _, e := range events {
			seen = append(seen, string(rune('0'+e.GPU))+" "+e.Event)
		}
		text = text[d.InputOffset():]
	}
	for _, want := range []string{"0 GPU_PRE_RESET", "0 GPU_POST_RESET", "1 THERMAL_THROTTLE"} {
		if !slices.Contains(seen, want) {
			r.say("no event %q; there were %q", want, seen)
			continue
		}
		r.agreed++
	}
	return r
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// refused tries to change a card of a worker that does not allow it.
func (a *amdSMI) refused(ctx context.Context) (r outcome) {
	before, err := a.machine(ctx)
	if err != nil {
		r.say("%v", err)
		return r
	}
	// amd-smi says so in its own way, and exits with 0 or not.
	text, err := a.run(ctx, nil, "set", "-g", "0", "--power-cap", "500", "ppt0")
	if err != nil {
		text += err.Error()
	}
	after, err := a.machine(ctx)
	if err != nil {
		r.say("%v", err)
		return r
	}
	c := &comparison{outcome: &r, before: before, after: after}
	c.figure("power cap", float64(after.metrics[0].Power.Cap.Or(0)), 0, float64(before.metrics[0].Power.Cap.Or(-1)))
	if strings.Contains(text, "Successfully") || !(strings.Contains(text, "NO_PERM") || strings.Contains(text, "ermission") || strings.Contains(text, "elevation")) {
		r.say("it said %s", tail(text, 300))
	}
	return r
}

// changed changes card 0 of a worker that allows it, and looks with smi-remote whether
// it is so.
func (a *amdSMI) changed(ctx context.Context) error {
	gfx := func(m *smi.Metrics) smi.Clock {
		for _, k := range m.Clocks {
			if k.Domain == smi.ClockGFX {
				return k
			}
		}
		return smi.Clock{}
	}
	for _, t := range []struct {
		name string
		args []string
		want string
		is   func(*smi.Metrics) any
	}{
		{"set --power-cap", []string{"set", "-g", "0", "--power-cap", "500", "ppt0"}, "500", func(m *smi.Metrics) any { return m.Power.Cap }},
		{"reset --power-cap", []string{"reset", "-g", "0", "--power-cap"}, "750", func(m *smi.Metrics) any { return m.Power.Cap }},
		{"set --perf-level", []string{"set", "-g", "0", "--perf-level", "HIGH"}, "high", func(m *smi.Metrics) any { return m.PerfLevel }},
		{"set --perf-determinism", []string{"set", "-g", "0", "--perf-determinism", "1700"}, "perf_determinism", func(m *smi.Metrics) any { return m.PerfLevel }},
		{"reset --perf-determinism", []string{"reset", "-g", "0", "--perf-determinism"}, "auto", func(m *smi.Metrics) any { return m.PerfLevel }},
		{"set --clk-limit", []string{"set", "-g", "0", "--clk-limit", "sclk", "max", "1500"}, "1.5e+09", func(m *smi.Metrics) any { return gfx(m).Max }},
		{"reset --gpureset", []string{"reset", "-g", "0", "--gpureset"}, "2.1e+09", func(m *smi.Metrics) any { return gfx(m).Max }},
	} {
		var r outcome
		text, err := a.run(ctx, nil, t.args...)
		var m *machine
		if err == nil {
			m, err = a.machine(ctx)
		}
		switch {
		case err != nil:
			r.say("%v", err)
		case !strings.Contains(text, "Successfully"):
			r.say("it said %s", tail(text, 300))
		default:
			(&comparison{outcome: &r}).text("afterwards", fmt.Sprint(t.is(&m.metrics[0])), t.want)
		}
		a.report(t.name, r)
	}
	return nil
}
