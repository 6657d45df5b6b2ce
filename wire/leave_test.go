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
