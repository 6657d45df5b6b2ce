// Package card is the shared state of simulated cards: two small pieces of
// memory that all session processes of one worker map. The segment proper holds
// what each session uses of each card, so that the sessions share its capacity
// and their parent can tell who uses what. The board says, the other way round,
// what has become of the cards: hung, reset, gone, slowed down (see Condition).
//
// # Crash safety
//
// Nothing in the segment is ever locked: every field is one atomic word that
// one session writes. What is used of a card is the sum over its sessions, so
// the part of a session that died leaves the sum with its slot, and no crash
// can leave a count wrong. What cards did over their lifetime is kept outside
// the segment, by the parent's Monitor.
//
// # Trust
//
// A session process runs what a stranger sent it; once subverted it may write
// anything into the segment. Everything read from it is bounded before use
// (amounts by the capacity, times by the clock, names to printable text), the
// file is sealed against shrinking, and capacity and geometry are kept in
// private memory at opening. Such a session can lie about the use of a card and
// so keep others from it; it cannot harm the parent or another session's data.
//
// The board is the parent's: sessions map it for reading, and once it is handed
// over nobody can map it for writing any more (F_SEAL_FUTURE_WRITE; kernels before
// 5.1 do not have it, there a subverted session could write it, too, and so stop
// the work of others, but still read nothing of theirs).
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
)

// Sentinels for errors.Is.
var (
	ErrSegment  = errors.New("card: not a card segment of this version")
	ErrSessions = errors.New("card: no slot free for another session")
	ErrGeometry = errors.New("card: impossible number of cards, sessions or bytes")
)

const (
	magic   = 0x31_6472_6163_7772 // "rwcard1"
	version = 2

	headerSize = 4096
	slotSize   = 640
)

// header begins the segment. It is written once, before anyone else maps it.
type header struct {
	magic, version  uint64
	cards, sessions uint64
	capacity        [MaxCards]uint64
}

// slot is what one session uses of one card. A session has one slot per card,
// side by side; the first one carries the session's owner.
type slot struct {
	owner atomic.Uint64 // process id, 0: free. Only in the session's first slot
	used  atomic.Uint64 // bytes of card memory held
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
	_       [9]uint64
}

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
	_                = [headerSize - unsafe.Sizeof(header{})]byte{} // it fits
	_                = [maxClasses - NumClasses]byte{}
)
