package exporter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/internal/debtree"
	"github.com/rocwire/rocwire/smi/smitest"
)

// promtool is Prometheus' own checker, from Debian's package.
func promtool(t *testing.T) string {
	tree := debtree.Path(t)
	p := filepath.Join(tree, "usr/bin/promtool")
	if _, err := os.Stat(p); err != nil {
		t.Skipf("no promtool: run scripts/fetch_debian.sh %s prometheus", tree)
	}
	return p
}

// Prometheus' own tool finds nothing wrong with what is served.
func TestPromtool(t *testing.T) {
	tool := promtool(t)
	src := smitest.NewFake(fullCards()...)
	src.SetDetails(fullDetail())
	src.SetTopology(smitest.Topology(2))
	e := start(t, Options{Source: src, Sessions: smitest.Clients{}, Calls: someCalls(), Runtime: true})
	e.Poll(t.Context())
	e.hear(t, src)
	check := func(text string) (string, error) {
		cmd := exec.Command(tool, "check", "metrics")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	text := e.metrics(t)
	if out, err := check(text); err != nil || out != "" {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	if out, _ := check(strings.ReplaceAll(text, "gpu_energy_joules_total", "gpu_energy_joules")); !strings.Contains(out, "_total") {
		t.Errorf("promtool does not notice a counter without _total: %q", out)
	}
}
