// Package top is a live view of workers' GPUs in a terminal: the cards, the
// processes with the remote programs behind them, and the calls with their
// latencies.
//
// Each worker is read by itself, so one that is slow or gone holds up nothing but
// its own figures. Names from afar are shown without control characters.
package top

import (
	"context"
	"errors"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/smi"
)

// Worker is what top asks; a *smiremote.Client is one.
type Worker interface {
	Snapshot(context.Context) (*smi.Snapshot, error)
	Calls(context.Context) ([]rpcstats.CallTotal, error)
	KillSession(ctx context.Context, id string) error
}

// Host is one worker under the name that it is shown with.
type Host struct {
	Label  string
	Worker Worker
}

// Options say how to show what.
type Options struct {
	Hosts    []Host
	Interval time.Duration // between two readings
	Timeout  time.Duration // of one
	NoColor  bool
}

// Run shows the view on a terminal until the user ends it or ctx is done.
func Run(ctx context.Context, o Options, in io.Reader, out io.Writer) error {
	_, err := tea.NewProgram(New(ctx, o), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out)).Run()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrInterrupted) {
		return nil // that is how it ends
	}
	return err
}
