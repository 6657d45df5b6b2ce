package attribution

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proc is a process of a tree that a test builds.
type proc struct {
	pid     uint32
	start   uint64
	name    string
	command string // as in the file
	environ string // as in the file
	uid     int
	cgroup  string // as in the file
	nspid   []int  // behind pid
	fds     []string
	pidNS   string
}

// newTree makes a /proc with these processes; self is the reading process's number
// in it.
func newTree(t testing.TB, procs ...proc) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range procs {
		put(t, dir, p)
	}
	return dir
}

// put adds a process, in the place of any with its number: a new folder, as the
// kernel makes one.
func put(t testing.TB, dir string, p proc) {
	t.Helper()
	tmp, err := os.MkdirTemp(dir, "new")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) {
		name = filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(name, to string) {
		name = filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if p.cgroup == "" {
		p.cgroup = "0::/user.slice"
	}
	nspid := fmt.Sprint(p.pid)
	for _, n := range p.nspid {
		nspid += fmt.Sprintf("\t%d", n)
	}
	write("stat", fmt.Sprintf("%d (%s) S 1 %d %d 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %d 1000 100 18446744073709551615 0\n", p.pid, p.name, p.pid, p.pid, p.start))
	write("comm", p.name+"\n")
	write("status", fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nUid:\t7\t%d\t7\t7\nGid:\t0\t0\t0\t0\nNSpid:\t%s\nThreads:\t1\n",
		strings.ReplaceAll(p.name, "\n", "\\n"), p.pid, p.pid, p.uid, nspid))
	write("cmdline", p.command)
	write("environ", p.environ)
	write("cgroup", p.cgroup+"\n")
	for i, to := range p.fds {
		link(fmt.Sprintf("fd/%d", i), to)
	}
	if p.pidNS != "" {
		link("ns/pid", p.pidNS)
	}
	name := filepath.Join(dir, fmt.Sprint(p.pid))
	old, err := os.MkdirTemp(t.TempDir(), "old")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, filepath.Join(old, "x")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, name); err != nil {
		t.Fatal(err)
	}
}

// setSelf says which process of the tree reads it, and what control group namespace
// it has.
func setSelf(t testing.TB, dir string, pid uint32, cgroupNS string) {
	t.Helper()
	if err := os.Symlink(fmt.Sprint(pid), filepath.Join(dir, "self")); err != nil {
		t.Fatal(err)
	}
	if cgroupNS == "" {
		return
	}
	ns := filepath.Join(dir, fmt.Sprint(pid), "ns")
	if err := os.MkdirAll(ns, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cgroupNS, filepath.Join(ns, "cgroup")); err != nil {
		t.Fatal(err)
	}
}
