//go:build linux && amd64

package ebpf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"github.com/rocwire/rocwire/exporter/local"
)

// open opens a tracer that finds only what the test makes.
func open(t testing.TB, change ...func(*Options)) *Tracer {
	t.Helper()
	o := Options{Functions: []string{All}, Files: []string{}, only: filepath.Dir(t.TempDir()) + "/", Log: slog.New(slog.NewTextHandler(testLog{t}, nil))}
	for _, c := range change {
		c(&o)
	}
	tr, err := Open(o)
	if os.Getuid() != 0 && errors.Is(err, ErrPermission) || errors.Is(err, ErrUnsupported) && !errors.As(err, new(*ebpf.VerifierError)) {
		t.Skipf("needs root and a kernel with eBPF and uprobes (Linux 5.15): %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	return tr
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Helper()
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// gcc compiles, or skips the test.
func gcc(t testing.TB, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("needs gcc (apt-get install gcc)")
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// stub builds the library that does nothing in a folder, and the program that calls it.
func stub(t testing.TB) (library, program string) {
	t.Helper()
	dir := t.TempDir()
	library, program = filepath.Join(dir, "libamdhip64.so.6"), filepath.Join(dir, "calls")
	gcc(t, "-O2", "-fPIC", "-shared", "-Wl,-soname,libamdhip64.so.6", "-Wl,--version-script=testdata/stub.map", "testdata/stub.c", "-o", library)
	gcc(t, "-O1", "-pthread", "-Wall", "-Werror", "testdata/calls.c", library, "-Wl,-rpath,$ORIGIN", "-o", program)
	return library, program
}

// runner is a program that makes a step for each line.
type runner struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t testing.TB, program string, args ...string) *runner {
	t.Helper()
	r := &runner{t: t, cmd: exec.Command(program, args...)}
	var err error
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.out = bufio.NewReader(out)
	r.cmd.Stderr = os.Stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_, _ = r.cmd.Process.Wait()
	})
	return r
}

func (r *runner) pid() uint32 { return uint32(r.cmd.Process.Pid) }

// step makes the program make its next step and waits for want.
func (r *runner) step(want string) {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in); err != nil {
		r.t.Fatal(err)
	}
	if line, err := r.out.ReadString('\n'); err != nil || line != want+"\n" {
		r.t.Fatalf("the program says %q, %v", line, err)
	}
}

// end lets the program end.
func (r *runner) end() {
	r.t.Helper()
	r.in.Close()
	if err := r.cmd.Wait(); err != nil {
		r.t.Fatal(err)
	}
}

// until polls until ok.
func until(t testing.TB, tr *Tracer, what string, ok func() bool) {
	t.Helper()
	for range 1200 { // a busy machine takes its time
		tr.Poll(t.Context())
		if err := tr.Err(); err != nil {
			t.Fatal(err)
		}
		if ok() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: never", what)
}

// watched waits until so many libraries are watched.
func watched(t testing.TB, tr *Tracer, n int) {
	t.Helper()
	until(t, tr, fmt.Sprint(n, " libraries"), func() bool { return tr.Local().Libraries == n })
}

// of polls and finds a process.
func of(t testing.TB, tr *Tracer, pid uint32) *local.Process {
	t.Helper()
	tr.Poll(t.Context())
	if err := tr.Err(); err != nil {
		t.Fatal(err)
	}
	r := tr.Local()
	for i := range r.Processes {
		if r.Processes[i].PID == pid {
			return &r.Processes[i]
		}
	}
	t.Fatalf("process %d is not there: %+v", pid, r)
	return nil
}

// counts are calls by function and result, "hipMalloc hipSuccess".
func counts(p *local.Process) map[string]uint64 {
	m := map[string]uint64{}
	for _, c := range p.Calls {
		for _, code := range c.Codes {
			m[c.Op+" "+code.Code] = code.Count
		}
	}
	return m
}

func equal[K, V comparable](t testing.TB, what string, got, want map[K]V) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	t.Errorf("%s:", what)
	for k, v := range got {
		if w, ok := want[k]; !ok || w != v {
			t.Errorf("\t%v: %v, want %v", k, v, w)
		}
	}
	for k, w := range want {
		if _, ok := got[k]; !ok {
			t.Errorf("\t%v is missing: %v", k, w)
		}
	}
}

// dropped is what was not counted, without zeros.
func dropped(tr *Tracer) map[string]uint64 {
	m := map[string]uint64{}
	for _, d := range tr.Local().Dropped {
		if d.Count > 0 {
			m[d.Reason] = d.Count
		}
	}
	return m
}

// modes are both ways to attach.
func modes(t *testing.T, f func(t *testing.T, mode func(*Options))) {
	t.Run("multi", func(t *testing.T) { f(t, func(*Options) {}) })
	t.Run("single", func(t *testing.T) { f(t, func(o *Options) { o.noMulti = true }) })
}
