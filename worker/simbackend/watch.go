package simbackend

import (
	"flag"
	"fmt"
	"strconv"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/simgpu"
)

// Watch is what is looked for in kernels, and told of them, as it stands in
// arguments. docs/simulator-check.md describes it.
type Watch struct {
	check       checkFlag
	fatal       bool
	traced      string
	traceFormat string
	traceLimit  int
	same        bool // the same bits every time
	profile     bool
}

// checkFlag is a flag that may have no value: "on" then.
type checkFlag string

func (c *checkFlag) String() string   { return string(*c) }
func (c *checkFlag) IsBoolFlag() bool { return true }

func (c *checkFlag) Set(s string) error {
	switch s {
	case "true":
		s = "on"
	case "false":
		s = "off"
	}
	_, err := simgpu.ParseChecks(s)
	*c = checkFlag(s)
	return err
}

// AddFlags adds the arguments.
func (w *Watch) AddFlags(f *flag.FlagSet) {
	f.Var(&w.check, "sim-check", "")
	f.BoolVar(&w.fatal, "sim-check-fatal", false, "")
	f.StringVar(&w.traced, "sim-trace", "", "")
	f.StringVar(&w.traceFormat, "sim-trace-format", "", "")
	f.BoolVar(&w.same, "sim-deterministic", false, "")
	f.BoolVar(&w.profile, "sim-profile", false, "")
	f.IntVar(&w.traceLimit, "sim-trace-limit", 0, "")
}

// SetCheck is the flag's value by another way: an environment variable.
func (w *Watch) SetCheck(s string) error { return w.check.Set(s) }

// Check says whether the arguments make sense.
func (w *Watch) Check() error {
	_, err := w.options()
	return err
}

// args are those of a session process.
func (w *Watch) args() (list []string) {
	if w.check != "" {
		list = append(list, "--sim-check="+w.check.String())
	}
	if w.same {
		list = append(list, "--sim-deterministic")
	}
	if w.profile {
		list = append(list, "--sim-profile")
	}
	if w.fatal {
		list = append(list, "--sim-check-fatal")
	}
	if w.traced != "" {
		list = append(list, "--sim-trace", w.traced, "--sim-trace-format", w.traceFormat, "--sim-trace-limit", strconv.Itoa(w.traceLimit))
	}
	return list
}

// options are the runtime's.
func (w *Watch) options() (o simgpu.Options, err error) {
	if o.Check, err = simgpu.ParseChecks(w.check.String()); err != nil {
		return o, fmt.Errorf("--sim-check: %w", err)
	}
	o.Deterministic, o.Profile = w.same, w.profile
	if o.CheckFatal = w.fatal; w.fatal && o.Check == 0 {
		return o, fmt.Errorf("--sim-check-fatal, and nothing is checked without --sim-check")
	}
	if w.traced == "" {
		return o, nil
	}
	if o.Trace, err = simgpu.ParseTrace(w.traced); err != nil {
		return o, fmt.Errorf("--sim-trace: %w", err)
	}
	switch w.traceFormat {
	case "", "text":
	case "json":
		o.Trace.JSON = true
	default:
		return o, fmt.Errorf("--sim-trace-format %q: there are text and json", w.traceFormat)
	}
	if o.Trace.Limit = w.traceLimit; w.traceLimit < 0 {
		return o, fmt.Errorf("--sim-trace-limit %d", w.traceLimit)
	}
	return o, nil
}

// runtime is what the session sees of a runtime. Where bounds are looked for, that
// places memory itself: clients place in whole pages, of which they do not say how much is used.
func (w *Watch) runtime(rt *simgpu.Runtime) hip.Runtime {
	if c, _ := simgpu.ParseChecks(w.check.String()); c == 0 {
		return rt
	}
	return struct{ hip.Runtime }{rt}
}
