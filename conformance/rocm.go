package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rocwire/rocwire/examples"
)

// rocmNot is what does not pass, and why: a test a line, and the reason.
//
//go:embed rocm_not.tsv
var rocmNot string

// rocmTests are the groups of hip/hiptest that have a test which passes, and what matches those that do not.
func rocmTests(ctx context.Context, dir string) (groups []string, skip string, err error) {
	list, err := exec.CommandContext(ctx, filepath.Join(dir, "hipgroups"), "-list").Output()
	if err != nil {
		return nil, "", fmt.Errorf("hipgroups -list: %w", err)
	}
	tests := strings.Fields(string(list))
	var names []string
	for line := range strings.Lines(rocmNot) {
		test, _, _ := strings.Cut(line, "\t")
		at := slices.Index(tests, test)
		if at < 0 {
			return nil, "", fmt.Errorf("rocm_not.tsv: there is no test %s", test)
		}
		tests = slices.Delete(tests, at, at+1)
		names = append(names, "^hip$/^"+strings.ReplaceAll(test, "/", "$/^")+"$")
	}
	for _, test := range tests {
		group, _, _ := strings.Cut(test, "/")
		groups = append(groups, group)
	}
	return slices.Compact(groups), strings.Join(names, "|"), nil
}

// rocmPrograms are those of our programs that run on it, too.
var rocmPrograms = []string{"examples/hello_hip/hello_hip.c", "examples/tests/boxes.c"}

// rocmSlow is the program of rocRAND's that takes minutes, as long as all others here together: -only hsa has it.
const rocmSlow = "rocrand/test_rocrand_mt19937_prng"

// conformROCm runs programs of ours, rocRAND's sample and the conformance suite on workers with --backend rocm, whose library is AMD's own on the simulated card.
func conformROCm(ctx context.Context, o *options) (failed int, err error) {
	version, dir, end, err := prepareHSA(ctx, o)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := buildForTree(ctx, o, dir); err != nil {
		return 0, err
	}
	groups, skip, err := rocmTests(ctx, dir)
	if err != nil {
		return 0, err
	}
	rocrand, err := hsaRocrand()
	if err != nil {
		return 0, err
	}
	all := newPrograms()
	for _, arch := range hsaArches {
		w, err := startROCmWorker(ctx, o, dir, arch)
		if err != nil {
			return all.failed, err
		}
		env := []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + w.port}
		for _, p := range examples.Programs {
			if !slices.Contains(rocmPrograms, p.Run) || !o.match.MatchString("rocm/"+p.Run) {
				continue
			}
			start := time.Now()
			why, err := hipProgram(ctx, o, dir, o.lib, env, p)
			if err != nil {
				w.stop()
				return all.failed, err
			}
			all.ended(arch, "rocm/"+strings.TrimPrefix(p.Run, "examples/"), why, start)
		}
		for _, c := range rocrand {
			if c.on != arch || c.name == rocmSlow || ctx.Err() != nil || !o.match.MatchString("rocm/"+c.name) {
				continue
			}
			start := time.Now()
			why, err := c.run(ctx, o, dir, arch, o.lib, env...)
			if err != nil {
				w.stop()
				return all.failed, err
			}
			all.ended(arch, "rocm/"+c.name, why, start)
		}
		for _, g := range groups {
			if ctx.Err() == nil && o.match.MatchString("rocm/"+g) {
				start := time.Now()
				all.ended(arch, "rocm/"+g, hipGroup(ctx, dir, env, skip, g), start)
			}
		}
		w.stop()
		if ctx.Err() != nil {
			return all.failed, ctx.Err()
		}
	}
	all.done("worker on AMD's HIP " + version)
	return all.failed, nil
}

// buildForTree builds a worker for the tree's C library, which AMD's library needs: this machine's may be older. And the suite as a program, for this machine's.
func buildForTree(ctx context.Context, o *options, dir string) error {
	loader := filepath.Join(o.tree, "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2")
	for _, args := range [][]string{
		{"-ldflags", "-extldflags '-Wl,--dynamic-linker=" + loader + "'", "./cmd/hip-worker", "./cmd/hip-session"},
		{"./conformance/internal/hipgroups"},
	} {
		if out, err := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// startROCmWorker starts a worker on AMD's library and a simulated card. Its sessions are confined if their users may go the way to the tree.
func startROCmWorker(ctx context.Context, o *options, dir, arch string) (*worker, error) {
	flags := []string{"--backend", "rocm", "--smi-backend", "none", "--park", "0"}
	if !openToAll(o.tree) || !openToAll(o.lib) {
		fmt.Fprintf(os.Stderr, "conformance: sessions are not confined: their users may not go the way to %s or %s\n", o.tree, o.lib)
		flags = append(flags, "--unconfined-sessions")
	}
	in := *o
	in.bin = dir
	return startWorkerWith(ctx, &in, []string{
		"LD_LIBRARY_PATH=" + filepath.Join(o.lib, "hsa") + ":" + filepath.Join(o.tree, "usr/lib/x86_64-linux-gnu"), "ROCWIRE_SIM_ARCH=" + arch, "ROCWIRE_SIM_CARDS=2",
	}, flags...)
}

// openToAll says whether everybody may go the way to a path.
func openToAll(path string) bool {
	for ; ; path = filepath.Dir(path) {
		st, err := os.Stat(path)
		if err != nil || st.Mode()&0o001 == 0 {
			return false
		}
		if path == "/" {
			return true
		}
	}
}

// hipGroup runs a group of hip/hiptest but for what skip matches; why is "" if it passed.
func hipGroup(ctx context.Context, dir string, env []string, skip, group string) (why string) {
	limit, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(limit, filepath.Join(dir, "hipgroups"), "-test.v", "-test.skip", skip, group)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case limit.Err() != nil:
		return "it ran longer than " + programTime.String() + ": " + tail(string(out), 200)
	case err != nil:
		return fmt.Sprintf("%v: %s", err, tail(string(out), 800))
	case !strings.Contains(string(out), "--- PASS: hip/"+group+"/"):
		return "no test ran: " + tail(string(out), 200)
	}
	return ""
}
