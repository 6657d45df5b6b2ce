package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what must happen before it calls it a hang.
const patience = time.Minute

// pair gives two connected stream sockets: one as net.Conn for the test, one as descriptor for the code under test.
func pair(t testing.TB) (*net.UnixConn, int) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(p[0]), "test end")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.UnixConn), p[1]
}

// onStreams has the tests use the transport for systems without a better one, onShared shared memory.
var onStreams, onShared bool

// under is the transport under test on one end of a pair.
func under(t testing.TB, fd int) transport {
	t.Helper()
	if onStreams {
		return newStream(fileConn(t, fd))
	}
	if onTLS {
		return underTLS(t, fd)
	}
	if onShared {
		return bridged(t, fileConn(t, fd).(*net.UnixConn))
	}
	tr, err := newSocket(fd)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// fileConn makes a connection of a descriptor, which it takes over.
func fileConn(t testing.TB, fd int) net.Conn {
	t.Helper()
	f := os.NewFile(uintptr(fd), "pair")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// serveRaw runs a server on one end of a pair and gives the other end, after the Welcome has been read from it.
func serveRaw(t testing.TB, h Handler, opt ServerOptions, granted ...string) (*net.UnixConn, <-chan error) {
	t.Helper()
	peer, fd := pair(t)
	tr := under(t, fd)
	forServer(tr, opt)
	s := newServer(tr, Peer{Addr: tr.peer()}, opt)
	if err := s.Welcome(Welcome{HeartbeatMS: 60000, Features: granted}); err != nil {
		t.Fatal(err)
	}
	if h, p, err := readInit(peer); err != nil || h.Flags != FlagResponse || len(p) < 5 {
		t.Fatal(h, p, err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(h) }()
	return peer, done
}

// clientRaw gives a client on one end of a pair and the other end, as after a handshake.
func clientRaw(t testing.TB, opt Options, granted ...string) (*net.UnixConn, *Client) {
	t.Helper()
	peer, fd := pair(t)
	tr := under(t, fd)
	if opt.IOTimeout == 0 {
		opt.IOTimeout = patience
	}
	c := newClient(tr, opt, &Welcome{Protocol: Version, HeartbeatMS: 60000, Features: granted}, "gpu7", "18515")
	t.Cleanup(func() { _ = c.Close() })
	return peer, c
}

// frame builds one.
func frame(op uint16, id uint32, flags Flags, payload ...[]byte) []byte {
	p := bytes.Join(payload, nil)
	return append(Header{Version, op, id, uint32(len(p)), flags}.Append(nil), p...)
}

func le32(v uint32) []byte { var e Enc; e.U32(v); return e.B }
func le64(v uint64) []byte { var e Enc; e.U64(v); return e.B }

// within fails the test if f does not return in time.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(patience):
		debug.SetTraceback("all") // a panic in a test shows its own goroutine only
		panic("hangs: " + what)
	}
}

// readFrame reads one frame from a test's end.
func readFrame(t testing.TB, r io.Reader) (Header, []byte) {
	t.Helper()
	var b [HeaderSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		t.Fatal(err)
	}
	h, err := ParseHeader(b[:])
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, h.Length)
	if _, err := io.ReadFull(r, p); err != nil {
		t.Fatal(err)
	}
	return h, p
}

// start gives a client connected over TCP to a server that runs h, which must end in order.
func start(t testing.TB, h Handler, opt Options) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	opt.Address = l.Addr().String()
	return startOn(t, l, h, opt)
}

func startOn(t testing.TB, l net.Listener, h Handler, opt Options) *Client {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	done := make(chan error, 1)
	go func() { done <- serveOne(l, h) }()
	c, err := dial(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-done; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	return c
}

// noFile is a connection whose descriptor cannot be had.
type noFile struct{ net.Conn }

// dial connects with the transport under test.
func dial(opt Options) (*Client, error) {
	if onTLS {
		opt.TLS = testKeys().client
	}
	if !onStreams {
		return Dial(context.Background(), opt)
	}
	network, address, _, _ := splitAddress(opt.Address)
	conn, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	return NewClient(context.Background(), noFile{conn}, opt)
}

// serveOne serves one connection of l.
func serveOne(l net.Listener, h Handler) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	if _, tcp := conn.(*net.TCPConn); onTLS && tcp {
		if conn, err = SecureServer(context.Background(), conn, testKeys().server); err != nil {
			return err
		}
	}
	hello, _, err := ReadHello(conn, patience)
	if err != nil {
		return err
	}
	if onShared {
		return serveShared(conn, hello, h)
	}
	if onStreams {
		conn = noFile{conn}
	}
	s, err := NewServerConn(conn, ServerOptions{Protocol: hello.Protocol})
	if err != nil {
		return err
	}
	if err := s.Welcome(Welcome{Session: 1, HeartbeatMS: uint32(hello.Heartbeat() / time.Millisecond)}); err != nil {
		return err
	}
	return s.Serve(h)
}

const (
	opEcho = OpUser + iota // answers with its fixed part and bulk
	opSlow                 // the same from another goroutine
	opFill                 // u32 n: answers with n bytes of bulk, byte i is byte(i*7)
	opPost                 // posted; u32 counts up
	opAck                  // answers with the last count of opPost
	opTell                 // sends its fixed part back as a notice
)

// testServer does the above.
type testServer struct {
	t     testing.TB
	count uint32
}

func (s *testServer) Handle(r *Request) {
	switch r.Op {
	case opEcho, opSlow:
		bulk := make([]byte, r.BulkLen)
		if err := r.ReadBulk(bulk[:r.BulkLen/3]); err != nil {
			return
		}
		if err := r.ReadBulk(bulk[r.BulkLen/3:]); err != nil {
			return
		}
		if r.Op == opEcho {
			_ = r.ReplyBulk(0, r.Fixed, bulk)
			return
		}
		k := r.Retain()
		go func() { _ = k.ReplyBulk(int32(k.ID), k.Fixed, bulk) }()
	case opFill:
		d := NewDec(r.Fixed)
		bulk := pattern(int(d.U32()))
		k := r.Retain()
		go func() { _ = k.ReplyBulk(0, nil, bulk) }()
	case opPost:
		d := NewDec(r.Fixed)
		if n := d.U32(); n != s.count+1 {
			s.t.Errorf("post %d after %d", n, s.count)
		}
		s.count++
	case opAck:
		_ = r.Reply(0, le32(s.count))
	case opTell:
		_ = r.Conn().Notify(opTell, r.Fixed)
		_ = r.Reply(0, nil)
	default:
		_ = r.Reply(-1, nil)
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func wantErr(t testing.TB, err, kind error) {
	t.Helper()
	var e *Error
	if !errors.Is(err, kind) || !errors.As(err, &e) {
		t.Errorf("got %v, want %v", err, kind)
	}
}
