package wire

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shortWait is how long a client's thread waits for a reply before the Go scheduler is told that it waits.
//
// To tell it costs more than the rest of a call where many processes share the cores: the runtime's monitor wakes up to take the waiting
// thread's processor away, and again when it returns, several switches of threads for a call. A thread that does not tell keeps its processor
// meanwhile, which the others of this process may want: so one always stays free, and a signal of the runtime's, when it wants to stop
// or to preempt, ends the wait.
//
// Longer than most waits with a hundred processes on two cores; one that has ended without the reply is gone on with in the usual way, with all it costs.
const shortWait = 20 * time.Millisecond

// waitingShort counts the threads of this process that wait so.
var waitingShort atomic.Int32

// waitShort waits until fd can be read, for a short time. The caller then reads as if it had not been called.
func waitShort(fd int) {
	if waitingShort.Add(1) < int32(runtime.GOMAXPROCS(0)) {
		p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		ts := unix.NsecToTimespec(int64(shortWait))
		_, _, _ = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	}
	waitingShort.Add(-1)
}
