package wire

import (
	"testing"
	"time"
)

// TestLeavesUnread: a client that says that it leaves has left in order, though the server has still something to tell it, and finds nobody there before it reads that.
func TestLeavesUnread(t *testing.T) {
	left := make(chan struct{})
	c := start(t, HandlerFunc(func(r *Request) {
		<-left
		if err := r.Conn().Notify(opTell, make([]byte, 4000)); err == nil {
			time.Sleep(5 * time.Millisecond) // the client's machine says that nobody is there
		}
	}), Options{OnNotify: func(uint16, []byte) {}})
	for range 20 {
		if err := c.Post(opTell, []byte("x"), nil); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Close()
	close(left)
}

// TestLeavesWhileServerWrites: a client that has posted a lot and closes ends its session, though the server has not read it all and writes meanwhile. The session
// does not wait for it.
func TestLeavesWhileServerWrites(t *testing.T) {
	left := make(chan struct{})
	s := newLastingServer(t, patience, func() Handler {
		return HandlerFunc(func(r *Request) {
			<-left
			_ = r.Conn().Notify(opTell, make([]byte, 4000))
		})
	})
	c, err := dial(Options{Address: s.l.Addr().String(), Reconnect: patience, OnNotify: func(uint16, []byte) {}})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := c.Post(opTell, nil, make([]byte, 4000)); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() {
		_ = c.Close()
		close(closed)
	}()
	select {
	case <-closed: // and its socket is
	case <-time.After(100 * time.Millisecond): // it waits for the server
	}
	close(left)
	within(t, "the end of the session", func() {
		if err := s.end(1); err != nil {
			t.Error(err)
		}
	})
	within(t, "Close", func() { <-closed })
	if resumed, refused := s.counts(); resumed != 0 || len(refused) != 0 {
		t.Errorf("%d resumptions, %v", resumed, refused)
	}
}
