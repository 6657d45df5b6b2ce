package hipabi

/*
#include <string.h>
*/
import "C"

import "unsafe"

// pointer is an address of the program's as a pointer.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// memory is n bytes of the program's memory at p.
func memory(p unsafe.Pointer, n uint64) []byte { return unsafe.Slice((*byte)(p), n) }

// goString is the C string at p.
func goString(p unsafe.Pointer) string { return C.GoString((*C.char)(p)) }
