// Command smi-remote shows the GPUs of rocwire workers: what they are, what they do
// and who uses them; it changes what a worker lets it change.
//
// It trusts a worker's figures as far as package smiremote has checked them; names
// that came from elsewhere are printed without control characters.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr}
	a.width, a.terminal = terminal(stdout)
	defer a.close()
	return a.report(a.execute(ctx, args))
}

// defaultWidth is what a line of a table fits into where no terminal says otherwise.
const defaultWidth = 80

// terminal is how wide a line on w may be, and whether w is a terminal.
func terminal(w io.Writer) (width int, is bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return defaultWidth, false
	}
	if width, _, err := term.GetSize(f.Fd()); err == nil && width >= 20 {
		return width, true
	}
	return defaultWidth, true
}
