package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/wholefile"
)

// TestMain lets the test's program be the workers, the clients, and the measurement itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == serveWorkers || os.Args[1] == serveClients || os.Args[1] == "--workers") {
		main()
		return
	}
	code := m.Run()
	if programs != "" {
		_ = os.RemoveAll(programs) // of temporary files
	}
	os.Exit(code)
}

var programs string

// built is where the programs are that are measured, which are built once.
func built(t *testing.T) string {
	t.Helper()
	if programs != "" {
		return programs
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	dir, err := os.MkdirTemp("", "rocwire-fleet-")
	if err != nil {
		t.Fatal(err)
	}
	programs = dir
	if err := build(t.Context(), dir, false); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFleet is a short measurement: everything is measured at every size, which needs all workers to be seen, and everybody ends with no connection left.
func TestFleet(t *testing.T) {
	r, err := run(t.Context(), options{bin: built(t), workers: []int{2, 7}, clients: 50, interval: 3 * time.Second, length: time.Hour, patience: 5 * time.Minute, idle: time.Hour, log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.limits) > 0 {
		t.Errorf("limits are met: %q", r.limits)
	}
	subjects := []string{"clients", "smi-remote fleet", firstLook, reading, scraping}
	for _, w := range ways {
		subjects = append(subjects, "discovery by "+w)
	}
	for _, s := range subjects {
		var sizes []int
		for i := range r.rows {
			if x := &r.rows[i]; x.subject == s {
				sizes = append(sizes, x.workers)
				if s != "clients" && (x.processor <= 0 && s != scraping || x.bytes <= 0 && s != reading || x.memory <= 0) {
					t.Errorf("%+v", *x)
				}
			}
		}
		if !slices.Equal(sizes, []int{2, 7}) {
			t.Errorf("%s was measured with %v workers", s, sizes)
		}
	}
	var text strings.Builder
	r.print(&text)
	if !strings.Contains(text.String(), "No limit was met.") || strings.Count(text.String(), "\n") != 2*len(subjects)+3 {
		t.Errorf("printed:\n%s", text.String())
	}
}

// TestGone: workers that are not named any more are let go by the exporter, and a client that ends is no session any more.
func TestGone(t *testing.T) {
	b := &bench{options: options{bin: built(t), idle: time.Second, patience: 5 * time.Minute}, report: newReport(nil), file: filepath.Join(t.TempDir(), "workers.json")}
	var err error
	if b.workers, err = startChild(t.Context(), serveWorkers); err != nil {
		t.Fatal(err)
	}
	name := func(n int) {
		t.Helper()
		text, err := json.Marshal(groups(n, b.port))
		if err == nil {
			err = wholefile.Write(b.file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stats := func() *workersStats {
		t.Helper()
		r, err := b.workers.tell(request{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Workers
	}
	reach := func(what string, f func(*workersStats) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			s := stats()
			if f(s) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, s)
			}
		}
	}
	const n = 6
	r, err := b.workers.tell(request{Grow: n})
	if err != nil {
		t.Fatal(err)
	}
	b.port = r.Workers.Port
	before := stats().Goroutines
	clients, err := startChild(t.Context(), serveClients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clients.tell(request{Grow: 20, At: n, Port: b.port}); err != nil {
		t.Fatal(err)
	}
	if s := stats(); s.Sessions != 20 {
		t.Errorf("%+v", s)
	}
	name(n)
	e, at, err := b.startExporter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newScraper(at, b.port, b.patience)
	defer s.close()
	if err := s.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.round(t.Context(), n, 0)
	if s.failed() {
		t.Error(s.why())
	}
	if got := stats(); got.Management <= n { // one of them is the exporter's own worker, too
		t.Errorf("%+v", got)
	}
	name(1)
	reach("let go", func(s *workersStats) bool { return s.Management <= 1 })
	if err := e.end(); err != nil {
		t.Error(err)
	}
	if err := clients.end(); err != nil {
		t.Error(err)
	}
	reach("ended", func(s *workersStats) bool { return s.Management == 0 && s.Sessions == 0 && s.Goroutines <= before })
	if err := b.workers.end(); err != nil {
		t.Error(err)
	}
}

// What has a limit is not measured beyond it, and the first one is told.
func TestLimits(t *testing.T) {
	b := &bench{options: options{interval: time.Hour}, report: newReport(t.Output()), dir: t.TempDir()}
	var err error
	if b.workers, err = startChild(t.Context(), serveWorkers); err != nil {
		t.Fatal(err)
	}
	r, err := b.workers.tell(request{})
	if err != nil {
		t.Fatal(err)
	}
	b.names = r.Workers.Names
	for _, n := range []int{100, 1300, 1400} {
		if err := b.discover(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.limits) != 1 || !strings.HasPrefix(b.limits[0], "discovery by DNS SRV, 1300 workers: 0 are known") || !strings.Contains(b.limits[0], "more records than fit") {
		t.Errorf("%q", b.limits)
	}
	if len(b.rows) != 3*len(ways)-2 {
		t.Errorf("%d rows", len(b.rows))
	}
	if err := b.workers.end(); err != nil {
		t.Error(err)
	}
}

// TestInterrupted: who is told to end ends, also while a process of the fleet does not answer, and leaves no process and no file.
func TestInterrupted(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		tmp := t.TempDir()
		var said strings.Builder
		cmd := exec.Command(exe, "--workers", "50", "--bin", built(t))
		cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+tmp), &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var children []int
		for len(children) < 2 {
			time.Sleep(time.Millisecond)
			children = nil
			tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
			for _, f := range tasks {
				b, _ := os.ReadFile(f) // a thread may have ended
				for _, s := range strings.Fields(string(b)) {
					pid, err := strconv.Atoi(s)
					if err != nil {
						t.Fatal(err)
					}
					// Stopped before it is another program it would hold the thread that starts it.
					if b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(b), "\x00serve-") {
						children = append(children, pid)
					}
				}
			}
		}
		for _, pid := range children { // whatever it is asked for, it does not answer
			if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "fleet: context canceled") && !strings.Contains(said.String(), "signal received") {
			t.Errorf("%v: %v: %s", sig, err, &said)
		}
		for _, pid := range children {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%v: the process %d is left: %v", sig, pid, err)
			}
		}
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("%v: %v is left, %v", sig, left, err)
		}
	}
}

func TestNext(t *testing.T) {
	var got []int
	for n := 30; n < maxWorkers; {
		n = next(n)
		got = append(got, n)
	}
	if want := []int{50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if a, b := address(0, "1"), address(99_999, "1"); a != "127.16.0.1:1" || b != "127.17.149.250:1" {
		t.Errorf("%s, %s", a, b)
	}
}
