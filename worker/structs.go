package worker

import (
	"unsafe"

	"github.com/rocwire/rocwire/wire"
)

// encodeStruct appends a struct of the C interface as it lies in memory: both sides use the layout of x86-64, which is the wire's byte order.
func encodeStruct[T any](e *wire.Enc, v *T) {
	e.Raw(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
}
