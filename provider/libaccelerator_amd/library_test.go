package main

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocwire/rocwire/examples/kernels"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
)

// longVariable makes the host run at the hypervisor's own rates for two minutes.
const longVariable = "ROCWIRE_LONG_TESTS"

// built is where TestMain puts the library, the worker and the hosts.
var built string

const root = "../.."

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "libaccelerator")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = dir
	for _, c := range []struct {
		dir, env string
		args     []string
	}{
		{".", "", []string{"./build.sh", dir}},
		{root, "", []string{"go", "build", "-o", dir, "./cmd/hip-worker", "./cmd/hip-session"}},
		{"testdata/host", "CGO_ENABLED=0", []string{"go", "build", "-o", filepath.Join(dir, "host"), "."}},
		{".", "", []string{"gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I..", "testdata/contract.c", "-o", filepath.Join(dir, "contract"), "-ldl", "-lpthread"}},
		{".", "", []string{"gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I..", "testdata/show.c", "-o", filepath.Join(dir, "show"), "-ldl"}},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Dir = c.dir
		cmd.Env = append(os.Environ(), c.env)
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %v\n%s", c.args, err, out)
			return 1
		}
	}
	return m.Run()
}

func library() string { return filepath.Join(built, "libaccelerator_amd.so") }

// runs runs a program of built and returns what it wrote to each stream; it must end
// with status 0.
func runs(t *testing.T, env []string, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(built, name), args...)
	// What the environment of the test says of workers is none of the program's business.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "TF_") && !strings.HasPrefix(v, "AMDSMI_") && !strings.HasPrefix(v, "ROCWIRE_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Long enough for a machine that does much else; a program that hangs is killed.
	kill := time.AfterFunc(6*time.Minute, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// The library exports what the two headers declare, and nothing else.
func TestExports(t *testing.T) {
	var want []string
	declares := regexp.MustCompile(`(?m)^(?:AccelResult|VgpuResult|bool) (\w+)\(`)
	for _, h := range []string{"accelerator.h", "virtualgpu.h"} {
		b, err := os.ReadFile(filepath.Join("..", h))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declares.FindAllStringSubmatch(string(b), -1) {
			want = append(want, m[1])
		}
	}
	if len(want) != 29 {
		t.Errorf("the headers declare %d functions: %v", len(want), want)
	}
	f, err := elf.Open(library())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			got = append(got, s.Name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("exports %v\nwant %v", got, want)
	}
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range libs {
		if !slices.Contains([]string{"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}, l) {
			t.Errorf("it needs %s", l)
		}
	}
	if names, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(names, []string{"libaccelerator_amd.so"}) {
		t.Errorf("SONAME %v, %v", names, err)
	}
}

// A C program has the contract kept to it, with either layout of the topology.
func TestContract(t *testing.T) {
	for _, layout := range []string{"c", "go"} {
		t.Run(layout, func(t *testing.T) {
			env := []string{
				"TF_WORKER_HOST=sim:", "ROCWIRE_SIM_CARDS=2", "ROCWIRE_ACCELERATOR_TOPOLOGY=" + layout,
				"ROCWIRE_ACCELERATOR_MOUNTS=/opt/rocm:/rocm,/both,relative",
			}
			if out, _ := runs(t, env, "contract", library(), layout); !strings.Contains(out, "contract: ok") {
				t.Errorf("%s", out)
			}
		})
	}
}

// Without a source, AccelInit fails and says in one line why.
func TestNoSource(t *testing.T) {
	for env, line := range map[string]string{
		"TF_WORKER_HOST=127.0.0.1 TF_WORKER_PORT=1":  "127.0.0.1:1",
		"AMDSMI_REMOTE=unix:/nonexistent/socket":     "/nonexistent/socket",
		"AMDSMI_REMOTE=worker":                       "AMDSMI_REMOTE",
		"TF_WORKER_HOST=sim: ROCWIRE_SIM_CARDS=many": "ROCWIRE_SIM_CARDS",
		"TF_WORKER_HOST=sim: ROCWIRE_SIM_ARCH=vega":  "vega",
	} {
		out, _ := runs(t, strings.Fields(env), "show", library())
		if !strings.Contains(out, "log ERROR") || !strings.Contains(out, line) || !strings.Contains(out, "init 5\n") || strings.Count(out, "\n") != 2 {
			t.Errorf("%s:\n%s", env, out)
		}
	}
}

// Limits are kept by a worker that takes settings, from who has the right to make them: a
// program that uses it has what they leave. Another worker's cards say that there are none.
func TestLimits(t *testing.T) {
	const token = "rocwire-test-0123456789abcdef"
	dir := t.TempDir()
	tokens, own := filepath.Join(dir, "tokens.yaml"), filepath.Join(dir, "token")
	for name, text := range map[string]string{tokens: "tokens:\n- {name: hypervisor, token: " + token + ", rights: [read, set]}\n", own: token + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := []string{"TF_WORKER_TOKEN_FILE=" + own}
	const none = "limits 3 3\nlimits 3 3\nlimits 3\n"
	for _, c := range []struct {
		args, env     []string
		can, answered string
		total         uint64
	}{
		{[]string{"--smi-allow-set", "--token-file", tokens}, known, "can 001011", "limits 0 0\nlimits 0 0\nlimits 2\n", 256 << 20},
		{[]string{"--smi-allow-set", "--token-file", tokens}, nil, "can 000011", none, 0},
		{[]string{"--token-file", tokens}, known, "can 000011", none, 0},
	} {
		port := worker(t, c.args...)
		out, _ := runs(t, append([]string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + port}, c.env...), "show", library(), "268435456", "50")
		told := regexp.MustCompile(`(?m)^log .*\n`).ReplaceAllString(out, "")
		if strings.Count(told, c.can) != 2 || !strings.Contains(told, c.answered) {
			t.Errorf("%v:\n%s", c.args, out)
		}
		rt := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: port, ConnectTimeout: time.Minute, IOTimeout: time.Minute, Logf: t.Logf})
		_, total, e := rt.MemGetInfo(hip.Thread{Device: 1})
		if e != hip.Success || c.total != 0 && total != c.total || c.total == 0 && total < 1<<30 {
			t.Errorf("%v: a program has %d bytes, %v", c.args, total, e)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

// worker starts a worker with two simulated cards and returns its port.
func worker(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(built, "hip-worker"), append([]string{"--backend", "sim", "--sim-arch", "gfx942", "--sim-cards", "2", "--port", "0"}, args...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("the worker: %v\n%s", err, log.String())
		}
	})
	lines := bufio.NewScanner(out)
	port := regexp.MustCompile(`hip-worker.*\bport (\d+)`)
	for lines.Scan() {
		if m := port.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, out) }() // so that it never waits for a reader
			return m[1]
		}
	}
	t.Fatalf("the worker did not say where it listens\n%s", log.String())
	return ""
}

