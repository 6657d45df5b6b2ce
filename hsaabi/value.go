//go:build linux

package hsaabi

import "unsafe"

// pointer is an address outside of Go's memory.
func pointer(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p)) // says that this is no address of Go's
}

func address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }

// put writes an answer where the caller wants it.
func put[T any](p unsafe.Pointer, v T) status {
	*(*T)(p) = v
	return HSA_STATUS_SUCCESS
}

// putText writes a text of a size that HSA fixes, at least one NUL behind it.
func putText(p unsafe.Pointer, size int, s string) status {
	b := unsafe.Slice((*byte)(p), size)
	clear(b)
	copy(b[:size-1], s)
	return HSA_STATUS_SUCCESS
}

// text is what a C string says.
func text(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}
