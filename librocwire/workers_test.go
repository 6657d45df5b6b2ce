package main

import (
	"strings"
	"testing"
)

// hosts joins the environments of workers into that of a program of all of them.
func hosts(envs ...[]string) []string {
	var list []string
	for _, e := range envs {
		host, _ := strings.CutPrefix(e[0], "TF_WORKER_HOST=")
		port, _ := strings.CutPrefix(e[1], "TF_WORKER_PORT=")
		list = append(list, host+":"+port)
	}
	return []string{"TF_WORKER_HOST=" + strings.Join(list, ",")}
}

// The programs, and one that needs two devices, with the cards of two workers in one list.
func TestWorkers(t *testing.T) {
	env := hosts(worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942"), worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942"))
	runPrograms(t, env)
	devices := program(t, "examples/tests/devices.c")
	for name, env := range map[string][]string{
		"two workers": env,
		"one worker":  worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a", "--sim-cards", "2"),
	} {
		if out := runs(t, env, devices); !strings.Contains(out, "devices: ok") {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// AMD SMI lists the cards of all workers in the order in which HIP does.
func TestWorkersCards(t *testing.T) {
	a := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx90a")
	b := worker(t, nil, "--backend", "sim", "--sim-arch", "gfx942", "--sim-cards", "2")
	cards := smiProgram(t, "cards.c")
	both := runs(t, hosts(b, a), cards)
	if want := runs(t, b, cards) + runs(t, a, cards); both != want || strings.Count(both, "\n") != 3 {
		t.Errorf("of both:\n%s\none by one:\n%s", both, want)
	}
}
