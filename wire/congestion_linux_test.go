package wire

import (
	"context"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCongestionByPath: reno on loopback, the better one between machines, and what an operator chose as it is.
func TestCongestionByPath(t *testing.T) {
	there, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(there)
	best := "cubic"
	if hasLossy() {
		best = lossy
	}
	for _, c := range []struct {
		before, after string
		loopback      bool
	}{{"cubic", best, false}, {"cubic", "reno", true}, {lossy, "reno", true}, {lossy, best, false}} {
		if unix.SetsockoptString(there, unix.IPPROTO_TCP, unix.TCP_CONGESTION, c.before) != nil {
			continue // this kernel has no such thing
		}
		if chooseCongestion(there, c.loopback); congestion(there) != c.after {
			t.Errorf("%s became %s on loopback %v", c.before, congestion(there), c.loopback)
		}
	}
}

// TestCongestionOfAccepted: what a listener has its connections have, before anybody else touches them.
func TestCongestionOfAccepted(t *testing.T) {
	lc := net.ListenConfig{Control: ListenControl}
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raw, err := s.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	if err := raw.Control(func(fd uintptr) { name = congestion(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	if strings.Contains("reno cubic", name) && hasLossy() {
		t.Errorf("an accepted connection has %s", name)
	}
}

func hasLossy() bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, lossy) == nil
}
