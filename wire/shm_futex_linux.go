package wire

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Words to sleep on, by futexes: in shared memory, where the other side may write anything at any time, and in this process's own memory, where it
// cannot. What must not be missed (the end, a wake) goes by a word of the second kind; so every sleep is on words of both.

const (
	futexWake     = 1
	futexPrivate  = 128 // as the flag of both calls
	futexU32      = 2
	futexEveryone = 1<<31 - 1
	futexSlice    = 10 * time.Millisecond // of a sleep on a kernel that cannot sleep on several words
)

// futexWait is the kernel's struct futex_waitv.
type futexWait struct {
	value uint64
	addr  uintptr
	flags uint32
	_     uint32
}

// sleep is a list of words to sleep on, each as long as it has a value, in memory that is used again. The memory of the words is the caller's to keep.
type sleep struct {
	words [4]futexWait
	n     int
	until unix.Timespec
}

// shared adds a word of shared memory, own one of this process's.
func (s *sleep) shared(w *uint32, v uint32) { s.add(uintptr(unsafe.Pointer(w)), v, futexU32) }
func (s *sleep) own(w *atomic.Uint32, v uint32) {
	s.add(uintptr(unsafe.Pointer(w)), v, futexU32|futexPrivate)
}

func (s *sleep) add(w uintptr, v, flags uint32) {
	s.words[s.n] = futexWait{value: uint64(v), addr: w, flags: flags}
	s.n++
}

// wait sleeps until a word has another value and its sleepers are woken, d has passed (never if that is negative), or for no reason.
func (s *sleep) wait(d time.Duration) {
	until := s.deadline(d)
	_, _, e := syscall.Syscall6(unix.SYS_FUTEX_WAITV, uintptr(unsafe.Pointer(&s.words)), uintptr(s.n), 0, uintptr(unsafe.Pointer(until)), unix.CLOCK_MONOTONIC, 0)
	if e != unix.ENOSYS && e != unix.EPERM {
		return
	}
	w := &s.words[0] // the first word by a futex, the others by looking at them often
	if d < 0 || d > futexSlice {
		d = futexSlice
	}
	s.until = unix.NsecToTimespec(int64(d))
	_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, w.addr, uintptr(w.flags&futexPrivate), uintptr(w.value), uintptr(unsafe.Pointer(&s.until)), 0, 0)
}

// waitShort is wait on the first word alone, for at most shortWait, which does not tell the Go scheduler, unless there are enough who do that. It reports whether a
// signal has ended it, which says nothing of how long the next one takes.
func (s *sleep) waitShort(d time.Duration) (again bool) {
	if waitingShort.Add(1) < int32(runtime.GOMAXPROCS(0)) {
		short := d
		if d < 0 || d > shortWait {
			short = shortWait
		}
		again = s.waitUntold(short) == unix.EINTR
		waitingShort.Add(-1)
		return again
	}
	waitingShort.Add(-1)
	s.wait(d)
	return false
}

// waitUntold sleeps on the first word until it is woken, d has passed, or a signal comes: to stop the world the runtime sends one. A sleep on several
// words would be begun again behind it.
func (s *sleep) waitUntold(d time.Duration) syscall.Errno {
	s.until = unix.NsecToTimespec(int64(d))
	w := &s.words[0]
	_, _, e := syscall.RawSyscall6(unix.SYS_FUTEX, w.addr, uintptr(w.flags&futexPrivate), uintptr(w.value), uintptr(unsafe.Pointer(&s.until)), 0, 0)
	return e
}

// deadline is the time in d, nil for never.
func (s *sleep) deadline(d time.Duration) *unix.Timespec {
	if d < 0 {
		return nil
	}
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &s.until) == nil {
		s.until = unix.NsecToTimespec(s.until.Nano() + int64(d))
	}
	return &s.until
}

// arm asks to be woken by knock, which wakes who has asked, and reports whether anybody had.
func arm(bell *uint32) { atomic.StoreUint32(bell, 1) }

func knock(bell *uint32) (asleep bool) {
	if atomic.LoadUint32(bell) != 0 && atomic.SwapUint32(bell, 0) != 0 {
		_, _, _ = syscall.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(bell)), futexWake, futexEveryone)
		return true
	}
	return false
}

// call is knock for a word of this process's own.
func call(w *atomic.Uint32) {
	w.Add(1)
	_, _, _ = syscall.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(w)), futexWake|futexPrivate, futexEveryone)
}
