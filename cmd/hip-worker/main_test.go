package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
)

// build makes the program once.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, ".", "../hip-session").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "hip-worker")
}

// run waits for a program that ends by itself.
func runToEnd(t *testing.T, exe string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(exe, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestProgram(t *testing.T) {
	exe := build(t)
	portFile := filepath.Join(t.TempDir(), "port")
	socket := filepath.Join(t.TempDir(), "w.sock")
	cmd := exec.Command(exe, "--backend", "sim", "--listen", "127.0.0.1", "--listen", "unix:"+socket, "-p", "0", "--port-file", portFile, "--metrics-addr", "127.0.0.1:0", "--sim-memory", "256M")
	var pushed atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/metrics" {
			pushed.Add(1)
		}
	}))
	defer receiver.Close()
	cmd.Env = append(os.Environ(), "HIP_VISIBLE_DEVICES=", "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL)
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	defer func() {
		if !done {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}()
	lines := bufio.NewScanner(stdout)
	metrics, port := "", ""
	for at := ""; at == "" && lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch {
		case strings.HasPrefix(lines.Text(), "hip-worker listening on unix:"):
			at = f[3]
			if at != "unix:"+socket {
				t.Errorf("it listens on %s", at)
			}
		case strings.HasPrefix(lines.Text(), "metrics at "):
			metrics = f[2]
		case strings.HasPrefix(lines.Text(), "hip-worker listening on "):
			port = f[5]
		}
	}
	if b, err := os.ReadFile(portFile); err != nil || strings.TrimSpace(string(b)) != port {
		t.Errorf("port file: %q, %v; printed was %q", b, err, port)
	}
	c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: port, Logf: t.Logf})
	p, e := c.Malloc(hip.Thread{}, 1<<20)
	if e != hip.Success {
		t.Fatal(e)
	}
	if e := c.Memset(hip.Thread{}, p, 1, 1<<20); e != hip.Success {
		t.Error(e)
	}
	// Who uses the card: the client, and on this machine the session process that serves it.
	m := smiremote.NewClient(smiremote.Options{Address: "127.0.0.1:" + port})
	defer m.Close()
	ps, err := m.Processes(t.Context(), 0)
	if err != nil || len(ps) != 1 {
		t.Fatalf("processes: %+v, %v", ps, err)
	}
	local := smiremote.NewClient(smiremote.Options{Address: "unix:" + socket})
	defer local.Close()
	if ps, err := local.Processes(t.Context(), 0); err != nil || len(ps) != 1 {
		t.Errorf("processes through the Unix socket: %+v, %v", ps, err)
	}
	if r := ps[0]; r.Client == nil || r.Client.PID != uint32(os.Getpid()) || !strings.HasPrefix(r.Command, filepath.Join(filepath.Dir(exe), sessionProgram)) || r.User == "" || r.Session == "" {
		t.Errorf("process: %+v, client %+v", r, r.Client)
	}
	if err := m.Set(t.Context(), 0, smi.Setting{PerfLevel: "auto"}); !errors.Is(err, smi.ErrNoPermission) {
		t.Errorf("Set: %v", err)
	}
	// The same port again: one clear line and an exit code of its own.
	if code, _, errs := runToEnd(t, exe, "--backend", "sim", "-p", port); code != exitPort || !strings.Contains(errs, port) || !strings.Contains(errs, "in use") ||
		strings.Count(errs, "\n") != 1 {
		t.Errorf("port in use: exit code %d, %q", code, errs)
	}
	// What --insecure means is said on every start, before anything else.
	if _, _, errs := runToEnd(t, exe, "--backend", "sim", "-p", port, "--insecure"); !strings.Contains(errs, "--insecure: whoever can reach this worker") {
		t.Errorf("--insecure: %q", errs)
	}
	// What it measures is served, with the client's identity.
	for _, want := range []string{"hip_rpc_duration_seconds", `pid="` + strconv.Itoa(os.Getpid()) + `"`} {
		found := false
		for deadline := time.Now().Add(time.Minute); !found && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			r, err := http.Get(metrics)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Body.Close()
			found = strings.Contains(string(b), want)
		}
		if !found {
			t.Errorf("the metrics never contain %s", want)
		}
	}
	// SIGTERM ends it in order, client or no client.
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	done = true
	if err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
	if pushed.Load() == 0 {
		t.Errorf("its last figures were not sent:\n%s", log.String())
	}
	if e := c.DeviceSynchronize(hip.Thread{}); e != hip.ErrorNotInitialized {
		t.Errorf("a call after the end: %v", e)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	killed(t, exe)
}

