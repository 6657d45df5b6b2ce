package hostmem

import "github.com/rocwire/rocwire/hip"

// What things take, in bytes: measured with the simulator, doubled and rounded up. A library keeps more of streams.
const (
	Call     = 16 << 10 // that waits beside the line
	Mapping  = 1 << 10  // of addresses, or an allocation
	GraphOp  = 2 << 10  // beside its arguments
	Module   = 64 << 10 // beside twice its bytes
	Reply    = 512      // that a stream gives
	stream   = 16 << 10
	function = 1 << 10
	object   = 2 << 10
)

// Cost is what is kept of an object of a kind. Modules and graphs take more, which is counted with them.
func Cost(k hip.HandleKind) uint64 {
	switch k {
	case hip.HandleStream:
		return stream
	case hip.HandleFunction:
		return function
	}
	return object
}
