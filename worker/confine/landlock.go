package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights over files, by the version of Landlock that has them.
const (
	useFile   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	useDir    = useFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	useDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	abi1 = 1<<13 - 1 // execute, read, write, make and remove
)

// landlockABI is the version of Landlock that the kernel has, 0 for none.
func landlockABI() int {
	n, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(n)
}

// fileRights are all rights over files that a version knows.
func fileRights(abi int) uint64 {
	all := uint64(abi1)
	for _, x := range []struct {
		since int
		right uint64
	}{{2, unix.LANDLOCK_ACCESS_FS_REFER}, {3, unix.LANDLOCK_ACCESS_FS_TRUNCATE}, {5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV}} {
		if abi >= x.since {
			all |= x.right
		}
	}
	return all
}

// restrictFiles confines the calling thread, and all that it starts, to the files of n; without network it also loses TCP. Processes outside
// can be neither traced nor sent signals. The thread must have given up new privileges before.
//
// The thread does it, not the session process: there it would have to be done by each of the many threads of a Go program.
func restrictFiles(abi int, n *Needs, network bool) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fileRights(abi)}
	if abi >= 4 && !network {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	r, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if e != 0 {
		return fmt.Errorf("confine: landlock: %w", e)
	}
	defer unix.Close(int(r))
	for _, path := range n.Read {
		if err := allow(int(r), path, useDir&attr.Handled_access_fs); err != nil {
			return err
		}
	}
	for _, path := range n.Devices {
		if err := allow(int(r), path, (useDevice|unix.LANDLOCK_ACCESS_FS_READ_DIR)&attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if n.scratch != "" {
		if err := allow(int(r), n.scratch, useScratch&attr.Handled_access_fs); err != nil {
			return err
		}
	}
	if _, _, e = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, r, 0, 0); e != 0 {
		return fmt.Errorf("confine: landlock: %w", e)
	}
	return nil
}

// allow adds a path, if there is such a file, to a rule set.
func allow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || err == unix.ENOTDIR {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &^= unix.LANDLOCK_ACCESS_FS_READ_DIR // of directories alone
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("confine: landlock: %s: %w", path, e)
	}
	return nil
}
