package session

import (
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
)

// firstAddress is where clients begin to invent addresses: each takes the next whole pages behind its last.
const firstAddress = 0x7F0000000000

// The size of the range that is tried for them, down to the least one. Above the largest are stacks.
const (
	mostRange  = 0xF0_0000_0000
	leastRange = 1 << 34
)

// ownPart of the range, its last, is the runtime's: what it places itself.
const ownPart = 4

// placing is memory at addresses of the client's.
type placing struct {
	decided bool             // whether there is to be a range
	placer  hip.Placer       // nil: there is none
	span    hip.Span         // for the client
	owed    map[int32]uint64 // by device: granted bytes that go back once the memory is free
}

// decide takes a range before anything is allocated, unless the client is one that lets the worker choose: it then has all addresses that the runtime can
// have, and not a part of a range. Such a client says so by its dialect, or by what it begins with.
func (p *placing) decide(placer hip.Placer, op hipv1.Op, d hipv1.Dialect) {
	if p.decided {
		return
	}
	p.decided = true
	if d != hipv1.February && (d != hipv1.Unknown || op != hipv1.OpMalloc) {
		p.reserve(placer)
	}
}

// reserve takes the range. A process that has something there settles for what is before it.
func (p *placing) reserve(placer hip.Placer) {
	if placer == nil || placer.Unit() != hip.Granule {
		return
	}
	for size := uint64(mostRange); size >= leastRange; size = size / 2 &^ (1<<30 - 1) {
		own := size / ownPart &^ (1<<30 - 1)
		all := hip.Span{Base: firstAddress, Size: size}
		if _, code := placer.ReserveRange(all, hip.Span{Base: all.Base + size - own, Size: own}, false); code == hip.Success {
			p.placer, p.span, p.owed = placer, hip.Span{Base: all.Base, Size: size - own}, map[int32]uint64{}
			return
		}
	}
}

// pages is n bytes in whole pages, 0 if there cannot be so many.
func pages(n uint64) uint64 {
	if n > 1<<47 {
		return 0
	}
	return (n + hip.Granule - 1) &^ (hip.Granule - 1)
}

// mallocAt allocates where the client wants it.
func (s *Session) mallocAt(addr, size uint64) hip.Error {
	if size == 0 {
		return hip.Success
	}
	p := &s.place
	if p.placer == nil {
		s.Log.Warn("the client chooses addresses, and the runtime cannot place memory there", "address", hip.Ptr(addr).String())
		return hip.ErrorNotSupported
	}
	n, t := pages(size), s.thread()
	switch {
	case n == 0:
		return hip.ErrorOutOfMemory
	case addr%hip.Granule != 0 || !p.span.Contains(addr, n):
		s.Log.Warn("memory at an address beyond those that can be had", "address", hip.Ptr(addr).String(), "bytes", size)
		return hip.ErrorOutOfMemory
	case !s.Memory.Take(s.PlaceCost):
		return hip.ErrorOutOfMemory
	}
	s.settle(s.device)
	code := s.grantAndPlace(t, addr, n)
	if code == hip.ErrorOutOfMemory && p.owed[s.device] != 0 && s.Runtime.DeviceSynchronize(t) == hip.Success { // what was freed on a stream is free now
		s.settle(s.device)
		code = s.grantAndPlace(t, addr, n)
	}
	if code != hip.Success {
		s.Memory.Give(s.PlaceCost)
		return code
	}
	s.mem.add(region{addr, size, s.device, true})
	return hip.Success
}

// grantAndPlace takes capacity and allocates in it.
func (s *Session) grantAndPlace(t hip.Thread, addr, n uint64) hip.Error {
	p := s.place.placer
	got, code := p.Grant(t, n, n)
	if code != hip.Success {
		return code
	}
	if code = p.MallocAt(t, hip.Ptr(addr), n); code != hip.Success {
		_ = p.Return(t, got) // it was granted
	}
	return code
}

// gone notes that placed memory is free, or will be when its stream comes to it: its capacity goes back to the device and does not stay ours.
func (s *Session) gone(x region) {
	s.Memory.Give(s.PlaceCost)
	s.place.owed[x.device] += pages(x.size)
	s.settle(x.device)
}

// settle gives capacity back, as soon as all that is to go back is there.
func (s *Session) settle(device int32) {
	p := &s.place
	if n := p.owed[device]; n != 0 && p.placer.Return(hip.Thread{Device: device, ID: threadID}, n) == hip.Success {
		p.owed[device] = 0
	}
}
