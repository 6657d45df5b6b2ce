package card

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// ledger is where a session asks for memory of the cards.
type ledger interface {
	take(card int, n uint64) bool
	give(card int, n uint64)
	end() // gives everything back
}

// A question is 16 bytes: what is asked, the card, how many bytes. The answer is one byte, 1 for yes.
const (
	askTake = 1
	askGive = 2

	questionSize = 16
)

// ownLedger is that of a session in the parent's process.
type ownLedger struct{ x *Seat }

func (l ownLedger) take(card int, n uint64) bool { return l.x.seg.take(l.x, card, n) }
func (l ownLedger) give(card int, n uint64)      { l.x.seg.give(l.x, card, n) }
func (l ownLedger) end()                         { l.x.end() }

// answer answers the session's questions until it is gone. Whatever else it sends ends this, and what it holds is free.
func (x *Seat) answer() {
	defer x.end()
	var b [questionSize + 1]byte
	for {
		n, err := x.asked.Read(b[:])
		if err != nil || n != questionSize {
			return
		}
		what, card, bytes := binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:])
		if card >= uint32(x.seg.cards) {
			return
		}
		yes := true
		switch what {
		case askTake:
			yes = x.seg.take(x, int(card), bytes)
		case askGive:
			x.seg.give(x, int(card), bytes)
		default:
			return
		}
		answer := [1]byte{}
		if yes {
			answer[0] = 1
		}
		if _, err := x.asked.Write(answer[:]); err != nil {
			return
		}
	}
}

// farLedger is that of a session in a process of its own.
type farLedger struct {
	mu   sync.Mutex
	file *os.File
}

func (l *farLedger) take(card int, n uint64) bool { return l.ask(askTake, card, n) }

// give waits for the answer, too: who hears afterwards that memory was freed can have it.
func (l *farLedger) give(card int, n uint64) { l.ask(askGive, card, n) }

func (l *farLedger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.file.Close()
}

// ask blocks this thread: the answer is a few microseconds away. A parent that is gone says no.
func (l *farLedger) ask(what uint32, card int, n uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b [questionSize]byte
	binary.LittleEndian.PutUint32(b[:], what)
	binary.LittleEndian.PutUint32(b[4:], uint32(card))
	binary.LittleEndian.PutUint64(b[8:], n)
	fd := int(l.file.Fd())
	if err := again(func() error { _, err := unix.Write(fd, b[:]); return err }); err != nil {
		return false
	}
	var answer [1]byte
	got := 0
	err := again(func() (err error) { got, err = unix.Read(fd, answer[:]); return err })
	return err == nil && got == 1 && answer[0] == 1
}

// again repeats what a signal interrupts.
func again(f func() error) error {
	for {
		if err := f(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
