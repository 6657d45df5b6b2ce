package confine

import (
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func TestParseUIDs(t *testing.T) {
	for s, want := range map[string]UIDs{"1-1": {1, 1}, "61184-65519": {61184, 65519}, "100000-165535": {100000, 165535}} {
		if got, err := ParseUIDs(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "0-5", "5", "5-4", "-", "a-b", "1-4294967295", "1-2-3", "-1-5"} {
		if got, err := ParseUIDs(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

// TestUsers: no two living sessions are the same user, and one that has ended is not followed at once.
func TestUsers(t *testing.T) {
	u := newUsers(UIDs{10, 12})
	var got []uint32
	for range 3 {
		n, err := u.take()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if !slices.Equal(got, []uint32{10, 11, 12}) {
		t.Error(got)
	}
	if n, err := u.take(); err == nil {
		t.Error("a fourth of three: ", n)
	}
	u.give(11)
	if n, err := u.take(); err != nil || n != 11 {
		t.Error(n, err)
	}
	u.give(10)
	u.give(12)
	if n, _ := u.take(); n != 12 {
		t.Errorf("%d, which has just ended", n)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"GOMAXPROCS=3", "AWS_SECRET=x", "HSA_A=1", "HSA=2", "TZ=UTC", "PATH=/", "LD_PRELOAD=x", variable + "=off", "=C:=x", "TF_WORKER_TOKEN=x"}, []string{"HSA_*"})
	if want := []string{"GOMAXPROCS=3", "HSA_A=1", "TZ=UTC"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := environment(nil, nil); len(got) != 1 || !slices.ContainsFunc(got, func(s string) bool { return len(s) > len("GOMAXPROCS=") }) {
		t.Errorf("%q", got)
	}
}

// TestFilter asks the filter, as the kernel does, what becomes of system calls.
func TestFilter(t *testing.T) {
	const self = 4711
	vm := func(network, driver, scratch bool) *bpf.VM {
		v, err := bpf.NewVM(program32(network, driver, scratch, self))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	sim, rocm, far, files := vm(false, false, false), vm(false, true, false), vm(true, true, false), vm(false, true, true)
	const allowed, eperm, enosys = uint32(unix.SECCOMP_RET_ALLOW), uint32(unix.SECCOMP_RET_ERRNO | 1), uint32(unix.SECCOMP_RET_ERRNO | 38)
	for _, c := range []struct {
		name string
		vm   *bpf.VM
		arch uint32
		nr   uint32
		args [6]uint64
		want uint32
	}{
		{"read", sim, auditArch, unix.SYS_READ, [6]uint64{}, allowed},
		{"another architecture", sim, auditArch + 1, unix.SYS_READ, [6]uint64{}, unix.SECCOMP_RET_KILL_PROCESS},
		{"x32", sim, auditArch, unix.SYS_READ | x32, [6]uint64{}, enosys},
		{"negative", sim, auditArch, 1<<32 - 1, [6]uint64{}, enosys},
		{"socket", sim, auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET}, eperm},
		{"socket with a driver", rocm, auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET}, eperm},
		{"socket with the network", far, auditArch, unix.SYS_SOCKET, [6]uint64{unix.AF_INET}, allowed},
		{"ioctl", sim, auditArch, unix.SYS_IOCTL, [6]uint64{}, eperm},
		{"ioctl with a driver", rocm, auditArch, unix.SYS_IOCTL, [6]uint64{}, allowed},
		{"a pair", sim, auditArch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_UNIX}, allowed},
		{"another pair", sim, auditArch, unix.SYS_SOCKETPAIR, [6]uint64{unix.AF_TIPC}, eperm},
		{"a thread", sim, auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_VM | unix.CLONE_THREAD}, allowed},
		{"a process", sim, auditArch, unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}, eperm},
		{"a process of its own", sim, auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_VM | unix.CLONE_VFORK}, eperm},
		{"a namespace", sim, auditArch, unix.SYS_CLONE, [6]uint64{unix.CLONE_THREAD | unix.CLONE_NEWUSER}, eperm},
		{"clone3", sim, auditArch, unix.SYS_CLONE3, [6]uint64{}, enosys},
		{"its own thread", sim, auditArch, unix.SYS_TGKILL, [6]uint64{self, 9}, allowed},
		{"another's thread", sim, auditArch, unix.SYS_TGKILL, [6]uint64{self + 1, 9}, eperm},
		{"another's thread by high bits", sim, auditArch, unix.SYS_TGKILL, [6]uint64{self | 1<<32, 9}, eperm},
		{"its name", sim, auditArch, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_NAME}, allowed},
		{"to outlive its parent", sim, auditArch, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_PDEATHSIG, 0}, eperm},
		{"to be dumped", sim, auditArch, unix.SYS_PRCTL, [6]uint64{unix.PR_SET_DUMPABLE, 1}, eperm},
		{"a directory", rocm, auditArch, unix.SYS_MKDIRAT, [6]uint64{}, eperm},
		{"a directory among temporary files", files, auditArch, unix.SYS_MKDIRAT, [6]uint64{}, allowed},
		{"their mode", files, auditArch, unix.SYS_FCHMODAT, [6]uint64{}, eperm},
		{"their owner", files, auditArch, unix.SYS_FCHOWNAT, [6]uint64{}, eperm},
		{"links among them", files, auditArch, unix.SYS_LINKAT, [6]uint64{}, eperm},
		{"ptrace", far, auditArch, unix.SYS_PTRACE, [6]uint64{}, eperm},
		{"execve", far, auditArch, unix.SYS_EXECVE, [6]uint64{}, eperm},
		{"mount", far, auditArch, unix.SYS_MOUNT, [6]uint64{}, eperm},
	} {
		// The kernel gives the words of seccomp_data as they are; this VM reads them as a network would.
		b := make([]byte, 64)
		put := func(at int, v uint32) {
			b[at], b[at+1], b[at+2], b[at+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
		}
		put(dataNr, c.nr)
		put(dataArch, c.arch)
		for i, a := range c.args {
			put(dataArgs+8*i, uint32(a))
			put(dataArgs+8*i+4, uint32(a>>32))
		}
		n, err := c.vm.Run(b)
		if err != nil || uint32(n) != c.want {
			t.Errorf("%s: %#x, %v; want %#x", c.name, uint32(n), err, c.want)
		}
	}
}
