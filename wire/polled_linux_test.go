package wire

import (
	"testing"
	"time"

	"github.com/rocwire/rocwire/internal/mono"
)

// TestPolled: the poller tells of what is there and of what comes, each time anew, and of the end.
func TestPolled(t *testing.T) {
	peer, fd := pair(t)
	s, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	p, err := newPolled(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	b := make([]byte, 8)
	take := func(what string) {
		t.Helper()
		within(t, what, func() {
			if err := p.wait(); err != nil {
				t.Error(err)
			}
		})
		if n, err := s.read(b); n != 1 || err != nil {
			t.Fatal(what, n, err)
		}
	}
	for range 3 {
		put(t, peer, "a")
		take("what is there")
		put(t, peer, "b") // of which nobody wants to know
		if n, err := s.read(b); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		go func() {
			time.Sleep(2 * time.Millisecond)
			put(t, peer, "c")
		}()
		take("what comes")
	}
	time.AfterFunc(2*time.Millisecond, s.shutdown)
	within(t, "end", func() {
		for range 2 { // it stays
			if err := p.wait(); err != nil {
				t.Error(err)
			}
		}
	})
}

func put(t *testing.T, peer interface{ Write([]byte) (int, error) }, s string) {
	t.Helper()
	if _, err := peer.Write([]byte(s)); err != nil {
		t.Error(err)
	}
}

// TestServerReads: a server's reader gets what comes, and the end, whichever way it waits.
func TestServerReads(t *testing.T) {
	for _, test := range []struct {
		name          string
		opt           ServerOptions
		lately        int64
		turn          bool
		polls, limits bool
	}{
		{name: "near"},
		{name: "turn", turn: true, polls: true},
		{name: "far", lately: waitBound, polls: true},
		{name: "alone", opt: ServerOptions{Alone: true}, lately: waitBound, limits: true},
		{name: "alone, turn", opt: ServerOptions{Alone: true}, lately: waitBound, turn: true, polls: true, limits: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			peer, fd := pair(t)
			s, err := newSocket(fd)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			forServer(s, test.opt)
			prepare := func() {
				if s.lately = test.lately; !test.turn {
					s.turn = turn(mono.Now())
				} else {
					s.turn = turn(mono.Now() - turnTime)
				}
			}
			b := make([]byte, 8)
			for range 3 {
				prepare()
				go func() {
					time.Sleep(time.Millisecond)
					put(t, peer, "a")
				}()
				within(t, "read", func() {
					if n, err := s.read(b); n != 1 || err != nil {
						t.Error(n, err)
					}
				})
			}
			// One that stood still meanwhile may have come to a turn, or to the end of its patience.
			if test.polls && s.polled == nil || test.limits && !s.limited && s.polled == nil {
				t.Errorf("waits in another way: %+v", s)
			}
			prepare()
			s.short = 5 * time.Millisecond
			go func() {
				time.Sleep(20 * time.Millisecond) // longer than it waits untold
				_ = peer.Close()
			}()
			within(t, "end", func() {
				if n, err := s.read(b); n != 0 || err == nil {
					t.Error(n, err)
				}
			})
		})
	}
}
