package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/cutproxy"
	"github.com/rocwire/rocwire/internal/slowlink"
)

// multiplying is a run of testdata/matmul.c that something happens to. Its result is that of one to which nothing does.
type multiplying struct {
	cmd   *exec.Cmd
	out   bytes.Buffer
	ended chan struct{}
	err   error
}

const multiplier = "librocwire/testdata/matmul.c"

const multiplications = "100" // of 192 by 192, each with some 440 KiB to and fro

// multiply begins one, which ends with the test.
func multiply(t *testing.T, env []string) *multiplying {
	t.Helper()
	m := &multiplying{ended: make(chan struct{})}
	m.cmd = exec.Command(program(t, multiplier), matmulKernel(t), multiplications)
	m.cmd.Env = append(os.Environ(), env...)
	m.cmd.Stdout, m.cmd.Stderr = &m.out, &m.out
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		m.err = m.cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() {
		_ = m.cmd.Process.Kill()
		<-m.ended
	})
	return m
}

func matmulKernel(t *testing.T) string {
	t.Helper()
	kernel, err := filepath.Abs(filepath.Join(root, "examples/kernels/gfx90a/matmul.co"))
	if err != nil {
		t.Fatal(err)
	}
	return kernel
}

// goesOn fails unless the program is still at it.
func (m *multiplying) goesOn(t *testing.T) {
	t.Helper()
	select {
	case <-m.ended:
		t.Fatalf("it has ended before anything happened: %v\n%s", m.err, &m.out)
	default:
	}
}

// result is what it prints in the end, and what the library has said of its connection.
func (m *multiplying) result(t *testing.T) (sum, said string) {
	t.Helper()
	select {
	case <-m.ended:
	case <-time.After(4 * time.Minute):
		_ = m.cmd.Process.Kill()
		<-m.ended
		t.Errorf("it does not end")
	}
	if m.err != nil {
		t.Errorf("%v\n%s", m.err, &m.out)
	}
	return told.ReplaceAllString(m.out.String(), ""), strings.Join(told.FindAllString(m.out.String(), -1), "")
}

// beside has the test run beside others, which mostly wait, too.
func beside(t *testing.T) {
	t.Helper()
	program(t, multiplier) // once
	t.Parallel()
}

// undisturbed is what it prints when nothing happens.
func undisturbed(t *testing.T, env []string) string {
	t.Helper()
	want, said := multiply(t, env).result(t)
	if !strings.HasPrefix(want, "matmul: ") || said != "" {
		t.Fatalf("%s%s", said, want)
	}
	return want
}

// TestNamespaceVanishes: the network of a worker's machine is gone for half a minute, and nobody is told. A program that waits for as long as programs do does not
// even notice, one that is less patient goes on over another connection; both compute the same to the last bit.
func TestNamespaceVanishes(t *testing.T) {
	beside(t)
	l, err := slowlink.New(slowlink.Options{})
	if errors.Is(err, unix.EPERM) || errors.Is(err, fs.ErrNotExist) {
		t.Skipf("a network namespace with a link needs root and /dev/net/tun: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	env := workerBy(t, l.Start, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--listen", l.Far.String(), "--insecure")
	env[0] = "TF_WORKER_HOST=" + l.Far.String()
	want := undisturbed(t, env)
	begin := l.Carried()
	patient, impatient := multiply(t, env), multiply(t, append(env[:len(env):len(env)], "TF_IO_TIMEOUT=4"))
	for l.Carried() < begin+8<<20 { // both are at it
		time.Sleep(time.Millisecond)
	}
	if err := l.Vanish(true); err != nil {
		t.Fatal(err)
	}
	patient.goesOn(t)
	impatient.goesOn(t)
	time.Sleep(30 * time.Second)
	if err := l.Vanish(false); err != nil {
		t.Fatal(err)
	}
	if got, said := patient.result(t); got != want || said != "" {
		t.Errorf("the patient one: %s%s, not %s", said, got, want)
	}
	if got, said := impatient.result(t); got != want || !strings.Contains(said, "trying to go on") || !strings.Contains(said, "connected again") {
		t.Errorf("the impatient one: %s%s, not %s", said, got, want)
	}
}

// TestAsleep: a machine sleeps in the middle of a program's work, and by the time it is awake its connection is gone: forgotten on the way without a word to
// either end, or ended by the worker's side. The program goes on and computes the same.
func TestAsleep(t *testing.T) {
	beside(t)
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a")
	want := undisturbed(t, append(env, "TF_WORKER_SHM=0"))
	for name, cut := range map[string]func(*cutproxy.Proxy){"forgotten": (*cutproxy.Proxy).Forget, "reset": (*cutproxy.Proxy).CutAll} {
		t.Run(name, func(t *testing.T) {
			_, port, _ := strings.Cut(env[1], "=")
			p := cutproxy.New(t, "127.0.0.1:"+port)
			_, port, _ = strings.Cut(p.Addr(), ":")
			m := multiply(t, []string{env[0], "TF_WORKER_PORT=" + port, "TF_WORKER_SHM=0", "TF_IO_TIMEOUT=4"})
			for p.Traffic()[cutproxy.ToServer] < 4<<20 {
				time.Sleep(time.Millisecond)
			}
			if err := m.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			m.goesOn(t)
			conns := p.Conns()
			cut(p)
			time.Sleep(6 * time.Second) // longer than it waits for a sign of life when it is awake
			if err := m.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			if got, said := m.result(t); got != want || !strings.Contains(said, "connected again") {
				t.Errorf("%s%s, not %s", said, got, want)
			}
			if p.Conns() == conns {
				t.Error("it has made no other connection")
			}
		})
	}
}

// TestForgotten: an address translation forgets a connection, again and again, and tells nobody. A call that waits finds out, and goes on over another one.
func TestForgotten(t *testing.T) {
	beside(t)
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a")
	_, port, _ := strings.Cut(env[1], "=")
	p := cutproxy.New(t, "127.0.0.1:"+port)
	_, port, _ = strings.Cut(p.Addr(), ":")
	want := undisturbed(t, append(env, "TF_WORKER_SHM=0"))
	m := multiply(t, []string{env[0], "TF_WORKER_PORT=" + port, "TF_WORKER_SHM=0", "TF_IO_TIMEOUT=4"})
	for range 3 {
		for begin := p.Traffic()[cutproxy.ToServer]; p.Traffic()[cutproxy.ToServer] < begin+3<<20; {
			time.Sleep(time.Millisecond)
		}
		m.goesOn(t)
		p.Forget()
	}
	if got, said := m.result(t); got != want || strings.Count(said, "connected again") < 3 {
		t.Errorf("%s%s, not %s", said, got, want)
	}
}
