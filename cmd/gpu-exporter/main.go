// Command gpu-exporter serves metrics of GPUs, and of who uses them: of a rocwire
// worker, or of this machine's own cards. It also pushes them to OpenTelemetry,
// GreptimeDB and InfluxDB, and has a page to look at. Package exporter/service says whom
// it trusts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/internal/version"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == localsmi.ProbeCommand {
		os.Exit(localsmi.Probe())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o, err := parse(args, getenv)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, help())
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "gpu-exporter: %v (see gpu-exporter --help)\n", err)
		return exitUsage
	}
	if o.version {
		fmt.Fprintln(stdout, "gpu-exporter", version.String())
		return 0
	}
	saveMemory(getenv, o.service.Debug)
	log := slog.New(slog.NewTextHandler(stderr, nil))
	if err := serve(ctx, o, log); err != nil {
		log.Error("cannot serve", "reason", err)
		return exitFailure
	}
	return 0
}
