package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
)

// all is the word for every card where changing something asks for a card.
const all = "all"

// target is the cards that a word of a change means. Unlike in questions there is
// no default.
func (a *app) target(ctx context.Context, word string) ([]card, *problems, error) {
	if word == all {
		return a.cards(ctx, nil, false)
	}
	return a.cards(ctx, []string{word}, false)
}

// set makes one change of the cards that word means.
func (a *app) set(ctx context.Context, word, what string, s smi.Setting) error {
	cards, p, err := a.target(ctx, word)
	if err != nil {
		return err
	}
	return a.change(ctx, cards, p, what, func(ctx context.Context, c *card) error { return c.client.Set(ctx, c.Device.Index, s) })
}

// change does something to cards and says to which it was done.
func (a *app) change(ctx context.Context, cards []card, p *problems, what string, do func(context.Context, *card) error) error {
	if len(cards) == 0 && p.err() == nil {
		return smi.Errorf(smi.ErrNotFound, "there is no GPU")
	}
	err := each(ctx, a, cards, p, what, func(ctx context.Context, c *card) (struct{}, error) {
		return struct{}{}, do(ctx, c)
	}, func(c *card, _ struct{}) {
		where := a.stamp
		if a.several() {
			where += text.Clean(c.label) + ": "
		}
		fmt.Fprintf(&a.out, "%sGPU %d: %s\n", where, c.Device.Index, what)
	})
	if err != nil {
		return err
	}
	return p.err()
}

// reset asks whether that is meant, unless yes says so, and resets cards.
func (a *app) reset(ctx context.Context, word string, yes bool) error {
	cards, p, err := a.target(ctx, word)
	if err != nil {
		return err
	}
	if !yes {
		if f, ok := a.stdin.(*os.File); !ok || !term.IsTerminal(f.Fd()) {
			return usagef("a reset ends all work on the GPU: say --yes if that is meant")
		}
		fmt.Fprintf(a.stderr, "Reset %d GPU(s)? All work on them is lost. [y/N] ", len(cards))
		line, err := bufio.NewReader(a.stdin).ReadString('\n')
		if answer := strings.ToLower(strings.TrimSpace(line)); err != nil || answer != "y" && answer != "yes" {
			return fmt.Errorf("nothing was reset")
		}
	}
	return a.change(ctx, cards, p, "reset", func(ctx context.Context, c *card) error {
		return c.client.Set(ctx, c.Device.Index, smi.Setting{Reset: true})
	})
}

// number reads a figure that may have one of the units behind it, each a factor.
func number(s, what string, units map[string]float64) (float64, error) {
	digits := strings.TrimRightFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	f, err := strconv.ParseFloat(digits, 64)
	factor, ok := units[strings.ToLower(strings.TrimSpace(s[len(digits):]))]
	if err != nil || !ok || f < 0 || math.IsInf(f, 0) {
		return 0, usagef("%q is no %s", s, what)
	}
	return f * factor, nil
}

func parseWatts(s string) (smi.Watts, error) {
	f, err := number(s, "power in watts, like 500 or 500W", map[string]float64{"": 1, "w": 1, "kw": 1000})
	return smi.Watts(f), err
}

func parseHertz(s string) (smi.Hertz, error) {
	f, err := number(s, "frequency, like 1200, 1200MHz or 1.2GHz", map[string]float64{"": 1e6, "mhz": 1e6, "ghz": 1e9})
	return smi.Hertz(f), err
}

// parseClock reads MIN-MAX, MIN- or -MAX, in megahertz if no unit is said.
func parseClock(domain, s string) (*smi.ClockRange, error) {
	low, high, ok := strings.Cut(s, "-")
	if !ok || low == "" && high == "" {
		return nil, usagef("%q is no range of a clock, like 500-1200, 500- or -1.2GHz", s)
	}
	r := &smi.ClockRange{Domain: domain}
	for _, end := range []struct {
		s string
		v *smi.Opt[smi.Hertz]
	}{{low, &r.Min}, {high, &r.Max}} {
		if end.s == "" {
			continue
		}
		f, err := parseHertz(end.s)
		if err != nil {
			return nil, err
		}
		*end.v = smi.Some(f)
	}
	if r.Min.Ok() && r.Max.Ok() && r.Min.Or(0) > r.Max.Or(0) {
		return nil, usagef("%q: the lower end is above the upper one", s)
	}
	return r, nil
}

// parseFan reads a share of the highest speed, or "auto".
func parseFan(s string) (smi.Setting, error) {
	if s == "auto" {
		return smi.Setting{FanAuto: true}, nil
	}
	f, err := number(s, "speed of a fan, like 60% or auto", map[string]float64{"%": 0.01})
	if err == nil && f > 1 {
		err = usagef("%q is more than 100%%", s)
	}
	return smi.Setting{Fan: smi.Some(smi.Ratio(f))}, err
}
