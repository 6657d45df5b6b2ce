//go:build unix

package discovery

import (
	"os"
	"syscall"
)

// inode tells a file that was replaced from one that was written to: editors and
// Kubernetes replace.
func inode(f *os.File) any {
	if info, err := f.Stat(); err == nil {
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			return s.Ino
		}
	}
	return nil
}
