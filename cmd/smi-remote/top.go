package main

import (
	"context"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/rocwire/rocwire/cmd/smi-remote/internal/top"
)

// top shows the live view until it is ended.
func (a *app) top(ctx context.Context, interval time.Duration) error {
	if err := a.open(); err != nil {
		return err
	}
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(in.Fd()) || !a.terminal {
		return usagef("top needs a terminal (smi-remote watch does not)")
	}
	var hosts []top.Host
	for _, w := range a.workers {
		hosts = append(hosts, top.Host{Label: w.label, Worker: w.client})
	}
	return top.Run(ctx, top.Options{Hosts: hosts, Interval: interval, Timeout: a.timeout, NoColor: a.getenv("NO_COLOR") != ""}, in, a.stdout)
}
