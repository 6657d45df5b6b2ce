package cgroup

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/guest"
)

// takeCommand is the first argument of a process of this binary that takes memory: of which kind and how many MiB. Then it says so and waits for its end.
const takeCommand = "__take"

func TestMain(m *testing.M) {
	guest.Main(m)
	if len(os.Args) > 3 && os.Args[1] == takeCommand {
		take(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

func take(kind, mib string) {
	n, err := strconv.Atoi(mib)
	if err != nil {
		panic(err)
	}
	switch n <<= 20; kind {
	case "memory":
		mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
		if err != nil {
			panic(err)
		}
		for i := 0; i < n; i += 4096 {
			mem[i] = 1
		}
	case "file": // that is mapped nowhere, so that no figure of a process has it
		fd, err := unix.MemfdCreate("taken", 0)
		for b := make([]byte, 1<<20); err == nil && n > 0; n -= len(b) {
			_, err = unix.Write(fd, b)
		}
		if err != nil {
			panic(err)
		}
	}
	fmt.Println("taken")
	time.Sleep(time.Hour)
}

// taker is such a process, in a group. taken: it has what it wanted.
func taker(t *testing.T, g *Group, kind string, mib int) (cmd *exec.Cmd, taken bool) {
	t.Helper()
	cmd = exec.Command(os.Args[0], takeCommand, kind, strconv.Itoa(mib))
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n') // the end is an answer, too
	return cmd, line == "taken\n"
}

func newGroup(t *testing.T, tree *Tree, pids int) *Group {
	t.Helper()
	g, err := tree.New(pids)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Remove)
	return g
}

// TestControllers: what the kernel holds a session's group to, with all controllers in version 2. This machine may have them in version 1, so the kernel is
// one of the test's own.
func TestControllers(t *testing.T) {
	if !guest.Inside() {
		guest.Run(t, "^Test(Controllers|Delegated)$", 256)
		return
	}
	tree := open(t)
	for _, c := range wanted {
		if !tree.Has(c) {
			t.Fatalf("%v lacks %s", tree, c)
		}
	}
	const limit = 16
	for _, kind := range []string{"memory", "file"} {
		t.Run(kind, func(t *testing.T) {
			g := newGroup(t, tree, 100)
			if err := g.Memory(limit << 20); err != nil {
				t.Fatal(err)
			}
			small, taken := taker(t, g, kind, limit/4)
			if !taken || g.OutOfMemory() {
				t.Fatal("what the group may have it does not get")
			}
			large, taken := taker(t, g, kind, 2*limit)
			if taken {
				t.Error("it has more than it may")
			}
			for _, cmd := range []*exec.Cmd{large, small} { // all of a group end together
				var exit *exec.ExitError
				if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
					t.Errorf("it ended with %v", err)
				}
			}
			if !g.OutOfMemory() {
				t.Error("nobody is told why")
			}
			other := newGroup(t, tree, 100)
			if _, taken := taker(t, other, kind, limit/4); !taken || other.OutOfMemory() {
				t.Error("another group was meant, too")
			}
		})
	}
	t.Run("pids", func(t *testing.T) {
		const most = 5
		g := newGroup(t, tree, most)
		cmd := exec.Command("/bin/sh", "-c", "echo there; for i in 1 2 3 4 5 6 7 8 9; do sleep 1000000 >/dev/null 2>&1 & done; echo not there; wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
		out, err := cmd.Output() // the shell ends where it cannot have another process
		if err == nil || string(out) != "there\n" {
			t.Errorf("it has as many processes as it wants: %q, %v", out, err)
		}
		if b, err := os.ReadFile(filepath.Join(g.path, "pids.peak")); err == nil && strings.TrimSpace(string(b)) != strconv.Itoa(most) {
			t.Errorf("%s processes were there, of %d", b, most)
		}
	})
}

// TestDelegated: a worker in a group that was delegated to it, as by systemd, moves into a leaf of its own, has more of the processors than its sessions, and
// leaves the group as it was.
func TestDelegated(t *testing.T) {
	if !guest.Inside() {
		t.Log("TestControllers runs it")
		return
	}
	const unit = "/sys/fs/cgroup/unit"
	if err := os.Mkdir(unit, 0o755); err != nil {
		t.Fatal(err)
	}
	self := strconv.Itoa(os.Getpid())
	for _, c := range wanted {
		if err := write("/sys/fs/cgroup", "cgroup.subtree_control", "+"+c); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(unit, "cgroup.procs", self); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(""); !errors.Is(err, ErrNone) {
		t.Errorf("without delegation: %v", err)
	}
	if err := unix.Setxattr(unit, "trusted.delegate", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	tree, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	if !tree.adopted || filepath.Dir(tree.dir) != unit {
		t.Errorf("the tree is %s, adopted: %v", tree.dir, tree.adopted)
	}
	for _, c := range wanted {
		if !tree.Has(c) {
			t.Errorf("%v lacks %s", tree, c)
		}
	}
	if b, err := os.ReadFile(filepath.Join(tree.dir, worker, "cpu.weight")); err != nil || string(b) != "1000\n" {
		t.Errorf("the worker's weight is %q, %v", b, err)
	}
	g, err := tree.New(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Memory(32 << 20); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(filepath.Join(g.path, "cpu.weight")); err != nil || string(b) != "100\n" {
		t.Errorf("a session's weight is %q, %v", b, err)
	}
	cmd, taken := taker(t, g, "memory", 8)
	if !taken {
		t.Error("it does not get what it may have")
	}
	g.Remove()
	_ = cmd.Wait() // it was killed
	tree.Close()
	if b, err := os.ReadFile(filepath.Join(unit, "cgroup.procs")); err != nil || !strings.Contains(string(b), self+"\n") {
		t.Errorf("afterwards the group holds %q, %v", b, err)
	}
	if list, err := filepath.Glob(filepath.Join(unit, prefix+"*")); err != nil || len(list) != 0 {
		t.Errorf("left: %q, %v", list, err)
	}
	if err := write("/sys/fs/cgroup", "cgroup.procs", self); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(unit); err != nil {
		t.Error(err)
	}
}
