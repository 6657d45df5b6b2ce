// Package guest runs tests as the first process of a Linux kernel of their own, for what this machine's kernel does not have or would be changed by, such
// as control groups of version 2 with all their controllers. The kernel is user-mode Linux, an ordinary program (Debian's user-mode-linux): it sees this
// machine's files, to read, and has processes, memory and groups of its own.
package guest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	program = "linux.uml"
	// dirVariable is set in a guest, to where the test was started.
	dirVariable = "ROCWIRE_GUEST_DIR"
	ended       = "guest: the tests have ended with "
	limit       = 5 * time.Minute
)

// Inside reports whether this process is in a guest.
func Inside() bool { return os.Getenv(dirVariable) != "" }

// Main is for TestMain. In a guest it runs the tests that Run named, and does not return.
func Main(m *testing.M) {
	if !Inside() || os.Getpid() != 1 {
		return
	}
	code := 1
	if err := furnish(); err != nil {
		fmt.Println("guest:", err)
	} else {
		code = m.Run()
	}
	fmt.Printf("%s%d\n", ended, code)
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("guest:", err)
	}
	os.Exit(code)
}

// furnish makes a system of what the kernel gives its first process.
func furnish() error {
	for _, x := range []struct{ kind, at string }{{"proc", "/proc"}, {"sysfs", "/sys"}, {"cgroup2", "/sys/fs/cgroup"}, {"tmpfs", "/run"}, {"devtmpfs", "/dev"}} {
		if err := unix.Mount(x.kind, x.at, x.kind, 0, ""); err != nil && err != unix.EBUSY {
			return fmt.Errorf("mount of %s: %w", x.at, err)
		}
	}
	if err := loopback(); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := os.Setenv("TMPDIR", "/run"); err != nil {
		return err
	}
	return os.Chdir(os.Getenv(dirVariable))
}

// loopback takes the one interface that there is into use.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r)
}

// Run runs the tests of this binary that a pattern names, as -test.run takes it, in a guest with so many MiB of memory. One of them must be there, and none may be
// skipped. Where there is no such kernel, or tests are to be short, the test is skipped.
func Run(t *testing.T, pattern string, memory int) {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s starts a kernel", t.Name())
	}
	kernel, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s needs %s (user-mode-linux)", t.Name(), program)
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, kernel, "rootfstype=hostfs", "ro", fmt.Sprintf("mem=%dM", memory), "con=null", "con0=null,fd:1", "quiet", "loglevel=1", "panic=-1",
		"umid="+filepath.Base(t.TempDir()), "uml_dir="+t.TempDir(), "init="+self, dirVariable+"="+dir, "PATH="+os.Getenv("PATH"), "HOME=/run",
		"--", "-test.v", "-test.count=1", "-test.run="+pattern)
	// What they print goes to a file: a process of the guest may outlive its kernel (one that waits for the kernel's word by futex does), and whoever read a pipe
	// would wait for it as well.
	out, err := os.Create(filepath.Join(t.TempDir(), "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = out
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // its processes are this machine's, too, and end together
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	failed := cmd.Run()
	if cmd.Process != nil {
		if err := unix.Kill(-cmd.Process.Pid, unix.SIGKILL); err != nil && err != unix.ESRCH {
			t.Errorf("processes that the guest left: %v", err)
		}
	}
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(printed), "\r", "")
	t.Logf("in the guest:\n%s", text)
	if !strings.Contains(text, ended+"0\n") {
		t.Fatalf("the tests in the guest failed: %v", failed)
	}
	if strings.Contains(text, "--- SKIP") || !strings.Contains(text, "--- PASS") {
		t.Error("not all tests were run in the guest")
	}
}
