package confine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// program is what session processes execute. It is kept open: a session's user may not be able to go the way from the root to it, through somebody's
// home, and sessions of one worker are to be of one version, whatever lies there by then.
type program struct {
	path string
	file *os.File
}

// openProgram finds the program of a command.
func openProgram(name string) (*program, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &program{path, f}, nil
}

// forAll says why others than its owner cannot execute the program.
func (p *program) forAll() error {
	st, err := p.file.Stat()
	if err == nil && st.Mode()&0o005 != 0o005 {
		err = fmt.Errorf("confine: session processes run as users of their own, and those may not execute %s: it needs chmod o+rx", p.path)
	}
	return err
}

// through is the program's path for a process that has it as a descriptor.
func through(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// The process is called by its descriptor's number then, in tables of processes and in the kernel's log. Its main thread carries the name, and is
// where this runs.
func init() {
	if e, ok := lookupEntry(); ok && e.Program != 0 {
		if name, err := unix.BytePtrFromString(filepath.Base(os.Args[0])); err == nil {
			_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
		}
	}
}
