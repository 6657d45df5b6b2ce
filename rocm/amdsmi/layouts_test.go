package amdsmi

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The tables say what a C compiler makes of the same declarations.
func TestLayouts(t *testing.T) {
	for _, a := range knownABIs {
		program := filepath.Join(t.TempDir(), "offsets")
		gcc(t, "-DABI="+strconv.Itoa(a.number), "-o", program, "testdata/offsets.c")
		out, err := exec.Command(program).Output()
		if err != nil {
			t.Fatal(err)
		}
		fields := fieldsOf(a.number, a.layouts)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(fields) {
			t.Errorf("ABI %d: %d fields, in C %d", a.number, len(fields), len(lines))
		}
		for _, line := range lines {
			var name string
			var c field
			if _, err := fmt.Sscanf(line, "%s %d %d %d", &name, &c.off, &c.width, &c.count); err != nil {
				t.Fatal(err)
			}
			if got, ok := fields[name]; !ok || got != c {
				t.Errorf("ABI %d: %s is %+v, in C %+v", a.number, name, got, c)
			}
		}
	}
}

// Sizes that were published for each ABI, of structures that differ between them.
func TestKnownSizes(t *testing.T) {
	for _, c := range []struct {
		abi                              int
		process, metrics, violation, cap int
	}{
		{27, 704, 4736, 6016, 64},
	} {
		for _, a := range knownABIs {
			if l := a.layouts; a.number == c.abi {
				got := [4]int{l.procInfo.size, l.gpuMetrics.size, l.violationStatus.size, l.powerCapInfo.size}
				if want := [4]int{c.process, c.metrics, c.violation, c.cap}; got != want {
					t.Errorf("ABI %d: %v, want %v", c.abi, got, want)
				}
			}
		}
	}
}