// load makes a session compute until ctx ends, with 64 MiB of memory.
func load(ctx context.Context, t *testing.T, port string) (stop func()) {
	t.Helper()
	rt := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: port, ConnectTimeout: time.Minute, IOTimeout: time.Minute, Logf: t.Logf})
	th := hip.Thread{}
	must := func(e hip.Error) {
		t.Helper()
		if e != hip.Success {
			t.Fatal(e)
		}
	}
	image, err := kernels.Object("gfx942", "spin")
	if err != nil {
		t.Fatal(err)
	}
	m, e := rt.ModuleLoadData(th, image)
	must(e)
	f, e := rt.ModuleGetFunction(th, m, "spin")
	must(e)
	p, e := rt.Malloc(th, 64<<20)
	must(e)
	args := binary.LittleEndian.AppendUint64(nil, uint64(p))
	args = binary.LittleEndian.AppendUint64(args, 20000)
	args = binary.LittleEndian.AppendUint32(args, 64)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			e := rt.LaunchKernel(th, &hip.Launch{Function: f, Grid: hip.Dim3{X: 1, Y: 1, Z: 1}, Block: hip.Dim3{X: 64, Y: 1, Z: 1}, Args: args})
			if e == hip.Success {
				e = rt.DeviceSynchronize(th)
			}
			if e != hip.Success {
				t.Errorf("the work: %v", e)
				return
			}
		}
	}()
	return func() {
		cancel()
		<-done
		if err := rt.Close(); err != nil {
			t.Errorf("the session: %v", err)
		}
	}
}

