package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/rocwire/rocwire/internal/wholefile"
)

// bench is a measurement that is going on.
type bench struct {
	options
	*report
	dir, file string // that names the workers
	workers   *child
	clients   *child
	names     namesAt
	port      string // of all workers
	sessions  int    // that the workers have
}

// perWorker is how many clients each worker has.
const perWorker = 10

// run measures; with an error the report has what was measured before.
func run(ctx context.Context, o options) (r *report, err error) {
	dir, err := os.MkdirTemp("", "rocwire-fleet-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if o.bin == "" {
		o.bin = dir
		if err := build(ctx, dir, o.kubeconfig != ""); err != nil {
			return nil, err
		}
	}
	b := &bench{options: o, report: newReport(o.log), dir: dir, file: filepath.Join(dir, "workers.json")}
	defer func() {
		if ctx.Err() != nil { // everybody has been killed, and what they say of it is not of interest
			err = context.Cause(ctx)
		}
	}()
	if b.workers, err = startChild(ctx, serveWorkers); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.workers.end()) }()
	if b.clients, err = startChild(ctx, serveClients); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.clients.end()) }()
	b.say("%s", machine())
	begin := time.Now()
	last := 0
	for _, n := range o.workers {
		if last = n; time.Since(begin) > o.length || ctx.Err() != nil {
			break
		}
		if err := b.size(ctx, n); err != nil {
			return b.report, err
		}
	}
	if o.push {
		err = b.further(ctx, last, begin.Add(o.length))
	}
	return b.report, err
}

// build makes the programs that are measured, from the tree in the current directory.
func build(ctx context.Context, dir string, cluster bool) error {
	args := []string{"build", "-o", dir + "/", "./cmd/gpu-exporter", "./cmd/smi-remote"}
	if cluster {
		args = append(args, "./cmd/rocwire-dra")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with the compilers
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building what is measured: %w", err)
	}
	return nil
}

// size measures everything with n workers.
func (b *bench) size(ctx context.Context, n int) error {
	r, err := b.workers.tell(request{Grow: n})
	if err != nil {
		return fmt.Errorf("%d workers: %w", n, err)
	}
	b.names, b.port = r.Workers.Names, r.Workers.Port
	if b.wants(discovering) {
		if err := b.discover(ctx, n); err != nil {
			return err
		}
	}
	if want := min(n*perWorker, b.options.clients); want > b.sessions {
		begin := time.Now()
		if _, err := b.clients.tell(request{Grow: want, At: n, Port: b.port}); err != nil {
			return fmt.Errorf("%d clients: %w", want, err)
		}
		opened := want - b.sessions
		b.sessions = want
		b.add(row{subject: "clients", workers: n, time: time.Since(begin), memory: b.workers.resident(), note: fmt.Sprintf("%d more begin a session, %d have one; memory is that of all workers together", opened, want)})
	}
	text, err := json.Marshal(groups(n, b.port))
	if err == nil {
		err = wholefile.Write(b.file, text, 0o600)
	}
	if err != nil {
		return err
	}
	for _, m := range []struct {
		what    string
		measure func(context.Context, int) error
	}{{asking, b.ask}, {exporting, b.export}, {clustering, b.publish}} {
		if b.wants(m.what) && (m.what != clustering || b.kubeconfig != "") {
			if err := m.measure(ctx, n); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// further goes on with larger fleets: names alone cost little, workers until the exporter is at its end.
func (b *bench) further(ctx context.Context, last int, until time.Time) error {
	for n := last; n < maxWorkers && ctx.Err() == nil && time.Now().Before(until); {
		n = min(maxWorkers, next(n))
		if err := b.discover(ctx, n); err != nil {
			return err
		}
	}
	for n := last; !b.met[reading] && !b.met[scraping] && ctx.Err() == nil && time.Now().Before(until); {
		if n += n / 2; n > maxWorkers {
			break
		}
		if err := b.size(ctx, n); err != nil {
			b.limit("this machine", n, "%v", err)
			return nil
		}
	}
	return ctx.Err()
}

// next is a round number some two or three times as large.
func next(n int) int {
	p := 1
	for p*10 <= n {
		p *= 10
	}
	for _, f := range []int{2, 5, 10} {
		if p*f > n {
			return p * f
		}
	}
	return p * 20
}

// machine says where this was measured.
func machine() string {
	model := runtime.GOARCH
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			model = strings.TrimSpace(v)
			break
		}
	}
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%s, %d cores of %s, load before %.14s", time.Now().UTC().Format("2 January 2006 15:04 MST"), runtime.NumCPU(), model, load)
}
