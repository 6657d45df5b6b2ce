package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/cutproxy"
)

// cutting puts a proxy in front of a worker that cuts now and then, at a random byte less than apart away, and gives the environment that leads to it.
func cutting(t *testing.T, env []string, apart int) (*cutproxy.Proxy, []string) {
	t.Helper()
	_, port, _ := strings.Cut(env[1], "=")
	p := cutproxy.New(t, "127.0.0.1:"+port)
	_, port, _ = strings.Cut(p.Addr(), ":")
	t.Cleanup(p.Randomly(apart, false))
	return p, []string{env[0], "TF_WORKER_PORT=" + port, "TF_WORKER_SHM=0"}
}

// told are the lines in which the library says that it was cut.
var told = regexp.MustCompile(`(?m)^rocwire: .*(trying to go on|connected again).*\n`)

// TestCutMatmul: a program whose connection is cut a hundred times and more computes the same to the last bit.
func TestCutMatmul(t *testing.T) {
	bin, kernel := program(t, multiplier), matmulKernel(t)
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a")
	rounds := "200"
	want := runs(t, env, bin, kernel, rounds)
	p, env := cutting(t, env, 200<<10)
	got := runs(t, env, bin, kernel, rounds)
	if rest := told.ReplaceAllString(got, ""); rest != want || !strings.Contains(want, "matmul: ") {
		t.Errorf("with cuts:\n%s\nwithout:\n%s", rest, want)
	}
	if n := p.Cuts(); n < 100 || n > 2*len(told.FindAllString(got, -1)) {
		t.Errorf("cut %d times, and the library says\n%s", n, got)
	}
}

// TestCutPrograms: programs that use everything do not notice.
func TestCutPrograms(t *testing.T) {
	env := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--sim-cards", "2")
	for _, name := range []string{"quick", "api_basic", "api_more", "threads", "streams_events", "graphs", "host_memory", "pools", "texobjects", "kernel_output", "stream_values"} {
		t.Run(name, func(t *testing.T) {
			apart := 4 << 10
			if name == "kernel_output" { // which hardly says anything
				apart = 1 << 10
			}
			p, env := cutting(t, env, apart)
			if out := runs(t, env, program(t, "examples/tests/"+name+".c")); !strings.Contains(out, "ok") {
				t.Error(out)
			}
			if p.Cuts() == 0 {
				t.Error("it was not cut")
			}
		})
	}
}
