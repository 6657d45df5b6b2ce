// Command hip-worker serves the GPUs of this machine, or simulated ones, to clients on the network.
//
//	hip-worker [--listen ADDRESS[:PORT]] [-p PORT] [--backend sim|rocm|auto] [-d DEVICE] [--metrics-addr ADDRESS] [--config FILE] …
//	hip-worker keys init|add-client …
//	hip-worker token new NAME
//
// The first line on standard output says where it listens. It ends in order on SIGTERM or SIGINT. Exit codes: 0 in order, 1 failure,
// 2 wrong arguments, 3 port in use.
package main

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker"
)

// exitPort is the exit code where somebody else listens already.
const exitPort = 3

func main() {
	if len(os.Args) > 1 && os.Args[1] == probeCommand {
		os.Exit(probeROCm())
	}
	if len(os.Args) > 1 && os.Args[1] == localsmi.ProbeCommand {
		os.Exit(localsmi.Probe())
	}
	root := newRoot(os.Getenv, func(o *options) error {
		err := run(o, newLog(o.verbose))
		switch {
		case errors.Is(err, worker.ErrPortInUse):
			return portInUse{err}
		case errors.Is(err, wire.ErrNotLoopback): // and no flag says who may come
			return cli.Usagef("%v", err)
		}
		return err
	})
	os.Exit(cli.Main(context.Background(), root, os.Args[1:], os.Stdout, os.Stderr))
}

type portInUse struct{ error }

func (portInUse) ExitCode() int { return exitPort }

func newLog(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(loglimit.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}
