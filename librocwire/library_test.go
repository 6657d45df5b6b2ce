package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples"
)

// built is where TestMain puts the library, the worker and the test programs.
var built string

const root = ".."

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "libamdhip64")
	if err == nil {
		err = os.Chmod(dir, 0o755) // session processes run as other users
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	for _, c := range [][]string{
		{"librocwire/build.sh", filepath.Join(dir, "lib")},
		{"go", "build", "-o", dir, "./cmd/hip-worker", "./cmd/hip-session"},
	} {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = root
		if c[0] != "go" {
			cmd.Path, _ = filepath.Abs(filepath.Join(root, c[0]))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %v\n%s", c, err, out)
			return 1
		}
	}
	return m.Run()
}

func library() string { return filepath.Join(built, "lib", "libamdhip64.so.6") }

// program compiles one of the C programs, once.
func program(t *testing.T, source string) string {
	t.Helper()
	bin := filepath.Join(built, strings.TrimSuffix(filepath.Base(source), ".c"))
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	args := []string{"-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-Ihip/include", source, "-o", bin + ".new"}
	if strings.HasSuffix(source, "lazy.c") { // opens the library itself
		args = append(args, "-ldl", "-lpthread")
	} else {
		args = append(args, library(), "-Wl,-rpath,"+filepath.Dir(library()), "-lm", "-lpthread")
	}
	build(t, "gcc", args...)
	if err := os.Rename(bin+".new", bin); err != nil {
		t.Fatal(err)
	}
	return bin
}

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// worker starts a worker and returns the environment that leads to it.
func worker(t *testing.T, env []string, args ...string) []string {
	t.Helper()
	return workerBy(t, (*exec.Cmd).Start, env, args...)
}

// workerBy is worker, started by start.
func workerBy(t *testing.T, start func(*exec.Cmd) error, env []string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(filepath.Join(built, "hip-worker"), append(args, "--port", "0")...)
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker: %v", err)
		}
		if t.Failed() {
			t.Logf("the worker's log:\n%s", log.String())
		}
	})
	lines := bufio.NewScanner(out)
	port := regexp.MustCompile(`hip-worker.*\bport (\d+)`)
	for lines.Scan() {
		if m := port.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + m[1]}
		}
	}
	t.Fatal("the worker did not say where it listens")
	return nil
}

// runs runs a program and returns all it wrote; it must end with status 0.
func runs(t *testing.T, env []string, bin string, args ...string) string {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), env...)
	// Long enough for a machine that does much else; a program that hangs is killed.
	kill := time.AfterFunc(4*time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(bin), strings.Join(args, " "), err, out)
	}
	return string(out)
}

func runPrograms(t *testing.T, env []string) {
	for _, p := range examples.Programs {
		source, arg, _ := strings.Cut(p.Run, " ")
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		t.Run(name+arg, func(t *testing.T) {
			var args []string
			if arg != "" {
				args = append(args, arg)
			}
			if out := runs(t, env, program(t, source), args...); !strings.Contains(out, p.Wants) {
				t.Errorf("%q does not stand in:\n%s", p.Wants, out)
			}
		})
	}
}

// The programs on a worker's card, for each architecture.
func TestRemote(t *testing.T) {
	archs := []string{"gfx90a", "gfx942"}
	if testing.Short() {
		archs = archs[:1]
	}
	for _, arch := range archs {
		t.Run(arch, func(t *testing.T) {
			runPrograms(t, worker(t, nil, "--backend", "sim", "--sim-arch", arch))
		})
	}
}

// The programs on a simulated card in their own process. Each process has a card
// of its own then, and one opens what another gives away.
func TestLocal(t *testing.T) {
	runPrograms(t, []string{"TF_WORKER_HOST=sim:", "ROCWIRE_SIM_ARCH=gfx90a"})
}

// A program may choose its devices with setenv before it first calls HIP.
func TestChosen(t *testing.T) {
	first := program(t, "examples/tests/first.c")
	env := worker(t, nil, "--backend", "sim", "--sim-cards", "2")
	zero, one := runs(t, env, first, "chosen", "0"), runs(t, env, first, "chosen", "1")
	if zero == one || !strings.Contains(zero, "bus ") {
		t.Errorf("the same device: %q, %q", zero, one)
	}
}

