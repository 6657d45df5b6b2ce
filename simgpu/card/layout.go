// Package card is the shared state of simulated cards. The process that starts
// sessions, their parent, keeps what they rely on: which sessions there are, and
// what each holds of each card's memory. It tells them on the board, a piece of
// memory that they map for reading: what is used of the cards, who lives, and what
// has become of the cards (hung, reset, gone, slowed down; see Condition). A session
// asks for memory through a socket of its own, and counts what it does in a page
// of its own, which nobody but the parent reads.
//
// # Crash safety
//
// Nothing is ever locked across processes. What a session that died held is free
// when its socket is closed, which the kernel does. What cards did over their
// lifetime is kept by the parent's Monitor.
//
// # Trust
//
// A session process runs what a stranger sent it; once subverted it may write
// anything into its page and its socket. Everything read from there is bounded
// before use (amounts by the capacity, times by the clock, names to printable
// text), and the page is sealed against shrinking. Such a session can lie about what it does on a
// card; what it holds of its memory the parent has given it, within the seat's limit (Seat.Limit); when it ends, all that
// is over.
//
// The board is the parent's: once it is handed over nobody can map it for writing
// any more (F_SEAL_FUTURE_WRITE; kernels before 5.1 do not have it, there a
// subverted session could write it, too, and so stop the work of others, but
// still read nothing of theirs).
package card

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// Limits of a segment.
const (
	MaxCards    = 16
	MaxSessions = 1024
	MaxName     = 120 // bytes of a kernel name that are kept
	MaxText     = 512 // bytes of what is told of a fault
)

// Sentinels for errors.Is.
var (
	ErrSegment  = errors.New("card: not the cards of a worker of this version")
	ErrSessions = errors.New("card: no slot free for another session")
	ErrGeometry = errors.New("card: impossible number of cards, sessions or bytes")
)

const (
	slotSize    = 640 + MaxText
	maxCapacity = 1 << 50
)

// slot is what one session says that it does on one card. A session's page has one
// slot per card.
type slot struct {
	name0 atomic.Uint64 // what the parent calls the session. Only in the first slot; read once, at its start
	_     uint64
	host  atomic.Uint64 // bytes of host memory the card can reach

	busy    atomic.Uint64 // ns during which at least one kernel ran, without the current stretch
	since   atomic.Uint64 // when the current stretch began (CLOCK_MONOTONIC ns), 0: idle
	running atomic.Uint64 // kernels that run now
	units   atomic.Uint64 // compute units they could fill, summed

	unitTime  atomic.Uint64 // ns × compute units that kernels could fill, up to unitSince
	unitSince atomic.Uint64 // when units changed last (CLOCK_MONOTONIC ns), 0: it is 0

	dispatches, workgroups, waves atomic.Uint64
	instructions, lanes           [maxClasses]atomic.Uint64
	readBytes, writeBytes         atomic.Uint64
	atomics, flops                atomic.Uint64

	copyBusy  atomic.Uint64 // ns spent in copies
	copyBytes [numCopies]atomic.Uint64

	fromPeer [MaxCards]atomic.Uint64 // bytes that came from the memory of another card, by card

	faults    atomic.Uint64 // memory faults of kernels so far; grows after the address was written
	faultAddr atomic.Uint64

	nameLen atomic.Uint64
	name    [MaxName / 8]atomic.Uint64
	found   [NumChecks]atomic.Uint64 // what checks found, by check
	textLen atomic.Uint64            // of the last fault
	text    [MaxText / 8]atomic.Uint64
	_       [3]uint64
}

// NumChecks is how many checks of kernels there are.
const NumChecks = 5

// maxClasses leaves room in the layout for instruction classes to come.
const maxClasses = 8

// Copy is a direction in which bytes were copied.
type Copy uint8

const (
	HostToCard Copy = iota
	CardToHost
	CardToCard
	Fill // memset
	numCopies
)

// The layout is shared memory: it must be the same in every process.
var (
	_ [slotSize]byte = [unsafe.Sizeof(slot{})]byte{}
	_                = [maxClasses - NumClasses]byte{}
)
