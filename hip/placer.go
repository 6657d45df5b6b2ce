package hip

// Granule is the unit in which device memory is placed and granted.
const Granule = 4096

// Placer is a Runtime whose device memory the caller may place: what lets a
// remote client allocate without a round trip.
type Placer interface {
	// ReserveRange makes [base, base+size) the range in which all of the
	// runtime's device addresses lie. It is called once, before any allocation.
	// ErrorInvalidValue: that range cannot be had; try another.
	ReserveRange(base, size uint64) Error
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