// proxy starts a worker whose real library is this one, on another worker's
// simulated cards, and returns the environment that leads to it.
func proxy(t *testing.T, cards ...string) []string {
	t.Helper()
	return proxyOf(t, worker(t, nil, append([]string{"--backend", "sim", "--sim-arch", "gfx942"}, cards...)...))
}

// proxyOf is proxy for a worker that runs.
func proxyOf(t *testing.T, env []string) []string {
	t.Helper()
	if err := os.Symlink(built, filepath.Join(built, "rocm")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return worker(t, append(env, "ROCM_PATH="+filepath.Join(built, "rocm")), "--backend", "rocm", "--session-network")
}

// A worker whose real library is this one is a proxy for another worker: what
// comes out of both C boundaries must be the same.
func TestProxy(t *testing.T) {
	runPrograms(t, proxy(t))
}

// The way to a worker on the same machine is a Unix socket.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.sock")
	worker(t, nil, "--backend", "sim", "--listen", "127.0.0.1", "--listen", "unix:"+path)
	for _, name := range []string{"quick", "threads"} {
		runs(t, []string{"TF_WORKER_HOST=unix:" + path}, program(t, "examples/tests/"+name+".c"))
	}
}

// A program compiled by clang from one source for host and device.
func TestClang(t *testing.T) {
	clang, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("clang++-19 is missing")
	}
	object, bin := filepath.Join(built, "launch.o"), filepath.Join(built, "launch")
	build(t, clang, "-x", "hip", "--offload-arch=gfx90a", "--offload-arch=gfx942", "-nogpuinc", "-nogpulib", "-O2", "-Wall", "-Werror",
		"-Ihip/include", "-c", "examples/tests/launch.hip", "-o", object)
	build(t, "g++", object, "-o", bin, library(), "-Wl,-rpath,"+filepath.Dir(library()))
	for _, arch := range []string{"gfx90a", "gfx942"} {
		t.Run(arch, func(t *testing.T) {
			for where, env := range map[string][]string{
				"worker": worker(t, nil, "--backend", "sim", "--sim-arch", arch, "--sim-cards", "2"),
				"local":  {"TF_WORKER_HOST=sim:", "ROCWIRE_SIM_ARCH=" + arch},
			} {
				if out := runs(t, env, bin); !strings.Contains(out, "launch: ok") {
					t.Errorf("%s: wrote %q", where, out)
				}
			}
		})
	}
	// A library chooses the memory of managed variables itself: such a module is refused, not loaded wrong.
	cmd := exec.Command(bin)
	cmd.Env = append(os.Environ(), proxy(t)...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "hipErrorNotSupported") {
		t.Errorf("behind a library: %v\n%s", err, out)
	}
}

// Without a worker the library loads, answers what needs none, and says once
// what is wrong when one is needed.
func TestNoWorker(t *testing.T) {
	lazy := program(t, "examples/tests/lazy.c")
	env := []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=1"}
	if out := runs(t, env, lazy, library()); out != "" {
		t.Errorf("a program that needs no worker was told:\n%s", out)
	}
	out := runs(t, env, lazy, library(), "absent")
	if !strings.Contains(out, "127.0.0.1") || !strings.Contains(out, "refused") || strings.Count(out, "\n") != 1 {
		t.Errorf("not one line that names host and reason:\n%s", out)
	}
}

// The run-time compiler's functions are the machine's libhiprtc's, if it has one.
func TestHiprtc(t *testing.T) {
	rtc := program(t, "examples/tests/rtc.c")
	stub := filepath.Join(built, "stub", "libhiprtc.so.6")
	if err := os.MkdirAll(filepath.Dir(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, "gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-Ihip/include", "librocwire/testdata/hiprtc.c", "-o", stub)
	runs(t, []string{"LD_LIBRARY_PATH=" + filepath.Dir(stub)}, rtc, "compile")
	runs(t, []string{"ROCWIRE_HIPRTC=" + stub}, rtc, "compile")
	for _, none := range []string{"/nonexistent/libhiprtc.so.6", library()} {
		out := runs(t, []string{"ROCWIRE_HIPRTC=" + none}, rtc)
		if !strings.Contains(out, none) || strings.Count(out, "rocwire:") != 1 {
			t.Errorf("without a compiler, one line that names it is wanted:\n%s", out)
		}
	}
}