// killed: when a worker is killed its sessions' processes end, whatever they are doing.
func killed(t *testing.T, exe string) {
	portFile, socket := filepath.Join(t.TempDir(), "port"), filepath.Join(t.TempDir(), "w.sock")
	cmd := exec.Command(exe, "--backend", "sim", "--listen", "127.0.0.1", "--listen", "unix:"+socket, "-p", "0", "--port-file", portFile, "--sim-memory", "256M")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	port := ""
	for deadline := time.Now().Add(time.Minute); port == "" && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		b, _ := os.ReadFile(portFile)
		port = strings.TrimSpace(string(b))
	}
	for range 2 {
		c := hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: port, Logf: t.Logf})
		defer c.Close()
		if _, e := c.Malloc(hip.Thread{}, 1<<20); e != hip.Success {
			t.Fatal(e)
		}
	}
	m := smiremote.NewClient(smiremote.Options{Address: "unix:" + socket})
	defer m.Close()
	list, err := m.Sessions(t.Context())
	if err != nil || len(list.Sessions) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	there := func(pid uint32) bool { // a process that nobody waits for has ended all the same
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(b), ") ")
		return err == nil && !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
	}
	for _, s := range list.Sessions {
		if !there(s.PID) {
			t.Errorf("process %d is not there", s.PID)
		}
	}
	if err := syscall.Kill(int(list.Sessions[0].PID), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		deadline := time.Now().Add(time.Minute)
		for there(s.PID) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
		if there(s.PID) {
			t.Errorf("process %d has outlived the worker", s.PID)
		}
	}
}

func TestRefusals(t *testing.T) {
	exe := build(t)
	for name, c := range map[string]struct {
		args []string
		code int
		say  string
	}{
		"beyond loopback":         {[]string{"--backend", "sim", "--listen", "0.0.0.0", "-p", "0"}, cli.ExitUsage, "--insecure"},
		"metrics beyond loopback": {[]string{"--backend", "sim", "-p", "0", "--metrics-addr", "0.0.0.0:0"}, cli.ExitUsage, "--insecure"},
		"metrics, no web config":  {[]string{"--backend", "sim", "-p", "0", "--metrics-addr", "127.0.0.1:0", "--web-config", "/none.yml"}, cli.ExitFailure, "/none.yml"},
		"metrics, no address":     {[]string{"--metrics-addr", "9400"}, cli.ExitUsage, "--metrics-addr"},
		"sink, no such protocol":  {[]string{"--otlp-endpoint", "ftp://collector"}, cli.ExitUsage, "OTLP"},
		"queue, relative":         {[]string{"--metrics-addr", "127.0.0.1:0", "--queue-dir", "queue"}, cli.ExitUsage, "--queue-dir"},
		"unknown flag":            {[]string{"--frobnicate"}, cli.ExitUsage, "--help"},
		"no such card":            {[]string{"--backend", "sim", "-d", "3", "-p", "0"}, cli.ExitUsage, "--device 3: the last card is 0"},
		"no such port":            {[]string{"-p", "70000"}, cli.ExitUsage, "0 to 65535"},
		"a port that is none":     {[]string{"-p", "http"}, cli.ExitUsage, `"http" is no port`},
		"no cards":                {[]string{"--backend", "sim", "--sim-cards", "0"}, cli.ExitUsage, "--sim-cards 0"},
		"help on nothing":         {[]string{"serve", "--help"}, cli.ExitUsage, `there is no command "serve"; there are `},
		"half a command":          {[]string{"keys"}, cli.ExitUsage, "there are add-client, init"},
		"unknown source":          {[]string{"--backend", "sim", "--smi-backend", "x", "-p", "0"}, cli.ExitUsage, "sysfs"},
		"unknown architecture":    {[]string{"--backend", "sim", "--sim-arch", "gfx1", "-p", "0"}, cli.ExitUsage, `"gfx1": there are gfx1100, gfx90a, gfx942, gfx950`},
	} {
		code, out, errs := runToEnd(t, exe, c.args...)
		if code != c.code || !strings.Contains(errs, c.say) {
			t.Errorf("%s: exit code %d, %q %q", name, code, out, errs)
		}
	}
	session := filepath.Join(filepath.Dir(exe), "hip-session")
	for _, args := range [][]string{nil, {"serve"}, {"-V"}, {"-v"}, {"version"}} {
		if code, _, errs := runToEnd(t, session, args...); code != cli.ExitUsage || !strings.Contains(errs, "is started by hip-worker") {
			t.Errorf("hip-session %q: exit code %d, %q", args, code, errs)
		}
	}
	if code, out, _ := runToEnd(t, session, "--help"); code != 0 || !strings.Contains(out, "is started by hip-worker") {
		t.Errorf("hip-session --help: exit code %d, %q", code, out)
	}
	if code, out, _ := runToEnd(t, exe, "--help"); code != 0 || !strings.Contains(out, "--sim-memory") || !strings.Contains(out, "--queue-dir") {
		t.Errorf("--help: exit code %d, %q", code, out)
	}
}
