package wholefile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrite: what is there is replaced with its mode, and what cannot be leaves nothing behind.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, c := range []struct {
		content string
		mode    os.FileMode
	}{{"one", 0o600}, {"two, longer", 0o644}} {
		if err := Write(path, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		info, err2 := os.Stat(path)
		if err != nil || err2 != nil || string(b) != c.content || info.Mode().Perm() != c.mode {
			t.Errorf("%q, %v, %v, %v", b, info, err, err2)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "d"), []byte("x"), 0o600); err == nil {
		t.Error("a folder is replaced by a file")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left: %v, %v", all, err)
	}
}
