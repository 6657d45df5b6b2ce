package simgpu

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/examples/bugs"
	"github.com/rocwire/rocwire/simgpu/exec"
)

func TestParseTrace(t *testing.T) {
	for _, c := range []struct {
		text string
		want Trace
	}{
		{"k", Trace{Kernel: "k"}}, {"_Z*k?,7", Trace{Kernel: "_Z*k?", Workgroup: 7}}, {"k,18446744073709551615,3", Trace{Kernel: "k", Workgroup: 1<<64 - 1, Wave: 3}},
	} {
		got, err := ParseTrace(c.text)
		if err != nil || got.Kernel != c.want.Kernel || got.Workgroup != c.want.Workgroup || got.Wave != c.want.Wave {
			t.Errorf("%q: %+v, %v", c.text, got, err)
		}
	}
	for _, bad := range []string{"", ",1", "k,", "k,-1", "k,1,", "k,1,-1", "k,1,2,3", "k[", "k,18446744073709551616"} {
		if got, err := ParseTrace(bad); err == nil {
			t.Errorf("%q is %+v", bad, got)
		}
	}
}

// TestTraced: what is told of a wave, and why nothing is.
func TestTraced(t *testing.T) {
	const arch, name = "gfx90a", "float_sum"
	k := bugs.Kernel{N: 8, Threads: 8}
	run := func(o Trace) (text, log string) {
		var mu sync.Mutex
		var b, l strings.Builder
		o.Write = func(line []byte) {
			mu.Lock()
			defer mu.Unlock()
			b.Write(line)
		}
		t.Run(fmt.Sprint(o.Kernel, o.Workgroup, o.Wave), func(t *testing.T) { // it closes the runtime
			bugRun(t, Options{Arch: arch, Trace: o, Logf: func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Fprintf(&l, format+"\n", args...)
			}}, name, k, nil)
		})
		return b.String(), l.String()
	}
	whole, log := run(Trace{Kernel: name})
	if !strings.Contains(whole, "s_endpgm") || !strings.Contains(whole, "v0 =") || log != "" {
		t.Errorf("it tells %q, and %q", whole, log)
	}
	if text, _ := run(Trace{Kernel: "f*t_s?m"}); strings.Count(text, "\n0x") != strings.Count(whole, "\n0x") { // registers may begin with anything
		t.Errorf("of a pattern it tells %q, want %q", text, whole)
	}
	text, _ := run(Trace{Kernel: name, JSON: true, Limit: 2})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var s exec.Step
	if err := json.Unmarshal([]byte(lines[0]), &s); err != nil || s.Kernel != name || s.Inst == "" || len(lines) != 3 || lines[2] != `{"limit":2}` {
		t.Errorf("%v, %v", lines, err)
	}
	for _, c := range []struct {
		o    Trace
		want string
	}{
		{Trace{Kernel: "float"}, "simgpu: trace: float was not launched; these were: float_sum\n"},
		{Trace{Kernel: name, Workgroup: 1 << 40}, "simgpu: trace: no launch of float_sum had wave 0 of workgroup 1099511627776\n"},
		{Trace{Kernel: name, Wave: 99}, "simgpu: trace: no launch of float_sum had wave 99 of workgroup 0\n"},
	} {
		if text, log := run(c.o); text != "" || log != c.want {
			t.Errorf("%+v: it tells %q, and %q", c.o, text, log)
		}
	}
}
