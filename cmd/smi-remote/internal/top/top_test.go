package top

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/cmd/smi-remote/internal/text"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// fake is a worker that tells what the test says.
type fake struct {
	smi.Source
	calls  []rpcstats.CallTotal
	killed []string
	err    error
}

func (f *fake) Snapshot(ctx context.Context) (*smi.Snapshot, error) {
	if f.err != nil {
		return nil, f.err
	}
	return smi.TakeSnapshot(ctx, f.Source)
}

func (f *fake) Calls(context.Context) ([]rpcstats.CallTotal, error) { return f.calls, f.err }

func (f *fake) KillSession(_ context.Context, id string) error {
	f.killed = append(f.killed, id)
	return f.err
}

// call is a total of n calls that took d each.
func call(op, side, code string, n uint64, d time.Duration) rpcstats.CallTotal {
	b, _ := rpcstats.BucketOf(d)
	return rpcstats.CallTotal{
		Call: rpcstats.Call{Op: op, Side: side, Code: code},
		Hist: rpcstats.Hist{Nanos: n * uint64(d), Buckets: []rpcstats.Bucket{{Index: b, Count: n}}},
	}
}

// someCalls are those of a busy worker after s seconds.
func someCalls(s uint64) []rpcstats.CallTotal {
	return []rpcstats.CallTotal{
		call("hipMemcpy", "worker", success, 10*s, 2*time.Millisecond), call("hipMemcpy", "client", success, 10*s, 3*time.Millisecond),
		call("hipMemcpy", "worker", "hipErrorInvalidValue", s, time.Microsecond),
		call("hipModuleLaunchKernel", "worker", success, 1200*s, 4*time.Microsecond), call("hipModuleLaunchKernel", "client", success, 1200*s, time.Microsecond),
		call("hipMalloc", "worker", success, 7, time.Millisecond),
	}
}

// moment is when the readings of the tests begin.
var moment = smitest.Then.Local()

// view is a model of the workers at the time of a second reading.
func view(t *testing.T, width, height int, workers ...*fake) *Model {
	t.Helper()
	o := Options{Interval: time.Second, Timeout: time.Second}
	for i, w := range workers {
		o.Hosts = append(o.Hosts, Host{Label: fmt.Sprintf("gpu-node-%d", i), Worker: w})
	}
	m := New(t.Context(), o)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	for s := range 2 {
		for i, w := range workers {
			if w.err == nil {
				w.calls = someCalls(uint64(s + 1))
			}
			deliver(t, m, i, moment.Add(time.Duration(s)*time.Second))
		}
	}
	return m
}

// deliver reads a worker and tells the model that it was at that time.
func deliver(t *testing.T, m *Model, host int, at time.Time) {
	t.Helper()
	msg := m.read(host)().(readingMsg)
	msg.r.at = at
	if _, cmd := m.Update(msg); cmd == nil {
		t.Error("no next reading")
	}
}

func machine(cards, processes int) *fake {
	return &fake{Source: smitest.NewMachine(cards, processes)}
}

// press presses keys, one after the other, and returns the last one's command.
func press(m *Model, keys ...string) (cmd tea.Cmd) {
	for _, k := range keys {
		msg := tea.KeyPressMsg{Text: k}
		if len([]rune(k)) == 1 {
			msg.Code = []rune(k)[0]
		}
		switch k {
		case "tab":
			msg = tea.KeyPressMsg{Code: tea.KeyTab}
		case "down":
			msg = tea.KeyPressMsg{Code: tea.KeyDown}
		case "up":
			msg = tea.KeyPressMsg{Code: tea.KeyUp}
		case "end":
			msg = tea.KeyPressMsg{Code: tea.KeyEnd}
		case "pgdown":
			msg = tea.KeyPressMsg{Code: tea.KeyPgDown}
		case "enter":
			msg = tea.KeyPressMsg{Code: tea.KeyEnter}
		case "space":
			msg = tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
		case "ctrl+c":
			msg = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
		}
		_, cmd = m.Update(msg)
	}
	return cmd
}

