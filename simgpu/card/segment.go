package card

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Segment is a mapped card segment.
type Segment struct {
	file     *os.File
	mem      []byte
	board    *board
	cards    int
	sessions int
	capacity []uint64 // private copy: what the segment says now does not matter
}

// Create makes a segment for cards of the given memory in bytes and up to
// sessions sessions at a time.
func Create(capacity []uint64, sessions int) (*Segment, error) {
	if len(capacity) == 0 || len(capacity) > MaxCards || sessions < 1 || sessions > MaxSessions {
		return nil, ErrGeometry
	}
	for _, c := range capacity {
		if c == 0 || c > 1<<50 {
			return nil, ErrGeometry
		}
	}
	fd, err := unix.MemfdCreate("rocwire-cards", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("card: memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "rocwire-cards")
	size := segmentSize(len(capacity), sessions)
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, fmt.Errorf("card: %w", err)
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, fmt.Errorf("card: seal: %w", err)
	}
	s, err := mapSegment(f, size)
	if err != nil {
		return nil, err
	}
	s.cards, s.sessions = len(capacity), sessions
	s.capacity = append([]uint64(nil), capacity...)
	h := s.header()
	h.version, h.cards, h.sessions = version, uint64(s.cards), uint64(sessions)
	copy(h.capacity[:], capacity)
	h.magic = magic
	if s.board, err = createBoard(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Open maps the segment behind descriptors that were handed over: those of Files,
// in their order. It takes the descriptors. Error: ErrSegment.
func Open(segment, board uintptr) (*Segment, error) {
	b, err := openBoard(board)
	if err != nil {
		if f := os.NewFile(segment, "rocwire-cards"); f != nil {
			f.Close()
		}
		return nil, err
	}
	s, err := openSegment(segment)
	if err != nil {
		b.close()
		return nil, err
	}
	s.board = b
	return s, nil
}

func openSegment(fd uintptr) (*Segment, error) {
	f := os.NewFile(fd, "rocwire-cards")
	if f == nil {
		return nil, fmt.Errorf("%w: bad descriptor", ErrSegment)
	}
	st, err := f.Stat()
	if err != nil || st.Size() < headerSize || st.Size() > int64(segmentSize(MaxCards, MaxSessions)) {
		f.Close()
		return nil, fmt.Errorf("%w: size", ErrSegment)
	}
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		f.Close()
		return nil, fmt.Errorf("%w: it can shrink", ErrSegment)
	}
	s, err := mapSegment(f, int(st.Size()))
	if err != nil {
		return nil, err
	}
	h := *s.header()
	if h.magic != magic || h.version != version || h.cards < 1 || h.cards > MaxCards ||
		h.sessions < 1 || h.sessions > MaxSessions || segmentSize(int(h.cards), int(h.sessions)) != len(s.mem) {
		s.Close()
		return nil, fmt.Errorf("%w: header", ErrSegment)
	}
	s.cards, s.sessions = int(h.cards), int(h.sessions)
	s.capacity = append([]uint64(nil), h.capacity[:h.cards]...)
	for _, c := range s.capacity {
		if c == 0 || c > 1<<50 {
			s.Close()
			return nil, fmt.Errorf("%w: capacity", ErrSegment)
		}
	}
	return s, nil
}

func segmentSize(cards, sessions int) int {
	return (headerSize + cards*sessions*slotSize + 4095) &^ 4095
}

func mapSegment(f *os.File, size int) (*Segment, error) {
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("card: map: %w", err)
	}
	return &Segment{file: f, mem: mem}, nil
}

// Files are to be handed to a child process, whose Open takes the descriptors they
// arrive as.
func (s *Segment) Files() []*os.File { return []*os.File{s.file, s.board.file} }

// Cards is the number of cards.
func (s *Segment) Cards() int { return s.cards }

// Capacity is a card's memory in bytes.
func (s *Segment) Capacity(card int) uint64 { return s.capacity[card] }

// Close unmaps the segment. Nothing of it may be in use.
func (s *Segment) Close() {
	if s.mem != nil {
		_ = unix.Munmap(s.mem)
		s.mem = nil
		s.file.Close()
	}
	s.board.close()
	runtime.KeepAlive(s)
}

func (s *Segment) header() *header { return (*header)(unsafe.Pointer(&s.mem[0])) }

func (s *Segment) slot(session, card int) *slot {
	return (*slot)(unsafe.Pointer(&s.mem[headerSize+(session*s.cards+card)*slotSize]))
}

// used is the memory of a card that living sessions hold. Sessions that skip
// says are gone do not count.
func (s *Segment) used(card int, skip func(pid int) bool) uint64 {
	var sum uint64
	for i := range s.sessions {
		owner := s.slot(i, 0).owner.Load()
		if owner == 0 {
			continue
		}
		n := s.slot(i, card).used.Load()
		if n == 0 || skip != nil && skip(int(owner)) {
			continue
		}
		sum += min(n, s.capacity[card]) // cannot wrap: 2^50 bytes by 2^10 sessions
	}
	return sum
}

// Used is the memory of a card that its sessions hold, in bytes.
func (s *Segment) Used(card int) uint64 { return min(s.used(card, nil), s.capacity[card]) }

// Now is the clock of the segment: CLOCK_MONOTONIC in ns, which is the same for
// all processes of a machine.
func Now() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // cannot happen: the clock exists on every Linux
	}
	return uint64(ts.Nano())
}

// gone reports whether a process has ended altogether. One that waits to be
// reaped is not gone: its parent is about to take its slot.
func gone(pid int) bool { return unix.Kill(pid, 0) == unix.ESRCH }
