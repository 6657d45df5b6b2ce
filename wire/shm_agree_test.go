package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A client goes on without shared memory where what it is offered cannot be had, or is not what it should be.
func TestShareNotTaken(t *testing.T) {
	file := func(size int64, seals int) func(t *testing.T) int {
		return func(t *testing.T) int {
			fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Ftruncate(fd, size); err != nil {
				t.Fatal(err)
			}
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
				t.Fatal(err)
			}
			return fd
		}
	}
	for _, c := range []struct {
		name, network string
		offer         shareOffer
		fd            func(t *testing.T) int // nil: none comes along
		says          string
	}{
		{"forwarded port", "tcp", shareOffer{place: "@rocwire-of-another-machine"}, nil, "connect"},
		{"no place", "tcp", shareOffer{}, nil, "no place"},
		{"no descriptor", "unix", shareOffer{}, nil, "no descriptor"},
		{"not sealed", "unix", shareOffer{}, file(shmHeads+2*shmBytes, 0), "seals"},
		{"too small", "unix", shareOffer{}, file(shmHeads, shmSeals), "bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := "127.0.0.1:0"
			if c.network == "unix" {
				address = filepath.Join(t.TempDir(), "s")
			}
			l, err := net.Listen(c.network, address)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			done := make(chan error, 1)
			go func() { done <- offerAndServe(t, l, c.offer, c.fd) }()
			at := l.Addr().String()
			if c.network == "unix" {
				at = "unix:" + at
			}
			before := descriptors(t)
			cl, err := Dial(context.Background(), Options{Address: at})
			if err != nil {
				t.Fatal(err)
			}
			if why := cl.NotShared(); !errors.Is(why, ErrNotShared) || !strings.Contains(why.Error(), c.says) {
				t.Errorf("%v does not say %q", why, c.says)
			}
			mix(t, cl, 1, 50)
			_ = cl.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			within(t, "descriptors", func() {
				for descriptors(t) > before {
					time.Sleep(time.Millisecond)
				}
			})
		})
	}
}

// offerAndServe offers any shared memory to one client, which must not take it, and serves it.
func offerAndServe(t *testing.T, l net.Listener, o shareOffer, file func(*testing.T) int) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	hello, _, err := ReadHello(conn, patience)
	if err != nil {
		return err
	}
	if file != nil {
		fd := file(t)
		_, _, err = conn.(*net.UnixConn).WriteMsgUnix(o.frame(), unix.UnixRights(fd), nil)
		_ = unix.Close(fd)
	} else {
		_, err = conn.Write(o.frame())
	}
	if err != nil {
		return err
	}
	h, p, err := readHandshake(conn, OpShare)
	if err != nil {
		return err
	}
	if taken, err := parseShareAnswer(h, p); err != nil || taken {
		return errors.Join(err, errors.New("the client takes it"))
	}
	s, err := NewServerConn(conn, ServerOptions{Protocol: hello.Protocol})
	if err != nil {
		return err
	}
	if err := s.Welcome(Welcome{Session: 1, HeartbeatMS: 1000}); err != nil {
		return err
	}
	return s.Serve(&testServer{t: t})
}

// Who comes for a descriptor with a token that is none, or was used, gets nothing; and one who says nothing holds nobody up.
func TestShareTokens(t *testing.T) {
	l, err := NewLocal()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	fd, err := makeShared()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	token := [shareToken]byte{1, 2, 3}
	l.register(token, offered{fd, fd})
	silent, err := net.Dial("unix", l.name)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ask := func(token [shareToken]byte) bool {
		c, err := net.Dial("unix", l.name)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write(token[:]); err != nil {
			t.Fatal(err)
		}
		r := newRights(c.(*net.UnixConn))
		defer r.drop()
		_, err = io.ReadFull(r, make([]byte, 1))
		return err == nil && r.fd >= 0
	}
	if ask([shareToken]byte{1, 2, 4}) {
		t.Error("a wrong token is good for a descriptor")
	}
	if !ask(token) {
		t.Error("the token is good for nothing")
	}
	if ask(token) {
		t.Error("the token is good for two descriptors")
	}
}

// A client that answers an offer with something else, or not at all, is not waited for.
func TestShareAnswers(t *testing.T) {
	l, err := theLocal()
	if err != nil {
		t.Fatal(err)
	}
	hello := &Hello{Features: []string{FeatureSharedMemory}}
	for _, c := range []struct {
		name   string
		answer []byte
		want   error
	}{
		{"nothing", nil, os.ErrDeadlineExceeded},
		{"a call", frame(opEcho, 1, 0), ErrProtocol},
		{"a code without its flag", frame(OpShare, 0, FlagResponse, le32(1)), ErrProtocol},
		{"too long", frame(OpShare, 0, FlagResponse, le32(0), le32(0)), ErrProtocol},
		{"no", shareAnswer(false), ErrNotShared},
	} {
		peer, fd := pair(t)
		conn := fileConn(t, fd)
		if c.answer != nil {
			write(t, peer, c.answer)
		}
		timeout := patience
		if c.answer == nil {
			timeout = 20 * time.Millisecond
		}
		if got, err := l.Offer(conn, hello, timeout); got.FD >= 0 || got.Channel >= 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d, %v", c.name, got, err)
		}
	}
	if len(l.waiting) != 0 {
		t.Errorf("%d offers are left", len(l.waiting))
	}
}

// A client that has taken shared memory and is refused then hears why.
func TestShareRefused(t *testing.T) {
	l, err := theLocal()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	done := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			done <- err
			return
		}
		hello, _, err := ReadHello(conn, patience)
		if err != nil {
			done <- err
			return
		}
		m, err := l.Offer(conn, hello, patience)
		if err == nil {
			err = RefuseShared(conn, m, 42, "no process can be started")
			m.Close()
		}
		done <- err
	}()
	_, err = Dial(context.Background(), Options{Address: ln.Addr().String()})
	wantErr(t, err, ErrRefused)
	var e *Error
	if !errors.As(err, &e) || e.Code != 42 || !strings.Contains(e.Reason, "no process can be started") {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
