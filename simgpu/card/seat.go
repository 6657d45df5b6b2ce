package card

import (
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Seat is the place of one session, as the parent has it.
type Seat struct {
	seg   *Segment
	index int
	name  uint32 // of the session, among all that the cards have had
	page  *page
	pid   atomic.Int64 // of the process, 0 while there is none
	files []*os.File   // for the process
	asked *os.File     // where it asks; nil if it is in this process

	used  []uint64 // by card, under the segment's mu
	most  []uint64 // that used may become, likewise
	ended bool     // likewise: the session asks no more
}

// Seat makes a place for a session process. Errors: ErrSessions, the operating system's.
func (s *Segment) Seat() (*Seat, error) {
	x, err := s.seat()
	if err != nil {
		return nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		x.Close()
		return nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		x.Close()
		return nil, err
	}
	x.asked = os.NewFile(uintptr(fds[0]), "ledger")
	x.files = []*os.File{s.board.file, x.page.file, os.NewFile(uintptr(fds[1]), "ledger")}
	go x.answer()
	return x, nil
}

// seat takes a place.
func (s *Segment) seat() (*Seat, error) {
	p, err := createPage(s.cards)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.seats, nil)
	if i < 0 || s.closed {
		p.close()
		return nil, ErrSessions
	}
	// The name says the place, and differs from those of the last few million that had it.
	if s.past[i] += MaxSessions; s.past[i] == 0 {
		s.past[i] = MaxSessions
	}
	x := &Seat{seg: s, index: i, name: s.past[i] + uint32(i), page: p, used: make([]uint64, s.cards), most: slices.Repeat([]uint64{maxCapacity}, s.cards)}
	x.slot(0).name0.Store(uint64(x.name))
	s.seats[i] = x
	s.board.page().seats[i].Store(x.name)
	return x, nil
}

// Files are what the session process inherits; its Open takes the descriptors in this order.
func (x *Seat) Files() []*os.File { return x.files }

// Started says which process has the seat. What only the process needs is closed here.
func (x *Seat) Started(pid int) {
	x.pid.Store(int64(pid))
	closeFiles(x.files[1:]...) // the board is everybody's
}

// Limit is how many bytes of a card's memory the session gets from now on, whatever it asks for. What it holds it keeps.
func (x *Seat) Limit(card int, bytes uint64) {
	x.seg.mu.Lock()
	x.most[card] = bytes
	x.seg.mu.Unlock()
}

// end frees what the session holds.
func (x *Seat) end() {
	x.seg.mu.Lock()
	defer x.seg.mu.Unlock()
	if x.ended {
		return // and the board may be closed
	}
	for c, n := range x.used {
		x.seg.giveLocked(x, c, n)
	}
	x.ended = true
}

// Close ends the seat. What it did is not counted by anybody any more; Monitor.Reap counts it first. Closing twice does nothing.
func (x *Seat) Close() {
	x.end()
	s := x.seg
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seats[x.index] != x {
		return
	}
	s.seats[x.index] = nil
	s.board.page().seats[x.index].Store(0)
	closeFiles(x.asked)
	if len(x.files) > 0 {
		closeFiles(x.files[1:]...)
	}
	x.page.close()
}

func (x *Seat) slot(card int) *slot { return x.page.slot(card) }
