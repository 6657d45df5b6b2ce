package gcn

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mcCommand is how llvm-mc-21 is started, the first of Debian's that knows all targets:
// an installed one, or the one in the tree of Debian's newest packages (ROCWIRE_SID), by
// that tree's own loader.
func mcCommand(t testing.TB) []string {
	t.Helper()
	if path, err := exec.LookPath("llvm-mc-21"); err == nil {
		return []string{path}
	}
	if tree := os.Getenv("ROCWIRE_SID"); tree != "" {
		path := filepath.Join(tree, "usr/lib/llvm-21/bin/llvm-mc")
		if _, err := os.Stat(path); err == nil {
			return []string{filepath.Join(tree, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", filepath.Join(tree, "usr/lib/x86_64-linux-gnu"), path}
		}
	}
	t.Skip("SKIPPED: llvm-mc-21 is neither installed nor in ROCWIRE_SID; the decoder was NOT compared with LLVM (the golden table was)")
	return nil
}
