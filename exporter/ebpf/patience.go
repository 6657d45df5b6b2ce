//go:build linux && amd64

package ebpf

import (
	"sync/atomic"
	"time"
)

// A question about a process whose memory is locked by a driver that hangs, or about a
// file of a file system that does, has no answer for as long as that lasts.
const (
	// maxPatience is how long one is waited for.
	maxPatience = 500 * time.Millisecond
	// maxLate is how many may be without an answer at once; more are not asked.
	maxLate = 16
)

// asker asks questions that may hang.
type asker struct {
	patience time.Duration
	late     atomic.Int32
}

// answer is what a question was answered, now or later.
type answer[T any] chan T

// ask asks a question and waits for the answer, but not for ever. It is nil if too many
// questions are open.
func ask[T any](a *asker, f func() T) answer[T] {
	if a.late.Load() >= maxLate {
		return nil
	}
	a.late.Add(1)
	answer, done := make(answer[T], 1), make(chan struct{})
	go func() {
		defer a.late.Add(-1)
		defer close(done)
		answer <- f()
	}()
	t := time.NewTimer(a.patience)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	return answer
}

// take is the answer, once, if it is there.
func (a answer[T]) take() (v T, ok bool) {
	select {
	case v = <-a: // never, from nil
		return v, true
	default:
		return v, false
	}
}
