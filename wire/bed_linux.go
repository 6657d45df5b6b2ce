package wire

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// bed is where a caller sleeps whose reply another reads, if the caller is to be woken by the operating system alone.
//
// Most callers are threads of a C program, to each of which its goroutine is bound. When such a goroutine waits by the scheduler's means, its thread sleeps
// and gives its processor to another one; and who is told of the reply wakes first some thread that looks for work, which then wakes the
// right one: two switches and twice the system calls. A thread in bed keeps its processor and sleeps on a word of its own. As with shortWait, it does not for ever, and
// a signal of the runtime's ends the sleep for a moment. Half of the processors always stay free for others: a C program with many threads has twice as many as those.
type bed struct {
	word atomic.Uint32 // not 0: get up
	z    sleep
}

// take is asked before the caller can be woken; false if he has to wait in another way.
func (b *bed) take() bool {
	if waitingShort.Add(1) > int32(runtime.GOMAXPROCS(0)/2) {
		waitingShort.Add(-1)
		return false
	}
	b.word.Store(0)
	return true
}

// sleep, after take, is over when the caller is woken, which it reports, or shortWait has passed.
func (b *bed) sleep() (woken bool) {
	for b.word.Load() == 0 {
		b.z.n = 0
		b.z.own(&b.word, 0)
		if b.z.waitUntold(shortWait) == unix.ETIMEDOUT {
			break
		}
	}
	return b.word.Load() != 0
}

// leave is called once after take, when nobody sleeps there any more.
func (b *bed) leave() { waitingShort.Add(-1) }

// call wakes who sleeps.
func (b *bed) call() { call(&b.word) }
