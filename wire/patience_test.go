package wire

import (
	"io"
	"syscall"
	"testing"
	"time"
)

// TestPatience: whoever has closed the connection comes back soon or never; whoever is silent gets all the time.
func TestPatience(t *testing.T) {
	s := &ServerConn{opt: ServerOptions{Park: time.Minute}}
	for _, closed := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE} {
		if d := s.patience(closed); d != closedPark {
			t.Errorf("%v: %v", closed, d)
		}
	}
	for _, silent := range []error{syscall.ETIMEDOUT, syscall.EHOSTUNREACH, s.error(ErrLost, "silent", nil)} {
		if d := s.patience(silent); d != time.Minute {
			t.Errorf("%v: %v", silent, d)
		}
	}
	if s.opt.Park = time.Second; s.patience(io.EOF) != time.Second {
		t.Error("longer than it is told")
	}
}
