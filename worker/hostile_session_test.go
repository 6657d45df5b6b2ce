package worker_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/worker"
	"github.com/rocwire/rocwire/worker/confine"
	"github.com/rocwire/rocwire/worker/simbackend"
)

// hostileCommand is the first argument of a session process of this binary that does what one would do that was taken over. It asks what to attack on the
// descriptor behind the cards' own.
const hostileCommand = "__hostile"

// targets are what a hostile session attacks. Without any it is an honest one.
type targets struct {
	Parent, Sibling int
	Port            int    // somebody listens there on loopback
	Abstract, Path  string // and there
	Dir             string // everybody may write there
	Scratch         string // temporary files of the sibling
	Harmless        bool   // nothing but what does no harm where it succeeds
}

// hostileSession is the process: an honest session whose runtime does not open before it has attacked.
func hostileSession(args []string) (*worker.SessionProcess, error) {
	p, err := simbackend.Session(args, testLog())
	if err != nil {
		return nil, err
	}
	open := p.Open
	p.Open = func(s worker.Session) (worker.Opened, error) {
		b := make([]byte, 64<<10)
		if _, err := unix.Write(orderFD, []byte("what?")); err != nil {
			return worker.Opened{}, err
		}
		n, err := unix.Read(orderFD, b)
		if err != nil {
			return worker.Opened{}, err
		}
		var t targets
		if err := json.Unmarshal(b[:n], &t); err != nil {
			return worker.Opened{}, err
		}
		if t.Parent != 0 {
			answer, err := json.Marshal(attack(&t))
			if err == nil {
				_, err = unix.Write(orderFD, answer)
			}
			if err != nil {
				return worker.Opened{}, err
			}
		}
		return open(s)
	}
	return p, nil
}

// orderFD is where a hostile session asks.
const orderFD = worker.FirstFile + 3

// report is what a hostile session has found: why each attack failed, "" if it did not.
type report struct {
	Failed  map[string]string
	Env     []string
	Scratch []string // what it could not do with temporary files of its own
}

