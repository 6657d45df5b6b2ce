package hipabi

/*
#cgo CFLAGS: -I${SRCDIR}/../hip/include -O2
#cgo linux LDFLAGS: -ldl -lpthread
#include <stdint.h>
int rw_at_exit(void);
int rw_debug(void);
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/rocwire/rocwire/hip"
)

var (
	current atomic.Pointer[hip.Runtime]
	opening sync.Mutex
	opener  func() hip.Runtime
)

// SetRuntime puts r behind the exports. It is for the start of a process: what
// an earlier Runtime gave out is forgotten.
func SetRuntime(r hip.Runtime) {
	opening.Lock()
	defer opening.Unlock()
	opener = nil
	use(r)
}

// SetOpener has the first call that needs a Runtime open it, so that loading
// the library touches nothing. open is called once.
func SetOpener(open func() hip.Runtime) {
	opening.Lock()
	defer opening.Unlock()
	opener = open
	resetGraphs()
	current.Store(nil)
}

// use is called with opening held.
func use(r hip.Runtime) {
	modules.reset()
	devices.reset()
	threadStreams.reset()
	arrays.clear()
	textures.clear()
	registered.reset()
	resetGraphs()
	current.Store(&r)
}

// runtime is what the exports call: the Runtime, behind a look at what captures
// make of a call while one goes on.
func runtime() hip.Runtime {
	if w := watching.Load(); w != nil {
		return w
	}
	return bare()
}

// bare is the Runtime itself.
func bare() hip.Runtime {
	if r := current.Load(); r != nil {
		return *r
	}
	return open()
}

func open() hip.Runtime {
	opening.Lock()
	defer opening.Unlock()
	if r := current.Load(); r != nil {
		return *r
	}
	if opener == nil {
		return hip.Unimplemented{}
	}
	use(opener())
	opener = nil
	C.rw_at_exit()
	r := *current.Load()
	registered.placeManaged(r)
	return r
}

// threadOf unpacks what rw_thread packs.
func threadOf(thread uint64) hip.Thread {
	return hip.Thread{Device: int32(thread >> 32), ID: uint32(thread)}
}

// Log writes one line about something that went wrong, for the person who runs
// the program: HIP's error codes cannot name a cause.
var Log = func(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "rocwire: "+format+"\n", args...)
}

// debug reports whether TF_DEBUG asks for more than what went wrong.
func debug() bool { return C.rw_debug() != 0 }

//export rw_deviceCount
func rw_deviceCount(count *int32) int32 {
	n, err := runtime().GetDeviceCount()
	if err == hip.Success {
		*count = n
	}
	return int32(err)
}

// rw_hipGetDeviceCount says 0, too, where there is none.
//
//export rw_hipGetDeviceCount
func rw_hipGetDeviceCount(_ uint64, count unsafe.Pointer) int32 {
	if count == nil {
		return int32(hip.ErrorInvalidValue)
	}
	n, err := runtime().GetDeviceCount()
	if err == hip.Success && n == 0 {
		err = hip.ErrorNoDevice
	}
	if err == hip.Success || err == hip.ErrorNoDevice {
		*(*int32)(count) = n
	}
	return int32(err)
}

// A Flusher is a Runtime that may hold calls back; Flush sends them.
type Flusher interface{ Flush() error }

// ending is set when the process begins to end.
var ending atomic.Bool

// rw_flush runs at the process's end.
//
//export rw_flush
func rw_flush() {
	ending.Store(true)
	if r := current.Load(); r != nil {
		if f, ok := (*r).(Flusher); ok {
			_ = f.Flush() // the process ends: nobody is left to tell
		}
	}
}

// A Closer is a Runtime that wants to say goodbye.
type Closer interface{ Close() error }

// goodbye bounds how long the end of a process waits for that: a thread that
// never comes back from the Runtime must not keep the process alive.
const goodbye = 2 * time.Second

// rw_close runs when the library is done.
//
//export rw_close
func rw_close() {
	r := current.Load()
	if r == nil {
		return
	}
	c, ok := (*r).(Closer)
	if !ok {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Close() // the process ends: nobody is left to tell
	}()
	select {
	case <-done:
	case <-time.After(goodbye):
	}
}
