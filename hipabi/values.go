package hipabi

import (
	"slices"
	"unsafe"

	"github.com/rocwire/rocwire/hip/hiprpc"
)

// listOf is a copy of n elements of C memory; false if there are too many, or none where there should be some.
func listOf[T any](at unsafe.Pointer, n uint64) ([]T, bool) {
	if n > hiprpc.MaxList || at == nil && n != 0 {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	return slices.Clone(unsafe.Slice((*T)(at), n)), true
}
