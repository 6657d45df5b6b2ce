// Package debtree tells tests and measurements where Debian's packages lie that scripts/fetch_debian.sh has unpacked: AMD's libraries, Prometheus, and what they need.
package debtree

import (
	"os"
	"path/filepath"
	"testing"
)

// Find is that folder: what ROCWIRE_SID names, or rocwire/sid in the user's cache. It need not be there: who wants something of it looks for that, and says
// which command gets it.
func Find() (string, error) {
	if tree := os.Getenv("ROCWIRE_SID"); tree != "" {
		return tree, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "rocwire", "sid"), err
}

// Path is Find for tests, which are skipped where what they want is not there.
func Path(t testing.TB) string {
	t.Helper()
	tree, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
