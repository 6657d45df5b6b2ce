//go:build !windows

package main

/*
#include <stdlib.h>
*/
import "C"

import "unsafe"

// lookupEnv reads the environment as it is now. Go's own functions know it as it was when the library was loaded, and a program may choose its
// devices with setenv before it first uses them.
func lookupEnv(name string) (string, bool) {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	v := C.getenv(n)
	return C.GoString(v), v != nil
}
