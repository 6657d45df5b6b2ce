package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/keys"
	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// onTLS has the tests use the transport over TLS.
var onTLS bool

// testKeys are a server's and a client's side of TLS.
var testKeys = sync.OnceValue(func() (c struct{ server, client *tls.Config }) {
	dir, err := os.MkdirTemp("", "wire-keys")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d := keys.Dir{Path: dir, Days: 1}
	if err := d.Init([]string{"127.0.0.1", "gpu7"}, nil); err != nil {
		panic(err)
	}
	pair, err := tls.LoadX509KeyPair(d.Cert(keys.Server), d.Key(keys.Server))
	if err != nil {
		panic(err)
	}
	pem, err := os.ReadFile(d.Cert(keys.CA))
	if err != nil {
		panic(err)
	}
	c.server = &tls.Config{Certificates: []tls.Certificate{pair}}
	c.client = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "gpu7"}
	c.client.RootCAs.AppendCertsFromPEM(pem)
	return c
})

// underTLS is the transport over TLS whose peer is fd, in plain: a goroutine in between encrypts and decrypts.
func underTLS(t testing.TB, fd int) transport {
	t.Helper()
	near, conn := unixPair(t)
	if onKernel {
		near, conn = tcpPair(t) // a Unix socket has no kernel TLS
	}
	s, err := newSocket(near)
	if err != nil {
		t.Fatal(err)
	}
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	suite := tlsrecord.Suite(tls.TLS_AES_128_GCM_SHA256)
	tr, err := newRecords(s, &tlsrecord.State{Suite: suite, In: one, Out: two, Client: true, Kernel: onKernel})
	if err != nil {
		t.Fatal(err)
	}
	far := &SecureConn{Conn: conn}
	if err := far.begin(&tlsrecord.State{Suite: suite, In: two, Out: one}); err != nil {
		t.Fatal(err)
	}
	plain := fileConn(t, fd).(*net.UnixConn)
	go func() {
		if _, err := io.Copy(far, plain); err != nil {
			_ = plain.CloseRead() // who writes there learns of it
		}
		_ = far.CloseWrite()
	}()
	go func() {
		_, _ = io.Copy(plain, far)
		_ = plain.CloseWrite()
	}()
	return tr
}

// unixPair is two connected Unix sockets, as descriptor and as connection.
func unixPair(t testing.TB) (int, net.Conn) {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p[0], fileConn(t, p[1])
}

// TestSecured: every test of what a connection does, under TLS.
func TestSecured(t *testing.T) {
	onTLS = true
	defer func() { onTLS = false }()
	for name, test := range connectionTests {
		t.Run(name, test)
	}
}