// check is the picture without its looks, after checking that it fits.
func check(t *testing.T, m *Model) string {
	t.Helper()
	lines := strings.Split(m.screen(), "\n")
	if len(lines) > m.height {
		t.Errorf("%d lines in a terminal of %d", len(lines), m.height)
	}
	for _, l := range lines {
		if text.Width(l) > m.width {
			t.Errorf("%d columns in a terminal of %d: %q", text.Width(l), m.width, l)
		}
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(plainText(l), " ") + "\n")
	}
	return b.String()
}

func TestViews(t *testing.T) {
	down := &fake{err: smi.Errorf(smi.ErrUnavailable, "worker gpu-node-1:18515: nobody listens there")}
	for name, m := range map[string]*Model{
		"one_80x24":   view(t, 80, 24, machine(2, 4)),
		"one_120x40":  view(t, 120, 40, machine(8, 4)),
		"one_40x13":   view(t, 40, 13, machine(8, 4)),
		"two_100x30":  view(t, 100, 30, machine(2, 3), down),
		"poor_80x24":  view(t, 80, 24, &fake{Source: smitest.NewFake(smitest.Cards()...)}),
		"small_39x24": view(t, 39, 24, machine(1, 1)),
		"small_80x3":  view(t, 80, 3, machine(1, 1)),
	} {
		got := check(t, m)
		file := filepath.Join("testdata", name+".txt")
		if *rewrite {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant (go test -rewrite writes it anew)\n%s", name, got, want)
		}
	}
}

// Nothing that can be seen is wider or higher than the terminal, whatever its size.
func TestSizes(t *testing.T) {
	m := view(t, 80, 24, machine(8, 20), &fake{Source: smitest.NewFake(smitest.Cards()...)})
	for _, keys := range [][]string{nil, {"?"}, {"x", "enter"}, {"esc", "k"}} {
		press(m, keys...)
		for w := 1; w < 200; w += 7 {
			for h := 1; h < 60; h += 5 {
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				check(t, m)
			}
		}
	}
}

func TestKeys(t *testing.T) {
	w := machine(2, 30)
	m := view(t, 80, 30, w)
	p := &m.panes[processesPane]
	order := func() (pids []uint32) {
		for _, r := range m.processRows {
			pids = append(pids, r.PID)
		}
		return pids
	}
	if p.rows != 60 || m.processRows[0].VRAM.Or(0) < m.processRows[59].VRAM.Or(0) {
		t.Fatalf("%d rows, not by memory", p.rows)
	}
	press(m, "r")
	if m.processRows[0].VRAM.Or(0) > m.processRows[59].VRAM.Or(0) {
		t.Error("not reversed")
	}
	press(m, "s", "s")
	if got := order(); sortKeys[processesPane][p.sort] != "process" || got[0] != 3000 || got[59] != 4203 {
		t.Errorf("by process: %v", got)
	}
	press(m, "end")
	if p.chosen != 59 || p.offset != 60-p.page || !strings.Contains(check(t, m), "4203") {
		t.Errorf("end: %+v", *p)
	}
	// The chosen process stays chosen when the rows move.
	press(m, "r")
	if m.chosenProcess().PID != 4203 || p.chosen != 0 {
		t.Errorf("chosen is %d, row %d", m.chosenProcess().PID, p.chosen)
	}
	press(m, "down", "down", "pgdown", "up")
	if p.chosen != 1+p.page {
		t.Errorf("%+v", *p)
	}
	press(m, "tab")
	if m.focus != callsPane || !strings.Contains(check(t, m), "> Calls 3  by rate ↓") {
		t.Errorf("focus %d\n%s", m.focus, check(t, m))
	}
	press(m, "s", "s", "s")
	if m.callRows[0].op != "hipMalloc" {
		t.Errorf("by name: %s", m.callRows[0].op)
	}
	if press(m, "+"); m.opt.Interval != 2*time.Second {
		t.Error(m.opt.Interval)
	}
	if press(m, "-", "-"); m.opt.Interval != 500*time.Millisecond {
		t.Error(m.opt.Interval)
	}
	press(m, "?")
	if !strings.Contains(check(t, m), "Home and End") {
		t.Error("no help")
	}
	if press(m, "q"); m.help {
		t.Error("help stays")
	}
	for _, k := range []string{"q", "ctrl+c"} {
		cmd := press(m, k)
		if cmd == nil {
			t.Fatalf("%s does not end it", k)
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%s does not end it", k)
		}
	}
}

