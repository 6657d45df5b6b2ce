//go:build linux

// Command rocwire-dra hands the cards of rocwire workers to pods by Kubernetes' Dynamic Resource Allocation: publish keeps the cluster's ResourceSlices, node
// prepares claims on a node.
package main

import (
	"context"
	"errors"
	"fmt"
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
	root := newRoot(getenv, stderr)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	err := cli.Execute(ctx, root)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "rocwire-dra:", err)
	if usage := cli.UsageError(""); errors.As(err, &usage) {
		return 2
	}
	return 1
}
