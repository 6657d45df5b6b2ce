//go:build linux

// Command rocwire-slurm hands the cards of workers to Slurm's jobs: it is the prolog, the epilog and the task prolog of a cluster whose GRES are the cards of
// rocwire workers on other machines.
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
	root := newRoot(getenv)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	err := cli.Execute(ctx, root)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "rocwire-slurm:", err)
	if usage := cli.UsageError(""); errors.As(err, &usage) {
		return 2
	}
	tell(err) // Slurm keeps what scripts print to itself
	return 1
}
