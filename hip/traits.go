package hip

// Traits is what is true of a call beyond its parameters and results.
type Traits uint8

// What may be true of a call.
const (
	ReturnsErrors Traits = 1 << iota // it may return failures of earlier calls
	Synchronizes                     // its success says that a stream, an event or a device has come to an end
	CopiesRows                       // it is one of the copies of rows, which share a message
	CopiesBox                        // it is one of the general copies, which share another
)

// TraitsOf is what the table says of the call with an opcode.
func TraitsOf(op uint16) Traits {
	if int(op) < len(opTraits) {
		return opTraits[op]
	}
	return 0
}
