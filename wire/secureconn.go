package wire

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rocwire/rocwire/internal/tlsrecord"
)

// SecureConn is a connection under TLS 1.3 whose handshake crypto/tls has done. From then on the records are package tlsrecord's: the connection can go to
// another process ([Handover]), and newTransport finds a transport that decrypts straight to where data belongs.
type SecureConn struct {
	net.Conn
	state tls.ConnectionState
	rmu   sync.Mutex
	in    *tlsrecord.Reader
	wmu   sync.Mutex
	out   *tlsrecord.Writer
	gone  bool // somebody else goes on with it
	ended bool // close notify has been sent
}

// SecureServer shakes hands as a server, and takes conn over unless it fails. It reads nothing behind the client's handshake. cfg is not changed; without
// session tickets and GetConfigForClient.
func SecureServer(ctx context.Context, conn net.Conn, cfg *tls.Config) (*SecureConn, error) {
	return secure(ctx, conn, cfg, tls.Server, false)
}

// SecureClient is SecureServer for a client.
func SecureClient(ctx context.Context, conn net.Conn, cfg *tls.Config) (*SecureConn, error) {
	return secure(ctx, conn, cfg, tls.Client, true)
}

func secure(ctx context.Context, conn net.Conn, cfg *tls.Config, side func(net.Conn, *tls.Config) *tls.Conn, client bool) (*SecureConn, error) {
	cfg = cfg.Clone()
	cfg.MinVersion, cfg.SessionTicketsDisabled, cfg.GetConfigForClient = tls.VersionTLS13, true, nil
	keys := &secrets{also: cfg.KeyLogWriter}
	cfg.KeyLogWriter = keys
	c := side(&recordConn{Conn: conn}, cfg)
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	s := tlsrecord.State{Suite: tlsrecord.Suite(c.ConnectionState().CipherSuite), Client: client, In: keys.client, Out: keys.server}
	if client {
		s.In, s.Out = s.Out, s.In
	}
	sc := &SecureConn{Conn: conn, state: c.ConnectionState()}
	return sc, sc.begin(&s)
}

func (c *SecureConn) begin(s *tlsrecord.State) (err error) {
	if c.in, err = s.Reader(tlsrecord.MaxRecord); err != nil {
		return err
	}
	c.out, err = s.Writer(tlsrecord.MaxRecord)
	c.in.Owed = func() {
		c.wmu.Lock()
		c.out.Owe()
		c.wmu.Unlock()
	}
	return err
}

// ConnectionState is what the handshake has found out.
func (c *SecureConn) ConnectionState() tls.ConnectionState { return c.state }

// Read reads data, and from the connection not a byte behind the record that it is in.
func (c *SecureConn) Read(p []byte) (int, error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	for len(p) > 0 {
		if n, err := c.in.Read(p); n > 0 || err != nil {
			c.answer(err)
			return n, recordError(err)
		}
		n, err := c.Conn.Read(c.in.Space()[:c.in.Want()])
		c.in.Filled(n)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = tlsrecord.ErrTruncated
			}
			return 0, err
		}
	}
	return 0, nil
}

// answer tells the peer what it has done wrong.
func (c *SecureConn) answer(err error) {
	if e := (*tlsrecord.Error)(nil); errors.As(err, &e) {
		c.alert(e.Alert)
	}
}

// recordError makes an error of this package out of one of the peer's.
func recordError(err error) error {
	if e := (*tlsrecord.Error)(nil); errors.As(err, &e) {
		return violation(Header{}, "%v", e)
	}
	return err
}

// Write sends p.
func (c *SecureConn) Write(p []byte) (n int, err error) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.ended {
		return 0, net.ErrClosed
	}
	for n < len(p) {
		if err := c.out.Fill(p[n:], nil); err != nil {
			return n, err
		}
		if err := c.flush(); err != nil {
			return n, err
		}
		n += c.out.Taken(len(p) - n)
	}
	return n, nil
}

func (c *SecureConn) flush() error {
	k, err := c.Conn.Write(c.out.Pending())
	c.out.Sent(k)
	return err
}

// alert sends one behind all else, and nothing more.
func (c *SecureConn) alert(code tlsrecord.AlertCode) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	if c.ended || c.gone {
		return
	}
	c.ended = true
	c.out.Alert(code)
	_ = c.Conn.SetWriteDeadline(time.Now().Add(streamLastWord))
	_ = c.flush() // the peer sees the end of the connection all the same
}

// CloseWrite says that no more comes.
func (c *SecureConn) CloseWrite() error {
	c.alert(tlsrecord.CloseNotify)
	if cw, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return cw.CloseWrite()
	}
	return nil
}

// Close ends the connection.
func (c *SecureConn) Close() error {
	c.alert(tlsrecord.CloseNotify)
	return c.Conn.Close()
}

// giveAway is the state for who goes on with the connection. Close then is only this process's.
func (c *SecureConn) giveAway() (*tlsrecord.State, error) {
	c.rmu.Lock()
	defer c.rmu.Unlock()
	c.wmu.Lock()
	defer c.wmu.Unlock()
	s, err := tlsrecord.StateOf(c.in, c.out)
	c.gone = err == nil
	return s, err
}

// Handover gives what another process needs to go on with a connection: its descriptor, and for NewServerFD what protects it, which is as secret as
// what is sent. The connection is only to be closed then.
func Handover(conn net.Conn) (f *os.File, security []byte, err error) {
	c, ok := conn.(*SecureConn)
	if ok {
		conn = c.Conn
	}
	fc, can := conn.(interface{ File() (*os.File, error) })
	if !can {
		return nil, nil, fmt.Errorf("wire: a %T has no descriptor", conn)
	}
	if f, err = fc.File(); err != nil || !ok {
		return f, nil, err
	}
	s, err := c.giveAway()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	s.Kernel = KernelTLS()
	return f, s.Append(nil), nil
}

// recordConn reads no further than the end of a record, so that nothing is lost to who goes on with the connection.
type recordConn struct {
	net.Conn
	head [tlsrecord.HeaderSize]byte
	have int // bytes of head
	left int // bytes of the record behind it
}

func (c *recordConn) Read(p []byte) (int, error) {
	if c.have == len(c.head) && c.left == 0 {
		c.have = 0
	}
	if c.have == len(c.head) {
		n, err := c.Conn.Read(p[:min(len(p), c.left)])
		c.left -= n
		return n, err
	}
	n, err := c.Conn.Read(p[:min(len(p), len(c.head)-c.have)])
	copy(c.head[c.have:], p[:n])
	if c.have += n; c.have == len(c.head) {
		c.left = int(c.head[3])<<8 | int(c.head[4])
	}
	return n, err
}

// secrets takes the traffic secrets out of a key log.
type secrets struct {
	client, server []byte
	also           io.Writer
}

func (s *secrets) Write(line []byte) (int, error) {
	if f := strings.Fields(string(line)); len(f) == 3 {
		key, err := hex.DecodeString(f[2])
		if err != nil {
			return 0, err
		}
		switch f[0] {
		case "CLIENT_TRAFFIC_SECRET_0":
			s.client = key
		case "SERVER_TRAFFIC_SECRET_0":
			s.server = key
		}
	}
	if s.also != nil {
		return s.also.Write(line)
	}
	return len(line), nil
}
