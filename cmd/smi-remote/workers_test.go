package main

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/freeport"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

func noEnv(string) string { return "" }

func TestParseHosts(t *testing.T) {
	for in, want := range map[string]string{
		"": "localhost:18515", "rocwire://gpu1:9": "gpu1:9", "gpu1": "gpu1:18515", "gpu1:7": "gpu1:7", "10.0.0.1": "10.0.0.1:18515", "::1": "[::1]:18515", "[::1]": "[::1]:18515", "[fe80::1%eth0]:9": "[fe80::1%eth0]:9",
		"unix:/run/w.sock": "unix:/run/w.sock", "a, b:1,a": "a:18515 b:1",
	} {
		list, err := (&app{getenv: noEnv}).parseHosts([]string{in}, defaultPort)
		var got []string
		for _, w := range list {
			got = append(got, w.Address.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %s", in, got, err, want)
		}
	}
}

func FuzzParseHosts(f *testing.F) {
	for _, s := range []string{"gpu1", "gpu1:7,b", "[::1]:9", "unix:/x", "::1", "[", ":", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := (&app{getenv: noEnv}).parseHosts([]string{s}, defaultPort)
		for _, w := range got {
			a := w.Address.String()
			if err == nil && !strings.HasPrefix(a, "unix:") {
				if _, _, err := net.SplitHostPort(a); err != nil {
					t.Errorf("%q: %q: %v", s, a, err)
				}
			}
		}
	})
}

// A worker that is not there: one line that names host, port and reason, exit 3.
func TestUnreachable(t *testing.T) {
	addr := freeport.Nobody(t)
	for _, args := range append([]string{"processes --json", "events", "session kill 7", "set perf-level 0 auto", "sim set hang", "workers", "metrics 10ff"}, shown...) {
		code, out, errs := call(t, []string{addr}, strings.Fields(args)...)
		if want := "smi-remote: worker " + addr + ": nobody listens there\n"; code != 3 || !strings.Contains(args, "json") && out != "" || errs != want {
			t.Errorf("%s: exit %d, %q, %q, want 3, %q", args, code, out, errs, want)
		}
	}
	code, _, errs := call(t, []string{"no-such-host.invalid"}, "list")
	if code != 3 || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "no-such-host.invalid") {
		t.Errorf("unknown host: exit %d, %q", code, errs)
	}
}

