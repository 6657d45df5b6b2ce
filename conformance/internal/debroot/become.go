package debroot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// enter has a command begin in a mount namespace of its own, and in a user namespace if we are not root.
func enter(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// Main returns at once, unless this process was started to become a program in a root.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != argument {
		return
	}
	if err := become(os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "a root of Debian's packages:", err)
		if errors.Is(err, fs.ErrPermission) {
			os.Exit(notPermitted)
		}
		os.Exit(otherwise)
	}
	os.Exit(0)
}

// become makes the root and goes on as the program, so it does not return unless there is none.
func become(text string) error {
	var s start
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := s.furnish(); err != nil {
		return err
	}
	if err := unix.Chroot(s.Dir); err != nil {
		return os.NewSyscallError("chroot", err)
	}
	// Whoever starts it may have said where it is to run. That is in the root if it is in a shared folder.
	err = os.Chdir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Chdir("/")
	}
	if err != nil {
		return err
	}
	if len(s.Args) == 0 {
		return nil
	}
	return &os.PathError{Op: "exec", Path: s.Args[0], Err: unix.Exec(s.Args[0], s.Args, s.environ())}
}

// environ is this process's environment, where Env says nothing else.
func (r Root) environ() []string {
	return (&exec.Cmd{Env: append(os.Environ(), r.Env...)}).Environ()
}

// furnish makes the root in Dir.
func (r Root) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount /", err)
	}
	if err := unix.Mount("none", r.Dir, "tmpfs", 0, "mode=755"); err != nil {
		return os.NewSyscallError("mount "+r.Dir, err)
	}
	errs := []error{r.bind(filepath.Join(r.Tree, "usr"), "/usr", true)}
	for _, merged := range []string{"bin", "sbin", "lib", "lib64"} {
		errs = append(errs, os.Symlink("usr/"+merged, filepath.Join(r.Dir, merged)))
	}
	for _, ours := range []string{"/proc", "/dev", "/sys"} {
		errs = append(errs, r.bind(ours, ours, false))
	}
	errs = append(errs, r.bind(r.Tree, r.Tree, true))
	shared := slices.Clone(r.Shared)
	slices.Sort(shared) // a folder before what is in it
	for _, dir := range shared {
		errs = append(errs, r.bind(dir, dir, false))
	}
	tmp := filepath.Join(r.Dir, "tmp")
	errs = append(errs, os.MkdirAll(tmp, 0o755))
	if !slices.Contains(shared, "/tmp") {
		errs = append(errs, os.Chmod(tmp, 0o777|fs.ModeSticky))
	}
	for at, to := range r.Links {
		at = filepath.Join(r.Dir, at)
		errs = append(errs, os.MkdirAll(filepath.Dir(at), 0o755), os.Symlink(to, at))
	}
	return errors.Join(append(errs, r.etc())...)
}

// bind has a folder at another place in the root, and what is mounted in it.
func (r Root) bind(from, to string, readOnly bool) error {
	to = filepath.Join(r.Dir, to)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return os.NewSyscallError("mount "+from, err)
	}
	if !readOnly {
		return nil
	}
	return os.NewSyscallError("mount_setattr "+from, unix.MountSetattr(unix.AT_FDCWD, to, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
}

// etc leads to what the packages have there, and has this machine's users and hosts.
func (r Root) etc() error {
	to := filepath.Join(r.Dir, "etc")
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	ours := []string{"passwd", "group", "hosts"}
	all, err := os.ReadDir(filepath.Join(r.Tree, "etc"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range all {
		if slices.Contains(ours, e.Name()) {
			continue
		}
		if err := os.Symlink(filepath.Join(r.Tree, "etc", e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	for _, name := range ours {
		b, err := os.ReadFile(filepath.Join("/etc", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
