package push

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const lockName = "lock"

// openFolder makes a sink's folder if necessary and takes it for this process, until
// the lock is closed.
func openFolder(path string) (dir *os.Root, lock *os.File, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, nil, err
	}
	dir, err = os.OpenRoot(path)
	if err != nil {
		return nil, nil, err
	}
	if err = ours(dir); err == nil {
		lock, err = takeLock(dir)
	}
	if err != nil {
		_ = dir.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return dir, lock, nil
}

// takeLock takes the folder's lock, which the kernel releases with the process, and
// leaves there who has it.
func takeLock(dir *os.Root) (*os.File, error) {
	f, err := dir.OpenFile(lockName, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = tryLock(f)
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%w: %s", ErrInUse, owner(f))
	}
	if err == nil {
		if err = f.Truncate(0); err == nil {
			_, err = fmt.Fprintf(f, "%d %s\n", os.Getpid(), filepath.Base(os.Args[0]))
		}
		if full(err) {
			err = nil // the lock holds, it only does not say whose it is
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// owner tells who has the lock.
func owner(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 256))
	pid, name, ok := strings.Cut(strings.TrimSpace(string(b)), " ")
	if err != nil || !ok {
		return "which one is not known"
	}
	return fmt.Sprintf("process %s (%s)", pid, name)
}
