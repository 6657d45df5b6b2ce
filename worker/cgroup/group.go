package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Group is the control group of one session. The nil Group is none, and does nothing.
type Group struct {
	tree *Tree
	dir  *os.File
	path string
}

// New makes a group that takes so many threads and processes.
func (t *Tree) New(pids int) (*Group, error) {
	path := filepath.Join(t.dir, fmt.Sprintf("session-%d", t.next.Add(1)))
	t.turn.Lock()
	defer t.turn.Unlock()
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	g := &Group{tree: t, path: path}
	var err error
	if t.Has("pids") {
		err = write(path, "pids.max", strconv.Itoa(pids))
	}
	if t.Has("memory") { // its processes end together
		err = errors.Join(err, write(path, "memory.oom.group", "1"))
	}
	if err == nil {
		g.dir, err = os.Open(path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return g, nil
}

// FD is what a process is born into the group by (CLONE_INTO_CGROUP).
func (g *Group) FD() int { return int(g.dir.Fd()) }

// Memory holds the session to so many bytes; a session that needs more ends. Without the controller nothing happens.
func (g *Group) Memory(most uint64) error {
	if g == nil || !g.tree.Has("memory") {
		return nil
	}
	return write(g.path, "memory.max", strconv.FormatUint(most, 10))
}

// Kill ends all processes in the group at once (Linux 5.14).
func (g *Group) Kill() {
	if g != nil {
		g.tree.turn.Lock()
		defer g.tree.turn.Unlock()
		_ = write(g.path, "cgroup.kill", "1")
	}
}

// Remove ends what is left in the group, and removes it.
func (g *Group) Remove() {
	if g == nil {
		return
	}
	g.Kill()
	_ = g.dir.Close()
	// What was killed is in the group until it is gone.
	for wait := time.Millisecond; wait < 2*time.Second; wait *= 2 {
		g.tree.turn.Lock()
		err := os.Remove(g.path)
		g.tree.turn.Unlock()
		if !errors.Is(err, unix.EBUSY) {
			return
		}
		time.Sleep(wait)
	}
}

// OutOfMemory reports whether the kernel has ended processes of the group because they needed more memory than they may have.
func (g *Group) OutOfMemory() bool {
	if g == nil {
		return false
	}
	b, _ := os.ReadFile(filepath.Join(g.path, "memory.events"))
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 64)
			return err == nil && n > 0
		}
	}
	return false
}
