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

// TestTurn: a reader lets others go first, once in a while.
func TestTurn(t *testing.T) {
	var r turn
	r.take(turnTime - 1)
	if r != 0 {
		t.Error("has given way at once")
	}
	r.take(turnTime)
	r.take(2*turnTime - 1)
	if r != turn(turnTime) {
		t.Errorf("gave way at %d", r)
	}
	r.take(2 * turnTime)
	if r != turn(2*turnTime) {
		t.Error("has not given way")
	}
}
