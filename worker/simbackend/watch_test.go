package simbackend

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/simgpu/exec"
)

func parseWatch(args ...string) (w Watch, o simgpu.Options, err error) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	w.AddFlags(f)
	if err = f.Parse(args); err == nil {
		o, err = w.options()
	}
	return w, o, err
}

// TestWatch: what the worker is told reaches its session processes.
func TestWatch(t *testing.T) {
	for args, want := range map[string]simgpu.Options{
		"":                                  {},
		"--sim-check":                       {Check: exec.AllChecks &^ exec.CheckAlign},
		"--sim-check=all --sim-check-fatal": {Check: exec.AllChecks, CheckFatal: true},
		"--sim-check=race,align":            {Check: exec.CheckRace | exec.CheckAlign},
		"--sim-deterministic":               {Deterministic: true},
		"--sim-profile":                     {Profile: true},
		"--sim-trace k,3,1 --sim-trace-format json --sim-trace-limit 5": {Trace: simgpu.Trace{Kernel: "k", Workgroup: 3, Wave: 1, JSON: true, Limit: 5}},
	} {
		w, got, err := parseWatch(strings.Fields(args)...)
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		_, again, err := parseWatch(w.args()...)
		for _, o := range []simgpu.Options{got, again} {
			if o.Check != want.Check || o.CheckFatal != want.CheckFatal || o.Deterministic != want.Deterministic || o.Profile != want.Profile ||
				o.Trace.Kernel != want.Trace.Kernel || o.Trace.Workgroup != want.Trace.Workgroup || o.Trace.Wave != want.Trace.Wave ||
				o.Trace.JSON != want.Trace.JSON || o.Trace.Limit != want.Trace.Limit {
				t.Errorf("%s: %+v by %v, %v; want %+v", args, o, w.args(), err, want)
			}
		}
	}
	for _, args := range []string{"--sim-check=no", "--sim-check-fatal", "--sim-trace ,1", "--sim-trace k,x", "--sim-trace k,1,-1", "--sim-trace k,1,1,1",
		"--sim-trace k --sim-trace-format xml", "--sim-trace k --sim-trace-limit -1"} {
		if _, _, err := parseWatch(strings.Fields(args)...); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

// TestCheckedPlacesItself: clients that placed memory would do so in whole pages.
func TestCheckedPlacesItself(t *testing.T) {
	r, err := simgpu.New(simgpu.Options{MemoryBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for args, want := range map[string]bool{"--sim-check=off": true, "--sim-check": false, "--sim-trace=k": true} {
		w, _, err := parseWatch(args)
		if err != nil {
			t.Fatal(err)
		}
		if _, places := w.runtime(r).(hip.Placer); places != want {
			t.Errorf("%s: the client may place memory: %v", args, places)
		}
	}
}
