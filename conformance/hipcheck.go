package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rocwire/rocwire/conformance/internal/judge"
)

const (
	hipcheckReasons = "conformance/hipcheck/reasons.txt"
	hipcheckListed  = "conformance/hipcheck/differences.tsv"
	hipcheckPage    = "docs/hip-differences.md"
)

const hipcheckIntro = `<!-- Made by go run ./conformance -only hipcheck -accept; DO NOT EDIT. -->
# Where AMD's library and ours answer differently

[conformance/hipcheck](../conformance/hipcheck) is one program in C that prints what a ` + "`libamdhip64.so.6`" + ` answers, one line a case. It runs on AMD's library (Debian's 6.4.3, unmodified, over the
simulated card: [hsa.md](hsa.md)) and on ours over a worker with the same card. Most cases are made from the API table: each function with arguments that are right (` + "`.`" + `) and with each argument wrong in
every way that the table knows; each says the code, and the last error where that is another one. The others are what a table cannot say: the last error, default streams, capture, graphs and their
updates, pools, pointers, limits, attributes, modules, launches, faults.

What stands here is every case in which the two differ, and why. ` + "`go run ./conformance -only hipcheck`" + ` fails if there is another one, or if one of these is gone;
[differences.tsv](../conformance/hipcheck/differences.tsv) has them one by one.

`

// conformHIPCheck compares what AMD's library answers on the simulated card with what ours does over a worker.
func conformHIPCheck(ctx context.Context, o *options) (failed int, err error) {
	if err := fetch(ctx, o, hsaPackages); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "rocwire-hipcheck")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	f, err := os.Open(hipcheckReasons)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	reasons, err := judge.ReadReasons(f)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", hipcheckReasons, err)
	}
	c := &hipcheck{o: o, dir: dir, bin: filepath.Join(dir, "hipcheck")}
	if err := c.build(ctx); err != nil {
		return 0, err
	}
	b, err := os.ReadFile(hipcheckListed)
	if err != nil {
		return 0, err
	}
	listed, cases, err := judge.ReadListed(bytes.NewReader(b))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", hipcheckListed, err)
	}
	var all []judge.Difference
	at := map[string]bool{} // by target and case
	for _, arch := range hsaArches {
		began := time.Now()
		amd, ours, err := c.both(ctx, arch)
		if err != nil {
			return failed, err
		}
		for _, s := range []judge.Seen{amd, ours} {
			for name := range s {
				at[arch+"\t"+name] = true
			}
		}
		cases[arch] = max(cases[arch], len(amd))
		ds := judge.Differences(arch, amd, ours, reasons)
		for _, d := range ds {
			if d.Reason == nil {
				failed++
				fmt.Printf("    %s\t%s\t%s\t%s\n", arch, d.Case, d.AMD, d.Ours)
			}
		}
		all = append(all, ds...)
		fmt.Printf("%-10s hipcheck: %d cases, %d answered differently, %.0f s\n", arch, len(amd), len(ds), time.Since(began).Seconds())
	}
	looked := func(target, name string) bool { return at[target+"\t"+name] }
	seen := judge.List(all)
	if o.accept && failed == 0 {
		return 0, accept(cases, listed.With(seen, looked), reasons)
	}
	added, gone := listed.Compare(seen, looked)
	for _, l := range added {
		fmt.Printf("    not listed: %s\n", l)
	}
	for _, l := range gone {
		fmt.Printf("    listed, and gone: %s\n", l)
	}
	return failed + len(added) + len(gone), nil
}

// hipcheck is the program, and where it runs.
type hipcheck struct {
	o        *options
	dir, bin string
}

func (c *hipcheck) build(ctx context.Context) error {
	files, err := filepath.Glob("conformance/hipcheck/*.c")
	if err != nil {
		return err
	}
	args := append([]string{"-O1", "-Wall", "-Wextra", "-Wno-deprecated-declarations", "-D_GNU_SOURCE", "-Ihip/include", "-Ilibrocwire/testdata", "-Iconformance/hipcheck"}, files...)
	args = append(args, "-o", c.bin, filepath.Join(c.o.lib, "libamdhip64.so.6"), "-Wl,--allow-shlib-undefined,-z,lazy", "-lm", "-lpthread")
	if out, err := exec.CommandContext(ctx, "cc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("conformance/hipcheck: %w (make build first)\n%s", err, out)
	}
	return nil
}

