package wire

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shortWait is how long a client's thread waits for a reply, or a server that is alone in its process for a request, before the Go scheduler is told that it waits.
//
// To tell it costs more than the rest of a call where many processes share the cores: the runtime's monitor wakes up to take the waiting
// thread's processor away, and again when it returns, several switches of threads for a call. A thread that does not tell keeps its processor
// meanwhile, which the others of this process may want: so one always stays free, and a signal of the runtime's, when it wants to stop
// or to preempt, ends the wait. That is one each 20 ms or so, since to the runtime the thread has been running all the while. Its wish is done
// before the thread waits again, in the same way: to tell from then on would have the monitor look every 20 µs for a while.
//
// Longer than most waits with a hundred processes on two cores; one that has ended without the reply is gone on with in the usual way, with all it costs.
const shortWait = 20 * time.Millisecond

// waitingShort counts the threads of this process that wait so.
var waitingShort atomic.Int32

// receive reads, and waits for that; untold for as long as the socket's limit, unless enough do that already.
func (s *socket) receive(p []byte, untold bool) (int, syscall.Errno) {
	if untold {
		untold = waitingShort.Add(1) < int32(runtime.GOMAXPROCS(0))
		defer waitingShort.Add(-1)
	}
	call := syscall.Syscall6
	if untold {
		call = syscall.RawSyscall6
	}
	n, _, e := call(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), 0, 0, 0)
	return int(n), e
}

// limit says whether reads have the limit of shortWait now, SO_RCVTIMEO, and begins and ends that: its timer would cost each call a few hundred nanoseconds where
// replies are quick. To wait first, for a time, and read then would be a system call more; and a read with a limit is not begun again behind a signal.
func (s *socket) limit(lately int64) bool {
	var tv unix.Timeval
	switch {
	case !s.limited && lately >= longWait:
		tv = unix.NsecToTimeval(int64(s.short))
	case s.limited && lately < nearWait:
	default:
		return s.limited
	}
	if unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv) == nil {
		s.limited = !s.limited
	}
	return s.limited
}
