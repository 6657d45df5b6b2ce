// Package workertest lets a test binary be the session process of the workers it starts.
package workertest

import (
	"fmt"
	"os"
	"syscall"

	"github.com/rocwire/rocwire/worker"
)

// SessionCommand is the first argument of a test binary that is to be a session process.
const SessionCommand = "__session"

// Session reports whether the test binary was started to be a session process.
func Session() bool { return len(os.Args) > 1 && os.Args[1] == SessionCommand }

// Run is a session process that was opened, and ends the test binary.
func Run(p *worker.SessionProcess, err error) {
	if err == nil {
		err = p.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "session process:", err)
		os.Exit(1)
	}
	// os.Exit has the race detector sleep for a second: a confined process cannot read its GORACE, for which that opens /proc.
	syscall.Exit(0)
}