// both runs the program on both libraries at once.
func (c *hipcheck) both(ctx context.Context, arch string) (amd, ours judge.Seen, err error) {
	w, err := startWorker(ctx, c.o, "--sim-arch", arch)
	if err != nil {
		return nil, nil, err
	}
	defer w.stop()
	debian := filepath.Join(c.o.tree, "usr/lib/x86_64-linux-gnu")
	// Both are started in the same way: ours, too, finds AMD's libhiprtc, by which device code is linked.
	with := func(lib string) []string {
		return []string{filepath.Join(c.o.tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", lib + ":" + debian, c.bin}
	}
	groups, err := c.command(ctx, arch, []string{"LD_LIBRARY_PATH=" + c.o.lib}, []string{c.bin}, "-list").Output()
	if err != nil {
		return nil, nil, fmt.Errorf("hipcheck -list: %w", err)
	}
	var of [2]judge.Seen
	var errs [2]error
	var wg sync.WaitGroup
	for i, run := range []func() (judge.Seen, error){
		func() (judge.Seen, error) {
			return c.all(ctx, arch, string(groups), c.o.keep, []string{"ROCWIRE_SIM_ARCH=" + arch}, with(filepath.Join(c.o.lib, "hsa")))
		},
		func() (judge.Seen, error) {
			return c.all(ctx, arch, string(groups), "", []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port}, with(c.o.lib))
		},
	} {
		wg.Go(func() { of[i], errs[i] = run() })
	}
	wg.Wait()
	return of[0], of[1], errors.Join(errs[:]...)
}

// all runs the groups that -run asks for on one library, some at once. With keep, what is in that folder is not run again.
func (c *hipcheck) all(ctx context.Context, arch, groups, keep string, env, command []string) (judge.Seen, error) {
	outs := make([][]byte, strings.Count(groups, "\n"))
	var g errgroup.Group
	g.SetLimit(2 * runtime.NumCPU()) // most of the time somebody waits
	for i, name := range strings.Split(strings.TrimSpace(groups), "\n") {
		if !c.o.match.MatchString(name) {
			continue
		}
		g.Go(func() error {
			file := filepath.Join(keep, arch+" "+name)
			if b, err := os.ReadFile(file); keep != "" && err == nil {
				outs[i] = b
				return nil
			}
			cmd := c.command(ctx, arch, env, command, name)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			b, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("hipcheck %s: %w\n%s", name, err, tail(stderr.String(), 400))
			}
			if outs[i] = b; keep != "" {
				return os.WriteFile(file, b, 0o644)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s := judge.Seen{}
	return s, s.Read(bytes.NewReader(bytes.Join(outs, nil)))
}

func (c *hipcheck) command(ctx context.Context, arch string, env, command []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], args...)...)
	kernels, _ := filepath.Abs(filepath.Join("examples/kernels", arch))
	cmd.Env = append(append(os.Environ(), "HIPCHECK_KERNELS="+kernels), env...)
	// Where functions write files that they were told to: no other group is to find them.
	if dir, err := os.MkdirTemp(c.dir, "group"); err != nil {
		cmd.Err = err
	} else {
		cmd.Dir = dir
	}
	// The groups' processes must not outlive it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// accept writes the list and the page.
func accept(cases map[string]int, l judge.Listed, reasons []*judge.Reason) error {
	var list, page bytes.Buffer
	err := errors.Join(l.Write(&list, cases), judge.Page(&page, hipcheckIntro, cases, l, reasons))
	return errors.Join(err, os.WriteFile(hipcheckListed, list.Bytes(), 0o644), os.WriteFile(hipcheckPage, page.Bytes(), 0o644))
}