func attack(t *targets) report {
	r := report{Failed: map[string]string{}, Env: os.Environ()}
	try := func(name string, err error) {
		r.Failed[name] = ""
		if err != nil {
			r.Failed[name] = err.Error()
		}
	}
	call := func(name string, nr uintptr, args ...uintptr) {
		args = append(args, make([]uintptr, 6)...)
		n, _, e := unix.Syscall6(nr, args[0], args[1], args[2], args[3], args[4], args[5])
		var err error
		if e != 0 {
			err = fmt.Errorf("%d %w", n, e)
		}
		try(name, err)
	}
	open := func(name, path string, flags int) {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		try(name, err)
	}
	dial := func(name string, family, kind int, to unix.Sockaddr) {
		fd, err := unix.Socket(family, kind, 0)
		if err == nil {
			err = unix.Connect(fd, to)
			_ = unix.Close(fd)
		}
		try(name, err)
	}
	parent := fmt.Sprintf("/proc/%d/", t.Parent)
	open("read the parent's memory", parent+"mem", unix.O_RDONLY)
	open("write the parent's memory", parent+"mem", unix.O_RDWR)
	open("read the parent's environment", parent+"environ", unix.O_RDONLY)
	open("see the parent's descriptors", parent+"fd", unix.O_RDONLY|unix.O_DIRECTORY)
	open("take a descriptor of the parent's", parent+"fd/2", unix.O_WRONLY)
	open("read passwords", "/etc/shadow", unix.O_RDONLY)
	open("read who there is", "/etc/passwd", unix.O_RDONLY)
	open("list the root", "/", unix.O_RDONLY|unix.O_DIRECTORY)
	open("list all processes", "/proc", unix.O_RDONLY|unix.O_DIRECTORY)
	open("write a file", t.Dir+"/file", unix.O_CREAT|unix.O_WRONLY)
	open("see whose temporary files there are", filepath.Dir(os.TempDir()), unix.O_RDONLY|unix.O_DIRECTORY)
	open("see temporary files of the sibling", t.Scratch, unix.O_RDONLY|unix.O_DIRECTORY)
	open("write among temporary files of the sibling", t.Scratch+"/file", unix.O_CREAT|unix.O_WRONLY)
	call("let others write among its temporary files", unix.SYS_FCHMODAT, 0, 0, 0o777)
	r.Scratch = useScratch(os.TempDir())
	dial("connect by TCP", unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: t.Port})
	dial("connect by UDP", unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: t.Port})
	dial("connect to an abstract socket", unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: "@" + t.Abstract})
	dial("connect to a Unix socket", unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: t.Path})
	byteOf := [1]byte{}
	word := unix.Iovec{Base: &byteOf[0], Len: 1}
	far := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&zeroPage)), Len: 1} // the same program: the same address
	for who, pid := range map[string]int{"parent": t.Parent, "sibling": t.Sibling} {
		_, err := unix.ProcessVMReadv(pid, []unix.Iovec{word}, []unix.RemoteIovec{far}, 0)
		try("read memory of the "+who, err)
		_, err = unix.ProcessVMWritev(pid, []unix.Iovec{word}, []unix.RemoteIovec{far}, 0)
		try("write memory of the "+who, err)
		try("signal the "+who, unix.Kill(pid, unix.SIGURG)) // which Go ignores
		fd, err := unix.PidfdOpen(pid, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		try("have a handle of the "+who, err)
		call("compare what belongs to the "+who, unix.SYS_KCMP, uintptr(pid), uintptr(pid), 0, 0, 1)
	}
	child, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err == nil {
		_, _ = child.Wait()
	}
	try("start a program", err)
	call("leave what it shares", unix.SYS_UNSHARE, unix.CLONE_FILES) // new namespaces begin with this call
	call("use io_uring", unix.SYS_IO_URING_SETUP, 0, 0)
	call("watch page faults", unix.SYS_USERFAULTFD, 0)
	call("have a keyring", unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 0)
	call("change its personality", unix.SYS_PERSONALITY, 0xffffffff)
	call("be traced", unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1)
	call("become another user", unix.SYS_SETUID, uintptr(os.Getuid()))
	if !t.Harmless {
		for who, pid := range map[string]int{"parent": t.Parent, "sibling": t.Sibling} {
			call("trace the "+who, unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid))
		}
		name, kind := [2]byte{'/', 0}, [6]byte{'t', 'm', 'p', 'f', 's', 0}
		call("mount", unix.SYS_MOUNT, uintptr(unsafe.Pointer(&kind)), uintptr(unsafe.Pointer(&name)), uintptr(unsafe.Pointer(&kind)))
		call("change the root", unix.SYS_CHROOT, uintptr(unsafe.Pointer(&name)))
		call("load a module", unix.SYS_INIT_MODULE, uintptr(unsafe.Pointer(&kind)), 6, uintptr(unsafe.Pointer(&kind[5])))
		call("load a program into the kernel", unix.SYS_BPF, 0)
		call("count what the processor does", unix.SYS_PERF_EVENT_OPEN, 0)
		call("become root", unix.SYS_SETUID, 0)
		call("execute a program", unix.SYS_EXECVE, uintptr(unsafe.Pointer(&name)))
		call("raise a limit", unix.SYS_SETRLIMIT, unix.RLIMIT_CORE, uintptr(unsafe.Pointer(&unix.Rlimit{Cur: 1, Max: 1})))
		call("live on when its parent dies", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
		call("fork", unix.SYS_CLONE, uintptr(unix.SIGCHLD)) // in the child of a Go program there is no way on, so it must not be one
		mem, err := unix.Mmap(worker.FirstFile, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			for i := range mem {
				mem[i] = 0xff
			}
		}
		try("write what all see of the cards", err)
		_, err = unix.Pwrite(worker.FirstFile, make([]byte, 4096), 0)
		try("write to the file of the cards", err)
		scribble()
		var fds []int
		for err = nil; err == nil && len(fds) < 100_000; {
			var fd int
			if fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC); err == nil {
				fds = append(fds, fd)
			}
		}
		try("have descriptors without end", err)
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
	return r
}

