package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
)

// gtest is a program made with GoogleTest.
type gtest struct {
	path string // in the tree
	args []string
	idle string // what a case says that passes without having computed: it counts as one that skips itself
}

// filterSize is how long the list of cases may be: Linux takes 128 KiB in one argument.
const filterSize = 120_000

var gtestLine = regexp.MustCompile(`^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^ ,(]+)`)

func (g *gtest) list(ctx context.Context, h *host) ([]string, error) {
	cmd := h.command(ctx, g.path, append(g.args, "--gtest_list_tests")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	names, err := gtestNames(out)
	if e := cmd.Wait(); err == nil && e != nil && len(names) == 0 {
		err = e
	}
	return names, err
}

// gtestNames reads what --gtest_list_tests prints: "suite." and below it "  name  # what it is". Programs print other things before it.
func gtestNames(r io.Reader) (names []string, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 16<<20)
	var suite string
	for in.Scan() {
		l, _, _ := strings.Cut(in.Text(), "  #")
		name := strings.TrimPrefix(l, "  ")
		switch {
		case strings.ContainsAny(name, " \t:") || name == "":
			suite = ""
		case name != l:
			if suite != "" && !strings.HasPrefix(name, "DISABLED_") && !strings.Contains(suite, "DISABLED_") {
				names = append(names, suite+name)
			}
		case strings.HasSuffix(l, "."):
			suite = l
		}
	}
	return names, in.Err()
}

// run gives a process as many cases as fit into a filter.
func (g *gtest) run(ctx context.Context, h *host, cases []string, report func(caseEnd)) {
	l := lines{
		command: func(ctx context.Context, h *host, cases []string) *exec.Cmd {
			return h.command(ctx, g.path, append(g.args, "--gtest_color=no", "--gtest_filter="+strings.Join(cases, ":"))...)
		},
		read: g.read,
	}
	for len(cases) > 0 && ctx.Err() == nil {
		n, size := 0, 0
		for n < len(cases) && (n == 0 || size+len(cases[n]) < filterSize) {
			size += len(cases[n]) + 1
			n++
		}
		l.run(ctx, h, cases[:n], report)
		cases = cases[n:]
	}
}

// read is readGtest, but for cases that passed and did nothing.
func (g *gtest) read(line string, said []string) (event, caseEnd) {
	what, o := readGtest(line, said)
	if g.idle != "" && o.verdict == results.Passed && slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, g.idle) }) {
		o.verdict, o.why = results.Skipped, tail(strings.Join(said, " "), 300)
	}
	return what, o
}

func readGtest(line string, said []string) (event, caseEnd) {
	m := gtestLine.FindStringSubmatch(line)
	if m == nil {
		return nothing, caseEnd{}
	}
	o := caseEnd{name: m[2], why: tail(strings.Join(said, " "), 300)}
	switch m[1] {
	case "RUN":
		return begins, o
	case "OK":
		o.verdict, o.why = results.Passed, ""
	case "SKIPPED":
		o.verdict = results.Skipped
	default:
		o.verdict = results.Failed
	}
	return ends, o
}

// gtests are programs of a folder of the tree.
func gtests(folder string, names ...string) (all []program) {
	for _, n := range names {
		all = append(all, program{name: n, test: &gtest{path: fmt.Sprintf("%s/%s", folder, n)}})
	}
	return all
}
