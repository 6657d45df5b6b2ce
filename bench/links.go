package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/internal/slowlink"
	"github.com/rocwire/rocwire/wire"
)

// linkBytes is how much is copied over a slow link.
const linkBytes = 16 << 20

// benchLinks measures what the way between two machines makes of it.
func benchLinks(t *table, _ *floor, _ string) error {
	lossy, err := slowlink.New(slowlink.Options{RoundTrip: time.Millisecond, Rate: 1e9, Loss: 0.01})
	if err != nil {
		t.plain("links: not measured", "", "a link of one's own needs root and /dev/net/tun: "+err.Error())
		return nil
	}
	defer lossy.Close()
	var bare, here []float64
	for range *rounds {
		b, err := bareCopy(lossy)
		if err != nil {
			return err
		}
		h, err := wireCopy(lossy, touched(linkBytes))
		if err != nil {
			return err
		}
		bare, here = append(bare, b), append(here, h)
	}
	name := fmt.Sprintf("links: %d MiB to the server at 1 Gbit/s, 1 ms, 1 %% lost, floor socket with reno", linkBytes>>20)
	limit := 3.0
	if !hasBBR() {
		name, limit = name+" (no bbr here)", 0
	}
	t.row(name, bare, here, megabytes, limit, true)
	return slowCopies(t)
}

func hasBBR() bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "bbr") == nil
}

// wireCopy copies from the far end to a server at the near one, in bytes per second.
func wireCopy(l *slowlink.Link, data []byte, features ...string) (float64, error) {
	c, stop, err := startWire(net.JoinHostPort(l.Near.String(), "0"), "", func(opt wire.Options) (c *wire.Client, err error) {
		opt.Hello.Features = features
		err = l.Do(func() error { c, err = wire.Dial(context.Background(), opt); return err })
		return c, err
	})
	if err != nil {
		return 0, err
	}
	defer stop()
	if err := copyTo(c, data, 0); err != nil { // from here on both sides know the path
		return 0, err
	}
	start := time.Now()
	if err := copyTo(c, data, 0); err != nil {
		return 0, err
	}
	return linkBytes / time.Since(start).Seconds(), nil
}

// bareCopy does so with sockets that do what most do.
func bareCopy(l *slowlink.Link) (float64, error) {
	near, err := net.Listen("tcp", net.JoinHostPort(l.Near.String(), "0"))
	if err != nil {
		return 0, err
	}
	defer near.Close()
	var far net.Conn
	if err := l.Do(func() (err error) { far, err = net.Dial("tcp", near.Addr().String()); return err }); err != nil {
		return 0, err
	}
	defer far.Close()
	raw, err := far.(*net.TCPConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var set error
	if err := raw.Control(func(fd uintptr) { set = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") }); err != nil || set != nil {
		return 0, fmt.Errorf("reno: %v %w", err, set)
	}
	here, err := near.Accept()
	if err != nil {
		return 0, err
	}
	defer here.Close()
	start := time.Now()
	go func() { _, _ = far.Write(make([]byte, linkBytes)) }()
	if _, err := io.CopyN(io.Discard, here, linkBytes); err != nil {
		return 0, err
	}
	return linkBytes / time.Since(start).Seconds(), nil
}

func megabytes(bps float64) string { return fmt.Sprintf("%.1f MB/s", bps/1e6) }

// slowCopies are copies of data that shrinks, and of data that does not, over a link of 100 Mbit/s.
func slowCopies(t *table) error {
	l, err := slowlink.New(slowlink.Options{RoundTrip: 5 * time.Millisecond, Rate: 100e6})
	if err != nil {
		return err
	}
	defer l.Close()
	noise := make([]byte, linkBytes)
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(noise)
	words := make([]byte, linkBytes)
	for i := range words {
		words[i] = "activation weights of a layer, many of them alike "[(i+i/4096)%50]
	}
	for _, c := range []struct {
		name  string
		data  []byte
		limit float64
	}{{"random data", noise, 0.9}, {"text", words, 2}} {
		var bare, here []float64
		for range *rounds {
			b, err := wireCopy(l, c.data)
			if err != nil {
				return err
			}
			h, err := wireCopy(l, c.data, wire.FeaturePacked)
			if err != nil {
				return err
			}
			bare, here = append(bare, b), append(here, h)
		}
		t.row(fmt.Sprintf("links: %d MiB of %s to the server at 100 Mbit/s, 5 ms, floor not compressed", linkBytes>>20, c.name), bare, here, megabytes, c.limit, true)
	}
	return nil
}
