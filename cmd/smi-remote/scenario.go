package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/cli"
)

// A scenario is lines of
//
//	TIME FAULT [GPU] key=value…
//	TIME clear FAULT [GPU]
//
// TIME is counted from the start, "90s" or "1m30s". What is behind # and empty lines
// mean nothing. Lines need not be in order.

// step is one line of a scenario.
type step struct {
	at   time.Duration
	line int
	order
}

// Bounds of a scenario, so that a wrong file is not read for ever.
const (
	maxSteps = 10_000
	maxLine  = 1 << 10
)

// parseScenario reads a scenario. Its errors name the line.
func parseScenario(r io.Reader) ([]step, error) {
	var steps []step
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, maxLine), maxLine)
	n := 0
	for sc.Scan() {
		n++
		line, _, _ := strings.Cut(sc.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, err := time.ParseDuration(words[0])
		if err != nil || at < 0 {
			return nil, usagef("line %d: %q is no time like 90s or 1m30s", n, words[0])
		}
		words = words[1:]
		clear := len(words) > 0 && words[0] == "clear"
		if clear {
			words = words[1:]
		}
		o, err := parseOrder(words, clear)
		if err != nil {
			return nil, usagef("line %d: %v", n, err)
		}
		if len(steps) == maxSteps {
			return nil, usagef("line %d: more than %d steps", n, maxSteps)
		}
		steps = append(steps, step{at, n, o})
	}
	if err := sc.Err(); err != nil {
		return nil, usagef("line %d: %v", n+1, err)
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	return steps, nil
}

// play does the steps in time and says so. When it is interrupted it ends the faults
// that the steps began.
func (a *app) play(ctx context.Context, steps []step) error {
	start := time.Now()
	var going []order
	var failed error
	for i := range steps {
		s := &steps[i]
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(start.Add(s.at))):
		}
		if ctx.Err() != nil {
			return a.endFaults(going)
		}
		a.stamp = fmt.Sprintf("%8s  ", s.at)
		err := a.inject(ctx, &s.order)
		if ctx.Err() != nil {
			return a.endFaults(append(going, s.order))
		}
		if !momentary(s.fault.Kind) {
			going = slices.DeleteFunc(going, func(o order) bool { return o.gpu == s.gpu && o.fault.Kind == s.fault.Kind })
			if !s.fault.Clear {
				going = append(going, s.order)
			}
		}
		if err != nil {
			err = fmt.Errorf("line %d: %w", s.line, err)
			if u := cli.UsageError(""); errors.As(err, &u) {
				return err
			}
		}
		if code := a.report(err); err != nil {
			failed = &said{err, code}
		}
	}
	return failed
}

// endFaults ends faults although the program is about to end.
func (a *app) endFaults(going []order) error {
	a.out.Reset()
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	var failed error
	for _, o := range going {
		if momentary(o.fault.Kind) {
			continue
		}
		o.fault.Clear = true
		if err := a.inject(ctx, &o); err != nil {
			failed = err
		}
	}
	return failed
}
