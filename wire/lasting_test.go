package wire

import (
	"errors"
	"net"
	"testing"
)

// lastingPair is a lasting transport over a socket, and its peer.
func lastingPair(t *testing.T) (*net.UnixConn, *socket, *lasting) {
	t.Helper()
	peer, fd := pair(t)
	s, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	l := newLasting(s)
	l.onCut, l.onDue = func(error) {}, func() {}
	t.Cleanup(l.close)
	return peer, s, l
}

// Of a transport that was cut nothing is read any more, whoever reads: once somebody has told the peer how much has come, the peer sends the rest again.
func TestCutIsNotRead(t *testing.T) {
	peer, s, l := lastingPair(t)
	if _, err := peer.Write(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 40)
	if n, err := l.read(b); n != len(b) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	l.mu.Lock()
	was := l.t
	l.mu.Unlock()
	l.cutNow(errors.New("the test"))
	if got := l.received(); got != 40 {
		t.Fatalf("%d bytes have come", got)
	}
	if s.wait(readable, 0) == 0 {
		t.Fatal("nothing is left to read")
	}
	for what, f := range map[string]func(){
		"who looks for the end": func() {
			if !l.ended(was) {
				t.Error("a cut transport has not ended")
			}
		},
		"who reads":                  func() { _, _ = l.readOnce(b) },
		"who wants acknowledgements": func() { _ = l.pump(0) },
	} {
		f()
		if got := l.received(); got != 40 {
			t.Errorf("%s: %d bytes have come since the peer was told of 40", what, got)
		}
	}
}

// Who has found that there is no transport, and comes to wait for one only when there is one again, does not wait: nobody would tell him.
func TestIdleTooLate(t *testing.T) {
	_, _, l := lastingPair(t)
	for _, c := range []struct {
		state int32
		want  readiness
		got   readiness
	}{
		{linkUp, readable | writable, writable},
		{linkUp, writable, writable},
		{linkUp, readable, 0},
		{linkReplay, readable | writable, 0},
		{linkReplay, readable, 0},
	} {
		l.state.Store(c.state)
		within(t, "who waits for a transport that is there", func() {
			if got := l.idle(c.want, -1); got != c.got {
				t.Errorf("state %d, waiting for %d: %d, not %d", c.state, c.want, got, c.got)
			}
		})
	}
}