// A listener that accepts and says nothing is given up.
func TestSilentWorker(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	code, _, errs := call(t, []string{ln.Addr().String()}, "list", "--timeout", "50ms")
	if code != 3 || !strings.Contains(errs, ln.Addr().String()) || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// A worker that is not there does not hide those that are.
func TestOneOfSeveralIsDown(t *testing.T) {
	up, down := worker1(t, smitest.NewMachine(2, 1)), freeport.Nobody(t)
	workers := []string{down, up}
	for _, args := range append(slices.Clone(shown), "workers", "workers --json", "list 10ff", "list 1") {
		code, out, errs := call(t, workers, strings.Fields(args)...)
		if want := "smi-remote: worker " + down + ": nobody listens there\n"; code != 1 || errs != want || out == "" {
			t.Errorf("%s: exit %d, %q; want 1, %q\n%s", args, code, errs, want, out)
		}
		checkForm(t, args, out)
	}
	_, out, _ := call(t, workers, "list", "--json")
	if !strings.Contains(out, `"detail": "worker `+down) || !strings.Contains(out, `"host": "`+up) {
		t.Error(out)
	}
	// The card may be one of the worker's that does not answer: not exit 4.
	if code, _, errs := call(t, workers, "list", "ffff"); code != 1 || !strings.Contains(errs, "there is no GPU ffff") || !strings.Contains(errs, "nobody listens") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if code, _, errs := call(t, []string{up, worker1(t, smitest.NewMachine(1, 0))}, "list", "7"); code != 4 || !strings.Contains(errs, "no worker has a GPU 7") {
		t.Errorf("exit %d, %q", code, errs)
	}
	both := []string{down, freeport.Nobody(t)}
	if code, _, errs := call(t, both, "metrics"); code != 3 || strings.Count(errs, "\n") != 2 {
		t.Errorf("both down: exit %d, %q", code, errs)
	}
}

// One card that fails is named; the other one is shown.
func TestOneCardFails(t *testing.T) {
	list := smitest.Cards()
	list[0].Metrics, list[0].MetricsErr = nil, &smi.Failure{Code: smi.ErrIO, Detail: "fell off the bus\x1b[2J"}
	list[0].Info, list[0].InfoErr = nil, &smi.Failure{Code: smi.ErrIO, Detail: "fell off the bus"}
	workers := cards(t, list...)
	for _, command := range []string{"metrics", "list", "power"} {
		code, out, errs := call(t, workers, command)
		if code != 1 || !strings.Contains(errs, "GPU 0: ") || !strings.Contains(errs, "fell off the bus") || strings.Contains(errs, "\x1b") {
			t.Errorf("%s: exit %d, %q", command, code, errs)
		}
		if strings.Count(out, "\n") != 3 {
			t.Errorf("%s:\n%s", command, out)
		}
	}
	code, _, errs := call(t, workers, "metrics", "0")
	if code != 1 || errs != "smi-remote: GPU 0: metrics: fell off the bus?[2J\n" {
		t.Errorf("exit %d, %q", code, errs)
	}
	code, out, _ := call(t, workers, "metrics", "--csv")
	if rows := strings.Split(out, "\r\n"); code != 1 || len(rows) != 4 || strings.Count(rows[1], ",") != strings.Count(rows[0], ",") {
		t.Errorf("exit %d, %q", code, out)
	}
}

func TestNoCards(t *testing.T) {
	workers := cards(t)
	for _, args := range shown {
		if strings.ContainsAny(args, "01") {
			continue
		}
		code, out, errs := call(t, workers, args)
		if args != "topology" && (code != 0 || errs != "") || out == "" && code == 0 {
			t.Errorf("%s: exit %d, %q, %q", args, code, out, errs)
		}
	}
	code, _, errs := call(t, workers, "info", "0")
	if code != 4 || errs != "smi-remote: no GPU 0: there is no GPU\n" {
		t.Errorf("info: exit %d, %q", code, errs)
	}
	if _, out, _ := call(t, workers, "list", "--json"); !strings.Contains(out, `"gpus": []`) || !strings.Contains(out, `"errors": []`) {
		t.Errorf("list --json: %s", out)
	}
}

// Figures that are not of now are marked.
func TestStale(t *testing.T) {
	list := smitest.Machine(1, 1)
	old := smi.Some(smi.Duration(12e9))
	list[0].Metrics.Stale, list[0].ECC.Stale, list[0].ProcessesStale = old, old, old
	workers := cards(t, list...)
	for _, args := range []string{"metrics", "metrics 0", "power", "power 0", "ecc", "ecc 0"} {
		if code, out, _ := call(t, workers, strings.Fields(args)...); code != 0 || !strings.Contains(out, "12 s old") {
			t.Errorf("%s: exit %d\n%s", args, code, out)
		}
	}
	if _, out, _ := call(t, workers, "metrics", "--json"); !strings.Contains(out, `"stale_seconds": 12`) {
		t.Error(out)
	}
}

// A client may call itself anything; the table stays a table.
func TestHostileNames(t *testing.T) {
	list := smitest.Machine(1, 3)
	evil := "\x1b]0;owned\a\n" + strings.Repeat("é漢", 400)
	c := &list[0]
	c.Device.Name, c.Info.Name, c.Device.Target, c.Info.Driver.Name = evil, evil, evil, evil
	c.ECC.Blocks[0].Block, c.ECC.Blocks[0].State, c.ECC.Blocks[0].Correctable = evil, evil, smi.Some(uint64(1))
	c.Metrics.Clocks[0].Domain, c.Metrics.Temperatures[0].Sensor, c.Metrics.Throttle.Violations[0].Kind = evil, evil, evil
	c.Metrics.Throttle.Violations[0].Active = smi.Some(true)
	for i := range c.Processes {
		p := &c.Processes[i]
		p.Name, p.User, p.Command, p.Origin, p.Session = evil, evil, evil, evil, evil
		p.Client = &smi.Client{Host: evil, User: evil, Executable: evil, Pod: evil, Namespace: evil, Container: evil}
		p.Container = &smi.Container{ID: evil, Name: evil, Pod: evil, PodUID: evil, Namespace: evil}
	}
	fake := smitest.NewFake(list...)
	fake.SetDetails(smitest.Detail{
		Firmware: []smi.Firmware{{Name: evil, Version: evil}}, BadPages: []smi.BadPage{{State: evil}},
		XGMI: &smi.XGMI{Errors: evil, Links: []smi.XGMILink{{State: evil}}}, Partitions: &smi.Partitions{Compute: evil, Memory: evil, Memories: []string{evil}},
	})
	fake.SetTopology(&smi.Topology{Paths: []smi.Path{{From: 0, To: 1, Type: evil}}})
	workers := []string{worker1(t, fake)}
	for _, args := range shown {
		if strings.HasSuffix(args, "1") || args == "sessions" {
			continue
		}
		for _, form := range []string{"", " --csv"} {
			code, out, errs := call(t, workers, strings.Fields(args+form)...)
			if code != 0 || errs != "" || strings.ContainsAny(out, "\x1b\a") || out == "" {
				t.Errorf("%s: exit %d, %q\n%q", args+form, code, errs, out)
			}
			if form == "" {
				checkWidth(t, args, out)
			}
		}
	}
}
