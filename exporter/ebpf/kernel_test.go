//go:build linux && amd64

package ebpf

import (
	"testing"

	"github.com/cilium/ebpf"
)

// The kernel gives up on programs it has to look at for too long, and how long that is
// differs from version to version. Most of what makes it long are loops and branches
// whose outcomes multiply.
func TestComplexity(t *testing.T) {
	tr := open(t)
	for name, p := range map[string]*ebpf.Program{"enter": tr.kernel.objs.Enter, "leave": tr.kernel.objs.Leave} {
		info, err := p.Info()
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := info.VerifiedInstructions(); ok && n > 20000 {
			t.Errorf("%s: the kernel looked at %d instructions; a million is the limit", name, n)
		}
	}
}
