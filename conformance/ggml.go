package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rocwire/rocwire/conformance/internal/results"
	"github.com/rocwire/rocwire/internal/llamacpp"
)

const ggmlTest = "usr/libexec/x86_64-linux-gnu/ggml/test-backend-ops"

// ggmlPrograms are ggml's operations, each with the cases that test-backend-ops has of it: all are known to its backend for CPUs, which the others are compared with.
func ggmlPrograms(o *options) ([]program, error) {
	cpu, hip, err := llamacpp.Folders(o.tree, filepath.Join(o.tree, lists, "ggml"))
	if err != nil {
		return nil, err
	}
	cmd := (&host{o: o, w: &worker{}}).command(context.Background(), ggmlTest, "support", "-b", "CPU", "--output", "csv")
	cmd.Dir = cpu
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("test-backend-ops support: %w", err)
	}
	ops, cases, err := ggmlCases(string(out))
	if err != nil {
		return nil, err
	}
	var all []program
	for _, op := range ops {
		all = append(all, program{name: op, test: &ggmlOp{dir: hip, cases: cases[op]}})
	}
	return all, nil
}

// ggmlCases reads the table of all cases: which operations there are, and the cases of each as the program names them, once.
func ggmlCases(table string) (ops []string, cases map[string][]string, err error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) < 2 || len(rows[0]) < 3 || rows[0][1] != "op_name" || rows[0][2] != "op_params" {
		return nil, nil, errors.Join(err, errors.New("test-backend-ops support prints no table of operations"))
	}
	cases = map[string][]string{}
	seen := map[string]bool{}
	for _, r := range rows[1:] {
		op, name := r[1], r[1]+"("+r[2]+")"
		if seen[name] {
			continue
		}
		seen[name] = true
		if cases[op] == nil {
			ops = append(ops, op)
		}
		cases[op] = append(cases[op], name)
	}
	return ops, cases, nil
}

// ggmlOp is the cases of one operation.
type ggmlOp struct {
	dir   string // with the backends; the program runs there
	cases []string
}

func (g *ggmlOp) list(context.Context, *host) ([]string, error) { return g.cases, nil }

func (g *ggmlOp) run(ctx context.Context, h *host, cases []string, report func(caseEnd)) {
	l := lines{
		command: func(ctx context.Context, h *host, cases []string) *exec.Cmd {
			cmd := h.command(ctx, ggmlTest, "test", "-b", "ROCm0", "-o", strings.Join(cases, ","))
			cmd.Dir = g.dir
			return cmd
		},
		most:    200, // their names in one argument
		inOrder: true,
		read:    readGGML,
	}
	l.run(ctx, h, cases, report)
}

var (
	ggmlLine  = regexp.MustCompile(`^(.*?)([A-Z0-9_]+\(.*\)): *(OK|FAIL|not supported.*)`)
	ansiCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

func readGGML(line string, said []string) (event, caseEnd) {
	m := ggmlLine.FindStringSubmatch(strings.TrimSpace(ansiCodes.ReplaceAllString(line, "")))
	if m == nil {
		return nothing, caseEnd{}
	}
	o := caseEnd{name: m[2]}
	switch {
	case m[3] == "OK":
		o.verdict = results.Passed
	case m[3] == "FAIL":
		o.verdict, o.why = results.Failed, tail(strings.Join(said, " ")+" "+m[1], 300)
	default:
		o.verdict, o.why = results.Skipped, m[3]
	}
	return ends, o
}
