package hiprpc

import "github.com/rocwire/rocwire/hip"

// A range of device addresses has two halves. In the lower one the client places memory, from the upper one the runtime takes its own addresses.
//
// Sessions of one client with several workers share a range, so that host memory has the same address for all of them and an address tells its
// worker. Of N sessions (Parts) each has a part of its own of either half: the lower one is N+1 equal slices, the first for host memory and then one
// a session, the upper one is N.

// sliceAlign keeps slices apart by whole pages of any size.
const sliceAlign = 2 << 20

// slice is one of n equal parts of s.
func slice(s hip.Span, i, n uint64) hip.Span {
	size := s.Size / n &^ (sliceAlign - 1)
	return hip.Span{Base: s.Base + i*size, Size: size}
}

func lower(r hip.Span) hip.Span { return hip.Span{Base: r.Base, Size: r.Size / 2} }
func upper(r hip.Span) hip.Span { return hip.Span{Base: r.Base + r.Size/2, Size: r.Size - r.Size/2} }

// OwnSpan is where the runtime of a session places what it allocates itself. parts is 0 for a session that has its range for itself.
func OwnSpan(r hip.Span, part, parts uint32) hip.Span {
	if parts == 0 {
		return upper(r)
	}
	return slice(upper(r), uint64(part), uint64(parts))
}

// PlaceSpan is where a client places device memory.
func PlaceSpan(r hip.Span, part, parts uint32) hip.Span {
	if parts == 0 {
		return lower(r)
	}
	return slice(lower(r), uint64(part)+1, uint64(parts)+1)
}

// HostSpan is where clients place host memory that kernels use.
func HostSpan(r hip.Span, parts uint32) hip.Span {
	if parts == 0 {
		return lower(r)
	}
	return slice(lower(r), 0, uint64(parts)+1)
}

// PartAt is the session that an address of a shared range belongs to; none for host memory and for what lies outside.
func PartAt(r hip.Span, parts uint32, p hip.Ptr) (part uint32, ok bool) {
	if !r.Contains(uint64(p), 1) || parts == 0 {
		return 0, false
	}
	in := func(half hip.Span, slices uint64) uint64 {
		size := half.Size / slices &^ (sliceAlign - 1)
		if size == 0 {
			return slices
		}
		return (uint64(p) - half.Base) / size
	}
	if half := upper(r); half.Contains(uint64(p), 1) {
		i := in(half, uint64(parts))
		return uint32(i), i < uint64(parts)
	}
	i := in(lower(r), uint64(parts)+1)
	return uint32(i - 1), i != 0 && i <= uint64(parts)
}