// useScratch does what AMD's compiler does with temporary files.
func useScratch(dir string) (failed []string) {
	try := func(what string, err error) {
		if err != nil {
			failed = append(failed, what+": "+err.Error())
		}
	}
	sub := filepath.Join(dir, "comgr")
	a, b := filepath.Join(sub, "a"), filepath.Join(sub, "b")
	try("a directory", os.Mkdir(sub, 0o770))
	try("a file", os.WriteFile(a, []byte("x"), 0o666))
	try("another over it", os.WriteFile(a, []byte("yz"), 0o666))
	try("another name", os.Rename(a, b))
	list, err := os.ReadDir(sub)
	if err == nil && (len(list) != 1 || list[0].Name() != "b") {
		err = fmt.Errorf("%v", list)
	}
	try("what there is", err)
	try("the file's end", os.Remove(b))
	try("the directory's end", os.Remove(sub))
	return append(failed, leave(filepath.Join(dir, "left"))...)
}

// leave leaves a file for the worker to remove.
func leave(path string) []string {
	if err := os.WriteFile(path, []byte("x"), 0o666); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// scribble writes over all that a session shares with its parent: its page, and the socket where it asks for memory.
func scribble() {
	mem, err := unix.Mmap(worker.FirstFile+1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	for i := range mem {
		mem[i] = 0xff
	}
	for n := uint64(1 << 40); err == nil && n > 0; n /= 2 { // as much of the first card as there is
		_, err = unix.Write(worker.FirstFile+2, binary.LittleEndian.AppendUint64([]byte{1, 0, 0, 0, 0, 0, 0, 0}, n))
		_, _ = unix.Read(worker.FirstFile+2, make([]byte, 1))
	}
	_, _ = unix.Write(worker.FirstFile+2, []byte("nonsense"))
}

var zeroPage [8]byte

// takenOver runs one hostile session beside an honest one.
func takenOver(t *testing.T, o confine.Options, harmless bool) *attacked {
	t.Helper()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(ends[1]), "orders")
	t.Cleanup(func() { _ = unix.Close(ends[0]); _ = theirs.Close() })
	if err := unix.SetsockoptTimeval(ends[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60}); err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) (n int, err error) {
		for { // a socket with a limit is not read from again behind a signal, which the Go runtime uses
			if n, err = unix.Read(ends[0], b); err != unix.EINTR {
				return n, err
			}
		}
	}
	order := func(what targets) report {
		b := make([]byte, 64<<10)
		if n, err := read(b); err != nil || string(b[:n]) != "what?" {
			t.Errorf("%q, %v", b[:max(n, 0)], err)
			return report{}
		}
		j, err := json.Marshal(&what)
		if err == nil {
			_, err = unix.Write(ends[0], j)
		}
		var r report
		if err == nil && what.Parent != 0 {
			var n int
			if n, err = read(b); err == nil {
				err = json.Unmarshal(b[:n], &r)
			}
		}
		if err != nil {
			t.Error(err)
		}
		return r
	}
	x := &attacked{}
	t.Cleanup(func() { // after the worker's end
		if _, err := os.Stat(filepath.Dir(x.leaves)); err == nil && x.leaves != "" {
			t.Errorf("%s is still there", x.leaves)
		}
	})
	w := serveWith(t, simbackend.Options{}, worker.Config{Confine: o, Command: []string{os.Args[0], hostileCommand}}, func(b *worker.Backend) {
		b.Needs.Scratch = true
		make := b.Seat
		b.Seat = func() (worker.Seat, error) {
			s, err := make()
			return &seatWith{s, theirs}, err
		}
	})
	what := targets{Parent: os.Getpid(), Harmless: harmless, Abstract: fmt.Sprintf("rocwire-test-%d", os.Getpid()), Dir: openDir(t)}
	what.Path = what.Dir + "/socket"
	for _, l := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", "@" + what.Abstract}, {"unix", what.Path}} {
		x, err := net.Listen(l.network, l.address)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if a, ok := x.Addr().(*net.TCPAddr); ok {
			what.Port = a.Port
		}
	}
	if err := os.Chmod(what.Path, 0o777); err != nil {
		t.Fatal(err)
	}
	x.join = func(what targets) *hipremote.Client {
		t.Helper()
		c, done := connect(t, w), make(chan report, 1)
		go func() { done <- order(what) }()
		_, code := c.GetDeviceCount()
		must(t, "GetDeviceCount", code)
		if r := <-done; what.Parent != 0 {
			x.report = r
		}
		for _, s := range w.Sessions() {
			if s.ID == fmt.Sprint(c.Session()) {
				x.pids = append(x.pids, int(s.PID))
			}
		}
		return c
	}
	x.honest = x.join(targets{})
	what.Sibling = x.pids[0]
	what.Scratch = x.scratch(t, 0)
	x.join(what)
	return x
}

