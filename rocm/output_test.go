package rocm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocwire/rocwire/hip"
)

// What a library writes to standard output is taken, all of it and in order, when
// Settle returns. It needs a process's own standard output, so it is one.
func TestCaptureOutput(t *testing.T) {
	if lib := os.Getenv("ROCM_TEST_OUTPUT"); lib != "" {
		captured(t, lib)
		return
	}
	lib := filepath.Join(t.TempDir(), "libamdhip64.so.6")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-I../hip/include", "-o", lib, "testdata/stub.c", "testdata/stub_output.c", "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCaptureOutput$")
	cmd.Env = append(os.Environ(), "ROCM_TEST_OUTPUT="+lib)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil || stdout.Len() > 0 {
		t.Errorf("%v\n%s\nstandard output: %q", err, stderr.String(), stdout.String())
	}
}

// captured is the test in the process that is given up for it: it says what is wrong on standard error.
func captured(t *testing.T, lib string) {
	fail := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		os.Exit(1)
	}
	o, err := CaptureOutput()
	if err != nil {
		fail("%v", err)
	}
	var mu sync.Mutex
	var text strings.Builder // written between calls of Settle, too
	taken := func() string {
		mu.Lock()
		defer mu.Unlock()
		defer text.Reset()
		return text.String()
	}
	o.To(func(stderr bool, b []byte) {
		if stderr {
			fail("%q as standard error", b)
		}
		mu.Lock()
		defer mu.Unlock()
		text.Write(b)
	})
	r, err := Open(lib)
	if err != nil {
		fail("%v", err)
	}
	r.StreamQuery(hip.Thread{}, 0)
	o.Settle()
	if got := taken(); got != "one line\nhalf a " {
		fail("%q", got)
	}
	const lines = 200
	r.StreamQuery(hip.Thread{}, lines)
	o.Settle()
	got := strings.Split(strings.TrimSuffix(taken(), "\n"), "\n")
	if len(got) != lines {
		fail("%d lines", len(got))
	}
	for i, l := range got {
		if want := fmt.Sprint(i, " ", strings.Repeat("x", 4095)); l != want {
			fail("line %d has %d bytes", i, len(l))
		}
	}
	os.Exit(0) // what the testing package prints would not be seen
}
