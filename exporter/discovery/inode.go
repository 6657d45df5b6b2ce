package discovery

import (
	"io/fs"
	"syscall"
)

// inode tells a file that was replaced from one that was written to: editors and
// Kubernetes replace.
func inode(info fs.FileInfo) any {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return nil
}
