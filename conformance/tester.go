package main

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// tester knows one way of test programs to name their cases, to be told which to run, and to say what came of them.
type tester interface {
	// list names all cases.
	list(ctx context.Context, h *host) ([]string, error)
	// run runs cases, and reports each of them once as soon as it ends.
	run(ctx context.Context, h *host, cases []string, report func(caseEnd))
}

// caseEnd is what became of a case.
type caseEnd struct {
	name    string
	verdict results.Verdict
	why     string
	took    time.Duration
}
