package card

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Segment is the cards of a worker, in the process that starts the sessions. Safe for concurrent use.
type Segment struct {
	board *board
	cards int

	mu     sync.Mutex
	seats  []*Seat // by number, nil where nobody sits
	past   []uint32
	closed bool
}

// Create makes cards of the given memory in bytes, for up to sessions sessions at
// a time.
func Create(capacity []uint64, sessions int) (*Segment, error) {
	if len(capacity) == 0 || len(capacity) > MaxCards || sessions < 1 || sessions > MaxSessions {
		return nil, ErrGeometry
	}
	for _, c := range capacity {
		if c == 0 || c > maxCapacity {
			return nil, ErrGeometry
		}
	}
	b, err := createBoard(capacity)
	if err != nil {
		return nil, err
	}
	return &Segment{board: b, cards: len(capacity), seats: make([]*Seat, sessions), past: make([]uint32, sessions)}, nil
}

// Cards is the number of cards.
func (s *Segment) Cards() int { return s.cards }

// Seats is how many sessions there may be at a time.
func (s *Segment) Seats() int { return len(s.seats) }

// Capacity is a card's memory in bytes.
func (s *Segment) Capacity(card int) uint64 { return s.board.capacity(card) }

// Capacities are those of all cards.
func (s *Segment) Capacities() []uint64 {
	list := make([]uint64, s.cards)
	for c := range list {
		list[c] = s.Capacity(c)
	}
	return list
}

// Used is the memory of a card that its sessions hold, in bytes.
func (s *Segment) Used(card int) uint64 { return s.board.used(card) }

// Close ends all seats. Nothing of the cards may be in use.
func (s *Segment) Close() {
	for _, x := range s.list() {
		x.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.board.close()
	}
}

// list is all seats that are taken.
func (s *Segment) list() (list []*Seat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.seats {
		if x != nil {
			list = append(list, x)
		}
	}
	return list
}

// take gives a seat n bytes of a card's memory, all or nothing.
func (s *Segment) take(x *Seat, card int, n uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.ended {
		return false // and the board may be closed
	}
	used := &s.board.page().cards[card].used
	if n > s.board.capacity(card)-used.Load() || n > x.most[card]-min(x.used[card], x.most[card]) {
		return false
	}
	x.used[card] += n
	used.Add(n)
	return true
}

// give takes n bytes back, or what the seat has.
func (s *Segment) give(x *Seat, card int, n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !x.ended { // then everything is given back, and the board may be closed
		s.giveLocked(x, card, n)
	}
}

func (s *Segment) giveLocked(x *Seat, card int, n uint64) {
	n = min(n, x.used[card])
	x.used[card] -= n
	s.board.page().cards[card].used.Add(-n)
}

// Now is the clock of the cards: CLOCK_MONOTONIC in ns, which is the same for
// all processes of a machine.
func Now() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // cannot happen: the clock exists on every Linux
	}
	return uint64(ts.Nano())
}

func closeFiles(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
