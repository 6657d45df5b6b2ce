package main

import (
	"strings"
	"testing"

	"github.com/rocwire/rocwire/smi/smitest"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/smiremote/remotetest"
)

// What the Go runtime is told by the environment holds; only else is it told otherwise.
func TestRuntimeSettings(t *testing.T) {
	worker, stop := remotetest.Run(smiremote.HandlerOptions{Source: smitest.NewMachine(1, 1)})
	defer stop()
	for name, c := range map[string]struct{ env, want []string }{
		"its own":      {[]string{"GOGC=", "GOMAXPROCS="}, []string{"\ngo_gc_gogc_percent 100\n"}},
		"the reader's": {[]string{"GOGC=210", "GOMAXPROCS=7"}, []string{"\ngo_gc_gogc_percent 210\n", "\ngo_sched_gomaxprocs_threads 7\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, c.env, "--worker", worker, "--listen", "127.0.0.1:0")
			metrics := get(p.url)
			for _, w := range c.want {
				if !strings.Contains(metrics, w) {
					t.Errorf("%q is not in the metrics", w)
				}
			}
			if name == "its own" && !strings.Contains(metrics, "\ngo_sched_gomaxprocs_threads 1\n") && !strings.Contains(metrics, "\ngo_sched_gomaxprocs_threads 2\n") {
				t.Error("more than two threads, or not told how many")
			}
			if code := p.terminate(t); code != 0 {
				t.Errorf("exit %d", code)
			}
		})
	}
}
