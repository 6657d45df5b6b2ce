package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// process is a program of the control plane.
type process struct {
	pid  int
	done chan struct{} // closed when it has ended
}

// start starts a program that is ended with the test. Its log is said if the test fails.
func start(t testing.TB, dir, path string, args ...string) *process {
	t.Helper()
	name := filepath.Base(path)
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that panics cleans nothing up
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // it is ended
		close(p.done)
	}()
	t.Cleanup(func() {
		early := false
		select {
		case <-p.done:
			early = true
			t.Errorf("%s ended before the test", name)
		default:
			_ = cmd.Process.Kill() // nothing that it keeps is wanted
			<-p.done
		}
		if b, err := os.ReadFile(log.Name()); err == nil && (early || t.Failed()) {
			lines := strings.SplitAfter(string(b), "\n")
			t.Logf("the end of %s's log:\n%s", name, strings.Join(lines[max(0, len(lines)-40):], ""))
		}
	})
	return p
}

// Address is a free one of loopback that the kernel chooses for nobody, as it would meanwhile for any client, and that no other test is given before this one ends.
func Address(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := 10_000 + rand.IntN(20_000)
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			continue // taken
		}
		name, reserved := net.Listen("unix", fmt.Sprintf("@rocwire-test-port-%d", port)) // as rocwire's other tests do
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		if reserved != nil {
			continue
		}
		t.Cleanup(func() { _ = name.Close() })
		return addr
	}
	t.Fatal("no port is free")
	return ""
}
