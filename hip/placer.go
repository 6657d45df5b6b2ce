package hip

// Granule is the unit in which device memory is placed and granted.
const Granule = 4096

// Span is a range of addresses, [Base, Base+Size).
type Span struct{ Base, Size uint64 }

// Contains reports whether the n bytes at addr lie in s.
func (s Span) Contains(addr, n uint64) bool {
	off := addr - s.Base
	return n <= s.Size && off <= s.Size-n
}

// Placer is a Runtime whose device memory the caller may place: what lets a
// remote client have the same addresses, and allocate without a round trip.
type Placer interface {
	// Unit is the size in bytes of the pieces in which there is memory for
	// MallocAt, a power of two; 0 if the runtime cannot place after all. Where it
	// is Granule, capacity is granted before it is used. Where it is larger,
	// nothing is granted: MallocAt takes the capacity itself.
	Unit() uint64
	// ReserveRange makes all the range in which the runtime's device addresses
	// lie, and own, inside it, the part in which the runtime places what is not
	// placed by MallocAt; with a Unit above Granule it places that anywhere. If
	// part is set, a part of the range will do. It returns the range that it is,
	// and is called with success once, before any allocation.
	// ErrorInvalidValue: that range cannot be had; try another.
	ReserveRange(all, own Span, part bool) (Span, Error)
	// Grant sets size bytes of the device's capacity aside for MallocAt. It may
	// grant less, down to least; if there is not that much either, nothing is taken,
	// not even for a moment, in which others would find none (ErrorOutOfMemory).
	Grant(t Thread, size, least uint64) (granted uint64, err Error)
	// Return gives unused granted capacity back.
	Return(t Thread, size uint64) Error
	// MallocAt allocates at addr: out of granted capacity, or, with a Unit above
	// Granule, out of the device's (ErrorOutOfMemory), and then it may wait for
	// the device. Address and size are multiples of Unit; the range must be free.
	MallocAt(t Thread, addr Ptr, size uint64) Error
}

// Direct is a Runtime whose device memory this process can reach itself.
type Direct interface {
	// DeviceBytes is the memory at ptr, valid until it is freed; false if n bytes
	// from ptr are not one allocation, or not to be reached from here.
	DeviceBytes(ptr Ptr, n uint64) ([]byte, bool)
}

// Follower is a Runtime that calls functions when a stream has come to them, and
// does not have the stream wait for them. AMD's library calls its host functions
// one at a time, so that one of the program's that waits holds up all that are
// behind it, of other streams as well; these are not held up.
type Follower interface {
	// After calls f on a goroutine once the stream has done what it was told so
	// far, with Success, or has failed at it. What was asked first of one stream
	// is called first.
	After(t Thread, s Stream, f func(Error)) Error
}

// PoolHolder is a Runtime that knows what its memory pools have of a device.
type PoolHolder interface {
	// PoolDevice is the device whose memory a pool gives out.
	PoolDevice(pool MemPool) (device int32, ok bool)
	// PoolsHold is how many bytes, whole granules, the pools have of a device: in
	// use, imported, and kept to be used again.
	PoolsHold(device int32) uint64
	// TrimPools gives back what they keep and nothing uses any more.
	TrimPools(device int32)
}

// HostManager is a Runtime that can make host memory of its caller managed
// memory, as it is and where it lies: what a program's managed variables need,
// whose addresses it may have read before there is a device.
type HostManager interface {
	// ManageHost makes the size bytes at ptr managed memory of the thread's device.
	// They belong to the caller, who keeps them until UnmanageHost. ErrorMapFailed:
	// devices cannot have them where they lie.
	ManageHost(t Thread, ptr Ptr, size uint64) Error
	// UnmanageHost ends that, after everything the devices were told to do is done.
	// The memory has what they wrote.
	UnmanageHost(t Thread, ptr Ptr) Error
}
