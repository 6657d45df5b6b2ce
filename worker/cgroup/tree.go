package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Tree is the part of the hierarchy that a worker's sessions are in. Safe for concurrent use.
type Tree struct {
	dir         string
	lock        *os.File
	controllers []string
	adopted     bool // this process is in a leaf of it
	next        atomic.Uint64
	turn        sync.Mutex // the kernel makes, ends and removes one group at a time: who waits for that in it takes a thread each
}

// wanted are the controllers that sessions are held to something by.
var wanted = []string{"memory", "pids", "cpu"}

const prefix = "rocwire-"

// Open makes the tree of this process: below dir, or below the group that it is in, if that may be divided. Error: ErrNone, or the operating system's.
func Open(dir string) (*Tree, error) {
	named := dir != ""
	if !named {
		var err error
		if dir, err = own(); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cgroup.controllers")); err != nil {
		return nil, fmt.Errorf("%w: %s is none of version 2", ErrNone, dir)
	}
	sweep(dir)
	t, err := create(dir)
	if err != nil {
		return nil, err
	}
	if !named && leaf(dir) { // a group either holds processes or divides what it has
		if err := t.adopt(); err != nil {
			t.Close()
			return nil, err
		}
	}
	for _, d := range []string{dir, t.dir} {
		for _, c := range wanted {
			_ = write(d, "cgroup.subtree_control", "+"+c) // what is not there, or not for this group, is not enabled
		}
	}
	b, err := os.ReadFile(filepath.Join(t.dir, "cgroup.subtree_control"))
	if err != nil {
		t.Close()
		return nil, err
	}
	for _, c := range strings.Fields(string(b)) {
		if slices.Contains(wanted, c) {
			t.controllers = append(t.controllers, c)
		}
	}
	if t.Has("cpu") { // or hundreds of sessions keep the worker from answering
		_ = write(filepath.Join(t.dir, worker), "cpu.weight", "1000") // fails where it is elsewhere
	}
	return t, nil
}

// create makes the group that holds all others.
func create(dir string) (t *Tree, err error) {
	for i := range 100 { // another namespace's process may have the number, or another tree of this one; another worker may just have swept
		path := filepath.Join(dir, fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), i))
		if err = os.Mkdir(path, 0o755); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var f *os.File
		if f, err = os.Open(path); err != nil {
			continue
		}
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
			if _, err = os.Stat(path); err == nil {
				return &Tree{dir: path, lock: f}, nil
			}
		}
		_ = f.Close()
	}
	return nil, err
}

// sweep removes what workers that have died have left. A living one holds the lock, and so does whoever has just made one.
func sweep(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, path := range old {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			remove(path)
		}
		_ = f.Close()
	}
}

// remove removes a group with those in it, as far as they are empty.
func remove(path string) {
	list, _ := os.ReadDir(path)
	for _, e := range list {
		if e.IsDir() {
			_ = os.Remove(filepath.Join(path, e.Name()))
		}
	}
	_ = os.Remove(path)
}

// leaf reports whether a group can only either hold processes or be divided, as all but the root of all.
func leaf(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cgroup.type"))
	return err == nil
}

const worker = "worker"

// adopt brings this process into a leaf of the tree.
func (t *Tree) adopt() error {
	path := filepath.Join(t.dir, worker)
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	t.adopted = true
	return write(path, "cgroup.procs", strconv.Itoa(os.Getpid()))
}

// Has reports whether sessions are held to something by a controller.
func (t *Tree) Has(controller string) bool {
	return t != nil && slices.Contains(t.controllers, controller)
}

// String is what the tree does, for people.
func (t *Tree) String() string {
	if len(t.controllers) == 0 {
		return "a control group each"
	}
	return "a control group each (" + strings.Join(t.controllers, ", ") + ")"
}

// Close removes the tree; all sessions have ended. This process goes back to where it was.
func (t *Tree) Close() {
	if t == nil {
		return
	}
	if t.adopted {
		above := filepath.Dir(t.dir)
		for _, d := range []string{t.dir, above} { // a group that divides what it has takes no process
			for _, c := range t.controllers {
				_ = write(d, "cgroup.subtree_control", "-"+c)
			}
		}
		_ = write(above, "cgroup.procs", strconv.Itoa(os.Getpid())) // or its leaf stays, for the next worker to remove
	}
	remove(t.dir)
	_ = t.lock.Close()
}

func write(dir, name, value string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(value), 0)
}
