package confine

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/worker/cgroup"
)

// Boundary is what the parent knows of the boundary of its session processes.
type Boundary struct {
	o       Options
	needs   Needs
	program *program
	groups  []uint32 // that own the devices

	users      *users   // nil: the parent may not choose
	scratch    *scratch // nil: sessions write no files
	namespaces []string
	abi        int

	mu    sync.Mutex
	tree  *cgroup.Tree
	come  bool   // one has come up
	bare  error  // why there is no tree
	forks []fork // what is tried, the narrowest first; the first one works as far as is known
}

// fork is how a session process comes to be.
type fork struct {
	flags      uintptr
	namespaces []string
}

// New prepares the boundary of processes that execute a command. Errors: the program is not found, or others may not execute it.
func New(o Options, needs Needs, command string) (*Boundary, error) {
	b, err := prepare(o, needs, command)
	if err != nil || o.None {
		return b, err
	}
	if o.Cgroup == NoCgroup {
		b.bare = fmt.Errorf("%w: --session-cgroup %s", cgroup.ErrNone, NoCgroup)
	} else if b.tree, b.bare = cgroup.Open(o.Cgroup); b.bare != nil && o.Cgroup != "" {
		b.Close()
		b.scratch.close()
		return nil, b.bare
	}
	return b, nil
}

// prepare makes a boundary without control groups.
func prepare(o Options, needs Needs, command string) (*Boundary, error) {
	p, err := openProgram(command)
	if err != nil {
		return nil, err
	}
	b := &Boundary{o: o, needs: needs, program: p}
	if o.None {
		b.forks = []fork{{}}
		return b, nil
	}
	b.abi = landlockABI()
	if has(unix.CAP_SETUID, unix.CAP_SETGID, unix.CAP_KILL) {
		if err := p.forAll(); err != nil {
			b.Close()
			return nil, err
		}
		b.users = newUsers(o.UIDs)
		b.groups = owners(needs.Devices)
		b.forks = []fork{{unix.CLONE_NEWPID, []string{"PID"}}, {}}
		return b, b.openScratch()
	}
	// Without a mapping all users are nobody in there, which is what a session is to be.
	user := fork{unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS, []string{"user", "PID", "IPC", "UTS"}}
	if !o.Network {
		user.flags |= unix.CLONE_NEWNET
		user.namespaces = append(user.namespaces, "network")
	}
	b.forks = []fork{user, {}}
	// Its sessions are the same user: they are not to read this process's memory.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	return b, b.openScratch()
}

// openScratch makes the directory for temporary files that a runtime needs.
func (b *Boundary) openScratch() (err error) {
	if b.needs.Scratch {
		if b.scratch, err = newScratch(b.users != nil); err != nil {
			b.Close()
		}
	}
	return err
}

// Close gives up what New has opened.
func (b *Boundary) Close() { _ = b.program.file.Close() }

// Group makes the control group of a process that is to be started; nil where there are none. It is not for the thread of Thread, which may write no file.
func (b *Boundary) Group() (*cgroup.Group, error) {
	b.mu.Lock()
	t := b.tree
	b.mu.Unlock()
	if t == nil {
		return nil, nil
	}
	g, err := t.New(maxProcesses)
	if err != nil {
		return nil, fmt.Errorf("confine: control group: %w", err)
	}
	return g, nil
}

// End removes what the groups and the temporary files of all processes were in. It is not for the thread of Thread either.
func (b *Boundary) End() {
	b.withoutGroups(nil)
	b.scratch.close()
}

// withoutGroups gives up control groups, and says why there are none.
func (b *Boundary) withoutGroups(why error) {
	b.mu.Lock()
	t := b.tree
	b.tree, b.bare = nil, why
	b.mu.Unlock()
	t.Close()
}

// LimitsMemory reports whether the kernel holds session processes to an amount of memory.
func (b *Boundary) LimitsMemory() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tree.Has("memory")
}

// system is what every program needs: its libraries, and what says how the machine is made.
var system = []string{
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
	"/etc/localtime", "/usr/share/zoneinfo", "/etc/machine-id", "/sys/devices/system", "/sys/kernel/mm", "/proc/sys/vm",
}

// nothing are the devices that are none.
var nothing = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// names is what a process that may connect to others needs to find them.
var names = []string{"/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/run/systemd/resolve", "/etc/ssl", "/etc/pki", "/usr/share/ca-certificates"}

