package exec

import (
	"testing"

	"github.com/rocwire/rocwire/simgpu/gcn"
)

// Every meaning must belong to an operation of the table: a misspelt name would
// never be executed.
func TestNamesAreKnown(t *testing.T) {
	ready()
	known := map[string]bool{}
	left := map[gcn.Arch]int{}
	for _, arch := range gcn.Archs() {
		for _, info := range gcn.Ops(arch) {
			name := info.Op.String()
			known[name] = true
			// Whatever does not execute has a reason that says so.
			if Executable(arch, info) == (Reason(arch, info) != "") {
				t.Errorf("%s: %s: executable %v, but the reason why not is %q", arch, info.Name, Executable(arch, info), Reason(arch, info))
			}
			if handlers[name] != nil && controls[name] != nil {
				t.Errorf("%s has two meanings", name)
			}
			if reasons[name] != "" {
				left[arch]++
			}
		}
	}
	for name := range handlers {
		if !known[name] {
			t.Errorf("%s is no operation of the instruction table", name)
		}
	}
	for name := range controls {
		if !known[name] {
			t.Errorf("%s is no operation of the instruction table", name)
		}
	}
	for name := range reasons {
		if !known[name] {
			t.Errorf("%s is no operation of the instruction table", name)
		}
	}
	for arch, n := range left {
		if n > 12 {
			t.Errorf("%s: %d instructions are not executed", arch, n)
		}
	}
}
