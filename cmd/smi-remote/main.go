// Command smi-remote shows the GPUs of a rocwire worker: what they are, what they
// do, and who uses them.
//
// It trusts the worker's figures as far as package smiremote has checked them;
// names that came from elsewhere are printed without control characters.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // the worker could not answer all of it
	exitUsage       = 2
	exitUnreachable = 3
	exitNoGPU       = 4
)

const help = `smi-remote shows the GPUs of a rocwire worker.

Usage: smi-remote [flags] COMMAND

Commands:
  list          the GPUs
  metrics [N]   what the GPUs do now: use, memory, clocks, power, temperatures,
                energy; with N everything GPU N measures
  info N        what GPU N is
  processes     who uses the GPUs: processes on the worker, and the remote
                programs behind them
  sessions      the worker's clients

Flags, before or after the command:
  --host HOST     worker to ask, also unix:PATH   [TF_WORKER_HOST, localhost]
  --port PORT     its port                        [TF_WORKER_PORT, 18515]
  --timeout TIME  how long to wait for it, "10s"  [10s]
  --json          print JSON; a figure that is not available is null
  --help          this text

In tables "-" stands for a figure that is not available.

Exit codes: 0 all went well, 1 the worker could not answer all of it, 2 wrong
usage, 3 the worker cannot be reached, 4 there is no such GPU.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// app is one run of the program.
type app struct {
	out    io.Writer
	client *smiremote.Client
	json   bool
}

// usageError is a mistake of the user's.
type usageError string

func (e usageError) Error() string { return string(e) }

func usagef(format string, args ...any) error { return usageError(fmt.Sprintf(format, args...)) }

// commands take the arguments after their name.
var commands = map[string]func(context.Context, *app, []string) error{
	"list":      list,
	"metrics":   metrics,
	"info":      info,
	"processes": processes,
	"sessions":  sessions,
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o, words, err := parse(args, getenv)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, help)
		return exitOK
	}
	var out buffer
	if err == nil {
		err = execute(ctx, o, words, &out)
	}
	if _, werr := stdout.Write(out.b); werr != nil && err == nil {
		err = werr
	}
	if err == nil {
		return exitOK
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(stderr, "smi-remote: %s\n", line)
	}
	return exitCode(err)
}

// buffer gathers the output, so that it is written at once.
type buffer struct{ b []byte }

func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

func exitCode(err error) int {
	var u usageError
	var unreachable *unreachableError
	var lost *wire.Error
	switch {
	case errors.As(err, &u):
		return exitUsage
	case errors.As(err, &unreachable), errors.As(err, &lost):
		return exitUnreachable
	case errors.Is(err, smi.ErrNotFound):
		return exitNoGPU
	}
	return exitFailed
}

// unreachableError is a worker that there is no connection to.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

// options are the flags.
type options struct {
	address string
	timeout time.Duration
	json    bool
}

// parse takes flags from anywhere among the words.
func parse(args []string, getenv func(string) string) (o options, words []string, err error) {
	fs := flag.NewFlagSet("smi-remote", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	host := fs.String("host", orElse(getenv("TF_WORKER_HOST"), "localhost"), "")
	port := fs.String("port", orElse(getenv("TF_WORKER_PORT"), "18515"), "")
	fs.DurationVar(&o.timeout, "timeout", 10*time.Second, "")
	fs.BoolVar(&o.json, "json", false, "")
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return o, nil, err
			}
			return o, nil, usagef("%v (see smi-remote --help)", err)
		}
		if args = fs.Args(); len(args) == 0 {
			break
		}
		words, args = append(words, args[0]), args[1:]
	}
	if o.timeout <= 0 {
		return o, nil, usagef("--timeout %v is not more than 0", o.timeout)
	}
	if strings.HasPrefix(*host, "unix:") {
		o.address = *host
		return o, words, nil
	}
	if n, err := strconv.ParseUint(*port, 10, 16); err != nil || n == 0 {
		return o, nil, usagef("%q is not a port (1 to 65535)", *port)
	}
	o.address = net.JoinHostPort(strings.Trim(*host, "[]"), *port)
	return o, words, nil
}

func orElse(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func execute(ctx context.Context, o options, words []string, out io.Writer) error {
	if len(words) == 0 {
		return usagef("no command (see smi-remote --help)")
	}
	if words[0] == "help" {
		fmt.Fprint(out, help)
		return nil
	}
	command := commands[words[0]]
	if command == nil {
		return usagef("there is no command %q (see smi-remote --help)", words[0])
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	a := &app{out: out, json: o.json, client: smiremote.NewClient(smiremote.Options{
		Address: o.address, ConnectTimeout: o.timeout, IOTimeout: o.timeout, Name: "smi-remote",
	})}
	defer a.client.Close()
	err := command(ctx, a, words[1:])
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &unreachableError{fmt.Errorf("worker %s: no answer within %v", o.address, o.timeout)}
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted")
	}
	return err
}

// connect makes the difference between a worker that is not there and one that
// answers with an error.
func (a *app) connect(ctx context.Context) error {
	if err := a.client.Connect(ctx); err != nil {
		return &unreachableError{err}
	}
	return nil
}

// gpuArg reads the number of a GPU.
func gpuArg(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, usagef("%q is not the number of a GPU (0, 1, …; see smi-remote list)", s)
	}
	return int(n), nil
}

func noMore(args []string) error {
	if len(args) > 0 {
		return usagef("%q is too much (see smi-remote --help)", strings.Join(args, " "))
	}
	return nil
}
