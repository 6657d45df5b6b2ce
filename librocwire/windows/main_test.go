package windows

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/worker/simbackend"
	"github.com/rocwire/rocwire/worker/workertest"
)

// built is where everything is built, and where Wine keeps its files.
var built string

const root = "../.."

// The test binary is its own session process.
func TestMain(m *testing.M) {
	workertest.SimulatedSession()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if built, err = os.MkdirTemp("", "rocwire-windows"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(built)
	defer stopWine()
	return m.Run()
}

// worker starts a worker with simulated cards and returns the environment that leads to it.
func worker(t *testing.T, arch string, cards int) []string {
	t.Helper()
	w := workertest.Simulated(t, simbackend.Options{Arch: arch, Cards: cards, MemoryBytes: 2 << 30})
	return []string{"TF_WORKER_HOST=127.0.0.1", fmt.Sprintf("TF_WORKER_PORT=%d", w.Addr().Port)}
}

func build(t *testing.T, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func wants(t *testing.T, out, what string) {
	t.Helper()
	if !strings.Contains(out, what) {
		t.Errorf("%q does not stand in:\n%s", what, out)
	}
}

// runs runs a Windows program and returns all it wrote; it must end with status 0.
func runs(t *testing.T, env []string, bin string, args ...string) string {
	t.Helper()
	out, err := inWine(env, append([]string{bin}, args...)...)
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(bin), strings.Join(args, " "), err, out)
	}
	return out
}
