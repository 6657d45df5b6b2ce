package rocm

/*
#include "abort.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
)

var catchAborts sync.Once

// CatchAborts has f called, once, when anything in this process calls abort(), as
// AMD's library does when a kernel faults or asserts. The thread that does stands
// still, with whatever locks it holds: nothing may be asked of the library any
// more, and f is to end the process. The first call decides, for good.
func CatchAborts(f func()) error {
	var err error
	catchAborts.Do(func() { err = onAbort(f) })
	return err
}

func onAbort(f func()) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("rocm: a pipe for aborts: %w", err)
	}
	fd := int(w.Fd()) // blocking, and open for good
	if e := C.rocm_catch_aborts(C.int(fd)); e != 0 {
		_, _ = r.Close(), w.Close()
		return fmt.Errorf("rocm: a handler of aborts: %w", syscall.Errno(e))
	}
	go func() {
		_, err := r.Read(make([]byte, 1))
		runtime.KeepAlive(w) // a file that is collected is closed
		if err == nil {
			f()
		}
	}()
	return nil
}
