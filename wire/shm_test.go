package wire

import (
	"bytes"
	"net"
	"os"
	"sync"
	"sync/atomic"
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
	return sharedOn(t, fd)
}

// sharedOn is sharedPair on memory that is there.
func sharedOn(t testing.TB, fd int) (server, client *shm) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var channel [2]int
	if channel[0], channel[1], err = makeChannel(); err != nil {
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
		ends[i] = newShm(b, i, base, channel[i])
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

// TestSharedMemoryIsGivenBack: what a large message has taken goes when nothing has been sent for a while, however it is waited for, small messages take
// little, and what comes later is whole.
func TestSharedMemoryIsGivenBack(t *testing.T) {
	fd, err := makeShared()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	taken := func() int64 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			t.Fatal(err)
		}
		return st.Blocks * 512
	}
	a, b := sharedOn(t, fd)
	defer a.close()
	defer b.close()
	within(t, "messages", func() {
		p := pattern(1000)
		for range 20 * shmNear / len(p) {
			move(t, a, b, p)
		}
	})
	if n := taken(); n > shmHeads+shmNear+shmPiece {
		t.Errorf("small messages have taken %d bytes", n)
	}
	for range 3 {
		move(t, a, b, pattern(shmBytes))
		move(t, b, a, pattern(shmBytes))
		if n := taken(); n < 2*shmBytes {
			t.Fatalf("large messages have taken %d bytes", n)
		}
		end := time.Now().Add(patience)
		reading := make(chan error, 1)
		go func() { // as a server's reader, while the other end rests as a client's keeper
			_, err := a.read(make([]byte, 1))
			reading <- err
		}()
		for taken() > shmHeads+2*(shmNear+shmPiece) && time.Now().Before(end) {
			b.rest(100*time.Millisecond, true)
		}
		if n := taken(); n > shmHeads+2*(shmNear+shmPiece) {
			t.Fatalf("%d bytes are kept", n)
		}
		if n, err := b.tryWrite([]byte{1}, nil); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if err := <-reading; err != nil {
			t.Fatal(err)
		}
	}
}

// TestSharedTrimIsNotRefusal: where there is room a word is taken, also while memory is being given back: SHUTDOWN is tried once.
func TestSharedTrimIsNotRefusal(t *testing.T) {
	a, b := sharedPair(t)
	defer a.close()
	defer b.close()
	for range 100 {
		move(t, a, b, pattern(shmBytes))
		a.trim() // takes note
		var trimming sync.WaitGroup
		var done atomic.Bool
		trimming.Go(func() {
			a.trim()
			done.Store(true)
		})
		for last := false; !last; {
			last = done.Load()
			if n, err := a.tryWrite([]byte{1}, nil); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			if n, err := b.read(make([]byte, 1)); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		trimming.Wait()
	}
}

// TestSharedLastWord: a client that ends while the ring is full is still heard, once there is room.
func TestSharedLastWord(t *testing.T) {
	server, client := sharedPair(t)
	defer server.close()
	c := newClient(client, Options{IOTimeout: patience}, &Welcome{Protocol: Version, HeartbeatMS: 60000}, "gpu7", "18515")
	filler, n := make([]byte, 1<<16), 0
	for {
		k, err := client.tryWrite(filler, nil)
		if n += k; err != nil {
			break
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	time.Sleep(20 * time.Millisecond) // it finds the ring full
	var got []byte
	p := make([]byte, 1<<16)
	for len(got) < n+HeaderSize {
		k, err := server.read(p)
		if err != nil {
			t.Fatalf("%v after %d bytes of %d", err, len(got), n+HeaderSize)
		}
		got = append(got, p[:k]...)
	}
	if h, err := ParseHeader(got[n:]); err != nil || h.Op != OpShutdown {
		t.Errorf("%+v, %v behind what filled the ring", h, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// move sends p from one end to the other and checks what arrives.
func move(t *testing.T, from, to *shm, p []byte) {
	t.Helper()
	if n, err := from.tryWrite(p, nil); n != len(p) || err != nil {
		t.Fatal(n, err)
	}
	q := make([]byte, len(p))
	for n := 0; n < len(q); {
		k, err := to.read(q[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if !bytes.Equal(p, q) {
		t.Fatal("other bytes arrived")
	}
}
