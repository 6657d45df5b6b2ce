package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/rocwire/rocwire/smi"
)

// outcome is how a test went.
type outcome struct {
	agreed int
	wrong  []string
}

func (o *outcome) say(format string, args ...any) {
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

// machine is what smi-remote shows.
type machine struct {
	info       []smi.Info
	metrics    []smi.Metrics
	ecc        []smi.ECC
	xgmi       []smi.XGMI
	partitions []smi.Partitions
	processes  []smi.Process
	paths      []smi.Path
	firmware   map[int][]string
	pages      map[int]int
}

// machine asks smi-remote everything.
func (a *amdSMI) machine(ctx context.Context) (*machine, error) {
	var m machine
	var firmware struct {
		Firmware []struct {
			Device int
			smi.Firmware
		}
	}
	var pages struct{ Pages []struct{ Device int } }
	for _, q := range []struct {
		command string
		into    any
	}{
		{"info", &struct {
			GPUs *[]smi.Info `json:"gpus"`
		}{&m.info}},
		{"metrics", &struct {
			GPUs *[]smi.Metrics `json:"gpus"`
		}{&m.metrics}},
		{"ecc", &struct {
			GPUs *[]smi.ECC `json:"gpus"`
		}{&m.ecc}},
		{"xgmi", &struct {
			GPUs *[]smi.XGMI `json:"gpus"`
		}{&m.xgmi}},
		{"partitions", &struct {
			GPUs *[]smi.Partitions `json:"gpus"`
		}{&m.partitions}},
		{"processes", &struct{ Processes *[]smi.Process }{&m.processes}},
		{"topology", &struct{ Paths *[]smi.Path }{&m.paths}},
		{"firmware", &firmware},
		{"bad-pages", &pages},
	} {
		out, err := a.remote(ctx, q.command)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(out, q.into); err != nil {
			return nil, fmt.Errorf("smi-remote %s: %w", q.command, err)
		}
	}
	m.firmware, m.pages = map[int][]string{}, map[int]int{}
	for _, f := range firmware.Firmware {
		m.firmware[f.Device] = append(m.firmware[f.Device], f.Name)
	}
	for _, p := range pages.Pages {
		m.pages[p.Device]++
	}
	if n := len(m.info); n == 0 || len(m.metrics) != n || len(m.ecc) != n || len(m.partitions) != n {
		return nil, fmt.Errorf("smi-remote shows %d, %d, %d and %d GPUs", n, len(m.metrics), len(m.ecc), len(m.partitions))
	}
	return &m, nil
}

// comparison is amd-smi's JSON against what smi-remote said before and after it.
type comparison struct {
	*outcome
	before, after *machine
}

// at is the value at a path of names and numbers in v; nil if there is none.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// text compares texts, regardless of capitals.
func (c *comparison) text(what string, got any, want string) {
	if s, ok := got.(string); !ok || !strings.EqualFold(s, want) {
		c.say("%s: %v, smi-remote says %q", what, got, want)
		return
	}
	c.agreed++
}

// figure compares numbers. {"value": 1, "unit": "W"} is a number, too. want is the
// figure before and after, in amd-smi's unit, and slack half of that unit's step.
func (c *comparison) figure(what string, got any, slack float64, want ...float64) {
	if m, ok := got.(map[string]any); ok {
		got = m["value"]
	}
	f, ok := got.(float64)
	least, most := math.Inf(1), math.Inf(-1)
	for _, w := range want {
		least, most = min(least, w), max(most, w)
	}
	const noise = 1e-9 // of decimals
	if !ok || f < least-slack-noise || f > most+slack+noise {
		c.say("%s: %v, smi-remote says %v to %v", what, got, least, most)
		return
	}
	c.agreed++
}

// measured compares a figure of a card's metrics.
func (c *comparison) measured(card int, what string, got any, slack float64, of func(*smi.Metrics) float64) {
	c.figure(fmt.Sprintf("GPU %d: %s", card, what), got, slack, of(&c.before.metrics[card]), of(&c.after.metrics[card]))
}

// cards calls each for every card, with the object that amd-smi shows of it.
func (c *comparison) cards(list any, each func(i int, info *smi.Info, gpu any)) {
	l, _ := list.([]any)
	if len(l) != len(c.before.info) {
		c.say("%d GPUs, smi-remote shows %d", len(l), len(c.before.info))
		return
	}
	for i := range l {
		each(i, &c.before.info[i], l[i])
	}
}
