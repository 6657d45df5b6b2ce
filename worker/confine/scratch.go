package confine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// useScratch are the rights over a directory for temporary files.
const useScratch = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
	unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE

// scratch is a directory in which each session process has one of its own.
//
// One session cannot use another's. Where each is a user of its own, these are the owners. Where all are the worker's user, their names
// are what nobody else knows: they are of 128 random bits, the directory above cannot be read, and the filter lets no process change that.
type scratch struct {
	dir  string
	held *os.File // locked as long as this process lives
}

// scratchIn are where it may be, the better first: what lies in memory counts as memory of who wrote it.
func scratchIn() []string { return []string{"/dev/shm", os.TempDir()} }

// scratchName is how they are called.
const scratchName = "hip-worker-scratch-"

// newScratch makes one. Those of workers that were killed are removed.
func newScratch(users bool) (*scratch, error) {
	mode := fs.FileMode(0o300)
	if users {
		mode = 0o711
	}
	var whys []error
	for _, in := range scratchIn() {
		sweep(in)
		dir, err := os.MkdirTemp(in, scratchName)
		if err == nil {
			s := &scratch{dir: dir}
			if s.held, err = lock(dir); err == nil {
				if err = os.Chmod(dir, mode); err == nil {
					return s, nil
				}
			}
			s.close()
		}
		whys = append(whys, err)
	}
	return nil, fmt.Errorf("confine: no directory for temporary files: %w", errors.Join(whys...))
}

// lock takes a directory; an error if somebody has it.
func lock(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what workers that are gone have left of this user's.
func sweep(in string) {
	list, _ := os.ReadDir(in)
	for _, e := range list {
		path := filepath.Join(in, e.Name())
		var st unix.Stat_t
		if !strings.HasPrefix(e.Name(), scratchName) || unix.Lstat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || int(st.Uid) != os.Geteuid() {
			continue
		}
		if st.Mode&0o400 == 0 && os.Chmod(path, 0o700) != nil {
			continue
		}
		f, err := lock(path)
		if err != nil { // somebody's who lives
			_ = os.Chmod(path, fs.FileMode(st.Mode&0o777))
			continue
		}
		_ = os.RemoveAll(path)
		_ = f.Close()
	}
}

// take makes a session's own directory. uid is its user, -1 for this process's.
func (s *scratch) take(uid int) (dir string, err error) {
	dir = filepath.Join(s.dir, rand.Text())
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("confine: %w", err)
	}
	if uid >= 0 {
		if err := os.Chown(dir, uid, uid); err != nil {
			_ = os.Remove(dir)
			return "", fmt.Errorf("confine: %w", err)
		}
	}
	return dir, nil
}

// close removes it with all that is in it.
func (s *scratch) close() {
	if s == nil {
		return
	}
	_ = os.Chmod(s.dir, 0o700)
	_ = os.RemoveAll(s.dir)
	if s.held != nil {
		_ = s.held.Close()
	}
}
