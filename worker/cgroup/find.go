package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNone is why there are no groups: the error's text says more.
var ErrNone = errors.New("no control groups")

// Errors that say what is missing.
var (
	errVersion   = fmt.Errorf("%w: version 2 is not mounted", ErrNone)
	errDelegated = fmt.Errorf("%w: the worker's own is not delegated to it (systemd: Delegate=yes)", ErrNone)
)

// own is the control group of this process, if it may divide it.
func own() (dir string, err error) {
	list, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	path, ok := unified(list)
	mount, root, ok2 := mounted(mounts)
	if !ok || !ok2 {
		return "", errVersion
	}
	below, ok := strings.CutPrefix(path, strings.TrimSuffix(root, "/"))
	if !ok || strings.Contains(path, "/..") { // the mount shows another part of the hierarchy
		return "", errVersion
	}
	dir = filepath.Join(mount, below)
	if !delegated(dir, path) {
		return "", errDelegated
	}
	return dir, nil
}

// unified finds a process's group of version 2 in its list.
func unified(list []byte) (path string, ok bool) {
	for line := range bytes.Lines(list) {
		if p, ok := bytes.CutPrefix(line, []byte("0::")); ok {
			return strings.TrimSuffix(string(p), "\n"), true
		}
	}
	return "", false
}

// mounted finds where version 2 is mounted, and which group that is.
func mounted(info []byte) (mount, root string, ok bool) {
	for s := bufio.NewScanner(bytes.NewReader(info)); s.Scan(); {
		before, after, _ := strings.Cut(s.Text(), " - ")
		f := strings.Fields(before) // ID parent major:minor root mount-point options
		if len(f) >= 6 && strings.HasPrefix(after, "cgroup2 ") {
			return unescape(f[4]), unescape(f[3]), true
		}
	}
	return "", "", false
}

// unescape undoes what mountinfo does to spaces.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\134`, `\`).Replace(s)
}

// delegated reports whether a group is this process's to divide. What a user may write was delegated to it; root may write everything, and takes what systemd
// has marked, or the root of all where there is no systemd that manages it.
func delegated(dir, path string) bool {
	for _, name := range []string{".", "cgroup.procs", "cgroup.subtree_control"} {
		if unix.Access(filepath.Join(dir, name), unix.W_OK) != nil {
			return false
		}
	}
	if os.Geteuid() != 0 {
		return true
	}
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		var b [2]byte
		if n, err := unix.Getxattr(dir, name, b[:]); err == nil && string(b[:n]) == "1" {
			return true
		}
	}
	_, err := os.Stat("/run/systemd/system")
	return path == "/" && errors.Is(err, fs.ErrNotExist)
}
