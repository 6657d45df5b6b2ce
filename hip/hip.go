// Package hip is rocwire's vocabulary for the HIP runtime: its types, errors,
// opcodes and the interface [Runtime] that every implementation stands behind.
//
// Most of it is generated from api.json, the single table of the HIP surface;
// see hip/internal/gen. Names are HIP's without the prefix: hipMemcpyKind is
// [MemcpyKind], hipErrorInvalidValue is [ErrorInvalidValue].
//
// Layouts of structs are those of the C ABI on x86-64, so that a pointer to one
// may be handed to C.
package hip

//go:generate go run ./internal/gen -root ..

// Ptr is a host or device address as a number. A device address has the same
// value wherever it is seen.
type Ptr uint64

// The streams that every device has.
const (
	StreamNull      Stream = 0 // the default stream of the current device
	StreamLegacy    Stream = 1 // the same, by name
	StreamPerThread Stream = 2 // the calling thread's own; resolved by hipabi before a Runtime sees it
)

// What stands for no device, where HIP takes the number of one.
const (
	CPUDeviceID     = -1 // the host: hipCpuDeviceId
	InvalidDeviceID = -2 // none: hipInvalidDeviceId
)

// Thread is what HIP keeps for each host thread and a runtime must know.
type Thread struct {
	Device int32  // the current device
	ID     uint32 // tells threads of one process apart
}

// String is the address in hexadecimal.
func (p Ptr) String() string { return "0x" + hex(uint64(p)) }

func hex(v uint64) string {
	const digits = "0123456789abcdef"
	var b [16]byte
	i := len(b)
	for {
		i--
		b[i] = digits[v&15]
		if v >>= 4; v == 0 {
			return string(b[i:])
		}
	}
}
