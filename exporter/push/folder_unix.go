//go:build unix

package push

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ours makes sure that nobody else reads or writes the folder.
func ours(dir *os.Root) error {
	st, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("the folder belongs to user %d, and this process is user %d", sys.Uid, os.Geteuid())
	}
	if st.Mode().Perm()&0o077 != 0 {
		return dir.Chmod(".", 0o700)
	}
	return nil
}

// errLocked is another process's lock.
const errLocked = syscall.EWOULDBLOCK

// tryLock takes a lock on a file, or none.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// full says whether a disk has no room.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
