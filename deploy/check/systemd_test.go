package check

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits: systemd takes the units without a word, and gives them a low exposure.
func TestUnits(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is missing: apt-get install systemd")
	}
	units, err := filepath.Glob("../systemd/*.service")
	if err != nil || len(units) < 2 {
		t.Fatal(units, err)
	}
	for _, unit := range units {
		b, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		// The programs are not installed on a machine that only checks.
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		there := filepath.Join(t.TempDir(), filepath.Base(unit))
		b = bytes.ReplaceAll(b, []byte("/usr/bin/"+strings.TrimSuffix(filepath.Base(unit), ".service")), []byte(program))
		if err := os.WriteFile(there, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"verify", "--man=no"}, {"security", "--offline=yes", "--threshold=40"}} {
			out, err := exec.Command("systemd-analyze", append(args, there)...).CombinedOutput()
			if err != nil || args[0] == "verify" && len(bytes.TrimSpace(out)) > 0 {
				t.Errorf("%s %s: %v\n%s", args[0], filepath.Base(unit), err, out)
			}
		}
	}
}
