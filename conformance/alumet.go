package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// alumetPackages are Alumet, which measures what energy programs take.
var alumetPackages = []string{"alumet", "libssl3t64"}

// alumet runs Debian's Alumet, unmodified, beside a program that sleeps, and compares what it has
// measured of each card meanwhile with what smi-remote says before and after.
func (a *amdSMI) alumet(ctx context.Context) (r outcome) {
	c, rows, err := a.runAlumet(ctx, &r)
	if err != nil {
		r.say("%v", err)
		return r
	}
	c.alumet(rows)
	return r
}

func (a *amdSMI) runAlumet(ctx context.Context, r *outcome) (*comparison, []alumetRow, error) {
	dir, err := os.MkdirTemp("", "rocwire-alumet-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	before, err := a.machine(ctx)
	if err != nil {
		return nil, nil, err
	}
	args := append((&host{o: a.o}).loader(), filepath.Join(a.o.tree, "usr/lib/alumet/bin/alumet-agent"), "--plugins", "amd-gpu,csv", "exec", "sleep", "3")
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir // its configuration and what it has measured
	cmd.Env = append(append(os.Environ(), "AMDSMI_REMOTE=127.0.0.1:"+a.port), a.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("%w: %s", err, tail(string(out), 300))
	}
	after, err := a.machine(ctx)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(dir, "alumet-output.csv"))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rows, err := readAlumet(f)
	return &comparison{outcome: r, before: before, after: after}, rows, err
}

// alumetRow is one measurement: "memory_usage_B/video_computing" of a card, or of a process on a card.
type alumetRow struct {
	what, card, consumer string
	value                float64
}

// readAlumet reads what the plugin csv has written.
func readAlumet(in io.Reader) (rows []alumetRow, err error) {
	c := csv.NewReader(in)
	c.Comma = ';'
	all, err := c.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%d lines from Alumet", len(all))
	}
	column := map[string]int{}
	for i, name := range all[0] {
		column[name] = i
	}
	for _, name := range []string{"metric", "value", "resource_id", "consumer_id", "memory_type", "thermal_zone"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("no column %s in what Alumet writes", name)
		}
	}
	for _, l := range all[1:] {
		row := alumetRow{what: strings.TrimPrefix(l[column["metric"]], "amd_gpu_"), card: l[column["resource_id"]], consumer: l[column["consumer_id"]]}
		for _, name := range []string{"memory_type", "thermal_zone"} {
			if s := l[column[name]]; s != "" {
				row.what += "/" + s
			}
		}
		if row.value, err = strconv.ParseFloat(l[column["value"]], 64); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// alumet compares: each card is there by its UUID, with each figure at least once.
func (c *comparison) alumet(rows []alumetRow) {
	figures := map[string]func(*smi.Metrics) float64{
		"power_consumption_W":                   func(m *smi.Metrics) float64 { return float64(m.Power.Socket.Or(0)) },
		"voltage_mV":                            func(m *smi.Metrics) float64 { return 1000 * float64(m.Voltages.GFX.Or(0)) },
		"temperature_°C/thermal_hotspot":        celsius(smi.SensorHotspot),
		"memory_usage_B/memory_video_computing": func(m *smi.Metrics) float64 { return float64(m.VRAM.Used.Or(0)) },
	}
	for i := range c.before.info {
		seen := map[string]int{}
		joules := 0.0
		for _, r := range rows {
			if r.card != c.before.info[i].UUID {
				continue
			}
			seen[r.what]++
			if of := figures[r.what]; of != nil {
				c.measured(i, r.what, r.value, half, of)
			}
			if r.what == "energy_consumption_mJ" {
				joules += r.value / 1000
			}
		}
		for what := range figures {
			if seen[what] == 0 {
				c.say("GPU %d: Alumet shows no %s, but %v", i, what, seen)
			}
		}
		// It looked for the last time before smi-remote did, and for the first time after.
		if most := float64(c.after.metrics[i].Energy.Or(0) - c.before.metrics[i].Energy.Or(0)); joules <= 0 || joules > most {
			c.say("GPU %d: %v J while Alumet ran, smi-remote says %v", i, joules, most)
		} else {
			c.agreed++
		}
	}
}