// attacked is a worker with an honest session and one that was taken over.
type attacked struct {
	report
	pids   []int  // of both session processes
	leaves string // temporary files
	honest *hipremote.Client
	join   func(targets) *hipremote.Client // begins another session
}

// scratch is the directory for temporary files of a session process, "" for none.
func (x *attacked) scratch(t *testing.T, i int) string {
	t.Helper()
	if os.Getuid() != 0 {
		return "" // nobody may look
	}
	for _, v := range strings.Split(procFile(t, x.pids[i], "environ"), "\x00") {
		if dir, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			return dir
		}
	}
	return ""
}

// seatWith is a seat with one more file.
type seatWith struct {
	worker.Seat
	file *os.File
}

func (s *seatWith) Files() []*os.File { return append(slices.Clone(s.Seat.Files()), s.file) }

// openDir is a directory that everybody may write in.
func openDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "rocwire-open-")
	if err == nil {
		err = os.Chmod(dir, 0o777|os.ModeSticky)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestHostileSession: a session process that has been taken over reaches nothing: not its parent, not its siblings, not the machine's files, not
// the network; it starts no process that could outlive it. The same attacks succeed where there is no boundary, or the test would show nothing.
func TestHostileSession(t *testing.T) {
	t.Setenv("A_SECRET_OF_THE_PARENT", "xyzzy")
	r := takenOver(t, confine.Options{}, false)
	if len(r.Failed) < 40 {
		t.Errorf("only %d attacks", len(r.Failed))
	}
	for name, why := range r.Failed {
		if why == "" {
			t.Errorf("a confined session can %s", name)
		}
	}
	for _, v := range r.Env {
		if strings.Contains(v, "xyzzy") {
			t.Errorf("a session has %s", v)
		}
	}
	if len(r.Scratch) > 0 {
		t.Errorf("with temporary files of its own a session cannot have %q", r.Scratch)
	}
	if os.Getuid() == 0 {
		dir := r.scratch(t, 1)
		if _, err := os.Stat(filepath.Join(dir, "left")); err != nil || r.scratch(t, 0) == dir {
			t.Error(r.scratch(t, 0), dir, err)
		}
		r.leaves = dir
	}
	var users []string
	for _, pid := range r.pids {
		status := procFile(t, pid, "status")
		for field, want := range map[string]string{"CapEff": "0000000000000000", "CapPrm": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"} {
			if got := statusField(status, field); got != want {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
		if os.Getuid() == 0 {
			if got := statusField(status, "CapBnd"); got != "0000000000000000" {
				t.Errorf("CapBnd is %q", got)
			}
			users = append(users, statusField(status, "Uid"))
			if strings.HasPrefix(users[len(users)-1], "0\t") {
				t.Error("a session is root")
			}
		}
		if l := procFile(t, pid, "limits"); !strings.Contains(strings.Join(strings.Fields(l), " "), "Max core file size 0 0") {
			t.Errorf("limits:\n%s", l)
		}
		noneOfOurs(t, pid)
	}
	// What it has written over what it shares harms nobody.
	for who, c := range map[string]*hipremote.Client{"the session beside it": r.honest, "the next one": r.join(targets{})} {
		p, code := c.Malloc(hip.Thread{}, 512<<20)
		must(t, who+": Malloc", code)
		must(t, who+": Free", c.Free(hip.Thread{}, p))
		free, total, code := c.MemGetInfo(hip.Thread{})
		must(t, who+": MemGetInfo", code)
		if total != 1<<30 || free < total/2 {
			t.Errorf("%s sees %d of %d bytes free", who, free, total)
		}
	}
	if len(users) == 2 && users[0] == users[1] {
		t.Errorf("two sessions are the same user: %s", users[0])
	}
}

// TestHostileSessionUnconfined is what the boundary is for: without it the same attacks succeed.
func TestHostileSessionUnconfined(t *testing.T) {
	t.Setenv("A_SECRET_OF_THE_PARENT", "xyzzy")
	r := takenOver(t, confine.Options{None: true}, true)
	// What Linux itself lets no process do without privileges, or does not have, is not the boundary's merit.
	for _, name := range []string{
		"see the parent's descriptors", "read the parent's environment", "read who there is", "list the root", "list all processes", "write a file", "connect by TCP", "connect by UDP",
		"connect to an abstract socket", "connect to a Unix socket", "signal the parent", "signal the sibling", "have a handle of the parent", "start a program",
		"read memory of the sibling", "write memory of the sibling", "have a keyring", "change its personality", "be traced", "become another user",
	} {
		if why, tried := r.Failed[name]; !tried || why != "" {
			t.Errorf("an unconfined session cannot %s: %s", name, why)
		}
	}
	if !slices.ContainsFunc(r.Env, func(v string) bool { return strings.Contains(v, "xyzzy") }) {
		t.Error("an unconfined session has not the environment of its parent")
	}
}

func procFile(t *testing.T, pid int, name string) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func statusField(status, name string) string {
	for _, l := range strings.Split(status, "\n") {
		if v, ok := strings.CutPrefix(l, name+":\t"); ok {
			return v
		}
	}
	return ""
}

// noneOfOurs checks that a session holds nothing that is this process's, its log above all.
func noneOfOurs(t *testing.T, pid int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	list, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrPermission) && os.Getuid() != 0 {
		return // its memory is for nobody to look at, and so are its descriptors
	}
	if err != nil {
		t.Fatal(err)
	}
	var log unix.Stat_t
	if err := unix.Fstat(2, &log); err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		var st unix.Stat_t
		to, _ := os.Readlink(dir + "/" + f.Name())
		if unix.Stat(dir+"/"+f.Name(), &st) == nil && st.Dev == log.Dev && st.Ino == log.Ino && to != "/dev/null" {
			t.Errorf("descriptor %s is the parent's log: %s", f.Name(), to)
		}
	}
}

// TestHostileSessionWithoutRoot is TestHostileSession for a worker that is an ordinary user: other means, the same end.
func TestHostileSessionWithoutRoot(t *testing.T) {
	if os.Getuid() != 0 {
		return // TestHostileSession was that test
	}
	// This program may lie where others cannot go.
	exe := openDir(t) + "/worker.test"
	b, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(exe, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestHostileSession$", "-test.count=1", "-test.v")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestHostileSession ") {
		t.Errorf("%v\n%s", err, out)
	}
}
