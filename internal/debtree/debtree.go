// Package debtree tells tests where Debian's packages lie that scripts/fetch_debian.sh has unpacked: AMD's libraries, Prometheus, and what they need.
package debtree

import (
	"os"
	"path/filepath"
	"testing"
)

// Path is that folder: what ROCWIRE_SID names, or rocwire/sid in the user's cache. It need not be there: who wants something of it looks for that, and skips its
// test with the command that gets it.
func Path(t testing.TB) string {
	t.Helper()
	if tree := os.Getenv("ROCWIRE_SID"); tree != "" {
		return tree
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "rocwire", "sid")
}
