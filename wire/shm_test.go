package wire

import (
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestShared: every test of what a connection does, on shared memory.
func TestShared(t *testing.T) {
	onShared = true
	defer func() { onShared = false }()
	for name, test := range connectionTests {
		t.Run(name, test)
	}
	t.Run("Echo", TestEcho)
	t.Run("NoAllocations", TestNoAllocations)
}

// sharedPair gives both ends of a connection through shared memory.
func sharedPair(t testing.TB) (server, client *shm) {
	t.Helper()
	fd, err := makeShared()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*shm
	for i := range ends {
		b, err := mapShared(fd)
		if err != nil {
			t.Fatal(err)
		}
		base, err := connOf(p[i])
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = newShm(b, i, base)
	}
	return ends[0], ends[1]
}

// bridged is a shared-memory transport whose other side is a socket: what comes there goes into the rings, and the other way round.
func bridged(t testing.TB, conn *net.UnixConn) transport {
	own, other := sharedPair(t)
	var both sync.WaitGroup
	both.Go(func() { // from the socket
		p := make([]byte, 100000)
		for {
			n, err := conn.Read(p)
			for q := p[:n]; len(q) > 0; {
				k, werr := other.tryWrite(q, nil)
				if q = q[k:]; werr == errAgain {
					other.wait(writable, -1)
				} else if werr != nil {
					return
				}
			}
			if err != nil {
				other.shutdown()
				return
			}
		}
	})
	both.Go(func() {
		p := make([]byte, 100000)
		for {
			n, err := other.read(p)
			if n > 0 {
				if _, err := conn.Write(p[:n]); err != nil {
					other.shutdown()
					return
				}
			}
			if err != nil {
				_ = conn.Close()
				return
			}
		}
	})
	t.Cleanup(func() {
		other.shutdown()
		_ = conn.Close() // to a peer that does not read
		both.Wait()
		other.close()
	})
	return own
}

// theLocal offers shared memory in tests.
var theLocal = sync.OnceValues(NewLocal)

// serveShared serves a connection over shared memory, which the client must take.
func serveShared(conn net.Conn, hello *Hello, h Handler) error {
	l, err := theLocal()
	if err != nil {
		return err
	}
	memory, err := l.Offer(conn, hello, patience)
	if err != nil {
		return err
	}
	f, err := conn.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	_ = conn.Close()
	s, err := NewServerShared(memory, fd, ServerOptions{Protocol: hello.Protocol})
	if err != nil {
		return err
	}
	if err := s.Welcome(Welcome{Session: 1, HeartbeatMS: uint32(hello.Heartbeat() / time.Millisecond)}); err != nil {
		return err
	}
	return s.Serve(h)
}
