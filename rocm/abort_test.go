package rocm

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestAborts: when the library gives up, somebody is told, and ends the process. Without, the process would die of the signal.
func TestAborts(t *testing.T) {
	const inner = "ROCWIRE_TEST_ABORTS"
	if os.Getenv(inner) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestAborts$", "-test.v")
		cmd.Env = append(os.Environ(), inner+"=1")
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 7 || !strings.Contains(string(out), "it has given up") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := stub(t, "testdata/stub_abort.c")
	if err := CatchAborts(func() {
		println("it has given up")
		os.Exit(7)
	}); err != nil {
		t.Fatal(err)
	}
	t.Error("it returned", r.DeviceSynchronize(hip.Thread{}))
}
