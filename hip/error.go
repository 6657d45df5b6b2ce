package hip

import "fmt"

// Error is a hipError_t. The zero value is Success; use Err to hand it on as an
// error.
type Error int32

// Name is the enumerator's name, such as "hipErrorInvalidValue".
func (e Error) Name() string {
	if n, ok := errorNames[e]; ok {
		return n[0]
	}
	return fmt.Sprintf("hipError(%d)", int32(e))
}

// Text is what hipGetErrorString says of e.
func (e Error) Text() string {
	if n, ok := errorNames[e]; ok {
		return n[1]
	}
	return "unknown error"
}

func (e Error) Error() string { return fmt.Sprintf("%s (%d): %s", e.Name(), int32(e), e.Text()) }

// Err is e as an error: nil for Success.
func (e Error) Err() error {
	if e == Success {
		return nil
	}
	return e
}

// Valid reports whether e is a value that HIP defines; a code that came over
// the network is one or is treated as ErrorUnknown.
func (e Error) Valid() bool {
	_, ok := errorNames[e]
	return ok
}

// OpName is the HIP function behind an opcode, or "" for none.
func OpName(op uint16) string { return opNames[op] }

// Ops are all opcodes with the function each stands for.
func Ops() map[uint16]string {
	m := make(map[uint16]string, len(opNames))
	for op, n := range opNames {
		m[op] = n
	}
	return m
}
