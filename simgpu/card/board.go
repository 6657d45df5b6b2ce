package card

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Condition is what has become of a card, for the sessions that use it. The zero
// Condition is a card that is well.
type Condition struct {
	Resets uint32 // how often it was reset; what ran on it before is lost
	Hung   bool   // its queues do not get on
	Gone   bool   // it does not answer
	// Slower is by how much kernels are to take longer, in thousandths of the speed
	// they would have: 250 is three quarters of the speed. At most 999.
	Slower uint16
	// Link is by how much copies to and from the host take longer, in sixteenths of
	// their time: 16 is twice as long. At most 16383.
	Link uint16
}

// Limits of a Condition.
const (
	MaxSlower = 999
	MaxLink   = 1<<14 - 1
)

// A condition is one word, so that it is read and changed as a whole: the resets in
// the low half, then hung, gone, six bits of nothing, ten of Slower and fourteen of Link.
const (
	hungBit     = 1 << 32
	goneBit     = 1 << 33
	slowerShift = 40
	linkShift   = 50
)

func (c Condition) word() uint64 {
	w := uint64(c.Resets) | uint64(min(c.Slower, MaxSlower))<<slowerShift | uint64(min(c.Link, MaxLink))<<linkShift
	if c.Hung {
		w |= hungBit
	}
	if c.Gone {
		w |= goneBit
	}
	return w
}

func conditionOf(w uint64) Condition {
	return Condition{
		Resets: uint32(w), Hung: w&hungBit != 0, Gone: w&goneBit != 0,
		Slower: min(uint16(w>>slowerShift&0x3ff), MaxSlower), Link: uint16(w >> linkShift & MaxLink),
	}
}

const (
	boardMagic   = 0x31_6472_616f_6272 // "rboard1"
	boardVersion = 2
	boardSize    = 8192
)

// boardPage is the layout of the board.
type boardPage struct {
	magic, version uint64
	count          uint64 // of cards
	_              [5]uint64
	cards          [MaxCards]struct {
		condition atomic.Uint64
		capacity  uint64
		used      atomic.Uint64 // bytes that sessions hold
		_         [5]uint64     // a cache line for each: sessions read it at every call
	}
	seats [MaxSessions]atomic.Uint32 // names of the sessions that live, 0 for none
}

var _ = [boardSize - unsafe.Sizeof(boardPage{})]byte{} // it fits

// board is a mapped board.
type board struct {
	file *os.File
	mem  []byte
}

func createBoard(capacity []uint64) (*board, error) {
	fd, err := unix.MemfdCreate("rocwire-board", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("card: memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), "rocwire-board")
	if err := f.Truncate(boardSize); err != nil {
		f.Close()
		return nil, fmt.Errorf("card: %w", err)
	}
	b, err := mapBoard(f, true)
	if err != nil {
		return nil, err
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW
	// This mapping stays writable; none after it will be.
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals|unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_SEAL); err != nil {
		if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals|unix.F_SEAL_SEAL); err != nil {
			b.close()
			return nil, fmt.Errorf("card: seal: %w", err)
		}
	}
	p := b.page()
	p.version, p.magic, p.count = boardVersion, boardMagic, uint64(len(capacity))
	for i, c := range capacity {
		p.cards[i].capacity = c
	}
	return b, nil
}

func openBoard(fd uintptr) (*board, error) {
	f := os.NewFile(fd, "rocwire-board")
	if f == nil {
		return nil, fmt.Errorf("%w: bad descriptor of the board", ErrSegment)
	}
	st, err := f.Stat()
	if err != nil || st.Size() != boardSize {
		f.Close()
		return nil, fmt.Errorf("%w: size of the board", ErrSegment)
	}
	if seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0); err != nil || seals&unix.F_SEAL_SHRINK == 0 {
		f.Close()
		return nil, fmt.Errorf("%w: the board can shrink", ErrSegment)
	}
	b, err := mapBoard(f, false)
	if err != nil {
		return nil, err
	}
	p := b.page()
	ok := p.magic == boardMagic && p.version == boardVersion && p.count >= 1 && p.count <= MaxCards
	for i := 0; ok && i < int(p.count); i++ {
		ok = p.cards[i].capacity != 0 && p.cards[i].capacity <= maxCapacity
	}
	if !ok {
		b.close()
		return nil, fmt.Errorf("%w: header of the board", ErrSegment)
	}
	return b, nil
}

func mapBoard(f *os.File, write bool) (*board, error) {
	prot := unix.PROT_READ
	if write {
		prot |= unix.PROT_WRITE
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, boardSize, prot, unix.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("card: map: %w", err)
	}
	return &board{file: f, mem: mem}, nil
}

func (b *board) page() *boardPage { return (*boardPage)(unsafe.Pointer(&b.mem[0])) }

func (b *board) close() {
	if b != nil && b.mem != nil {
		_ = unix.Munmap(b.mem)
		b.mem = nil
		b.file.Close()
	}
}

// condition is what has become of a card.
func (b *board) condition(card int) Condition {
	return conditionOf(b.page().cards[card].condition.Load())
}

// used is the memory of a card that its sessions hold, in bytes.
func (b *board) used(card int) uint64 { return b.page().cards[card].used.Load() }

// capacity is a card's memory in bytes. It never changes.
func (b *board) capacity(card int) uint64 { return b.page().cards[card].capacity }

// alive says whether the session of that name has not ended.
func (b *board) alive(name uint32) bool {
	return name != 0 && b.page().seats[name%MaxSessions].Load() == name
}

// Condition is what has become of a card.
func (s *Segment) Condition(card int) Condition { return s.board.condition(card) }

// SetCondition tells all sessions what has become of a card.
func (s *Segment) SetCondition(card int, c Condition) {
	s.board.page().cards[card].condition.Store(c.word())
}

// Condition is what has become of the meter's card.
func (m *Meter) Condition() Condition { return m.board.condition(m.card) }

// Well reports whether the meter's card is neither gone nor hung nor slowed down, and
// was reset so many times. It is for calls that cannot wait: one load.
func (m *Meter) Well(resets uint32) bool {
	const rest = MaxLink << linkShift // the link concerns copies alone
	return m.board.page().cards[m.card].condition.Load()&^rest == uint64(resets)
}