// securePair gives both ends of a TLS connection over TCP: the server's as the code under test has it, the client's as crypto/tls.
func securePair(t *testing.T) (*SecureConn, *tls.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client := make(chan *tls.Conn, 1)
	go func() {
		raw, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
		}
		c := tls.Client(raw, testKeys().client)
		if err := c.Handshake(); err != nil {
			t.Error(err)
		}
		client <- c
	}()
	raw, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := SecureServer(t.Context(), raw, testKeys().server)
	if err != nil {
		t.Fatal(err)
	}
	c := <-client
	t.Cleanup(func() { _ = c.Close(); _ = s.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return s, c
}

// TestPlainTLSClient: a client that has crypto/tls and nothing of ours, over the portable transport, and one that sends its first calls with the Hello.
func TestPlainTLSClient(t *testing.T) {
	s, c := securePair(t)
	done := make(chan error, 1)
	go func() {
		hello, _, err := ReadHello(s, patience)
		if err != nil {
			done <- err
			return
		}
		f, security, err := Handover(s)
		if err != nil {
			done <- err
			return
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err = errors.Join(err, f.Close(), s.Close()); err != nil {
			done <- err
			return
		}
		conn, err := NewServerFD(fd, security, ServerOptions{Protocol: hello.Protocol})
		if err == nil {
			if err = conn.Welcome(Welcome{HeartbeatMS: 60000}); err == nil {
				err = conn.Serve(&testServer{t: t})
			}
		}
		done <- err
	}()
	h := Hello{Purpose: "hip"}
	p, err := h.Append(make([]byte, HeaderSize))
	if err != nil {
		t.Fatal(err)
	}
	Header{Version: Version, Op: OpInit, Length: uint32(len(p) - HeaderSize)}.Append(p[:0])
	if _, err := c.Write(append(p, frame(opEcho, 1, 0, []byte("early"))...)); err != nil { // in one record
		t.Fatal(err)
	}
	if h, _ := readFrame(t, c); h.Op != OpInit || h.Flags != FlagResponse {
		t.Fatalf("%+v", h)
	}
	if h, p := readFrame(t, c); h.ID != 1 || string(p) != "\x00\x00\x00\x00early" {
		t.Errorf("%+v %q", h, p)
	}
	if _, err := c.Write(frame(opFill, 2, 0, le32(3<<20))); err != nil {
		t.Fatal(err)
	}
	if h, p := readFrame(t, c); h.ID != 2 || !bytes.Equal(p[8:], pattern(3<<20)) {
		t.Errorf("%+v, %d bytes", h, len(p))
	}
	if _, err := c.Write(frame(OpShutdown, 3, FlagNoReply)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("no close notify: %v", err)
	}
}

// TestTLSEnds: an end without close notify is told from one with it, an alert is named, a changed record is a violation that the peer is told of.
func TestTLSEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(c *tls.Conn, raw net.Conn)
		say  string
		kind error
	}{
		"close notify": {func(c *tls.Conn, _ net.Conn) { _ = c.CloseWrite() }, "without SHUTDOWN", ErrLost},
		"cut":          {func(_ *tls.Conn, raw net.Conn) { _ = raw.(*net.TCPConn).CloseWrite() }, "without a close notify", ErrLost},
		"changed": {func(_ *tls.Conn, raw net.Conn) {
			_, _ = raw.Write(append([]byte{23, 3, 3, 0, 30}, make([]byte, 30)...))
		}, "changed on its way", ErrProtocol},
		"plain alert": {func(_ *tls.Conn, raw net.Conn) { _, _ = raw.Write([]byte{21, 3, 3, 0, 2, 2, 40}) }, "no encrypted record", ErrProtocol},
	} {
		s, client := securePair(t)
		tr, err := newTransport(s)
		if err != nil {
			t.Fatal(err)
		}
		conn := newServer(tr, Peer{}, ServerOptions{})
		done := make(chan error, 1)
		go func() { done <- conn.Serve(&testServer{t: t}) }()
		if _, err := client.Write(frame(opPost, 1, FlagNoReply, le32(1))); err != nil {
			t.Fatal(err)
		}
		c.end(client, client.NetConn())
		err = <-done
		wantErr(t, err, c.kind)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
		if c.kind == ErrProtocol {
			for err = nil; err == nil; {
				_, err = client.Read(make([]byte, 4096))
			}
			if !strings.Contains(err.Error(), "remote error: tls: ") {
				t.Errorf("%s: the client sees %v", name, err)
			}
		}
	}
}

// TestOpenSSL: another implementation's client, with a key update of each kind, which crypto/tls has no way to ask for.
func TestOpenSSL(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("this test needs openssl: ", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "openssl", "s_client", "-connect", l.Addr().String(), "-tls1_3", "-quiet", "-no_ign_eof")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(errs)
	raw, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := SecureServer(ctx, raw, testKeys().server)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTransport(s)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.close()
	p := make([]byte, 100)
	for i, line := range []string{"hello\n", "k\n", "one\n", "K\n", "two\n"} {
		if _, err := io.WriteString(in, line); err != nil {
			t.Fatal(err)
		}
		if line == "k\n" || line == "K\n" { // commands of s_client: a key update, and one that wants an answer
			var all []string
			for said.Scan() && said.Text() != "KEYUPDATE" { // until then it takes what follows for a part of the same line
				all = append(all, said.Text())
			}
			if said.Text() != "KEYUPDATE" {
				t.Fatalf("%d: %q", i, all)
			}
			continue
		}
		n, err := tr.read(p)
		if err != nil || string(p[:n]) != line {
			t.Fatalf("%d: %q, %v", i, p[:n], err)
		}
		if n, err := tr.tryWrite([]byte("got "), p[:n]); n != 4+len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := tr.(*secured).in.Half(); bytes.Equal(got.Secret, s.in.Half().Secret) {
		t.Error("no key update was seen")
	}
	tr.shutdown()
	_ = in.Close()
	rest, _ := io.ReadAll(errs)
	if err := cmd.Wait(); err != nil && ctx.Err() != nil {
		t.Errorf("%v; %s", err, rest)
	}
	if want := "got hello\ngot one\ngot two\n"; out.String() != want {
		t.Errorf("%q; %s", out.String(), rest)
	}
}
