package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// startTime is how long a program may take before its first case: rocblas-test reads 900 MB of descriptions first.
const startTime = 15 * time.Minute

// errLate is why a program was ended.
var errLate = errors.New("a case ran longer than it may")

// event is what a line says of a case.
type event int

const (
	nothing event = iota
	begins
	ends
)

// lines is a program whose output says line by line which case begins and what became of it, so that one process runs many
// of them, and it is known which one was running when the process ended.
type lines struct {
	command func(ctx context.Context, h *host, cases []string) *exec.Cmd
	most    int  // cases for one process, 0 for all
	inOrder bool // it only says what has ended, and runs the cases in the order that they are given in
	// read tells what a line says. why is what the lines before it said.
	read func(line string, said []string) (event, caseEnd)
}

// run goes on after a case that ends the process, or that is ended because it is late, with those that had not run.
func (l *lines) run(ctx context.Context, h *host, cases []string, report func(caseEnd)) {
	left := cases
	for len(left) > 0 && ctx.Err() == nil {
		now, rest := left, []string(nil)
		if l.most > 0 && len(now) > l.most {
			now, rest = left[:l.most], left[l.most:]
		}
		wanted := map[string]bool{}
		for _, c := range now {
			wanted[c] = true
		}
		err := l.once(ctx, h, now, func(o caseEnd) {
			if wanted[o.name] { // programs name those that failed once more at their end
				delete(wanted, o.name)
				report(o)
			}
		})
		var again []string
		for _, c := range now {
			if wanted[c] {
				again = append(again, c)
			}
		}
		if len(again) == len(now) && ctx.Err() == nil {
			for _, c := range again {
				report(caseEnd{name: c, verdict: results.NotRun, why: fmt.Sprintf("the program did not run it (%v)", err)})
			}
			again = nil
		}
		left = append(again, rest...)
	}
}

// once runs cases in one process.
func (l *lines) once(ctx context.Context, h *host, cases []string, report func(caseEnd)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := l.command(ctx, h, cases)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var running string
	var since time.Time
	var said []string
	first := startTime
	if l.inOrder { // nobody knows when the start is over: it counts as the first case's
		running, since, first = cases[0], time.Now(), h.limit
	}
	dog := time.AfterFunc(first, func() { cancel(errLate) })
	defer dog.Stop()
	in := bufio.NewScanner(out)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		what, o := l.read(in.Text(), said)
		switch what {
		case nothing:
			if t := strings.TrimSpace(in.Text()); t != "" && len(said) < 8 {
				said = append(said, t)
			}
		case begins:
			running, since, said = o.name, time.Now(), nil
			dog.Reset(h.limit)
		case ends:
			if !since.IsZero() {
				o.took = time.Since(since)
			}
			report(o)
			running, since, said = "", time.Now(), nil
			dog.Reset(startTime)
			if i := slices.Index(cases, o.name) + 1; l.inOrder && 0 < i && i < len(cases) {
				running = cases[i]
				dog.Reset(h.limit)
			}
		}
	}
	err = cmd.Wait()
	if h.o.verbose && stderr.Len() > 0 {
		fmt.Fprint(os.Stderr, tail(stderr.String(), 4000)+"\n")
	}
	if running != "" {
		o := caseEnd{name: running, verdict: results.Failed, took: time.Since(since)}
		switch {
		case errors.Is(context.Cause(ctx), errLate):
			o.verdict = results.Late
		case ctx.Err() != nil:
			return ctx.Err() // somebody wants an end: that says nothing of the case
		default:
			o.why = fmt.Sprintf("the program ended: %v: %s", err, tail(strings.Join(said, " ")+" "+stderr.String(), 300))
		}
		report(o)
	}
	if err == nil && running == "" {
		return errors.New("it ended without a word of it")
	}
	return fmt.Errorf("%w: %s", err, tail(stderr.String(), 300))
}
