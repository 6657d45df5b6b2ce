package hiprpc

import (
	"unsafe"

	"github.com/rocwire/rocwire/wire"
)

// MaxList bounds the elements of a list in a message, and MaxListBytes their size.
const (
	MaxList      = 1 << 16
	MaxListBytes = 4 << 20
)

// plain is memory of a value without pointers, in the layout of C on x86-64, which is the wire's byte order.
func plain[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

// appendStruct appends a struct of the C interface as it lies in memory.
func appendStruct[T any](e *wire.Enc, v *T) { e.Raw(plain(v)) }

// takeStruct reads what appendStruct wrote.
func takeStruct[T any](d *wire.Dec, v *T) { copy(plain(v), d.Raw(int(unsafe.Sizeof(*v)))) }

// appendList appends a count and the elements as they lie in memory.
func appendList[T any](e *wire.Enc, vs []T) {
	e.U32(uint32(len(vs)))
	for i := range vs {
		e.Raw(plain(&vs[i]))
	}
}

// takeList reads what appendList wrote. The count is checked against what there is before memory is taken for it.
func takeList[T any](d *wire.Dec) []T {
	n, size := int(d.U32()), int(unsafe.Sizeof(*new(T)))
	if n > MaxList || n*size > min(d.Len(), MaxListBytes) {
		d.Raw(-1) // there is not as much: the message is wrong
		return nil
	}
	if n == 0 {
		return nil
	}
	vs := make([]T, n)
	for i := range vs {
		copy(plain(&vs[i]), d.Raw(size))
	}
	return vs
}
