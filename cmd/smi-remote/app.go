package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/dialing"
	"github.com/rocwire/rocwire/smi"
)

// app is one run of the program.
type app struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	width          int  // of a line
	terminal       bool // stdout is one

	out      bytes.Buffer // of a command that ends by itself: written at once
	workers  []*worker    // once they have been looked for
	repeated bool         // the command is run again by watch: headers have been printed
	stamp    string       // in front of the lines of a change

	// The flags.
	hosts               []string
	port                string
	dialing             dialing.Settings
	timeout             time.Duration
	json, csv, noHeader bool
	v1                  bool
	sources             []string // that name workers, of fleet
}

// execute runs one command line.
func (a *app) execute(ctx context.Context, args []string) error {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(&a.out)
	root.SetErr(a.stderr)
	root.SetIn(a.stdin)
	return cli.Execute(ctx, root)
}

// report writes what the command printed and its error, and returns the exit code.
func (a *app) report(err error) int {
	_, werr := a.out.WriteTo(a.stdout)
	a.out.Reset()
	if werr != nil && err == nil {
		err = werr
	}
	a.complain(err)
	return exitCode(err)
}

// complain prints the lines of an error.
func (a *app) complain(err error) {
	var s *said
	if err == nil || errors.As(err, &s) {
		return
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(a.stderr, "smi-remote: %s\n", line)
	}
}

func (a *app) close() {
	for _, w := range a.workers {
		_ = w.close() // what a connection says while it ends is of no use
	}
}

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // some of it could not be answered or done
	exitUsage       = 2
	exitUnreachable = 3 // no worker could be reached
	exitNotFound    = 4
	exitInterrupted = 130
)

// exitHelp explains them.
const exitHelp = `Exit codes:
  0    all went well
  1    some of it could not be answered or done; also if one of several workers
       cannot be reached
  2    wrong usage
  3    no worker can be reached
  4    there is no such GPU or session
  130  interrupted (events, watch, calls and top end by Ctrl-C with 0)`

func exitCode(err error) int {
	var u cli.UsageError
	var p *problems
	var s *said
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &s):
		return s.code
	case errors.As(err, &u):
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &p) && p.nobody():
		return exitUnreachable
	case errors.Is(err, smi.ErrNotFound):
		return exitNotFound
	}
	return exitFailed
}

var errInterrupted = errors.New("interrupted")

// said is an error that has been printed already.
type said struct {
	err  error
	code int
}

func (s *said) Error() string { return s.err.Error() }
func (s *said) Unwrap() error { return s.err }

// usagef makes a mistake of the user's.
func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }
