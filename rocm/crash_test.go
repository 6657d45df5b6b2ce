package rocm

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// TestCrashes: when the library gives up, or faults, somebody is told why, and ends the process. Without, the process would die of the signal.
func TestCrashes(t *testing.T) {
	const inner = "STUB_CRASH"
	for how, want := range map[string]string{
		"abort":      "the GPU runtime has aborted",
		"fault":      "SIGSEGV at address 0x10 in libamdhip64.so.6+0x",
		"fault here": "SIGSEGV at address 0x10 in libamdhip64.so.6+0x",
	} {
		if os.Getenv(inner) != "" {
			break
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestCrashes$", "-test.v")
		cmd.Env = append(os.Environ(), inner+"="+how)
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 7 || !strings.Contains(string(out), want) || !strings.Contains(string(out), "a fault of Go's") {
			t.Errorf("%s: %v\n%s", how, err, out)
		}
	}
	if os.Getenv(inner) == "" {
		return
	}
	r := stub(t, "testdata/stub_crash.c")
	if err := CatchCrashes(func(reason string) {
		println(reason)
		os.Exit(7)
	}); err != nil {
		t.Fatal(err)
	}
	func() { // which Go's own handler makes a panic of
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { println("a fault of Go's:", recover() != nil) }()
		println(*nowhere)
	}()
	t.Error("it returned", r.DeviceSynchronize(hip.Thread{}))
}

var nowhere *int