// While it stands still nothing is read; then it goes on.
func TestPause(t *testing.T) {
	m := view(t, 80, 24, machine(1, 1))
	press(m, "space")
	if _, cmd := m.Update(pollMsg{0}); cmd != nil || !strings.Contains(check(t, m), "PAUSED") {
		t.Error("it reads although it is paused")
	}
	if cmd := press(m, "space"); cmd == nil || m.hosts[0].waiting {
		t.Error("it does not go on")
	}
	if _, cmd := m.Update(pollMsg{0}); cmd == nil {
		t.Error("it does not read")
	}
}

func TestKill(t *testing.T) {
	w := machine(1, 2)
	m := view(t, 80, 24, w)
	if press(m, "k"); m.killing != nil || !strings.Contains(check(t, m), "Choose a process first") {
		t.Errorf("asked about a process that nobody chose:\n%s", check(t, m))
	}
	for m.chosenProcess() == nil || m.chosenProcess().Session == "" {
		press(m, "down")
	}
	id := m.chosenProcess().Session
	press(m, "k")
	if got := check(t, m); !strings.Contains(got, "End session "+id+" of ") || !strings.Contains(got, "y/n") {
		t.Fatalf("no question:\n%s", got)
	}
	if cmd := press(m, "x"); cmd != nil || len(w.killed) != 0 || !strings.Contains(check(t, m), "Nothing was ended.") {
		t.Error("x is no y")
	}
	cmd := press(m, "k", "y")
	m.Update(cmd())
	if fmt.Sprint(w.killed) != "["+id+"]" || !strings.Contains(check(t, m), "Session "+id+" has been ended.") {
		t.Errorf("killed %v:\n%s", w.killed, check(t, m))
	}
	w.err = smi.Errorf(smi.ErrNoPermission, "sessions are ended for clients on the worker's own machine only")
	m.Update(press(m, "k", "y")())
	if !strings.Contains(check(t, m), "own machine only") {
		t.Errorf("no reason:\n%s", check(t, m))
	}
	for m.chosenProcess().Session != "" {
		press(m, "s", "down")
	}
	if press(m, "k"); m.killing != nil || !strings.Contains(check(t, m), "not a worker's session") {
		t.Errorf("a local process:\n%s", check(t, m))
	}
	press(m, "tab", "k")
	if m.killing != nil {
		t.Error("asked about a function")
	}
}

// A worker that goes keeps its last figures on the screen, and says that it is gone.
func TestWorkerGoes(t *testing.T) {
	a, b := machine(1, 1), machine(1, 1)
	m := view(t, 100, 30, a, b)
	b.err = smi.Errorf(smi.ErrUnavailable, "worker gpu-node-1: connection\x1b[2J lost")
	deliver(t, m, 1, moment.Add(3*time.Second))
	got := check(t, m)
	if !strings.Contains(got, "1 not reached") || !strings.Contains(got, "gpu-node-1: worker gpu-node-1: connection?[2J lost") || !strings.Contains(got, "gpu-node-0  ") {
		t.Errorf("\n%s", got)
	}
	b.err = nil
	deliver(t, m, 1, moment.Add(4*time.Second))
	if got := check(t, m); strings.Contains(got, "not reached") {
		t.Errorf("\n%s", got)
	}
}

func TestNoColor(t *testing.T) {
	m := view(t, 80, 24, machine(2, 2))
	if !strings.Contains(m.screen(), "\x1b[3") {
		t.Error("no colour at all")
	}
	m.opt.NoColor = true
	for _, seq := range strings.Split(m.screen(), "\x1b[")[1:] {
		if code, _, _ := strings.Cut(seq, "m"); code != "" && code != "1" && code != "2" && code != "7" && code != "0" {
			t.Errorf("sequence %q", code)
		}
	}
}

