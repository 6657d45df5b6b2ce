package push

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// ours makes sure that nobody else reads or writes the folder: it and what comes into it
// is for this user, administrators and the system. The parent's rights are not inherited.
func ours(dir *os.Root) error {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	rights, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + me.User.Sid.String() + ")")
	if err != nil {
		return err
	}
	list, _, err := rights.DACL()
	if err != nil {
		return err
	}
	err = windows.SetNamedSecurityInfo(dir.Name(), windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if err != nil {
		return fmt.Errorf("the folder cannot be made this user's alone: %w", err)
	}
	return nil
}

// errLocked is another process's lock.
const errLocked = windows.ERROR_LOCK_VIOLATION

// tryLock takes a lock on a file, or none. Nobody else could read the bytes that are
// locked, so they are far behind what the file holds.
func tryLock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
}

// full says whether a disk has no room.
func full(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
