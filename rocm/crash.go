package rocm

/*
#include "crash.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var catchCrashes sync.Once

// CatchCrashes has f called, once, when the library brings about the end of this
// process, with the reason: AMD's calls abort() when a kernel faults or asserts,
// and reads at null when it is given some arguments. The thread that does stands
// still, with whatever locks it holds: nothing may be asked of the library any
// more, and f is to end the process. Faults of Go code stay Go's. The first call
// decides, for good; it comes once the library is loaded, with all that it needs.
func CatchCrashes(f func(reason string)) error {
	var err error
	catchCrashes.Do(func() { err = onCrash(f) })
	return err
}

func onCrash(f func(reason string)) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("rocm: a pipe for crashes: %w", err)
	}
	fd := int(w.Fd()) // blocking, and open for good
	if e := C.rocm_catch_crashes(C.int(fd)); e != 0 {
		_, _ = r.Close(), w.Close()
		return fmt.Errorf("rocm: a handler of crashes: %w", syscall.Errno(e))
	}
	go func() {
		var c C.struct_rocm_crash
		n, err := r.Read(unsafe.Slice((*byte)(unsafe.Pointer(&c)), unsafe.Sizeof(c)))
		runtime.KeepAlive(w) // a file that is collected is closed
		if err == nil && n == int(unsafe.Sizeof(c)) {
			f(reasonOf(&c))
		}
	}()
	return nil
}

func reasonOf(c *C.struct_rocm_crash) string {
	if s := syscall.Signal(c.signal); s != syscall.SIGABRT {
		return fmt.Sprintf("the GPU runtime has crashed: %s at address %#x in %s+%#x", unix.SignalName(s), uint64(c.address), C.GoString(&c.library[0]), uint64(c.offset))
	}
	return "the GPU runtime has aborted, as AMD's does when a kernel faults"
}
