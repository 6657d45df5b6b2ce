package wire

import (
	"context"
	"crypto/tls"
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
		dial := func(timeout time.Duration) error {
			_, err := Dial(context.Background(), Options{Address: addr, ConnectTimeout: timeout})
			return err
		}
		var err error
		if c.kind == ErrTimeout {
			err = connected(func(d time.Duration) error {
				if d > soonest {
					answers <- c.answer
				}
				return dial(d)
			})
		} else {
			err = dial(patience)
		}
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

// TestDialCallersDeadline: what ends the wait is named, be it the connect timeout or the caller.
func TestDialCallersDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts: connections wait in the kernel
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr := l.Addr().String()
	type until func(time.Duration) (context.Context, context.CancelFunc)
	soon := func(d time.Duration) (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), d)
	}
	late := func(time.Duration) (context.Context, context.CancelFunc) { return soon(patience) }
	over := func(time.Duration) (context.Context, context.CancelFunc) { return soon(-time.Second) }
	canceled := func(d time.Duration) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(d, cancel)
		return ctx, cancel
	}
	for _, c := range []struct {
		name    string
		context until
		tls     *tls.Config
		own     bool // its own timeout is the one that ends it
		says    string
	}{
		{"connection", over, nil, false, "no connection within 0s, the caller's own deadline"},
		{"handshake", soon, nil, false, "no answer to the handshake within 20ms, the caller's own deadline"},
		{"TLS", soon, &tls.Config{}, false, "no TLS handshake within 20ms, the caller's own deadline"},
		{"handshake, own", late, nil, true, "no answer to the handshake within 20ms"},
		{"TLS, own", late, &tls.Config{}, true, "no TLS handshake within 20ms"},
		{"canceled", canceled, nil, false, "canceled"},
		{"TLS canceled", canceled, &tls.Config{}, false, "canceled"},
	} {
		dial := func(d time.Duration) error {
			ctx, cancel := c.context(d)
			defer cancel()
			timeout := patience
			if c.own {
				timeout = d
			}
			_, err := Dial(ctx, Options{Address: addr, TLS: c.tls, ConnectTimeout: timeout})
			return err
		}
		var err error
		if c.name == "connection" {
			err = dial(soonest)
		} else {
			err = connected(dial)
		}
		wantErr(t, err, ErrTimeout)
		var e *Error
		// What is left of the deadline is rounded to milliseconds, and the machine may be busy.
		if !errors.As(err, &e) || onlyWords(e.Reason) != onlyWords(c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// soonest is how long a connection has to be there: on a busy machine it may not be.
const soonest = 20 * time.Millisecond

// connected is the error of dial, which ends after a while that it is told, once there was a connection.
func connected(dial func(time.Duration) error) (err error) {
	for d := soonest; d < patience; d *= 2 {
		if err = dial(d); err == nil || !strings.Contains(err.Error(), "no connection within") {
			break
		}
	}
	return err
}

// onlyWords leaves digits and units of time out.
func onlyWords(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
