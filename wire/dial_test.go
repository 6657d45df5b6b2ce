package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestDialErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	answers := make(chan func(net.Conn), 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			(<-answers)(c)
		}
	}()
	for _, c := range []struct {
		name   string
		answer func(net.Conn)
		kind   error
		says   string
	}{
		{"silence", func(net.Conn) {}, ErrTimeout, "no answer to the handshake"},
		{"end", func(c net.Conn) { _, _, _ = ReadHello(c, patience); _ = c.Close() }, ErrLost, "during the handshake"},
		{"refusal", func(c net.Conn) { _, _, _ = ReadHello(c, patience); _ = Refuse(c, 42, "card is full") }, ErrRefused, "card is full"},
		{"HTTP", func(c net.Conn) {
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_, _ = io.Copy(io.Discard, c)
		}, ErrProtocol, "magic"},
		{"request", func(c net.Conn) { _, _ = c.Write(frame(OpInit, 0, 0, []byte{0, 0, 0, 0, 0x80})) }, ErrProtocol, "no reply"},
		{"garbage", func(c net.Conn) { _, _ = c.Write(frame(OpInit, 0, FlagResponse, []byte{0, 0, 0, 0, 0xc1})) }, ErrProtocol, "MessagePack"},
	} {
		answers <- c.answer
		timeout := patience
		if c.kind == ErrTimeout {
			timeout = 50 * time.Millisecond
		}
		_, err := Dial(context.Background(), Options{Address: addr, ConnectTimeout: timeout})
		wantErr(t, err, c.kind)
		if err != nil && (!strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), addr)) {
			t.Errorf("%s: %v", c.name, err)
		}
		var e *Error
		if c.kind == ErrRefused && (!errors.As(err, &e) || e.Code != 42) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
	_ = l.Close()
	_, err = Dial(context.Background(), Options{Address: addr})
	wantErr(t, err, ErrRefused)
	_, err = Dial(context.Background(), Options{Address: "unix:/nonexistent/socket"})
	wantErr(t, err, ErrRefused)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Dial(ctx, Options{Address: addr})
	wantErr(t, err, ErrTimeout)
}
