package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// lines is a writer that counts lines as they come.
type lines struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{}
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// wait waits until the text has come.
func (l *lines) wait(t *testing.T, what string) {
	t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(l.String(), what) {
		select {
		case <-l.more:
		case <-deadline:
			t.Fatalf("%q did not come: %q", what, l.String())
		}
	}
}

// background runs the program until stop, which returns the exit code.
func background(t *testing.T, workers []string, args ...string) (out, errs *lines, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, errs = newLines(), newLines()
	code := make(chan int, 1)
	go func() {
		getenv := func(k string) string { return map[string]string{"TF_WORKER_HOST": strings.Join(workers, ",")}[k] }
		code <- run(ctx, args, getenv, strings.NewReader(""), out, errs)
	}()
	return out, errs, func() int {
		cancel()
		return <-code
	}
}

// emit emits an event again and again until the program that reads them is there and
// has printed it.
func emit(t *testing.T, f *smitest.Fake, out *lines, e smi.Event) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		f.Emit(e)
		select {
		case <-out.more:
		case <-time.After(50 * time.Millisecond):
		}
		if strings.Contains(out.String(), e.Kind) {
			return
		}
	}
	t.Fatalf("%q did not come", e.Message)
}

func TestEvents(t *testing.T) {
	f := smitest.NewMachine(2, 0)
	workers := []string{worker1(t, f)}
	out, errs, stop := background(t, workers, "events", "--kind", "ecc,ring_hang", "1")
	emit(t, f, out, smi.Event{Time: smitest.Then, Device: 1, Kind: smi.EventECC, Message: "2 errors"})
	f.Emit(smi.Event{Time: smitest.Then, Device: 0, Kind: smi.EventECC, Message: "another card"})
	f.Emit(smi.Event{Time: smitest.Then, Device: 1, Kind: smi.EventVMFault, Message: "another kind"})
	f.Emit(smi.Event{Time: smitest.Then, Device: 1, Kind: smi.EventRingHang, PID: 77, Message: "hang\x1b[2J"})
	out.wait(t, "15:09:26.000  GPU 1  ring_hang  pid 77  hang?[2J\n")
	if code := stop(); code != 0 || errs.String() != "" || strings.Contains(out.String(), "another") || !strings.Contains(out.String(), "15:09:26.000  GPU 1  ecc  2 errors\n") {
		t.Errorf("exit %d, %q, %q", code, errs, out)
	}
}

func TestEventForms(t *testing.T) {
	f := smitest.NewMachine(1, 0)
	workers := []string{worker1(t, f)}
	out, _, stop := background(t, workers, "events", "--json")
	emit(t, f, out, smi.Event{Time: smitest.Then, Kind: smi.EventECC, Message: "first"})
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for line := range strings.Lines(out.String()) {
		var e eventRow
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Host != workers[0] || e.Kind != smi.EventECC || e.Message != "first" || !e.Time.Equal(smitest.Then) {
			t.Errorf("%q: %+v, %v", line, e, err)
		}
	}
	out, _, stop = background(t, workers, "events", "--csv")
	emit(t, f, out, smi.Event{Time: smitest.Then, Kind: smi.EventECC, Message: `a "quoted", text`})
	stop()
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "host,time,device,kind,pid,count,message" || rows[1][6] != `a "quoted", text` || rows[1][4] != "" {
		t.Errorf("%v, %v", rows, err)
	}
}

