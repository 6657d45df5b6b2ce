package wire

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"
)

const opEcho, opSum, opFill = OpUser, OpUser + 1, OpUser + 2

// echo answers opEcho with its fixed part and bulk, opSum is counted, opFill answers with as much bulk as the request says.
func echo(r *Request) {
	switch r.Op {
	case opEcho:
		bulk := make([]byte, r.BulkLen)
		if r.ReadBulk(bulk) == nil {
			_ = r.ReplyBulk(0, r.Fixed, bulk)
		}
	default:
		_ = r.Reply(7, nil)
	}
}

// start gives a client connected to a server that runs h.
func start(t testing.TB, h Handler, opt Options) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			hello, _, err := ReadHello(conn, time.Second)
			if err != nil {
				return err
			}
			s, err := NewServerConn(conn, ServerOptions{Protocol: hello.Protocol})
			if err != nil {
				return err
			}
			if err := s.Welcome(Welcome{Session: 1, HeartbeatMS: uint32(hello.Heartbeat() / time.Millisecond)}); err != nil {
				return err
			}
			return s.Serve(h)
		}()
	}()
	opt.Address = l.Addr().String()
	c, err := Dial(context.Background(), opt)
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

func TestEcho(t *testing.T) {
	c := start(t, HandlerFunc(echo), Options{})
	for _, n := range []int{0, 1, bulkCopy, bulkCopy + 1, MaxBulk, MaxPayload, 3*MaxPayload + 5} {
		m := GetMsg()
		m.Req = append(m.Req, "fixed"...)
		m.Bulk = bytes.Repeat([]byte{1, 2, 3, 5, 7}, n/5+1)[:n]
		m.Dst = make([]byte, n)
		if err := c.Call(opEcho, m); err != nil {
			t.Fatal(err)
		}
		if m.Code != 0 || string(m.Rep) != "fixed" || m.DstN != n || !bytes.Equal(m.Bulk, m.Dst) {
			t.Fatalf("%d bytes: code %d results %q bulk %d", n, m.Code, m.Rep, m.DstN)
		}
		PutMsg(m)
	}
	m := GetMsg()
	if err := c.Call(opSum, m); err != nil || m.Code != 7 {
		t.Fatal(err, m.Code)
	}
}

func BenchmarkCall(b *testing.B) {
	c := start(b, HandlerFunc(func(r *Request) { _ = r.Reply(0, r.Fixed) }), Options{})
	m := GetMsg()
	m.Req = make([]byte, 32)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Call(opEcho, m); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPost(b *testing.B) {
	c := start(b, HandlerFunc(func(r *Request) {
		if !r.NoReply() {
			_ = r.Reply(0, r.Fixed)
		}
	}), Options{})
	m := GetMsg()
	req := make([]byte, 48)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Post(opEcho, req, nil); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Call(opEcho, m); err != nil {
		b.Fatal(err)
	}
}
