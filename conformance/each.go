package main

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// each is a program of which one process runs one case: its exit status or what it prints in the end tells what became of it.
type each struct {
	names   func(ctx context.Context, h *host) ([]string, error)
	made    bool // its cases are made here: no list of them is kept, which others would be in after a change
	command func(ctx context.Context, h *host, name string) *exec.Cmd
	// judge reads what was printed, and the error that the process ended with.
	judge func(out string, err error) (v results.Verdict, why string)
}

// makes reports whether the list of cases is not to be kept.
func (e *each) makes() bool { return e.made }

func (e *each) list(ctx context.Context, h *host) ([]string, error) { return e.names(ctx, h) }

func (e *each) run(ctx context.Context, h *host, cases []string, report func(caseEnd)) {
	for _, c := range cases {
		if ctx.Err() != nil {
			return
		}
		limit, cancel := context.WithTimeoutCause(ctx, h.limit, errLate)
		began := time.Now()
		out, err := e.command(limit, h, c).CombinedOutput()
		end := caseEnd{name: c, took: time.Since(began)}
		switch {
		case ctx.Err() != nil: // somebody wants an end: that says nothing of the case
			cancel()
			return
		case err != nil && errors.Is(context.Cause(limit), errLate):
			end.verdict = results.Late
		default:
			end.verdict, end.why = e.judge(string(out), err)
		}
		cancel()
		report(end)
	}
}