func TestRates(t *testing.T) {
	before, now := reading{at: moment, calls: someCalls(3)}, reading{at: moment.Add(2 * time.Second), calls: someCalls(7)}
	r := callRates(&before, &now)
	if c := r["hipMemcpy"]; c.rate != 22 || c.failed != 2 || c.total != 77 {
		t.Errorf("%+v", *c)
	}
	if c := r["hipModuleLaunchKernel"]; c.rate != 2400 || c.failed != 0 || c.worker.Quantile(0.99) < 3e-6 || c.worker.Quantile(0.5) > 5e-6 {
		t.Errorf("%+v", *c)
	}
	if c := r["hipMalloc"]; c.rate != 0 || c.total != 7 || c.worker.Count() != 0 {
		t.Errorf("%+v", *c)
	}
	// A worker that has started again counts from zero.
	again := reading{at: moment.Add(3 * time.Second), calls: someCalls(1)}
	if c := callRates(&now, &again)["hipMemcpy"]; c.rate != 11 {
		t.Errorf("after a restart: %+v", *c)
	}
	if c := callRates(nil, &now)["hipMemcpy"]; c.rate != 0 || c.total != 77 {
		t.Errorf("at first: %+v", *c)
	}
}

func TestBusyShares(t *testing.T) {
	at := func(s time.Duration, busy smi.Opt[smi.Duration]) *reading {
		return &reading{at: moment.Add(s), snap: &smi.Snapshot{Devices: []smi.DeviceSnapshot{{Processes: []smi.Process{{PID: 7, Busy: busy}}}}}}
	}
	some := func(d time.Duration) smi.Opt[smi.Duration] { return smi.Some(smi.Duration(d)) }
	id := processID{0, 0, 7, ""}
	if s := busyShares(0, at(0, some(time.Second)), at(2*time.Second, some(2*time.Second)))[id]; s.Or(-1) != 0.5 {
		t.Error(s)
	}
	if s := busyShares(0, at(0, some(time.Second)), at(2*time.Second, some(0)))[id]; s.Ok() {
		t.Error("another process of that number:", s)
	}
	if s := busyShares(0, at(0, smi.None[smi.Duration]()), at(time.Second, some(0)))[id]; s.Ok() {
		t.Error(s)
	}
}

// What keys are about is a process, not a row: it stays the one when others come before it, and none takes its place when it ends.
func TestChosenIsAProcess(t *testing.T) {
	w := machine(1, 3)
	m := view(t, 80, 24, w)
	press(m, "down")
	first := m.chosenProcess()
	if first == nil || m.panes[processesPane].chosen != 0 {
		t.Fatalf("the first key chooses %+v", m.panes[processesPane])
	}
	pid := first.PID
	snap := m.hosts[0].now.snap
	all := snap.Devices[0].Processes
	read := func(p []smi.Process) {
		s := *snap
		s.Devices = append([]smi.DeviceSnapshot(nil), snap.Devices...)
		s.Devices[0].Processes = p
		m.Update(readingMsg{0, reading{at: m.hosts[0].now.at.Add(time.Second), snap: &s}})
	}
	bigger := smi.Process{PID: 9999, Session: "148", VRAM: smi.Some(smi.Bytes(1 << 40))}
	read(append([]smi.Process{bigger}, all...))
	if p := m.chosenProcess(); p == nil || p.PID != pid || m.processRows[0].PID != 9999 {
		t.Errorf("chosen is now %+v", p)
	}
	press(m, "enter")
	read([]smi.Process{bigger})
	if p := m.chosenProcess(); p != nil || m.detail || !strings.Contains(check(t, m), "has ended") {
		t.Errorf("chosen is %+v, which nobody chose:\n%s", p, check(t, m))
	}
	if press(m, "k"); m.killing != nil {
		t.Errorf("offers to end session %s", m.killing.session)
	}
}

func TestPast(t *testing.T) {
	var p past
	for i := range 8 {
		p.add(moment.Add(time.Duration(i)*pastSpan/8), smi.Some(smi.Ratio(i)/7))
	}
	now := moment.Add(pastSpan - pastSpan/16)
	if s := p.line(now, 8); s != "▁▂▃▄▅▆▇█" {
		t.Errorf("%q", s)
	}
	p.add(now, smi.None[smi.Ratio]())
	p.add(now.Add(pastSpan/4), smi.Some(smi.Ratio(7)))
	if s := p.line(now.Add(pastSpan/4), 8); s != "▃▄▅▆▇█ █" {
		t.Errorf("%q", s)
	}
	if s := p.line(now.Add(time.Hour), 8); s != "        " {
		t.Errorf("%q", s)
	}
}
