package hipremote

import (
	"sync"
	"sync/atomic"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
)

// Space is the range of device addresses that the clients of one process share, one client a worker: host memory then has one address for all of
// them, and the address of device memory tells its worker. Put the same Space, with different parts, into the Config of each.
type Space struct {
	parts uint32

	agreeing sync.Mutex                   // one handshake at a time: what the first agrees on is offered to the others
	span     atomic.Pointer[addressRange] // agreed on, nil while nothing is; changes under mu
	mu       sync.Mutex
	host     *places // of host memory
	users    int     // clients that have the range

	inTurns atomic.Int64 // see Client: what happens in the turn of one worker's stream may use another's memory
}

// NewSpace is for clients of this many workers.
func NewSpace(parts int) *Space { return &Space{parts: uint32(parts)} }

// Part is the number of the client whose memory an address is of; none for host memory and for addresses outside of the range.
func (s *Space) Part(p hip.Ptr) (int, bool) {
	span := s.span.Load()
	if span == nil {
		return 0, false
	}
	part, ok := hiprpc.PartAt(span.span(), s.parts, p)
	return int(part), ok
}

// offer is what to propose to a worker: what is agreed on, or what this process could have.
func (s *Space) offer() []addressRange {
	if span := s.span.Load(); span != nil {
		return []addressRange{*span}
	}
	return reserveCandidates()
}

// agreed takes what a worker has chosen. It is called under agreeing.
func (s *Space) agreed(r addressRange) {
	if r.size == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
	if s.span.Load() == nil {
		h := hiprpc.HostSpan(r.span(), s.parts)
		s.host = newPlaces(h.Base, h.Size, pageSize)
		s.span.Store(&r)
	}
}

// unused says whether a range that was offered may be given back: the agreed one is still the others'.
func (s *Space) unused(r addressRange) bool {
	span := s.span.Load()
	return span == nil || r != *span
}

// leave ends one client's use; true if it was the last.
func (s *Space) leave() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users > 0 {
		return false
	}
	s.host = nil
	s.span.Store(nil)
	return true
}

// take finds addresses for size bytes of host memory. Any worker may have memory in units: see hostSize.
func (s *Space) take(size uint64) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host == nil {
		return 0, false
	}
	return s.host.take(size)
}

// put gives them back.
func (s *Space) put(base, size uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.host != nil {
		s.host.put(base, size)
	}
}