// Of several workers one that is not there is named, and the other one is followed.
func TestEventsOneDown(t *testing.T) {
	f := smitest.NewMachine(1, 0)
	down := freeport.Nobody(t)
	out, errs, stop := background(t, []string{down, worker1(t, f)}, "events")
	errs.wait(t, "nobody listens there")
	emit(t, f, out, smi.Event{Time: smitest.Then, Kind: smi.EventECC, Message: "still here"})
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A worker that is lost is waited for.
func TestEventsLostWorker(t *testing.T) {
	f := smitest.NewMachine(1, 0)
	opt := smiremote.HandlerOptions{Source: f}
	w := remotetest.Start(t, freeport.Later(t), opt)
	out, errs, stop := background(t, []string{w.Addr}, "events")
	emit(t, f, out, smi.Event{Time: smitest.Then, Kind: smi.EventECC, Message: "before"})
	w.Stop()
	errs.wait(t, "is lost; waiting for it")
	remotetest.Start(t, w.Addr, opt)
	emit(t, f, out, smi.Event{Time: smitest.Then, Kind: smi.EventRingHang, Message: "after"})
	out.wait(t, "after")
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// silent is a source without events.
type silent struct{ smi.Source }

func (silent) Events(context.Context, func(smi.Event)) error {
	return smi.Errorf(smi.ErrNotSupported, "no events here")
}

func TestNoEvents(t *testing.T) {
	code, out, errs := call(t, []string{worker1(t, silent{smitest.NewMachine(1, 0)})}, "events")
	if code != 1 || out != "" || errs != "smi-remote: events: no events here\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

func TestWatch(t *testing.T) {
	workers := cards(t, smitest.Cards()...)
	code, out, errs := call(t, workers, "watch", "-n", "0.05", "--count", "3", "list")
	if code != 0 || errs != "" || strings.Count(out, "Every 50ms: smi-remote list") != 3 || strings.Count(out, "MI300X") != 3 || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d, %q\n%s", code, errs, out)
	}
	checkWidth(t, "watch", out)
	code, out, _ = call(t, workers, "watch", "-n", "0.05", "--count", "3", "list", "--csv")
	if rows, err := csv.NewReader(strings.NewReader(out)).ReadAll(); code != 0 || err != nil || len(rows) != 1+3*2 {
		t.Errorf("exit %d, %v\n%s", code, err, out)
	}
	code, out, _ = call(t, workers, "--json", "watch", "-n", "0.05", "--count", "2", "list", "0")
	d := json.NewDecoder(strings.NewReader(out))
	for range 2 {
		var v map[string]any
		if err := d.Decode(&v); err != nil {
			t.Error(err)
		}
	}
	if code != 0 || d.More() {
		t.Errorf("exit %d, %s", code, out)
	}
	// It goes on although a worker is not there, and ends well by Ctrl-C.
	_, failures, stop := background(t, []string{freeport.Nobody(t)}, "watch", "-n", "0.05", "list")
	failures.wait(t, "nobody listens there\nsmi-remote: ")
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if code, _, _ := call(t, []string{freeport.Nobody(t)}, "watch", "-n", "0.05", "--count", "2", "list"); code != 3 {
		t.Errorf("exit %d, want that of the last run", code)
	}
}

// A command that is interrupted says so.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, out, errs := callUntil(t, ctx, cards(t, smitest.Cards()...), "list")
	if code != 130 || out != "" || errs != "smi-remote: interrupted\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

func TestCompletion(t *testing.T) {
	defer func(d time.Duration) { completeTime = d }(completeTime)
	completeTime = time.Minute
	workers := []string{worker1(t, smitest.NewMachine(2, 0))}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, out, errs := call(t, workers, "completion", shell); code != 0 || errs != "" || !strings.Contains(out, "smi-remote") {
			t.Errorf("%s: exit %d, %q, %d bytes", shell, code, errs, len(out))
		}
	}
	for args, want := range map[string]string{
		"info ": "0000:22:00.0\tAMD", "set power-cap ": "all\n", "set perf-level 0 ": "perf_determinism\n", "sim set ": "thermal\n", "sim clear ": "hang\n",
		"sim set link 0 ": "width=\n", "session kill ": "17\tada@train-3", "watch ": "metrics\n",
	} {
		words := strings.Split(args, " ")
		code, out, _ := call(t, workers, append([]string{"__complete"}, words...)...)
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("%q: exit %d, %q; want %q", args, code, out, want)
		}
	}
	if _, out, _ := call(t, []string{freeport.Nobody(t)}, "__complete", "info", ""); out != fmt.Sprintln(":4") {
		t.Errorf("without a worker: %q", out)
	}
}
