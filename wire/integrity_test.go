package wire

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// checkedServer serves one client of l with checksums, if it wants them.
func checkedServer(l net.Listener, h Handler, offer ...string) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	hello, _, err := ReadHello(conn, patience)
	if err != nil {
		_ = conn.Close()
		return err
	}
	s, err := NewServerConn(conn, ServerOptions{Protocol: hello.Protocol, HelloSum: hello.Sum})
	if err != nil {
		return err
	}
	if err := s.Welcome(Welcome{Session: 1, Features: GrantFeatures(hello.Features, offer), HeartbeatMS: 60000}); err != nil {
		s.Close("")
		return err
	}
	return s.Serve(h)
}

// flipper is a proxy that flips one bit on the way of one connection.
type flipper struct {
	l    net.Listener
	to   string
	at   [2]int // byte to be changed, to the server and from it; -1 for none
	seen [2]atomic.Int64
}

func (f *flipper) serve() {
	client, err := f.l.Accept()
	if err != nil {
		return
	}
	server, err := net.Dial("tcp", f.to)
	if err != nil {
		_ = client.Close()
		return
	}
	pump := func(dst, src net.Conn, dir int) {
		b := make([]byte, 32<<10)
		for {
			n, err := src.Read(b)
			from := int(f.seen[dir].Add(int64(n))) - n
			if i := f.at[dir] - from; i >= 0 && i < n {
				b[i] ^= 1 << (f.at[dir] % 8)
			}
			if _, werr := dst.Write(b[:n]); err != nil || werr != nil {
				_ = dst.Close()
				_ = src.Close()
				return
			}
		}
	}
	go pump(client, server, 1)
	pump(server, client, 0)
}

// checkedSession is a short session that uses all kinds of frames, through a flipper. It reports how many bytes were sent each way, and what went
// wrong at either end; a result that is wrong and no error fails the test. limit is how long the client waits for anything.
func checkedSession(t *testing.T, at [2]int, limit time.Duration) (bytesSent [2]int, clientErr, serverErr error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := &flipper{l: p, to: l.Addr().String(), at: at}
	go f.serve()
	served := make(chan error, 1)
	go func() { served <- checkedServer(l, &testServer{t: t}, FeatureIntegrity) }()
	clientErr = func() error {
		c, err := Dial(context.Background(), Options{
			Address: p.Addr().String(), ConnectTimeout: limit, IOTimeout: limit, Hello: Hello{Purpose: "x", Features: []string{FeatureIntegrity}},
		})
		if err != nil {
			return err
		}
		defer c.Close()
		for i := range 3 {
			if err := c.Post(opPost, le32(uint32(i+1)), nil); err != nil {
				return err
			}
		}
		m := &Msg{Req: []byte("fixed"), Bulk: pattern(60), Dst: make([]byte, 60)}
		if err := c.Call(opEcho, m); err != nil {
			return err
		}
		if m.Code != 0 || string(m.Rep) != "fixed" || !bytes.Equal(m.Dst[:m.DstN], m.Bulk) {
			t.Errorf("flip at %v: code %d, %q, %d bytes", at, m.Code, m.Rep, m.DstN)
		}
		m = &Msg{}
		if err := c.Call(opAck, m); err != nil {
			return err
		}
		if !bytes.Equal(m.Rep, le32(3)) {
			t.Errorf("flip at %v: count %v", at, m.Rep)
		}
		return nil
	}()
	_ = l.Close() // if the handshake has not come so far
	serverErr = <-served
	return [2]int{int(f.seen[0].Load()), int(f.seen[1].Load())}, clientErr, serverErr
}

// TestEveryByteOfASession: whatever byte is changed on its way, one end notices and the connection is over; no result is ever wrong.
func TestEveryByteOfASession(t *testing.T) {
	sent, cErr, sErr := checkedSession(t, [2]int{-1, -1}, patience)
	if cErr != nil || sErr != nil || sent[0] < 200 || sent[1] < 100 {
		t.Fatal(cErr, sErr, sent)
	}
	const alert = 12 // bytes of what comes behind SHUTDOWN, at which nobody looks, if it is still sent
	for dir := range sent {
		for i := range sent[dir] - alert {
			at := [2]int{-1, -1}
			at[dir] = i
			got, cErr, sErr := checkedSession(t, at, time.Second)
			if cErr == nil && sErr == nil && got[dir] > i+alert {
				t.Errorf("byte %d of %d in direction %d: nobody noticed", i, sent[dir], dir)
			}
			lengths := i == 12 || i == 13 // of Hello and Welcome: nothing says that no more comes
			if errors.Is(cErr, ErrTimeout) && !lengths {
				if _, cErr, _ = checkedSession(t, at, patience); errors.Is(cErr, ErrTimeout) { // with time enough on a busy machine
					t.Errorf("byte %d of %d in direction %d: %v", i, sent[dir], dir, cErr)
				}
			}
		}
	}
}

// TestCorruptionIsNamed: both ends say that it was not the other's fault.
func TestCorruptionIsNamed(t *testing.T) {
	sent, _, _ := checkedSession(t, [2]int{-1, -1}, patience)
	for dir := range sent {
		at := [2]int{-1, -1}
		at[dir] = sent[dir] - 40 // in the last calls
		_, cErr, sErr := checkedSession(t, at, patience)
		named := func(err error) bool {
			return err != nil && strings.Contains(err.Error(), "changed on its way") && errors.Is(err, ErrLost)
		}
		if !named(cErr) && !named(sErr) {
			t.Errorf("direction %d: client %v, server %v", dir, cErr, sErr)
		}
	}
}

// TestIntegrityLarge: large data both ways with checksums, and none where nobody asks.
func TestIntegrityLarge(t *testing.T) {
	for _, want := range [][]string{{FeatureIntegrity}, nil} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		served := make(chan error, 1)
		go func() { served <- checkedServer(l, &testServer{t: t}, FeatureIntegrity) }()
		c, err := Dial(t.Context(), Options{Address: l.Addr().String(), Hello: Hello{Features: want}})
		if err != nil {
			t.Fatal(err)
		}
		if _, plain := c.t.(*socket); plain != (want == nil) {
			t.Errorf("features %v: the transport is a %T", want, c.t)
		}
		m := &Msg{Req: []byte("f"), Bulk: pattern(20<<20 + 7), Dst: make([]byte, 20<<20+7)}
		if err := c.Call(opEcho, m); err != nil || !bytes.Equal(m.Bulk, m.Dst[:m.DstN]) {
			t.Errorf("%d bytes, %v", m.DstN, err)
		}
		_ = c.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// TestNoIntegrity: who asks for checksums does not go on without.
func TestNoIntegrity(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { _ = checkedServer(l, &testServer{t: t}) }()
	_, err = Dial(t.Context(), Options{Address: l.Addr().String(), Hello: Hello{Features: []string{FeatureIntegrity}}})
	if err == nil || !strings.Contains(err.Error(), "checksums") {
		t.Error(err)
	}
	// Under TLS nothing takes its place.
	s, c := securePair(t)
	tr, err := newTransport(s)
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(tr, Peer{}, ServerOptions{})
	if err := srv.Welcome(Welcome{Features: []string{FeatureIntegrity}}); err != nil {
		t.Fatal(err)
	}
	h, p, err := readInit(c)
	if err != nil || h.Flags != FlagResponse || bytes.Contains(p, []byte(FeatureIntegrity)) || srv.t != tr {
		t.Errorf("%+v %q %v", h, p, err)
	}
	srv.Close("")
	tr.close()
}
