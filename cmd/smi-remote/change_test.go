package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

func TestSet(t *testing.T) {
	hz := func(mhz float64) smi.Opt[smi.Hertz] { return smi.Some(smi.MHz(mhz)) }
	for args, want := range map[string]smi.Setting{
		"power-cap 1 500":              {PowerCap: smi.Some(smi.Watts(500))},
		"power-cap 1 0.5kW":            {PowerCap: smi.Some(smi.Watts(500))},
		"perf-level 1 high":            {PerfLevel: smi.PerfHigh},
		"clock 1 gfx 500-1200":         {Clock: &smi.ClockRange{Domain: smi.ClockGFX, Min: hz(500), Max: hz(1200)}},
		"clock 1 mem 900MHz-":          {Clock: &smi.ClockRange{Domain: smi.ClockMem, Min: hz(900)}},
		"clock 1 soc -- -1.1GHz":       {Clock: &smi.ClockRange{Domain: smi.ClockSOC, Max: hz(1100)}},
		"determinism 1 1000":           {Determinism: hz(1000)},
		"fan 1 60%":                    {Fan: smi.Some(smi.Ratio(0.6))},
		"fan 1 auto":                   {FanAuto: true},
		"compute-partition 22:0.0 cpx": {ComputePartition: "CPX"},
		"memory-partition 11ff nps4":   {MemoryPartition: "NPS4"},
		"reset 1 --yes":                {Reset: true},
	} {
		args = strings.Replace(args, "22:0.0", "22:00.0", 1)
		f := smitest.NewMachine(2, 0)
		code, out, errs := call(t, []string{worker1(t, f)}, append([]string{"set"}, strings.Fields(args)...)...)
		if code != 0 || errs != "" || !strings.HasPrefix(out, "GPU 1: "+strings.Fields(args)[0]) {
			t.Errorf("set %s: exit %d, %q, %q", args, code, out, errs)
		}
		if got := f.Changes(); !reflect.DeepEqual(got, []smitest.Change{{Index: 1, Setting: want}}) {
			t.Errorf("set %s: %+v", args, got)
		}
	}
}

