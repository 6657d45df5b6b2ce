package wire

import (
	"testing"
	"time"
)

// TestHungUpWhileWelcomed: a client may go while its connection becomes one that lasts.
func TestHungUpWhileWelcomed(t *testing.T) {
	for range 20 {
		_, fd := pair(t)
		s := newServer(under(t, fd), Peer{}, ServerOptions{Park: time.Hour})
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.HungUp(0)
		}()
		_ = s.Welcome(Welcome{Session: 1, Features: []string{FeatureResume}}) // refused if HungUp was first
		s.fail(ErrClosed)
		<-done
		s.release()
	}
}
