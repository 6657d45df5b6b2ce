package hipabi

/*
#include <stdio.h>

static void rw_output(int err, const void *text, size_t n) { fwrite(text, 1, n, err ? stderr : stdout); }
*/
import "C"

import "unsafe"

// Output writes what a kernel prints to the program's own streams, where it is
// in order with what the program prints, and as late or early as that.
func Output(stderr bool, text []byte) {
	if len(text) == 0 {
		return
	}
	to := C.int(0)
	if stderr {
		to = 1
	}
	C.rw_output(to, unsafe.Pointer(unsafe.SliceData(text)), C.size_t(len(text)))
}
