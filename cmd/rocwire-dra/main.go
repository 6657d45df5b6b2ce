//go:build linux

// Command rocwire-dra hands the cards of rocwire workers to pods by Kubernetes' Dynamic Resource Allocation: publish keeps the cluster's ResourceSlices, node
// prepares claims on a node.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/rocwire/rocwire/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program; it returns its exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	return cli.Main(ctx, newRoot(getenv, stderr), args, stdout, stderr)
}
