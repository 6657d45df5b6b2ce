package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/internal/cli"
)

// watchable are the commands that watch may run again and again.
var watchable = []string{
	"list", "metrics", "info", "power", "processes", "sessions", "topology", "firmware", "ecc", "partitions", "xgmi", "bad-pages", "workers",
}

// watch runs a command every interval, count times if that is not 0, until ctx is
// done. On a terminal the new output takes the place of the old one.
func (a *app) watch(ctx context.Context, interval time.Duration, count int, words []string) error {
	if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(watchable, w) }) {
		return usagef("watch which command? There are: %s", strings.Join(watchable, ", "))
	}
	var last error
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 1; ; n++ {
		last = a.execute(ctx, words)
		if ctx.Err() != nil {
			a.out.Reset()
			return nil // that is how it ends
		}
		if u := cli.UsageError(""); errors.As(last, &u) {
			a.out.Reset()
			return last
		}
		a.headRound(interval, words, n)
		if code := a.report(last); last != nil {
			last = &said{last, code}
		}
		if n == count {
			return last
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		a.repeated = true
	}
}

// headRound puts a title in front of the output of one round, if people read it.
func (a *app) headRound(interval time.Duration, words []string, n int) {
	if a.json || a.csv {
		return
	}
	now := time.Now().Format(time.TimeOnly)
	head := text.Pad(fmt.Sprintf("Every %v: smi-remote %s", interval, text.Clean(strings.Join(words, " "))), a.width-len(now)-2, false) + "  " + now + "\n"
	switch {
	case a.terminal:
		head = "\x1b[H\x1b[2J\x1b[3J" + head
	case n > 1:
		head = "\n" + head
	}
	body := head + a.out.String()
	a.out.Reset()
	a.out.WriteString(body)
}
