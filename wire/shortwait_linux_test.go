package wire

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStoppedWhileWaitingUntold: the runtime can stop the world while a thread waits that it does not know to wait.
func TestStoppedWhileWaitingUntold(t *testing.T) {
	ended := make(chan error, 1)
	go func() {
		var word atomic.Uint32
		var z sleep
		z.own(&word, 0)
		ended <- z.waitUntold(patience)
	}()
	for { // the first may come before the wait
		runtime.GC()
		select {
		case err := <-ended:
			if err != unix.EINTR {
				t.Fatalf("the wait ended with %v, not by a signal", err)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestStoppedWhileReadingUntold: the same where it reads.
func TestStoppedWhileReadingUntold(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))) // one processor always stays free
	_, fd := pair(t)
	s, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	tv := unix.NsecToTimeval(int64(patience))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, e := s.receive(make([]byte, 1), true)
		ended <- e
	}()
	for {
		runtime.GC()
		select {
		case err := <-ended:
			if err != unix.EINTR {
				t.Fatalf("the wait ended with %v, not by a signal", err)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestWaitsUntoldAgain: what the runtime wants of a thread that waits untold is done at once, and is no reason to tell the scheduler of the rest of the wait.
func TestWaitsUntoldAgain(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	peer, fd := pair(t)
	s, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.short, s.lately = patience, waitBound // replies are slow to come
	ended := make(chan error, 1)
	go func() {
		_, err := s.read(make([]byte, 1))
		ended <- err
	}()
	waits := func() {
		within(t, "waiting untold", func() {
			for waitingShort.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
		})
	}
	for range 3 { // the first may come before the wait
		waits()
		runtime.GC() // for which the thread has to stop
	}
	waits()
	_, _ = peer.Write([]byte{7})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// TestShortSleep: who sleeps untold hears whether it was a signal that woke him, after which he may sleep so again.
func TestShortSleep(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	var word atomic.Uint32
	sleeper := func(v uint32) *sleep {
		var z sleep
		z.own(&word, v)
		return &z
	}
	if sleeper(1).waitShort(patience) {
		t.Error("a signal has ended a sleep that did not begin")
	}
	waitingShort.Add(int32(runtime.GOMAXPROCS(0)))
	if sleeper(0).waitShort(time.Millisecond) {
		t.Error("one more sleeps untold than there may be")
	}
	waitingShort.Add(-int32(runtime.GOMAXPROCS(0)))
	if n := waitingShort.Load(); n != 0 {
		t.Errorf("%d sleep who do not", n)
	}
	var interrupted atomic.Bool
	go func() {
		for z := sleeper(0); !z.waitShort(shortWait); { // the limit may come before the signal
		}
		interrupted.Store(true)
	}()
	within(t, "signal", func() {
		for !interrupted.Load() {
			runtime.GC()
		}
	})
}

// TestReadLimit: reads have a limit while replies are slow to come, not for longer than one that has come to it, and it is none of the caller's.
func TestReadLimit(t *testing.T) {
	peer, fd := pair(t)
	s, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	limit := func() time.Duration {
		tv, err := unix.GetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(tv.Nano())
	}
	read := func(lately int64, before func()) {
		t.Helper()
		s.lately = lately
		go func() {
			before()
			_, _ = peer.Write([]byte{7})
		}()
		var b [2]byte
		within(t, "read", func() {
			if n, err := s.read(b[:]); n != 1 || err != nil || b[0] != 7 {
				t.Errorf("%d bytes, %x, %v", n, b, err)
			}
		})
	}
	until := func(want time.Duration) {
		for limit() != want {
			time.Sleep(time.Millisecond)
		}
	}
	read(longWait-1, func() {})
	if d := limit(); d != 0 {
		t.Errorf("a limit of %v where replies are quick", d)
	}
	read(waitBound, func() { until(shortWait); until(0) })
	s.limit(longWait)
	read(nearWait, func() {})
	if d := limit(); d != shortWait && d != 0 { // 0: it took as long
		t.Errorf("a limit of %v where replies have been slow to come", d)
	}
	s.limit(longWait)
	read(nearWait-1, func() {})
	if d := limit(); d != 0 {
		t.Errorf("a limit of %v where replies are quick again", d)
	}
}

// TestTurn: a reader begins anew once in a while.
func TestTurn(t *testing.T) {
	var r turn
	for _, at := range []struct {
		now  int64
		over bool
	}{{turnTime - 1, false}, {turnTime, true}, {2*turnTime - 1, false}, {2 * turnTime, true}} {
		if r.over(at.now) != at.over {
			t.Errorf("at %d: %v", at.now, !at.over)
		}
	}
}
