package hipabi

// #include <stdint.h>
import "C"

import (
	"os"
	gort "runtime"
)

// rw_threads is told that so many threads of the program have called HIP.
//
//export rw_threads
func rw_threads(n C.uint32_t) {
	if os.Getenv("GOMAXPROCS") == "" {
		roomFor(int(n))
	}
}

// roomFor has Go use more processors than the machine has, for n threads of a C program. Each that has called keeps one of them while it waits for its call and
// even while it is back in the program, until the runtime's monitor finds that out. With fewer processors than threads they take them from each other, and wait in
// the scheduler's queues, which is several switches of threads for a call. How many threads really run is the operating system's matter in any case.
func roomFor(n int) {
	if gort.GOMAXPROCS(0) < 2*n {
		gort.GOMAXPROCS(2 * n)
	}
}
