// Package genfile writes what the module's generators make.
package genfile

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
)

// Format is a file's text, formatted if it is Go. Text that is not Go is shown in the
// error, with the numbers of its lines.
func Format(path, text string) ([]byte, error) {
	if filepath.Ext(path) != ".go" {
		return []byte(text), nil
	}
	b, err := format.Source([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", path, err, numbered(text))
	}
	return b, nil
}

// Write writes a file as Format has it. One that already says the same is left alone,
// so that nothing is rebuilt for its date.
func Write(path, text string) error {
	b, err := Format(path, text)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

func numbered(text string) string {
	var s strings.Builder
	for i, l := range strings.Split(text, "\n") {
		fmt.Fprintf(&s, "%4d %s\n", i+1, l)
	}
	return s.String()
}
