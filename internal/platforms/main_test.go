package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what is wrong only on another system, in types or by vet, in a package, in its tests or in what it uses, is found, and once.
func TestCheck(t *testing.T) {
	const wrong, useless = "\n\nvar _ int = true\n", "\n\nfunc f(n int) { n = n }\n"
	for _, c := range []struct {
		files map[string]string
		want  []string
	}{
		{map[string]string{"a_linux.go": "package a" + wrong}, nil},
		{map[string]string{"a_windows.go": "package a" + wrong, "a_windows_test.go": "package a_test" + wrong}, []string{"a_windows.go:3:13: cannot use true", "a_windows_test.go:3:13: cannot use true"}},
		{map[string]string{"a_arm64.go": "package a" + useless, "a_arm64_test.go": "package a_test" + useless, "b/b_windows.go": "package b" + useless}, []string{
			"a_arm64.go:3:17: self-assignment", "a_arm64_test.go:3:17: self-assignment", "b_windows.go:3:17: self-assignment",
		}},
	} {
		dir := t.TempDir()
		all := map[string]string{"go.mod": "module example.com/a\n\ngo 1.26.0\n", "a.go": "package a\n\nimport _ \"example.com/a/b\"\n", "a_test.go": "package a\n", "b/b.go": "package b\n"}
		maps.Copy(all, c.files)
		for name, text := range all {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found, err := check(dir, "windows/arm64", []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		ok := len(found) == len(c.want)
		for i := 0; ok && i < len(found); i++ {
			ok = strings.Contains(found[i], c.want[i])
		}
		if !ok {
			t.Errorf("%q instead of %q", found, c.want)
		}
	}
	if _, err := check(t.TempDir(), "windows", []string{"."}); err == nil {
		t.Error("no platform is accepted")
	}
}
