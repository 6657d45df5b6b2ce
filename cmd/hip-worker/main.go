// Command hip-worker serves the GPUs of this machine, or simulated ones, to clients on the network.
//
//	hip-worker keys init|add-client …
//	hip-worker [--listen ADDRESS] [-p PORT] [--backend sim|rocm|auto] [-d DEVICE] [--metrics-addr ADDRESS] …
//	hip-worker token new NAME
//
// The first line on standard output says where it listens. It ends in order on SIGTERM or SIGINT. Exit codes: 0 in order, 1 failure,
// 2 wrong arguments, 3 port in use.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/rocwire/rocwire/exporter/service"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/internal/version"
	"github.com/rocwire/rocwire/worker"
)

const (
	exitFailure = 1
	exitUsage   = 2
	exitPort    = 3
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == probeCommand {
		os.Exit(probeROCm())
	}
	if len(os.Args) > 1 && os.Args[1] == localsmi.ProbeCommand {
		os.Exit(localsmi.Probe())
	}
	if len(os.Args) > 1 && os.Args[1] == keysCommand {
		os.Exit(keysMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == tokenCommand {
		os.Exit(tokens(os.Args[2:]))
	}
	o, err := parse(os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage + whoUsage + service.Usage())
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "hip-worker:", err)
		fmt.Fprintln(os.Stderr, "hip-worker --help lists the arguments")
		os.Exit(exitUsage)
	case o.version:
		fmt.Println("hip-worker", version.String())
		return
	}
	log := newLog(o.verbose)
	if err := run(o, log); err != nil {
		fmt.Fprintln(os.Stderr, "hip-worker:", err)
		if errors.Is(err, worker.ErrPortInUse) {
			os.Exit(exitPort)
		}
		os.Exit(exitFailure)
	}
}

// tokens runs hip-worker token and gives the exit code.
func tokens(args []string) int {
	switch err := tokenMain(args, os.Stdout, os.Stderr); {
	case errors.Is(err, errTokenUsage):
		fmt.Fprint(os.Stderr, tokenUsage)
		return exitUsage
	case err != nil:
		fmt.Fprintln(os.Stderr, "hip-worker token:", err)
		return exitFailure
	}
	return 0
}

func newLog(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(loglimit.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}