func TestSetAll(t *testing.T) {
	a, b := smitest.NewMachine(2, 0), smitest.NewMachine(1, 0)
	workers := []string{worker1(t, a), worker1(t, b)}
	if code, out, errs := call(t, workers, "set", "power-cap", "all", "400"); code != 0 || strings.Count(out, "\n") != 3 || len(a.Changes()) != 2 || len(b.Changes()) != 1 {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	b.Refuse(smi.Errorf(smi.ErrNoPermission, "not this one"))
	code, out, errs := call(t, workers, "set", "power-cap", "0", "300")
	if code != 1 || strings.Count(out, "\n") != 1 || errs != "smi-remote: "+workers[1]+": GPU 0: power-cap 300: not this one\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs := call(t, workers[:1], "set", "power-cap", "0", "5000"); code != 1 || !strings.Contains(errs, "is not within") {
		t.Errorf("exit %d, %q", code, errs)
	}
	readOnly := remotetest.Start(t, "", smiremote.HandlerOptions{Source: smitest.NewMachine(1, 0)}).Addr
	if code, _, errs := call(t, []string{readOnly}, "set", "perf-level", "0", "high"); code != 1 || !strings.Contains(errs, "--smi-allow-set") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

func TestFaults(t *testing.T) {
	f := smitest.NewFaulty(2, 0)
	workers := []string{worker1(t, f)}
	var want []smitest.Told
	for args, fault := range map[string]smi.Fault{
		"set ecc 1 count=3 block=gfx error=uncorrectable": {Kind: smi.FaultECC, Block: "gfx", Error: "uncorrectable", Count: 3},
		"set thermal 1 temperature=108":                   {Kind: smi.FaultThermal, Temperature: smi.Some(smi.Celsius(108))},
		"set link 1 width=4 speed=8GT/s":                  {Kind: smi.FaultLink, Width: smi.Some(4), Speed: smi.Some(smi.TransfersPerSecond(8e9))},
		"clear hang 1":                                    {Kind: smi.FaultHang, Clear: true},
		"set gone 11ff":                                   {Kind: smi.FaultGone},
	} {
		want = append(want, smitest.Told{Index: 1, Fault: fault})
		if code, out, errs := call(t, workers, append([]string{"sim"}, strings.Fields(args)...)...); code != 0 || errs != "" || !strings.HasPrefix(out, "GPU 1: ") {
			t.Errorf("sim %s: exit %d, %q, %q", args, code, out, errs)
		}
		if got := f.Told(); !reflect.DeepEqual(got, want) {
			t.Fatalf("sim %s: %+v, want %+v", args, got, want)
		}
	}
	if code, out, _ := call(t, workers, "sim", "set", "hang", "all"); code != 0 || strings.Count(out, "\n") != 2 {
		t.Errorf("all: exit %d, %q", code, out)
	}
	if code, _, errs := call(t, []string{worker1(t, smitest.NewMachine(1, 0))}, "sim", "set", "hang"); code != 1 || !strings.HasPrefix(errs, "smi-remote: GPU 0: hang: ") {
		t.Errorf("a real card: exit %d, %q", code, errs)
	}
}

func TestScenario(t *testing.T) {
	f := smitest.NewFaulty(1, 0)
	workers := []string{worker1(t, f)}
	file := filepath.Join(t.TempDir(), "scenario")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# not in order\n20ms clear hang\n\n0s ecc count=2 # two\n10ms hang 0\n")
	code, out, errs := call(t, workers, "sim", "scenario", file, "--check")
	if code != 0 || errs != "" || len(f.Told()) != 0 || out != "      0s  ecc -\n    10ms  hang 0\n    20ms  end of hang -\n" {
		t.Errorf("check: exit %d, %q, %q", code, out, errs)
	}
	code, out, errs = call(t, workers, "sim", "scenario", file)
	want := []smitest.Told{{Fault: smi.Fault{Kind: smi.FaultECC, Count: 2}}, {Fault: smi.Fault{Kind: smi.FaultHang}}, {Fault: smi.Fault{Kind: smi.FaultHang, Clear: true}}}
	if code != 0 || errs != "" || !reflect.DeepEqual(f.Told(), want) || out != "      0s  GPU 0: ecc\n    10ms  GPU 0: hang\n    20ms  GPU 0: end of hang\n" {
		t.Errorf("exit %d, %q, %q, %+v", code, out, errs, f.Told())
	}
	// Interrupted, it ends what goes on.
	write("0s thermal\n0s hang\n0s clear hang\n1h reset\n")
	lines, _, stop := background(t, workers, "sim", "scenario", file)
	lines.wait(t, "end of hang")
	if code := stop(); code != 0 {
		t.Errorf("exit %d", code)
	}
	told := f.Told()
	if last := told[len(told)-1]; len(told) != 3+4 || last.Fault.Kind != smi.FaultThermal || !last.Fault.Clear {
		t.Errorf("%+v", told)
	}
	for bad, want := range map[string]string{
		"soon hang": "line 1", "\n-1s hang": "line 2", "1s": "line 1: which fault", "1s flood": "line 1: there is no fault", "0s clear ecc": "nothing to clear",
		"0s ecc " + strings.Repeat("x", 2000): "line 1", strings.Repeat("0s hang\n", maxSteps+1): "more than",
	} {
		write(bad)
		if code, _, errs := call(t, workers, "sim", "scenario", file); code != 2 || !strings.Contains(errs, want) {
			t.Errorf("%.40q: exit %d, %q", bad, code, errs)
		}
	}
}

func FuzzScenario(f *testing.F) {
	f.Add("0s ecc 0 count=20\n10s thermal 0 temperature=108\n40s clear thermal 0\n")
	f.Add("1m link width=4 speed=8 # slow")
	f.Fuzz(func(t *testing.T, s string) {
		steps, err := parseScenario(strings.NewReader(s))
		if err != nil {
			return
		}
		last := time.Duration(0)
		for _, st := range steps {
			if st.at < last || st.at < 0 {
				t.Errorf("%v behind %v", st.at, last)
			}
			last = st.at
			if _, ok := faultKinds[st.fault.Kind]; !ok {
				t.Errorf("fault %q", st.fault.Kind)
			}
		}
	})
}

func TestKillSession(t *testing.T) {
	var mu sync.Mutex
	var killed []string
	addr := remotetest.Start(t, "", smiremote.HandlerOptions{
		Source: smitest.NewMachine(1, 0), Sessions: smitest.Clients{},
		Kill: func(id, _ string) error {
			if id != "17" {
				return smi.Errorf(smi.ErrNotFound, "there is no session %s", id)
			}
			mu.Lock()
			defer mu.Unlock()
			killed = append(killed, id)
			return nil
		},
	}).Addr
	code, out, errs := call(t, []string{addr}, "session", "kill", "17")
	mu.Lock()
	n := len(killed)
	mu.Unlock()
	if code != 0 || errs != "" || out != "Session 17 has been ended.\n" || n != 1 {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	code, out, errs = call(t, []string{addr}, "session", "kill", "99", "17")
	if code != 4 || !strings.Contains(errs, "there is no session 99") || out != "Session 17 has been ended.\n" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	code, out, _ = call(t, []string{addr}, "workers", "--json")
	if code != 0 || !strings.Contains(out, `"kill_allowed": true`) || !strings.Contains(out, `"settings_allowed": false`) || strings.Count(out, `"host"`) != 1 {
		t.Errorf("exit %d, %s", code, out)
	}
}
