package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/internal/cli"
	"github.com/rocwire/rocwire/internal/cli/clitest"
	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

func noEnv(string) string { return "" }

// parse is what a command line comes to.
func parse(args []string, getenv func(string) string) (o *options, err error) {
	root := newRoot(getenv, func(_ context.Context, p *options) error { o = p; return nil })
	var errs bytes.Buffer
	if code := cli.Main(context.Background(), root, args, io.Discard, &errs); code != 0 {
		return nil, fmt.Errorf("exit %d: %s", code, errs.String())
	}
	return o, nil
}

func TestUsage(t *testing.T) {
	var help1 bytes.Buffer
	for _, c := range []struct {
		args string
		code int
		out  string
		errs string
	}{
		{"serve", 2, "", `there is no command "serve"`},
		{"versio", 2, "", "did you mean version?"},
		{"--worker a:b", 2, "", `"b" is not a port`},
		{"--worker a,b", 2, "", "2 workers"},
		{"--listen 9400", 2, "", `"9400" is not HOST:PORT`},
		{"--interval 1ms", 2, "", "less than 100ms"},
		{"--timeout -1s", 2, "", "not more than 0"},
		{"--histograms x", 2, "", `--histograms "x": there are both, native, classic`},
		{"--events maybe", 2, "", `--events "maybe": there are auto, on, off`},
		{"--metrics-compat dcgm", 2, "", `"dcgm": there are device-metrics-exporter`},
		{"--interval soon", 2, "", `--interval "soon" is no time such as`},
		{"--listen 0.0.0.0:0", 2, "", "--insecure allows it"},
		{"serve --help", 2, "", `there is no command "serve"`},
		{"--wrong", 2, "", "unknown flag: --wrong"},
		{"--listn a:1", 2, "", "did you mean --listen?"},
		{"-listen a:1", 2, "", "did you mean --listen?"},
		{"--version", 0, "gpu-exporter dev\n", ""},
		{"version", 0, "gpu-exporter dev\n", ""},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), strings.Fields(c.args), noEnv, &out, &errs)
		if code != c.code || out.String() != c.out || !strings.Contains(errs.String(), c.errs) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s: exit %d, %q, %q", c.args, code, out.String(), errs.String())
		}
	}
	if code := run(t.Context(), []string{"--help"}, noEnv, &help1, io.Discard); code != 0 || !strings.HasPrefix(help1.String(), help()) || !strings.Contains(help1.String(), "completion") {
		t.Errorf("--help: exit %d, %s", code, help1.String())
	}
	o, err := parse(nil, func(k string) string { return map[string]string{"TF_WORKER_HOST": "::1", "TF_WORKER_PORT": "7"}[k] })
	if err != nil || o.worker.Address.String() != "[::1]:7" {
		t.Errorf("worker from the environment: %v, %v", o.worker, err)
	}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("workers: {lab: {address: gpu, token-file: lab.token}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err = parse([]string{"--worker", "lab"}, func(k string) string { return map[string]string{"ROCWIRE_CONFIG": file, "TF_WORKER_PORT": "7"}[k] })
	if err != nil || o.worker.Address.String() != "gpu:18515" || o.worker.TokenFile != filepath.Join(filepath.Dir(file), "lab.token") {
		t.Errorf("worker of the configuration file: %+v, %v", o.worker, err)
	}
}

func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var errs bytes.Buffer
	code := run(t.Context(), []string{"--listen", ln.Addr().String()}, noEnv, io.Discard, &errs)
	if code != 1 || !strings.Contains(errs.String(), "address already in use") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

// logLines gathers the log of a run.
type logLines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// eventually waits for something that other goroutines do.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 {
		if f() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("never: " + what)
}

func get(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return ""
	}
	return fmt.Sprintln(r.StatusCode) + string(b)
}

// The exporter starts without a worker, finds it, loses it, finds it again, and
// ends when told.
func TestWorkerComesAndGoes(t *testing.T) {
	worker := freeport.Later(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log logLines
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"--listen", "127.0.0.1:0", "--worker", worker, "--interval", "100ms"}, noEnv, io.Discard, &log)
	}()
	var url string
	eventually(t, "serves", func() bool {
		m := regexp.MustCompile(`url=(\S+)`).FindStringSubmatch(log.String())
		if m != nil {
			url = m[1]
		}
		return m != nil
	})
	has := func(line string) func() bool { return func() bool { return strings.Contains(get(url), line) } }
	eventually(t, "ready", func() bool { return strings.HasPrefix(get(strings.Replace(url, "/metrics", "/-/ready", 1)), "200") })
	if s := get(url); !strings.Contains(s, "\ngpu_exporter_source_up 0\n") || strings.Contains(s, "gpu_power") {
		t.Errorf("without a worker:\n%s", s)
	}
	rpc := rpcstats.NewTotals(rpcstats.Names{})
	rpc.Observe("hipMalloc", "client", "hipSuccess", 1e-5)
	opt := smiremote.HandlerOptions{Source: smitest.NewFake(smitest.Cards()...), Sessions: smitest.Clients{}, Calls: rpc}
	for range 2 {
		w := remotetest.Start(t, worker, opt)
		eventually(t, "the worker is found", has("\ngpu_exporter_source_up 1\n"))
		for _, line := range []string{
			`gpu_power_watts{gpu="0"} 412`,
			"hip_sessions 2",
			`hip_rpc_duration_seconds_count{code="hipSuccess",op="hipMalloc",side="client"} 1`,
			"go_goroutines ",
		} {
			eventually(t, line, has("\n"+line))
		}
		w.Stop()
		eventually(t, "the worker is lost", has("\ngpu_exporter_source_up 0\n"))
		eventually(t, "sessions are not known", func() bool { return !strings.Contains(get(url), "\nhip_sessions") })
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
	if s := get(url); s != "" {
		t.Errorf("still serving: %s", s)
	}
	if !strings.Contains(log.String(), "nobody listens there") {
		t.Errorf("the log does not say why:\n%s", log.String())
	}
}

func TestHelpIsWhole(t *testing.T) {
	clitest.CheckHelp(t, newRoot(noEnv, nil), help(), "testdata/variables.txt")
}

// The file that packages install is one that the exporter takes.
func TestConfigurationFile(t *testing.T) {
	o, err := parse([]string{"--config", "../../deploy/packages/exporter.yaml"}, noEnv)
	if err != nil || !o.local {
		t.Errorf("%+v, %v", o, err)
	}
}
