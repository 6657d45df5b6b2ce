// Command gpu-exporter serves metrics of GPUs, and of who uses them: of a rocwire
// worker, or of this machine's own cards. It also pushes them to OpenTelemetry,
// GreptimeDB and InfluxDB, and has a page to look at. Package exporter/service says whom
// it trusts.
package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/localsmi"
	"github.com/rocwire/rocwire/wire"
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
	root := newRoot(getenv, func(ctx context.Context, o *options) error {
		saveMemory(getenv, o.service.Debug)
		log := slog.New(slog.NewTextHandler(stderr, nil))
		if err := serve(ctx, o, log); err != nil {
			log.Error("cannot serve", "reason", err)
			if errors.Is(err, wire.ErrNotLoopback) { // and no flag says who may come
				err = cli.Usagef("%v", err)
			}
			return cli.Said(err)
		}
		return nil
	})
	return cli.Main(ctx, root, args, stdout, stderr)
}
