package card

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestConditionWord(t *testing.T) {
	for _, c := range []Condition{
		{}, {Resets: 1<<32 - 1}, {Hung: true}, {Gone: true}, {Slower: 999}, {Link: MaxLink},
		{Resets: 7, Hung: true, Gone: true, Slower: 250, Link: 16},
	} {
		if got := conditionOf(c.word()); got != c {
			t.Errorf("%+v became %+v", c, got)
		}
	}
	if c := conditionOf(^uint64(0)); c.Slower > MaxSlower {
		t.Errorf("a word of ones slows by %d", c.Slower)
	}
	if w := (Condition{Slower: 60000, Link: 60000}).word(); conditionOf(w) != (Condition{Slower: MaxSlower, Link: MaxLink}) {
		t.Errorf("out of range: %+v", conditionOf(w))
	}
}

// dup is a descriptor of f that Open may take.
func dup(t *testing.T, f *os.File) uintptr {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return uintptr(fd)
}

// TestBoardIsTheParents: sessions see what the parent says, and cannot say anything.
func TestBoardIsTheParents(t *testing.T) {
	s := create(t, 4, mib, mib)
	_, o := open(t, s, 1)
	want := Condition{Resets: 3, Hung: true, Slower: 10}
	s.SetCondition(1, want)
	m := o.Card(1)
	if m.Condition() != want || o.Condition(0) != (Condition{}) {
		t.Errorf("the session sees %+v and %+v", m.Condition(), o.Condition(0))
	}
	for _, tt := range []struct {
		c    Condition
		well bool
	}{
		{Condition{Resets: 3}, true}, {Condition{Resets: 3, Link: MaxLink}, true}, {Condition{}, false}, {Condition{Resets: 4}, false},
		{Condition{Resets: 3, Hung: true}, false}, {Condition{Resets: 3, Gone: true}, false}, {Condition{Resets: 3, Slower: 1}, false},
	} {
		s.SetCondition(1, tt.c)
		if m.Well(3) != tt.well {
			t.Errorf("%+v after three resets: well is %v", tt.c, !tt.well)
		}
	}
	file := o.board.file
	mem, err := unix.Mmap(int(file.Fd()), 0, boardSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err == nil {
		_ = unix.Munmap(mem)
		if seals, _ := unix.FcntlInt(file.Fd(), unix.F_GET_SEALS, 0); seals&unix.F_SEAL_FUTURE_WRITE != 0 {
			t.Error("a sealed board could be mapped for writing")
		} else {
			t.Skip("this kernel does not know F_SEAL_FUTURE_WRITE")
		}
	}
}

// TestOpenBoardErrors hands Open boards that are none.
func TestOpenBoardErrors(t *testing.T) {
	good := create(t, 16, mib)
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
	image := func(change func(*boardPage)) []byte {
		b := append([]byte(nil), good.board.mem...)
		change((*boardPage)(unsafe.Pointer(&b[0])))
		return b
	}
	for name, fd := range map[string]uintptr{
		"short":      file(unix.F_SEAL_SHRINK, good.board.mem[:100]),
		"can shrink": file(0, good.board.mem),
		"magic":      file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.magic++ })),
		"version":    file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.version++ })),
		"no cards":   file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.count = 0 })),
		"many cards": file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.count = 1 << 60 })),
		"nothing":    file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.cards[0].capacity = 0 })),
		"too much":   file(unix.F_SEAL_SHRINK, image(func(p *boardPage) { p.cards[0].capacity = ^uint64(0) })),
		"bad fd":     9998,
	} {
		x, err := good.Seat()
		if err != nil {
			t.Fatal(err)
		}
		if s, err := Open(fd, dup(t, x.files[1]), dup(t, x.files[2])); !errors.Is(err, ErrSegment) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// TestMonitorSeesPeersUnitsAndFaults: what sessions report beside their work.
func TestMonitorSeesPeersUnitsAndFaults(t *testing.T) {
	s := create(t, 4, mib, mib)
	m := NewMonitor(s)
	a := attach(t, s, 11)
	a.Card(1).FromPeer(0, 4096)
	a.Card(0).Faulted(0xdead000, "near nothing\n")
	a.Card(0).Begin("wide", 100)
	a.Card(0).End(100)
	c := m.Read()
	if c[1].FromPeer[0] != 4096 || c[0].FromPeer != [MaxCards]uint64{} {
		t.Errorf("from peers: %v, %v", c[0].FromPeer, c[1].FromPeer)
	}
	if c[0].UnitTime < 99*c[0].Busy || c[0].UnitTime > 101*c[0].Busy || c[0].Busy == 0 {
		t.Errorf("100 units for %d ns are %d", c[0].Busy, c[0].UnitTime)
	}
	f := m.TakeFaults()
	if len(f) != 1 || f[0] != (Fault{Card: 0, PID: 11, Addr: 0xdead000, Kernel: "wide", Text: "near nothing?"}) {
		t.Errorf("faults %+v", f)
	}
	m.Read()
	if f := m.TakeFaults(); len(f) != 0 {
		t.Errorf("told twice: %+v", f)
	}
	if !a.Card(0).Take(1000) || !a.Card(1).Take(24) {
		t.Fatal("Take")
	}
	if n, ok := m.Held(11); n != 1024 || !ok {
		t.Errorf("held %d, %v", n, ok)
	}
	if n, ok := m.Held(11, 1); n != 24 || !ok {
		t.Errorf("held %d of one card, %v", n, ok)
	}
	if _, ok := m.Held(12); ok {
		t.Error("a stranger holds memory")
	}
}

// TestUnitsAddUp: a kernel that runs now counts up to now.
func TestUnitsAddUp(t *testing.T) {
	s := create(t, 1, mib)
	m := NewMonitor(s)
	c := attach(t, s, 1).Card(0)
	c.Begin("a", 3)
	c.Begin("b", 4)
	for Now()-c.since < 1e6 {
	}
	r := m.Read()[0]
	if r.UnitTime == 0 || r.UnitTime > 7*r.Busy {
		t.Errorf("running: %d for %d ns", r.UnitTime, r.Busy)
	}
	c.End(3)
	c.End(4)
	if r2 := m.Read()[0]; r2.UnitTime < r.UnitTime {
		t.Errorf("fell from %d to %d", r.UnitTime, r2.UnitTime)
	}
	if c.slot.units.Load() != 0 || c.slot.unitSince.Load() != 0 {
		t.Error("units are left")
	}
}

func BenchmarkRead8x64(b *testing.B) {
	capacity := make([]uint64, 8)
	for i := range capacity {
		capacity[i] = 1 << 30
	}
	s, err := Create(capacity, 64)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	m := NewMonitor(s)
	for i := range 64 {
		ss, err := s.Attach(1000 + i)
		if err != nil {
			b.Fatal(err)
		}
		for c := range 8 {
			ss.Card(c).Take(1 << 20)
			ss.Card(c).Begin("kernel", 8)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Read()
	}
}
