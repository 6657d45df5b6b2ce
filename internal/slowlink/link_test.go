package slowlink

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// link makes one or says why there can be none.
func link(t *testing.T, opt Options) *Link {
	t.Helper()
	l, err := New(opt)
	if errors.Is(err, unix.EPERM) || errors.Is(err, fs.ErrNotExist) {
		t.Skipf("a link of one's own needs root and /dev/net/tun: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// TestLink: what is sent arrives whole, over a line that loses packets, and not sooner than light would.
func TestLink(t *testing.T) {
	const delay = 20 * time.Millisecond
	l := link(t, Options{RoundTrip: delay, Loss: 0.02, Rate: 200e6})
	near, err := net.Listen("tcp", net.JoinHostPort(l.Near.String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	var far net.Conn
	start := time.Now()
	if err := l.Do(func() (err error) { far, err = net.Dial("tcp", near.Addr().String()); return err }); err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if d := time.Since(start); d < delay {
		t.Errorf("a connection within %v", d)
	}
	here, err := near.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	sent := make([]byte, 2<<20)
	for i := range sent {
		sent[i] = byte(i >> 8)
	}
	go func() { _, _ = far.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(here, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != string(sent) {
		t.Error("something else arrived")
	}
}

func TestTwoLinks(t *testing.T) {
	a, b := link(t, Options{}), link(t, Options{})
	if a.Near == b.Near {
		t.Errorf("both are at %v", a.Near)
	}
}

// TestVanish: nothing comes over while the far end is down, and what is sent again afterwards does.
func TestVanish(t *testing.T) {
	l := link(t, Options{})
	var far net.PacketConn
	if err := l.Do(func() (err error) {
		far, err = net.ListenPacket("udp", net.JoinHostPort(l.Far.String(), "0"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	near, err := net.Dial("udp", far.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	b := make([]byte, 9)
	for i, gone := range []bool{false, true, false} {
		if err := l.Vanish(gone); err != nil {
			t.Fatal(err)
		}
		before := l.Carried()
		wait := time.Now().Add(time.Minute)
		if gone {
			wait = time.Now().Add(100 * time.Millisecond)
		}
		came := false
		for !came && time.Now().Before(wait) {
			if _, err := near.Write([]byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
			_ = far.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			n, _, err := far.ReadFrom(b)
			came = err == nil && n == 1 && b[0] == byte(i)
		}
		if came == gone || !gone && l.Carried() == before { // of what was sent before, some may still be under way
			t.Errorf("%d: something came: %v, %d bytes", i, came, l.Carried()-before)
		}
	}
}
