package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rocwire/rocwire/examples"
	"github.com/rocwire/rocwire/examples/kernels"
)

// programTime is how long one of the C programs may take: seconds, on an idle machine.
const programTime = 5 * time.Minute

// conformHIPC runs the project's programs in C (package examples): on our own
// library over a worker, for each simulated processor, or with -hip on another
// libamdhip64.so.6 and what that finds on this machine.
func conformHIPC(ctx context.Context, o *options) (failed int, err error) {
	dir, err := os.MkdirTemp("", "rocwire-hip-c")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if o.hip != "" {
		return hipPrograms(ctx, o, dir, o.hip, o.hip, nil)
	}
	for _, arch := range kernels.Arches {
		w, err := startWorker(ctx, o, "--sim-arch", arch)
		if err != nil {
			return failed, err
		}
		n, err := hipPrograms(ctx, o, dir, arch, o.lib, []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port})
		w.stop()
		failed += n
		if err != nil {
			return failed, err
		}
	}
	return failed, nil
}

// hipPrograms runs the programs with the library in a folder and says how each ended.
func hipPrograms(ctx context.Context, o *options, dir, what, lib string, env []string) (failed int, err error) {
	all := newPrograms()
	for _, p := range examples.Programs {
		if !o.match.MatchString(p.Run) {
			continue
		}
		start := time.Now()
		why, err := hipProgram(ctx, o, dir, lib, env, p)
		if err != nil {
			return all.failed, err
		}
		if ctx.Err() != nil {
			return all.failed, ctx.Err()
		}
		all.ended(filepath.Base(what), strings.TrimPrefix(p.Run, "examples/"), why, start)
	}
	all.done("programs in C on " + what)
	return all.failed, nil
}

// hipProgram runs one program; why is "" if all was as it should be. The program
// is linked against our library, whose symbols and versions are AMD's, and runs
// with the one in the folder lib.
func hipProgram(ctx context.Context, o *options, dir, lib string, env []string, p examples.Program) (why string, err error) {
	source, arg, _ := strings.Cut(p.Run, " ")
	bin := filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".c"))
	if _, err := os.Stat(bin); errors.Is(err, os.ErrNotExist) {
		cc := os.Getenv("CC")
		if cc == "" {
			cc = "cc"
		}
		out, err := exec.CommandContext(ctx, cc, "-O2", "-D_GNU_SOURCE", "-Ihip/include", source, "-o", bin,
			filepath.Join(o.lib, "libamdhip64.so.6"), "-Wl,--allow-shlib-undefined", "-lm", "-lpthread").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w (make build first)\n%s", source, err, out)
		}
	}
	limit, cancel := context.WithTimeout(ctx, min(o.timeout, programTime))
	defer cancel()
	cmd := exec.CommandContext(limit, bin, strings.Fields(arg)...)
	cmd.Env = append(append(os.Environ(), env...), "LD_LIBRARY_PATH="+lib+":"+os.Getenv("LD_LIBRARY_PATH"))
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if o.verbose {
		fmt.Fprint(os.Stderr, string(out))
	}
	switch {
	case limit.Err() != nil && ctx.Err() == nil:
		return "it ran longer than " + min(o.timeout, programTime).String(), nil
	case err != nil:
		return fmt.Sprintf("%v: %s", err, tail(string(out), 400)), nil
	case (o.hip == "" || !examples.OwnWords[p.Run]) && !strings.Contains(string(out), p.Wants):
		return fmt.Sprintf("%q does not stand in: %s", p.Wants, tail(string(out), 400)), nil
	}
	return "", nil
}
