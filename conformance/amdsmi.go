package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/dialing"
)

// amdSMIPackages are AMD's amd-smi, the older rocm-smi, and the Python they are written in. Their
// libraries are not among them: ours take their place.
var amdSMIPackages = []string{
	"amd-smi", "rocm-smi", "python3.14-minimal", "libpython3.14-minimal", "libpython3.14-stdlib", "python3-argcomplete", "python3-yaml",
	"libexpat1", "libffi8", "libyaml-0-2", "zlib1g", "libc6", "libgcc-s1", "libstdc++6",
}

// held is how much memory of a card the test's own HIP client takes.
const held = 96 << 20

// amdSMI runs Debian's amd-smi, unmodified, on workers with two simulated cards.
type amdSMI struct {
	o      *options
	port   string
	env    []string // of amd-smi and smi-remote, beside this process's
	passed int
	failed int
}

// conformAMDSMI runs every command of amd-smi that shows something, as a table and
// as JSON, and compares the figures with those of smi-remote; then those that change
// something, on a worker that allows it and on one that does not.
func conformAMDSMI(ctx context.Context, o *options) (failed int, err error) {
	if err := fetch(ctx, o, slices.Concat(amdSMIPackages, alumetPackages)); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "rocwire-conformance-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	tokens, own, err := operator(dir)
	if err != nil {
		return 0, err
	}
	a := &amdSMI{o: o}
	began := time.Now()
	for _, part := range []struct {
		flags, env []string
		run        func(context.Context) error
	}{
		{nil, nil, a.shown},
		{[]string{"--smi-allow-set", "--token-file", tokens}, []string{dialing.TokenVariable + "=" + own}, a.changed},
	} {
		w, err := startWorker(ctx, o, append([]string{"--sim-arch", "gfx942", "--sim-cards", "2", "--sim-memory", "1G"}, part.flags...)...)
		if err != nil {
			return a.failed, err
		}
		a.port, a.env = w.port, part.env
		err = part.run(ctx)
		w.stop()
		if err != nil {
			return a.failed, err
		}
	}
	fmt.Printf("amd-smi of Debian, its figures against smi-remote's: %d passed, %d failed, %.0f s\n", a.passed, a.failed, time.Since(began).Seconds())
	return a.failed, ctx.Err()
}

// operator writes a token that may change cards, and the file by which a worker knows it.
func operator(dir string) (tokens, own string, err error) {
	token := fmt.Sprintf("rocwire-conformance-%016x%016x", rand.Uint64(), rand.Uint64())
	tokens, own = filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "token")
	return tokens, own, errors.Join(os.WriteFile(own, []byte(token+"\n"), 0o600),
		os.WriteFile(tokens, []byte("tokens:\n- {name: operator, token: "+token+", rights: [hip, read, set]}\n"), 0o600))
}

// shown runs what shows something, while a HIP program holds memory of card 0 and
// card 1 has had errors.
func (a *amdSMI) shown(ctx context.Context) error {
	config := hipremote.FromEnv(os.LookupEnv)
	config.Host, config.Port, config.NoReserve = "127.0.0.1", a.port, true
	config.Logf = func(string, ...any) {} // that the worker stops in the end is no news
	client := hipremote.New(config)
	if _, code := client.Malloc(hip.Thread{}, held); code != hip.Success {
		return fmt.Errorf("hipMalloc: %v", code)
	}
	if _, err := a.remote(ctx, "sim", "set", "ecc", "1", "count=3"); err != nil {
		return err
	}
	for _, c := range shows {
		a.show(ctx, c)
	}
	a.report("(the older rocm-smi)", a.rocmSMI(ctx))
	a.report("(Alumet)", a.alumet(ctx))
	a.report("event", a.events(ctx))
	a.report("set without --smi-allow-set", a.refused(ctx))
	return nil
}

// run is one run of amd-smi. What it shows on a terminal depends on none here.
func (a *amdSMI) run(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	return a.python(ctx, nil, stdin, "usr/libexec/amdsmi_cli/amdsmi_cli.py", args...)
}

// python is one run of a program of the tree.
func (a *amdSMI) python(ctx context.Context, env []string, stdin io.Reader, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, a.o.timeout)
	defer cancel()
	tree := a.o.tree
	command := append(append((&host{o: a.o}).loader(), filepath.Join(tree, "usr/bin/python3.14"), filepath.Join(tree, program)), args...)
	cmd := exec.CommandContext(ctx, "scripts/as_if_amdgpu.sh", command...)
	cmd.Env = append(os.Environ(), "AMDSMI_REMOTE=127.0.0.1:"+a.port, "PYTHONHOME="+filepath.Join(tree, "usr"),
		"PYTHONPATH="+filepath.Join(tree, "usr/lib/python3/dist-packages"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	cmd.Env = append(append(cmd.Env, a.env...), env...)
	cmd.Stdin = stdin
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%w: %s %s", err, tail(out.String(), 200), tail(errs.String(), 300))
	}
	return out.String(), err
}

// remote is what smi-remote says as JSON.
func (a *amdSMI) remote(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(a.o.bin, "smi-remote"), append([]string{"--host", "127.0.0.1", "--port", a.port, "--json"}, args...)...)
	cmd.Env = append(os.Environ(), a.env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("smi-remote %s: %w: %s", strings.Join(args, " "), err, tail(string(out), 300))
	}
	return out, nil
}

// report counts one test and prints its line.
func (a *amdSMI) report(name string, r outcome) {
	word := "passed"
	if len(r.wrong) > 0 {
		word = "FAILED"
		a.failed++
	} else {
		a.passed++
	}
	if r.agreed > 0 {
		word = fmt.Sprintf("%s  %3d figures agree", word, r.agreed)
	}
	fmt.Printf("%-45s %s\n", strings.TrimSpace("amd-smi "+name), word)
	for _, w := range r.wrong {
		fmt.Println("    " + w)
	}
}

// show runs one command as a table and as JSON. smi-remote is asked before and after:
// what changes meanwhile may be anything between.
func (a *amdSMI) show(ctx context.Context, c show) {
	var args []string
	if c.name != "" {
		args = []string{c.name}
	}
	table, err := a.run(ctx, nil, args...)
	r := outcome{}
	if err != nil {
		r.say("%v", err)
	} else if strings.TrimSpace(table) == "" {
		r.say("it printed nothing")
	}
	a.report(c.name, r)

	if len(args) == 0 {
		args = []string{"default"} // how the view without a command is named where options follow
	}
	r = outcome{}
	before, err := a.machine(ctx)
	var text string
	if err == nil {
		text, err = a.run(ctx, nil, append(args, "--json")...)
	}
	var after *machine
	if err == nil {
		after, err = a.machine(ctx)
	}
	var v any
	if err == nil {
		err = json.Unmarshal([]byte(text), &v)
	}
	if err != nil {
		r.say("%v", err)
	} else {
		c.check(&comparison{outcome: &r, before: before, after: after}, v)
	}
	a.report(args[0]+" --json", r)
}
