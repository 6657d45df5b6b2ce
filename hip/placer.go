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
// remote client allocate without a round trip.
type Placer interface {
	// ReserveRange makes all the range in which the runtime's device addresses
	// lie, and own, inside it, the part in which the runtime places what is not
	// placed by MallocAt. It is called once, before any allocation.
	// ErrorInvalidValue: that range cannot be had; try another.
	ReserveRange(all, own Span) Error
	// Grant sets size bytes of the device's capacity aside for MallocAt. It may
	// grant less, down to nothing (ErrorOutOfMemory).
	Grant(t Thread, size uint64) (granted uint64, err Error)
	// Return gives unused granted capacity back.
	Return(t Thread, size uint64) Error
	// MallocAt allocates out of granted capacity, at addr. Address and size are
	// multiples of Granule; the range must be free.
	MallocAt(t Thread, addr Ptr, size uint64) Error
}

// Direct is a Runtime whose device memory this process can reach itself.
type Direct interface {
	// DeviceBytes is the memory at ptr, valid until it is freed; false if n bytes
	// from ptr are not one allocation, or not to be reached from here.
	DeviceBytes(ptr Ptr, n uint64) ([]byte, bool)
}
