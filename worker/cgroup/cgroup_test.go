package cgroup

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestFind(t *testing.T) {
	for list, want := range map[string]string{
		"0::/\n":                             "/",
		"8:pids:/\n4:memory:/x\n0::/a/b c\n": "/a/b c",
		"0::/only":                           "/only",
	} {
		if got, ok := unified([]byte(list)); !ok || got != want {
			t.Errorf("%q: %q, %v", list, got, ok)
		}
	}
	if _, ok := unified([]byte("8:pids:/\n1:name=systemd:/\n")); ok {
		t.Error("version 1 alone is taken")
	}
	info := "25 20 0:22 / /proc rw - proc proc rw\n" +
		"33 25 0:28 /lxc/one /sys/fs/c\\040group rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	if mount, root, ok := mounted([]byte(info)); !ok || mount != "/sys/fs/c group" || root != "/lxc/one" {
		t.Error(mount, root, ok)
	}
	if _, _, ok := mounted([]byte("1 2 3\n\n - cgroup2\nx - cgroup2 y")); ok {
		t.Error("nonsense is a mount")
	}
}

// open makes a tree on this machine's own hierarchy. It needs one that this process may divide: root where no systemd manages it, or a unit with Delegate=yes.
func open(t *testing.T) *Tree {
	t.Helper()
	tree, err := Open("")
	if errors.Is(err, ErrNone) {
		t.Skipf("%s needs control groups of version 2, delegated: %v", t.Name(), err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree
}

// TestKill: what a session has started ends with it, and nothing is left.
func TestKill(t *testing.T) {
	tree := open(t)
	g, err := tree.New(100)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", "sleep 1000000 & setsid sleep 1000000 & echo there; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.Remove()
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "there\n" {
		t.Errorf("%q, %v", line, err)
	}
	if b, err := os.ReadFile(filepath.Join(g.path, "cgroup.procs")); err != nil || len(strings.Fields(string(b))) < 3 {
		t.Errorf("in the group: %q, %v", b, err)
	}
	g.Remove()
	if err := cmd.Wait(); err == nil {
		t.Error("it has ended by itself")
	}
	if _, err := os.Stat(g.path); err == nil {
		t.Error("the group is left")
	}
	dir := tree.dir
	tree.Close()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the tree is left")
	}
}

// TestSweep: the next worker removes what one that was killed has left, and nothing of one that lives.
func TestSweep(t *testing.T) {
	a := open(t)
	g, err := a.New(100)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(filepath.Dir(a.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := os.Stat(g.path); err != nil {
		t.Fatal("a living worker's group was removed: ", err)
	}
	_ = a.lock.Close() // as the kernel does
	third, err := Open(filepath.Dir(a.dir))
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if _, err := os.Stat(g.path); err == nil {
		t.Error("a dead worker's groups are left")
	}
	if other.dir == third.dir {
		t.Error("two trees are one")
	}
}

// TestLimits writes to files that look like the kernel's. What that makes of it, TestControllers sees.
func TestLimits(t *testing.T) {
	tree := &Tree{dir: t.TempDir(), controllers: wanted}
	g, err := tree.New(77)
	if err != nil {
		t.Fatal(err)
	}
	defer g.dir.Close()
	if err := g.Memory(1 << 30); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pids.max": "77", "memory.oom.group": "1", "memory.max": "1073741824"} {
		if b, err := os.ReadFile(filepath.Join(g.path, name)); string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if g.OutOfMemory() {
		t.Error("out of memory without any word of it")
	}
	for text, want := range map[string]bool{"low 0\nhigh 0\nmax 3\noom 0\noom_kill 0\noom_group_kill 0\n": false, "oom 1\noom_kill 2\n": true, "oom_kill x\n": false} {
		if err := write(g.path, "memory.events", text); err != nil {
			t.Fatal(err)
		}
		if g.OutOfMemory() != want {
			t.Errorf("%q is not %v", text, want)
		}
	}
	none := &Tree{dir: t.TempDir()}
	if g, err = none.New(77); err != nil {
		t.Fatal(err)
	}
	defer g.dir.Close()
	if err := g.Memory(1); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(g.path); err != nil || len(list) != 0 {
		t.Errorf("without controllers: %v, %v", list, err)
	}
}

// TestNamed: a directory that is no control group is none.
func TestNamed(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func TestNil(t *testing.T) {
	var g *Group
	g.Kill()
	g.Remove()
	if err := g.Memory(1); err != nil || g.OutOfMemory() {
		t.Error(err)
	}
	var tree *Tree
	tree.Close()
	if tree.Has("memory") {
		t.Error("no tree has controllers")
	}
}

// TestRemoveIsQuick: a group whose process has ended is gone when Remove returns, again and again.
func TestRemoveIsQuick(t *testing.T) {
	tree := open(t)
	for range 20 {
		g, err := tree.New(10)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sleep", "1000000")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		g.Kill()
		_ = cmd.Wait()
		g.Remove()
	}
	list, err := os.ReadDir(tree.dir)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(list, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "session-") }) {
		t.Error("groups are left")
	}
}