// seen is what testdata/host prints.
type seen struct {
	Devices, Peers          int
	Bandwidth               int64
	Calls                   int64
	Processes               int
	Compute, Busy           float64
	Memory                  uint64
	Failures, Logs          int64
	Figures                 []string
	RSSBefore, RSSAfter     int64
	FilesBefore, FilesAfter int
	Threads                 int
}

// A host without cgo calls the library as TensorFusion's hypervisor does, for some
// seconds at a multiple of its rates, or for two minutes; cards are a worker's that
// compute. The topology is written in that host's layout because of its name.
func TestHost(t *testing.T) {
	port := worker(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer load(ctx, t, port)()
	args := []string{"-library", library(), "-for", "9s", "-faster", "25"}
	if os.Getenv(longVariable) != "" {
		args = []string{"-library", library(), "-for", "2m"}
	}
	out, errs := runs(t, []string{"TF_WORKER_HOST=127.0.0.1", "TF_WORKER_PORT=" + port}, "host", args...)
	if errs != "" {
		t.Errorf("it wrote:\n%s", errs)
	}
	var s seen
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d calls, %.1f %% of the card's time, %d MiB to %d MiB, %d files, %d threads",
		s.Calls, s.Compute, s.RSSBefore>>10, s.RSSAfter>>10, s.FilesAfter, s.Threads)
	if s.Devices != 2 || s.Peers != 2 || s.Bandwidth <= 0 || s.Failures != 0 || s.Logs == 0 {
		t.Errorf("saw %+v", s)
	}
	if s.Processes != 1 || s.Compute < 5 || s.Busy < 5 || s.Memory < 64<<20 {
		t.Errorf("the work is not seen: %+v", s)
	}
	for _, key := range []string{"graphics_clock_mhz", "sm_clock_mhz", "memory_clock_mhz", "video_clock_mhz", "nvlink_rx", "nvlink_tx", "hotspot_temperature_celsius"} {
		if !slices.Contains(s.Figures, key) {
			t.Errorf("no figure %s", key)
		}
	}
	if s.FilesAfter > s.FilesBefore+2 {
		t.Errorf("%d files were open, then %d", s.FilesBefore, s.FilesAfter)
	}
	if s.RSSAfter > s.RSSBefore+16<<10 {
		t.Errorf("it held %d KiB, then %d KiB", s.RSSBefore, s.RSSAfter)
	}
}

// The number of simulated cards is a number.
func TestSimulated(t *testing.T) {
	for n, ok := range map[string]bool{"": true, "1": true, "0": false, "-1": false, "100000": false, "x": false} {
		src, err := simulated(func(name string) string { return map[string]string{"ROCWIRE_SIM_CARDS": n}[name] })
		if (err == nil) != ok {
			t.Errorf("%q: %v", n, err)
		}
		if err == nil {
			if err := src.Close(); err != nil {
				t.Error(err)
			}
			if err := src.Close(); err != nil {
				t.Errorf("closed again: %v", err)
			}
		}
	}
}

// Without an environment, the cards are this machine's.
func TestOpenLocal(t *testing.T) {
	for _, v := range []string{"AMDSMI_REMOTE", "TF_WORKER_HOST", "TF_WORKER_PORT"} {
		t.Setenv(v, "")
	}
	o, err := open(slog.New(slog.DiscardHandler))
	if err == nil {
		defer o.Source.Close()
	}
	if !o.Local || o.Worker != "" {
		t.Errorf("%+v", o)
	}
}
