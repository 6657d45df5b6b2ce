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
	"unsafe"

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

func TestSlotsRunOut(t *testing.T) {
	s := create(t, 2, mib)
	m := NewMonitor(s)
	attach(t, s, 11)
	attach(t, s, 12)
	if _, err := s.Attach(13); !errors.Is(err, ErrSessions) {
		t.Errorf("third session: %v", err)
	}
	m.Reap(11)
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

// TestOpenErrors hands Open files that are no segments.
func TestOpenErrors(t *testing.T) {
	file := func(seals int, data []byte) uintptr {
		fd, err := unix.MemfdCreate("x", unix.MFD_ALLOW_SEALING)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(fd, data); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
			t.Fatal(err)
		}
		return uintptr(fd)
	}
	good := create(t, 4, mib)
	board := func() uintptr {
		fd, err := unix.Dup(int(good.board.file.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		return uintptr(fd)
	}
	image := func(f func(h *header)) []byte {
		b := append([]byte(nil), good.mem...)
		f((*header)(unsafe.Pointer(&b[0])))
		return b
	}
	const sealed = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	for name, fd := range map[string]uintptr{
		"empty":        file(sealed, nil),
		"short":        file(sealed, make([]byte, 100)),
		"zeros":        file(sealed, make([]byte, len(good.mem))),
		"can shrink":   file(0, good.mem),
		"magic":        file(sealed, image(func(h *header) { h.magic++ })),
		"version":      file(sealed, image(func(h *header) { h.version++ })),
		"no cards":     file(sealed, image(func(h *header) { h.cards = 0 })),
		"many cards":   file(sealed, image(func(h *header) { h.cards = 1 << 60 })),
		"more slots":   file(sealed, image(func(h *header) { h.sessions = 1000 })),
		"slots wrap":   file(sealed, image(func(h *header) { h.sessions = ^uint64(0) })),
		"no capacity":  file(sealed, image(func(h *header) { h.capacity[0] = 0 })),
		"big capacity": file(sealed, image(func(h *header) { h.capacity[0] = ^uint64(0) })),
		"bad fd":       9999,
	} {
		if s, err := Open(fd, board()); !errors.Is(err, ErrSegment) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	s, err := Open(file(sealed, image(func(*header) {})), board())
	if err != nil {
		t.Fatal(err)
	}
	if s.Cards() != 1 || s.Capacity(0) != mib {
		t.Errorf("opened %d cards, capacity %d", s.Cards(), s.Capacity(0))
	}
	s.Close()
}

// FuzzSegment fills a segment with anything: reading and sweeping it stays in
// bounds.
func FuzzSegment(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint64(1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ^uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, owner uint64) {
		s, err := Create([]uint64{mib, 3 * mib}, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		begin := Now()
		m := NewMonitor(s)
		for round := range 3 {
			area := s.mem[headerSize:]
			for i := range area {
				if len(data) > 0 {
					area[i] = data[(i+round)%len(data)]
				}
			}
			s.slot(0, 0).owner.Store(owner)
			for c, card := range m.Read() {
				if card.Used > s.Capacity(c) || card.Busy > Now()-begin {
					t.Errorf("card %d: %+v after %d ns", c, card, Now()-begin)
				}
				if card.UnitTime > 2*maxUnits*(Now()-begin) || card.FromPeer[0] > 12*perRead || card.FromPeer[5] != 0 {
					t.Errorf("card %d: %+v", c, card)
				}
				for _, u := range card.Sessions {
					if u.PID < 0 || u.Used > s.Capacity(c) || u.Running < 0 || len(u.Kernel) > MaxName || strings.ContainsAny(u.Kernel, "\n\x1b\x00") {
						t.Errorf("session %+v", u)
					}
				}
			}
			for _, f := range m.TakeFaults() {
				if f.Card < 0 || f.Card > 1 || f.PID < 0 || len(f.Kernel) > MaxName {
					t.Errorf("fault %+v", f)
				}
			}
			if n, _ := m.Held(int(owner)); n > 2*4*mib {
				t.Errorf("%d bytes held", n)
			}
			m.Sweep(func(int) bool { return false })
			if got := s.Used(0) + s.Used(1); got != 0 {
				t.Errorf("%d used after Sweep", got)
			}
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
	m.Reap(77)
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
	s, err := Open(3, 4)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	ss, err := s.Attach(os.Getpid())
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
	cmd.ExtraFiles = s.Files()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
	_, ok = startChild(t, s, 60*mib)
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
	m.Reap(a.Process.Pid)
	c = m.Read()[0]
	if c.Used != 30*mib || c.Running != 2 || len(c.Sessions) != 2 || c.Work.Waves != 15 {
		t.Errorf("after the kill: %+v", c)
	}

	// The next one is not even swept: its memory can be had all the same.
	self := attach(t, s, os.Getpid())
	_ = b.Process.Signal(syscall.SIGKILL)
	_ = b.Wait()
	if !self.Card(0).Take(95 * mib) {
		t.Error("the memory of a process that is gone is still held")
	}
	m.Sweep(func(pid int) bool { return pid == os.Getpid() })
	c = m.Read()[0]
	if c.Used != 95*mib || len(c.Sessions) != 1 || c.Work.Waves != 15 {
		t.Errorf("after Sweep: %+v", c)
	}
}
