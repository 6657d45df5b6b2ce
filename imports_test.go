package rocwire

import (
	"os/exec"
	"strings"
	"testing"
)

// What is linked into programs that only call HIP knows nothing of those who look on.
func TestClientsAndWorkersKnowNoExporter(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./calls/...", "./hipremote", "./smiremote", "./worker", "./cmd/hip-session", "./discovery", "./cmd/smi-remote").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for name := range strings.FieldsSeq(string(out)) {
		if own, ok := strings.CutPrefix(name, "github.com/rocwire/rocwire/"); ok {
			seen++
			if strings.HasPrefix(own, "exporter") || strings.HasPrefix(own, "cmd/") && own != "cmd/hip-session" && !strings.HasPrefix(own, "cmd/smi-remote") {
				t.Errorf("%s is linked", name)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d packages of ours: %s", seen, out)
	}
}