// Thread confines the calling thread, which then starts session processes and does nothing else: runtime.LockOSThread, never unlocked.
func (b *Boundary) Thread() error {
	if b.o.None {
		return nil
	}
	if has(unix.CAP_SYS_ADMIN) {
		// Nothing is in these but sessions, which have nothing to do with each other there either.
		for _, n := range []fork{{unix.CLONE_NEWNET, []string{"network"}}, {unix.CLONE_NEWIPC, []string{"IPC"}}, {unix.CLONE_NEWUTS, []string{"UTS"}}} {
			if n.flags == unix.CLONE_NEWNET && b.o.Network {
				continue
			}
			if unix.Unshare(int(n.flags)) == nil {
				b.namespaces = append(b.namespaces, n.namespaces...)
			}
		}
	}
	if has(unix.CAP_SETPCAP) {
		if err := dropBounding(); err != nil {
			return fmt.Errorf("confine: bounding set: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("confine: no new privileges: %w", err)
	}
	if b.abi == 0 {
		return nil
	}
	n := Needs{Read: slices.Concat(system, []string{b.program.path}, b.needs.Read), Devices: slices.Concat(nothing, b.needs.Devices)}
	if b.o.Network {
		n.Read = append(n.Read, names...)
	}
	if b.scratch != nil {
		n.scratch = b.scratch.dir
	}
	return restrictFiles(b.abi, &n, b.o.Network)
}

// Start starts a session process in a group (nil: none) on the thread that Thread was called on. make makes its command anew; what it says of its
// attributes stays. release is to be called when the process is gone.
func (b *Boundary) Start(make func() *exec.Cmd, g *cgroup.Group) (cmd *exec.Cmd, release func(), err error) {
	for {
		f := b.fork()
		cmd, release = make(), func() {}
		if !b.o.None {
			if release, err = b.prepare(cmd, f, g); err != nil {
				return nil, nil, err
			}
		}
		if err = cmd.Start(); err == nil {
			return cmd, release, nil
		}
		release()
		switch {
		case g != nil && !b.hasWorked(): // clone3 is not allowed, say
			b.withoutGroups(fmt.Errorf("%w: %w", cgroup.ErrNone, err))
			g = nil
		case f.flags == 0 || !b.without(f):
			return nil, nil, err
		}
	}
}

func (b *Boundary) fork() fork {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forks[0]
}

// without gives up a way to fork that did not work the first time.
func (b *Boundary) without(f fork) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.forks) < 2 || b.forks[0].flags != f.flags {
		return false
	}
	b.forks = b.forks[1:]
	return true
}

// worked notes that a process has come up: from now on it is an error if one does not.
func (b *Boundary) worked() {
	b.mu.Lock()
	b.forks, b.come = b.forks[:1], true
	b.mu.Unlock()
}

func (b *Boundary) hasWorked() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.come
}

// prepare makes a command one of a session process.
func (b *Boundary) prepare(cmd *exec.Cmd, f fork, g *cgroup.Group) (release func(), err error) {
	e := entry{Network: b.o.Network, Driver: b.needs.Driver, Scratch: b.scratch != nil, Alone: f.flags != 0 || b.users != nil}
	attr := cmd.SysProcAttr
	attr.Cloneflags |= f.flags
	if g != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, g.FD()
	}
	cmd.Path, release = b.program.path, func() {}
	owner := -1
	if b.users != nil {
		uid, err := b.users.take()
		if err != nil {
			return nil, err
		}
		release, owner = func() { b.users.give(uid) }, int(uid)
		attr.Credential = &syscall.Credential{Uid: uid, Gid: uid, Groups: b.groups}
		e.Program = 3 + len(cmd.ExtraFiles)
		cmd.ExtraFiles = append(slices.Clone(cmd.ExtraFiles), b.program.file)
		cmd.Path = through(e.Program)
	}
	env := b.needs.Env
	if b.o.Network {
		env = append(slices.Clone(env), "TF_*")
	}
	cmd.Env = append(environment(os.Environ(), env), e.encode())
	if b.scratch != nil {
		dir, err := b.scratch.take(owner)
		if err != nil {
			release()
			return nil, err
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
		give := release
		release = func() {
			_ = os.RemoveAll(dir) // before somebody else is that user
			give()
		}
	}
	return release, nil
}

// owners are the groups that files belong to, and those in directories.
func owners(paths []string) (groups []uint32) {
	add := func(path string) {
		var st unix.Stat_t
		if unix.Stat(path, &st) == nil && st.Gid != 0 && !slices.Contains(groups, st.Gid) {
			groups = append(groups, st.Gid)
		}
	}
	for _, p := range paths {
		add(p)
		list, _ := os.ReadDir(p)
		for _, f := range list {
			add(p + "/" + f.Name())
		}
	}
	return groups
}
