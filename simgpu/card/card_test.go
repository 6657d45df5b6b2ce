package card

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const mib = 1 << 20

func create(t *testing.T, sessions int, capacity ...uint64) *Segment {
	t.Helper()
	s, err := Create(capacity, sessions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func attach(t *testing.T, s *Segment, pid int) *Session {
	t.Helper()
	ss, err := s.Attach(pid)
	if err != nil {
		t.Fatal(err)
	}
	return ss
}

func TestCapacityIsShared(t *testing.T) {
	s := create(t, 4, 100*mib, 10*mib)
	a, b := attach(t, s, os.Getpid()), attach(t, s, os.Getpid())
	steps := []struct {
		m    *Meter
		n    uint64
		want bool
	}{
		{a.Card(0), 60 * mib, true},
		{b.Card(0), 50 * mib, false},
		{b.Card(0), 40 * mib, true},
		{a.Card(0), 1, false},
		{a.Card(1), 10 * mib, true},
		{b.Card(1), 1, false},
		{b.Card(1), ^uint64(0), false},
		{b.Card(1), 0, true},
	}
	for i, st := range steps {
		if got := st.m.Take(st.n); got != st.want {
			t.Errorf("step %d: Take(%d) = %v", i, st.n, got)
		}
	}
	if got := s.Used(0); got != 100*mib {
		t.Errorf("used %d", got)
	}
	b.Card(0).Give(40 * mib)
	if got := a.Card(0).Free(); got != 40*mib {
		t.Errorf("free %d", got)
	}
	a.Detach()
	if got := s.Used(0) + s.Used(1); got != 0 {
		t.Errorf("used after Detach: %d", got)
	}
}

// TestNeverTooMuch lets many sessions take and give at once: the sum of what
// they were given never exceeds the capacity.
func TestNeverTooMuch(t *testing.T) {
	const capacity = 1000
	s := create(t, 16, capacity)
	var held atomic.Int64
	var granted atomic.Int64
	var wg sync.WaitGroup
	for i := range 8 {
		m := attach(t, s, os.Getpid()).Card(0)
		wg.Add(1)
		go func() {
			defer wg.Done()
			n := uint64(100 + 37*i)
			for range 2000 {
				if !m.Take(n) {
					continue
				}
				granted.Add(1)
				if h := held.Add(int64(n)); h > capacity {
					t.Errorf("%d held of %d", h, capacity)
				}
				held.Add(-int64(n))
				m.Give(n)
			}
		}()
	}
	wg.Wait()
	if granted.Load() == 0 {
		t.Error("nothing was ever granted")
	}
	if s.Used(0) != 0 {
		t.Errorf("%d left", s.Used(0))
	}
}

func reap(m *Monitor, pid int) { m.Reap(pid, func(int, Use) {}) }

func TestSlotsRunOut(t *testing.T) {
	s := create(t, 2, mib)
	m := NewMonitor(s)
	attach(t, s, 11)
	attach(t, s, 12)
	if _, err := s.Attach(13); !errors.Is(err, ErrSessions) {
		t.Errorf("third session: %v", err)
	}
	reap(m, 11)
	attach(t, s, 13)
}

func TestCreateErrors(t *testing.T) {
	for _, tt := range []struct {
		capacity []uint64
		sessions int
	}{{nil, 1}, {make([]uint64, MaxCards+1), 1}, {[]uint64{0}, 1}, {[]uint64{1 << 51}, 1}, {[]uint64{1}, 0}, {[]uint64{1}, MaxSessions + 1}} {
		if _, err := Create(tt.capacity, tt.sessions); !errors.Is(err, ErrGeometry) {
			t.Errorf("Create(%v, %d): %v", tt.capacity, tt.sessions, err)
		}
	}
}

// open is a seat with the session that a process would have of it.
func open(t *testing.T, s *Segment, pid int) (*Seat, *Session) {
	t.Helper()
	x, err := s.Seat()
	if err != nil {
		t.Fatal(err)
	}
	f := x.Files()
	ss, err := Open(dup(t, f[0]), dup(t, f[1]), dup(t, f[2]))
	if err != nil {
		t.Fatal(err)
	}
	x.Started(pid)
	return x, ss
}

// TestOpenErrors hands Open pages and sockets that are none.
func TestOpenErrors(t *testing.T) {
	s := create(t, 4, mib)
	x, err := s.Seat()
	if err != nil {
		t.Fatal(err)
	}
	f := x.Files()
	short, err := unix.MemfdCreate("x", 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, fds := range map[string][2]uintptr{"no page": {9999, dup(t, f[2])}, "an empty page": {uintptr(short), dup(t, f[2])}} {
		if ss, err := Open(dup(t, f[0]), fds[0], fds[1]); !errors.Is(err, ErrSegment) {
			t.Errorf("%s: %v, %v", name, ss, err)
		}
	}
	if x.name == 0 {
		t.Error("a session without a name")
	}
}

// TestSeatInAnotherProcess: what a session asks through its socket is what it would have here.
func TestSeatInAnotherProcess(t *testing.T) {
	s := create(t, 4, 100*mib)
	m := NewMonitor(s)
	x, a := open(t, s, 11)
	_, b := open(t, s, 12)
	if !a.Card(0).Take(60*mib) || b.Card(0).Take(50*mib) || !b.Card(0).Take(40*mib) {
		t.Error("the capacity is not shared")
	}
	if a.Card(0).Free() != 0 || a.Card(0).Held() != 60*mib || s.Used(0) != 100*mib {
		t.Errorf("free %d, held %d, used %d", a.Card(0).Free(), a.Card(0).Held(), s.Used(0))
	}
	a.Card(0).Give(10 * mib)
	if b.Card(0).Free() != 10*mib || !b.Card(0).Take(10*mib) {
		t.Error("what was given back is not there at once")
	}
	a.Card(0).Begin("k", 1)
	c := m.Read()[0]
	if c.Used != 100*mib || c.Running != 1 || len(c.Sessions) != 2 || c.Sessions[0].Used != 50*mib || c.Sessions[1].PID != 12 {
		t.Errorf("%+v", c)
	}
	if !b.Alive(a.Name()) || !a.Alive(b.Name()) || a.Alive(0) || a.Alive(b.Name()+MaxSessions) || a.Alive(b.Name()+1) {
		t.Error("who lives")
	}
	reap(m, 11)
	if b.Alive(a.Name()) || s.Used(0) != 50*mib {
		t.Errorf("after its end: alive %v, used %d", b.Alive(a.Name()), s.Used(0))
	}
	x.Close() // again
	if _, c := open(t, s, 13); c.Name() == a.Name() || c.Name()%MaxSessions != a.Name()%MaxSessions {
		t.Errorf("the next one is %d, the last was %d", c.Name(), a.Name())
	}
}

// FuzzSession is a session that writes anything into its page and its socket: the parent's figures stay in bounds, others have what they had, and
// with its end all is over.
func FuzzSession(f *testing.F) {
	f.Add([]byte{1, 2, 3}, []byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00"))
	f.Add([]byte{7}, []byte("\x02\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data, said []byte) {
		s, err := Create([]uint64{mib, 3 * mib}, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		begin := Now()
		m := NewMonitor(s)
		honest, err := s.Attach(1)
		if err != nil || !honest.Card(1).Take(mib) {
			t.Fatal(err)
		}
		_, bad := open(t, s, 2)
		for round := range 3 {
			for i := range bad.page.mem {
				if len(data) > 0 {
					bad.page.mem[i] = data[(i+round)%len(data)]
				}
			}
			fd := int(bad.ask.(*farLedger).file.Fd())
			for i := 0; i < len(said); i += questionSize {
				_ = unix.Send(fd, said[i:min(i+questionSize, len(said))], unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
			}
			for c, card := range m.Read() {
				if card.Used > s.Capacity(c) || card.Busy > Now()-begin {
					t.Errorf("card %d: %+v after %d ns", c, card, Now()-begin)
				}
				if card.UnitTime > 2*maxUnits*(Now()-begin) || card.FromPeer[0] > 12*perRead || card.FromPeer[5] != 0 {
					t.Errorf("card %d: %+v", c, card)
				}
				for _, u := range card.Sessions {
					if u.PID < 1 || u.PID > 2 || u.Used > s.Capacity(c) || u.Running < 0 || len(u.Kernel) > MaxName || strings.ContainsAny(u.Kernel, "\n\x1b\x00") {
						t.Errorf("session %+v", u)
					}
				}
			}
			for _, f := range m.TakeFaults() {
				if f.Card < 0 || f.Card > 1 || f.PID != 2 || len(f.Kernel) > MaxName {
					t.Errorf("fault %+v", f)
				}
			}
			if n, ok := m.Held(1); n != mib || !ok || !honest.Alive(honest.Name()) {
				t.Errorf("another session holds %d, %v", n, ok)
			}
		}
		reap(m, 2)
		if s.Used(0) != 0 || s.Used(1) != mib || len(m.Read()[1].Sessions) != 1 {
			t.Errorf("%d and %d used after its end", s.Used(0), s.Used(1))
		}
	})
}

func TestMonitorCounts(t *testing.T) {
	s := create(t, 4, 100*mib)
	m := NewMonitor(s)
	ss := attach(t, s, 77)
	mt := ss.Card(0)
	mt.Take(10 * mib)
	mt.Begin("first", 3)
	mt.Begin("second\n", 4)
	w := Work{Dispatches: 1, Workgroups: 2, Waves: 3, ReadBytes: 4, WriteBytes: 5, Atomics: 6, FLOPs: 7}
	w.Instructions[VALU], w.Lanes[VALU] = 8, 9
	mt.Work(&w)
	mt.Copied(HostToCard, 1000, 10)
	c := m.Read()[0]
	if c.Used != 10*mib || c.Running != 2 || c.Work != w || c.Copies[HostToCard] != 1000 || c.CopyBytes() != 1000 {
		t.Errorf("running: %+v", c)
	}
	mt.TakeHost(3000)
	mt.GiveHost(1000)
	if c := m.Read()[0]; c.Host != 2000 || c.Sessions[0].Host != 2000 {
		t.Errorf("host memory: %+v", c)
	}
	if len(c.Sessions) != 1 || c.Sessions[0].PID != 77 || c.Sessions[0].Units != 7 || c.Sessions[0].Kernel != "second?" || c.Sessions[0].Work != w {
		t.Errorf("session: %+v", c.Sessions)
	}
	during := c.Busy
	if during == 0 {
		t.Error("a running kernel does not count as busy")
	}
	mt.End(3)
	mt.End(4)
	mt.Work(&w)
	c = m.Read()[0]
	if c.Running != 0 || c.Busy < during || c.Work.Dispatches != 2 {
		t.Errorf("ended: %+v", c)
	}
	idle := c.Busy
	if c = m.Read()[0]; c.Busy != idle {
		t.Errorf("busy grows while nothing runs: %d, %d", idle, c.Busy)
	}
	reap(m, 77)
	c = m.Read()[0]
	if c.Used != 0 || len(c.Sessions) != 0 {
		t.Errorf("after Reap: %+v", c)
	}
	if c.Busy != idle || c.Work.Dispatches != 2 || c.Work.Instructions[VALU] != 16 || c.CopyBytes() != 1000 {
		t.Errorf("what was done before the end is lost: %+v", c)
	}
	// The next session starts from nothing.
	mt = attach(t, s, 78).Card(0)
	mt.Work(&w)
	c = m.Read()[0]
	if c.Work.Dispatches != 3 || c.Sessions[0].Work != w || c.Sessions[0].Kernel != "" {
		t.Errorf("new session: %+v", c)
	}
}

// TestBusyIsTheUnion: kernels that overlap do not count twice.
func TestBusyIsTheUnion(t *testing.T) {
	s := create(t, 4, mib)
	begin := Now()
	m := NewMonitor(s)
	mt := attach(t, s, 1).Card(0)
	for range 20 {
		mt.Begin("k", 1)
	}
	for range 20 {
		mt.End(1)
	}
	if c := m.Read()[0]; c.Busy > Now()-begin {
		t.Errorf("busy %d of %d ns", c.Busy, Now()-begin)
	}
}

// child is a session process: it takes memory, begins a kernel and waits to be
// killed.
func child() {
	ss, err := Open(3, 4, 5)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	n, _ := strconv.ParseUint(os.Getenv("ROCWIRE_CARD_TAKE"), 10, 64)
	fmt.Println(ss.Card(0).Take(n))
	ss.Card(0).Begin("endless", 1)
	ss.Card(0).Work(&Work{Waves: 5})
	fmt.Println("running")
	for {
		time.Sleep(time.Hour)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("ROCWIRE_CARD_TAKE") != "" {
		child()
	}
	os.Exit(m.Run())
}

func startChild(t *testing.T, s *Segment, take uint64) (*exec.Cmd, bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprint("ROCWIRE_CARD_TAKE=", take))
	seat, err := s.Seat()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = seat.Files()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seat.Started(cmd.Process.Pid)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	sc := bufio.NewScanner(out)
	var lines []string
	for len(lines) < 2 && sc.Scan() {
		lines = append(lines, sc.Text())
	}
	if len(lines) != 2 || lines[1] != "running" {
		t.Fatalf("child said %q", lines)
	}
	return cmd, lines[0] == "true"
}

// TestKilledSessions kills session processes with SIGKILL while they hold
// memory and run a kernel.
func TestKilledSessions(t *testing.T) {
	s := create(t, 3, 100*mib)
	m := NewMonitor(s)
	a, ok := startChild(t, s, 60*mib)
	if !ok {
		t.Fatal("first child got nothing")
	}
	b, ok := startChild(t, s, 30*mib)
	if !ok {
		t.Fatal("second child got nothing")
	}
	third, ok := startChild(t, s, 60*mib)
	if ok {
		t.Error("third child got more than there is")
	}
	c := m.Read()[0]
	if c.Used != 90*mib || c.Running != 3 || c.Work.Waves != 15 {
		t.Errorf("three running: %+v", c)
	}
	if _, err := s.Attach(1); !errors.Is(err, ErrSessions) {
		t.Errorf("fourth session: %v", err)
	}
	_ = a.Process.Signal(syscall.SIGKILL)
	_ = a.Wait()
	reap(m, a.Process.Pid)
	c = m.Read()[0]
	if c.Used != 30*mib || c.Running != 2 || len(c.Sessions) != 2 || c.Work.Waves != 15 {
		t.Errorf("after the kill: %+v", c)
	}

	// The next one is not even reaped: its memory can be had all the same.
	self := attach(t, s, os.Getpid())
	_ = b.Process.Signal(syscall.SIGKILL)
	_ = b.Wait()
	for deadline := time.Now().Add(time.Minute); !self.Card(0).Take(95 * mib); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the memory of a process that is gone is still held")
		}
	}
	reap(m, b.Process.Pid)
	reap(m, third.Process.Pid)
	c = m.Read()[0]
	if c.Used != 95*mib || len(c.Sessions) != 1 || c.Work.Waves != 15 {
		t.Errorf("after Reap: %+v", c)
	}
}

// TestHeldAllocatesNothing: a list of sessions asks this for each of them, with hundreds of seats taken.
func TestHeldAllocatesNothing(t *testing.T) {
	s := create(t, 64, 1<<30)
	m := NewMonitor(s)
	for pid := range 64 {
		ss, err := s.Attach(pid + 1)
		if err != nil {
			t.Fatal(err)
		}
		if !ss.Card(0).Take(uint64(pid+1) * 4096) {
			t.Fatal("no memory")
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		if held, ok := m.Held(64); !ok || held != 64*4096 {
			t.Fatalf("%d bytes, %v", held, ok)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, ok := m.Held(0); ok {
		t.Error("there is a process 0")
	}
}

// TestSeatLimit: a seat gets no more than its limit, however free the card is, and keeps what it has when the limit falls.
func TestSeatLimit(t *testing.T) {
	s := create(t, 2, 1<<20, 1<<20)
	ss, err := s.Attach(1)
	if err != nil {
		t.Fatal(err)
	}
	x, m := s.list()[0], ss.Card(0)
	x.Limit(0, 8192)
	if !m.Take(4096) || m.Take(8192) || !m.Take(4096) || m.Take(1) || !ss.Card(1).Take(1<<20) {
		t.Error("not exactly what the limit allows")
	}
	if x.Limit(0, 4096); m.Take(0) != true || m.Take(1) || s.Used(0) != 8192 {
		t.Error("a limit below what is held")
	}
	if m.Give(8192); !m.Take(4096) || m.Take(1) {
		t.Error("what was given back cannot be taken again")
	}
	if x.Limit(0, 1<<63); !m.Take(1<<20-4096) || m.Take(1) {
		t.Error("without a limit it is not the card's memory")
	}
}

// A question that was on its way when the cards ended is answered with no, and touches nothing that is gone.
func TestAskedAfterTheEnd(t *testing.T) {
	s := create(t, 1, 1<<20)
	ss, err := s.Attach(1)
	if err != nil {
		t.Fatal(err)
	}
	x := s.list()[0]
	if !ss.Card(0).Take(4096) {
		t.Fatal("no memory")
	}
	s.Close()
	if s.take(x, 0, 4096) {
		t.Error("memory of cards that are gone")
	}
	s.give(x, 0, 4096)
}
