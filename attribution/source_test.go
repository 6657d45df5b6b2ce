package attribution

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smi/smitest"
)

// oneCard is a source of one card with these processes.
func oneCard(ps ...smi.Process) *smitest.Fake {
	d := smi.Device{Name: "card", BDF: smi.Some(smi.BDF{Bus: 0xc1})}
	return smitest.NewFake(smi.DeviceSnapshot{Device: d, Info: &smi.Info{Device: d}, Metrics: &smi.Metrics{Time: smitest.Then}, Processes: ps})
}

// attributed opens a source for a test, with a fixed user database.
func attributed(t testing.TB, src smi.Source, o Options) *Source {
	t.Helper()
	if o.Kubelet == "" {
		o.Kubelet = NoKubelet
	}
	if o.PodLogs == "" {
		o.PodLogs = t.TempDir()
	}
	s := New(src, o)
	if s.cache != nil {
		s.cache.patience, s.cache.users.patience = time.Minute, time.Minute // however busy this machine is
		s.cache.users.lookup = func(uid string) (string, error) {
			if uid == "1000" {
				return "ada", nil
			}
			return "", errors.New("unknown")
		}
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func processes(t testing.TB, s smi.Source) []smi.Process {
	t.Helper()
	ps, err := s.Processes(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func TestConformance(t *testing.T) {
	smitest.Run(t, func(t *testing.T) smi.Source {
		cards := smitest.Cards()
		cards[1].ProcessesErr = nil
		return New(smitest.NewFake(cards...), Options{Kubelet: NoKubelet, PodLogs: t.TempDir()})
	})
}

func TestJoin(t *testing.T) {
	dir := newTree(t,
		proc{pid: 10, start: 5, name: "python3", command: "/usr/bin/python3\x00train.py\x00--lr\x000.1\x00", uid: 1000, cgroup: "0::/user.slice"},
		proc{pid: 11, start: 6, name: "a ) S (b\n", command: "", uid: 4242,
			cgroup: "12:pids:/\n3:memory:/docker/" + idA + "\n0::/", nspid: []int{7}},
		proc{pid: 12, start: 7, name: "vllm", command: "vllm\x1b[31m\u202e\xff" + strings.Repeat("ü", 600) + "\x00", uid: 0,
			cgroup: "0::/kubepods.slice/kubepods-pod" + under(uidA) + ".slice/cri-containerd-" + idB + ".scope", nspid: []int{1000, 1}},
	)
	told := smi.Process{PID: 12, Name: "told", Command: "told command", User: "eve", InnerPID: 3, Container: &smi.Container{Name: "main"}}
	s := attributed(t, oneCard(smi.Process{PID: 10}, smi.Process{PID: 11}, smi.Process{PID: 12, Origin: smi.OriginKFD}, told, smi.Process{PID: 99}),
		Options{Proc: dir})
	ps := processes(t, s)
	want := []smi.Process{
		{PID: 10, Name: "python3", Command: "/usr/bin/python3 train.py --lr 0.1", User: "ada"},
		{PID: 11, Name: "a ) S (b ", User: "4242", Container: &smi.Container{ID: idA}, InnerPID: 7},
		{PID: 12, Name: "vllm", User: "0", Origin: smi.OriginKFD, Container: &smi.Container{ID: idB, PodUID: uidA}, InnerPID: 1},
		{PID: 12, Name: "told", Command: "told command", User: "eve", InnerPID: 3, Container: &smi.Container{ID: idB, Name: "main", PodUID: uidA}},
		{PID: 99},
	}
	long := ps[2].Command
	want[2].Command = long
	if !reflect.DeepEqual(ps, want) {
		for i := range ps {
			t.Errorf("got  %+v %+v\nwant %+v %+v", ps[i], ps[i].Container, want[i], want[i].Container)
		}
	}
	if len(long) > maxCommand || len(long) < maxCommand-8 || !strings.HasPrefix(long, "vllm?[31m??üü") || !strings.HasSuffix(long, "ü…") {
		t.Errorf("a long command with strange characters became %q, %d bytes", long, len(long))
	}
	snap, err := s.Snapshot(t.Context())
	if err != nil || !reflect.DeepEqual(snap.Devices[0].Processes, ps) {
		t.Errorf("a snapshot tells otherwise: %+v, %v", snap, err)
	}
}

// A container that the source knows by another id is not mixed with the one that is
// seen.
func TestContradiction(t *testing.T) {
	dir := newTree(t, proc{pid: 1, cgroup: "0::/kubepods/pod" + uidA + "/" + idA})
	c := smi.Container{ID: idB, Name: "other"}
	s := attributed(t, oneCard(smi.Process{PID: 1, Container: &c}), Options{Proc: dir})
	if got := processes(t, s)[0].Container; *got != c {
		t.Errorf("%+v", got)
	}
}

func TestReusedNumber(t *testing.T) {
	dir := newTree(t, proc{pid: 10, start: 5, name: "old", command: "old\x00", uid: 1000, cgroup: "0::/docker/" + idA})
	s := attributed(t, oneCard(smi.Process{PID: 10}), Options{Proc: dir})
	if p := processes(t, s)[0]; p.Name != "old" || p.Container == nil {
		t.Fatalf("%+v", p)
	}
	put(t, dir, proc{pid: 10, start: 6, name: "new", uid: 5})
	if p := processes(t, s)[0]; p.Name != "new" || p.Command != "" || p.User != "5" || p.Container != nil {
		t.Errorf("the new process has something of the old one: %+v", p)
	}
	if err := os.RemoveAll(dir + "/10"); err != nil {
		t.Fatal(err)
	}
	if p := processes(t, s)[0]; !reflect.DeepEqual(p, smi.Process{PID: 10}) {
		t.Errorf("a process that is gone: %+v", p)
	}
}

// What may change in a process's life is read again after a while, and only then.
func TestRefresh(t *testing.T) {
	dir := newTree(t, proc{pid: 10, start: 5, name: "python3", command: "python3\x00"})
	s := attributed(t, oneCard(smi.Process{PID: 10}), Options{Proc: dir})
	now := time.Now()
	s.cache.now = func() time.Time { return now }
	processes(t, s)
	if err := os.WriteFile(dir+"/10/cmdline", []byte("VLLM::EngineCore"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p := processes(t, s)[0]; p.Command != "python3" {
		t.Errorf("at once: %q", p.Command)
	}
	now = now.Add(2 * keep)
	if p := processes(t, s)[0]; p.Command != "VLLM::EngineCore" {
		t.Errorf("later: %q", p.Command)
	}
}

// A command line that cannot be read in time holds up nobody: the rest is told, and
// the next to ask do not wait at all. It comes when it comes.
func TestStuckCommandLine(t *testing.T) {
	dir := newTree(t, proc{pid: 10, start: 5, name: "stuck", uid: 1000}, proc{pid: 11, name: "well", command: "well\x00"})
	fifo := dir + "/10/cmdline"
	if err := os.Remove(fifo); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	s := attributed(t, oneCard(smi.Process{PID: 10}, smi.Process{PID: 11}), Options{Proc: dir})
	s.cache.patience = time.Second
	for range 3 {
		ps := processes(t, s)
		if p := ps[0]; p.Name != "stuck" || p.User != "ada" || p.Command != "" {
			t.Errorf("%+v", p)
		}
		if p := ps[1]; p.Command != "well" {
			t.Errorf("the other: %+v", p)
		}
	}
	s.cache.mu.Lock()
	late, flights := s.cache.late, len(s.cache.flights)
	s.cache.mu.Unlock()
	if late != 1 || flights != 1 {
		t.Errorf("%d readings, %d of them late", flights, late)
	}
	if err := os.WriteFile(fifo, []byte("at last\x00"), 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command line is there", func() bool { return processes(t, s)[0].Command == "at last" })
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.late != 0 || len(s.cache.flights) != 0 {
		t.Errorf("afterwards: %d readings, %d late", len(s.cache.flights), s.cache.late)
	}
}

// Many that hang: no more is asked until some of them have answered, and then it is.
func TestManyStuck(t *testing.T) {
	dir := newTree(t, proc{pid: 1000, name: "well", command: "well\x00", uid: 1000})
	var rows []smi.Process
	const n = maxLate + 4
	for pid := range uint32(n) {
		put(t, dir, proc{pid: pid + 1, name: "stuck"})
		name := fmt.Sprintf("%s/%d/cmdline", dir, pid+1)
		if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, smi.Process{PID: pid + 1})
	}
	src := oneCard(rows...)
	s := attributed(t, src, Options{Proc: dir})
	s.cache.patience = time.Millisecond
	var mu sync.Mutex
	now := time.Now()
	s.cache.now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	for _, p := range processes(t, s) {
		if p.Name != "stuck" || p.Command != "" {
			t.Errorf("%+v", p)
		}
	}
	s.cache.patience = time.Minute // nobody waits for it now
	id := s.cache.get(1000, time.Now().Add(time.Minute))
	if id == nil || id.name != "well" || id.command != "" {
		t.Errorf("one more: %+v", id)
	}
	for pid := range n {
		// Not for writing alone: that waits for a reader, and some were not asked. Those
		// find a file.
		name := fmt.Sprintf("%s/%d/cmdline", dir, pid+1)
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(os.WriteFile(name+".new", []byte("at last"), 0o600), os.Rename(name+".new", name))
		_, werr := f.WriteString("at last")
		if err = errors.Join(err, werr, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "none is late", func() bool {
		s.cache.mu.Lock()
		defer s.cache.mu.Unlock()
		return s.cache.late == 0
	})
	mu.Lock()
	now = now.Add(retry)
	mu.Unlock()
	if id := s.cache.get(1000, time.Now().Add(time.Minute)); id == nil || id.command != "well" || id.user != "ada" {
		t.Errorf("it is not asked again: %+v", id)
	}
	for _, p := range processes(t, s) {
		if p.Command != "at last" {
			t.Errorf("%+v", p)
		}
	}
}

// A user database that does not answer holds up nobody either.
func TestStuckUsers(t *testing.T) {
	dir := newTree(t, proc{pid: 10, uid: 1000}, proc{pid: 11, uid: 1000})
	s := attributed(t, oneCard(smi.Process{PID: 10}, smi.Process{PID: 11}), Options{Proc: dir})
	hang := make(chan struct{})
	s.cache.users.patience = time.Millisecond
	s.cache.users.lookup = func(string) (string, error) { <-hang; return "ada", nil }
	for _, p := range processes(t, s) {
		if p.User != "1000" {
			t.Errorf("%+v", p)
		}
	}
	close(hang)
	now := time.Now()
	s.cache.mu.Lock()
	s.cache.now = func() time.Time { now = now.Add(2 * keep); return now }
	s.cache.mu.Unlock()
	eventually(t, "the name is known", func() bool { return processes(t, s)[0].User == "ada" })
}

// Two who ask for a user at the same moment get the same answer.
func TestUserAskedTwiceAtOnce(t *testing.T) {
	u := newUsers()
	u.patience = time.Minute
	asked, answer := make(chan struct{}, 2), make(chan struct{})
	u.lookup = func(string) (string, error) { asked <- struct{}{}; <-answer; return "ada", nil }
	names := make(chan string, 2)
	for range 2 {
		go func() { names <- u.name("1000") }()
	}
	<-asked
	select {
	case got := <-names:
		t.Errorf("%q, and nobody has answered", got)
		names <- got
	case <-time.After(20 * time.Millisecond): // the second may only now ask: it must not pass
	}
	close(answer)
	for range 2 {
		if got := <-names; got != "ada" {
			t.Errorf("%q", got)
		}
	}
	if len(asked) != 0 {
		t.Error("asked twice")
	}
}

func TestCacheIsBounded(t *testing.T) {
	dir := newTree(t, proc{pid: 1, name: "one"})
	s := attributed(t, oneCard(), Options{Proc: dir})
	for i := range maxEntries + 10 {
		s.cache.entries[uint32(i+2)] = entry{deadline: time.Now().Add(time.Hour)}
	}
	if id := s.cache.get(1, time.Now().Add(time.Minute)); id == nil || id.name != "one" {
		t.Fatalf("%+v", id)
	}
	if n := len(s.cache.entries); n > maxEntries/2+1 {
		t.Errorf("%d entries", n)
	}
	if s.cache.entries[1].id == nil {
		t.Error("the newest was forgotten")
	}
}

// TestNamespaces: whose numbers a source's rows and a /proc have.
func TestNamespaces(t *testing.T) {
	rows := []smi.Process{{PID: 57, Origin: smi.OriginKFD}, {PID: 58, Origin: smi.OriginAMDSMI}, {PID: 59, Origin: smi.OriginAMDSMI}, {PID: 60, Origin: smi.OriginFDInfo}}
	local := func(s *Source, p smi.Process) string {
		n, ok := s.Local(&p)
		return fmt.Sprint(n, ok)
	}
	t.Run("a container's own", func(t *testing.T) {
		dir := newTree(t, proc{pid: 5, name: "worker", pidNS: "pid:[4026532999]"}, proc{pid: 57, name: "a"}, proc{pid: 58, name: "b", fds: []string{"/dev/null"}},
			proc{pid: 59, name: "c", fds: []string{"/dev/null", "/dev/kfd"}}, proc{pid: 60, name: "d"})
		setSelf(t, dir, 5, "")
		s := attributed(t, oneCard(rows...), Options{Proc: dir})
		var names, locals []string
		for _, p := range processes(t, s) {
			names, locals = append(names, p.Name), append(locals, local(s, p))
		}
		if want := []string{"", "", "c", "d"}; !reflect.DeepEqual(names, want) {
			t.Errorf("names %q, want %q", names, want)
		}
		if want := []string{"0 false", "0 false", "0 false", "60 true"}; !reflect.DeepEqual(locals, want) {
			t.Errorf("own numbers %q, want %q", locals, want)
		}
	})
	t.Run("the host's, from a container", func(t *testing.T) {
		const ours = "pid:[4026532999]"
		dir := newTree(t, proc{pid: 5000, name: "worker", nspid: []int{5}, pidNS: ours}, proc{pid: 57, name: "of the host", pidNS: initialPIDs},
			proc{pid: 58, name: "ours", nspid: []int{12}, pidNS: ours}, proc{pid: 59, name: "of another", nspid: []int{12}, pidNS: "pid:[4026532888]"})
		setSelf(t, dir, 5000, "")
		s := attributed(t, oneCard(rows...), Options{Proc: dir})
		var names, locals []string
		for _, p := range processes(t, s) {
			names, locals = append(names, p.Name), append(locals, local(s, p))
		}
		if want := []string{"of the host", "ours", "of another", ""}; !reflect.DeepEqual(names, want) {
			t.Errorf("names %q, want %q", names, want)
		}
		if want := []string{"0 false", "12 true", "0 false", "0 false"}; !reflect.DeepEqual(locals, want) {
			t.Errorf("own numbers %q, want %q", locals, want)
		}
	})
	t.Run("the host's own", func(t *testing.T) {
		dir := newTree(t, proc{pid: 5, name: "worker", pidNS: initialPIDs}, proc{pid: 57, name: "a"})
		setSelf(t, dir, 5, "")
		s := attributed(t, oneCard(rows...), Options{Proc: dir})
		if p := processes(t, s)[0]; p.Name != "a" || local(s, p) != "57 true" {
			t.Errorf("%+v, own number %s", p, local(s, p))
		}
	})
}

// TestRealProc: the test's own process, as the kernel tells of it.
func TestRealProc(t *testing.T) {
	me := uint32(os.Getpid())
	s := New(oneCard(smi.Process{PID: me, Origin: smi.OriginFDInfo}), Options{Kubelet: NoKubelet, PodLogs: t.TempDir()})
	defer s.Close()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	p := processes(t, s)[0]
	if p.Name == "" || !strings.HasPrefix(os.Args[0], "/") || !strings.HasPrefix(p.Command, os.Args[0]) || p.User != u.Username && p.User != u.Uid {
		t.Errorf("%+v", p)
	}
	if n, ok := s.Local(&p); !ok || n != me {
		t.Errorf("own number %d, %v", n, ok)
	}
	if e := s.cache.entries[me]; e.id == nil || e.id.start == 0 {
		t.Errorf("%+v", e)
	}
}

func TestNoProc(t *testing.T) {
	s := attributed(t, oneCard(smi.Process{PID: 1, Name: "x"}), Options{Proc: "/does/not/exist"})
	if ps := processes(t, s); !reflect.DeepEqual(ps, []smi.Process{{PID: 1, Name: "x"}}) {
		t.Errorf("%+v", ps)
	}
}

// A file that is cut off or senseless is a process that is not known.
func TestBadFiles(t *testing.T) {
	for name, content := range map[string]string{
		"stat": "1 (x)", "stat ": "", "stat  ": ") (", "stat   ": "1 (x) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 many 0\n", "status": "Uid:\tx\n", "cgroup": "nonsense\n",
	} {
		dir := newTree(t, proc{pid: 1, name: "x"})
		if err := os.WriteFile(dir+"/1/"+strings.TrimSpace(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		s := attributed(t, oneCard(smi.Process{PID: 1}), Options{Proc: dir})
		if ps := processes(t, s); !reflect.DeepEqual(ps, []smi.Process{{PID: 1}}) {
			t.Errorf("%s %q: %+v", name, content, ps)
		}
	}
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
