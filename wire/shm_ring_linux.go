package wire

import (
	"sync/atomic"
	"unsafe"
)

// Shared memory of a connection: a page with both rings' counters, then the bytes of the ring to the server, then those of the ring to the client.
const (
	shmHeads   = 4096
	shmBytes   = 4 << 20   // of each ring: what one side can do while the other one has no processor
	shmMin     = 64 << 10  // smallest ring that is taken
	shmMax     = 64 << 20  // largest
	shmPiece   = 32 << 10  // bytes that are copied before the other side is told: it copies meanwhile
	shmNear    = 128 << 10 // where an empty ring begins again at its start, so that small messages stay in few pages and in the cache
	shmHeadGap = 128       // bytes between what different processors write: two cache lines, which are fetched together
)

// ringHead is what both sides write of one ring. Each word has one writer, except the bells: 1 is set by who is about to sleep, and taken back by who wakes
// him. They are what is slept on, too.
type ringHead struct {
	head    uint64 // bytes that were put in, ever; of the writer
	base    uint64 // which of them lies, or will lie, at the ring's start; of the writer, who changes it while the ring is empty
	_       [shmHeadGap - 16]byte
	tail    uint64 // bytes that were taken out, ever; of the reader
	_       [shmHeadGap - 8]byte
	hungry  uint32 // the reader sleeps until there are bytes
	_       [shmHeadGap - 4]byte
	crowded uint32 // the writer sleeps until there is room
	_       [shmHeadGap - 4]byte
}

// ringHeads gives both directions' heads and bytes in shared memory.
func ringHeads(b []byte) (head [2]*ringHead, data [2][]byte) {
	n := (len(b) - shmHeads) / 2
	for i := range head {
		head[i] = (*ringHead)(unsafe.Pointer(&b[i*int(unsafe.Sizeof(ringHead{}))]))
		data[i] = b[shmHeads+i*n : shmHeads+(i+1)*n]
	}
	return head, data
}

// ringOut is the writer's side of a ring in shared memory. What the other side may have written is looked at once, and judged before it is used.
type ringOut struct {
	m          *ringHead
	b          []byte // its length is a power of two
	head, base uint64
	tail       uint64 // as last seen
	rang       bool   // the other side has slept since the writer last forgot that
}

// room is how many bytes can be put in.
func (r *ringOut) room() (int, error) {
	tail := atomic.LoadUint64(&r.m.tail)
	if tail-r.tail > r.head-r.tail {
		return 0, violation(Header{}, "shared memory: %d bytes taken out, %d put in", tail, r.head)
	}
	r.tail = tail
	return len(r.b) - int(r.head-tail), nil
}

// enough says whether a writer that has been out of room should go on: a quarter of the ring, or it would sleep and wake for every few bytes.
func (r *ringOut) enough() (bool, error) {
	n, err := r.room()
	return n >= len(r.b)/4, err
}

// put adds as much of p as fits, and publishes it piece by piece.
func (r *ringOut) put(p []byte) (n int, err error) {
	free := len(r.b) - int(r.head-r.tail)
	for n < len(p) {
		if free < min(len(p)-n, shmPiece) || r.head-r.base >= shmNear {
			if free, err = r.room(); err != nil || free == 0 {
				return n, err
			}
			if r.head == r.tail && r.head != r.base {
				r.base = r.head
				atomic.StoreUint64(&r.m.base, r.base)
			}
		}
		at := int((r.head - r.base) & uint64(len(r.b)-1))
		k := copy(r.b[at:], p[n:min(len(p), n+min(free, shmPiece))])
		n += k
		free -= k
		r.head += uint64(k)
		atomic.StoreUint64(&r.m.head, r.head)
		r.rang = knock(&r.m.hungry) || r.rang
	}
	return n, nil
}

// ringIn is the reader's side.
type ringIn struct {
	m          *ringHead
	b          []byte
	tail       uint64
	head, base uint64 // as last seen
}

// available is how many bytes there are, at least one if there are any.
func (r *ringIn) available() (int, error) {
	if r.head == r.tail {
		head := atomic.LoadUint64(&r.m.head)
		if head-r.tail > uint64(len(r.b)) {
			return 0, violation(Header{}, "shared memory: %d bytes put in, %d taken out", head, r.tail)
		}
		r.head, r.base = head, atomic.LoadUint64(&r.m.base)
	}
	return int(r.head - r.tail), nil
}

// get takes what is there, at most len(p) bytes.
func (r *ringIn) get(p []byte) (n int, err error) {
	for n < len(p) {
		k, err := r.available()
		if err != nil || k == 0 {
			return n, err
		}
		at := int((r.tail - r.base) & uint64(len(r.b)-1))
		k = copy(p[n:], r.b[at:min(len(r.b), at+min(k, shmPiece))])
		n += k
		r.tail += uint64(k)
		atomic.StoreUint64(&r.m.tail, r.tail)
		if int(r.head-r.tail) <= len(r.b)/4*3 { // what has come since makes it less worth it, not more
			knock(&r.m.crowded)
		}
	}
	return n, nil
}

// peek says whether there are bytes, for any goroutine. The other side can make it say anything.
func (r *ringIn) peek() bool { return atomic.LoadUint64(&r.m.head) != atomic.LoadUint64(&r.m.tail) }
