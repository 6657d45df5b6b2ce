package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/wire"
)

// serverOf serves a connection whose Hello has been read: in shared memory, if the client wants that, which nothing cuts and which so is never resumed. The
// features are what the Welcome can grant.
func serverOf(conn net.Conn, hello *wire.Hello) (s *wire.ServerConn, features []string, err error) {
	opt := wire.ServerOptions{Protocol: hello.Protocol, Park: time.Minute}
	local, err := wire.NewLocal()
	if err != nil {
		return nil, nil, err
	}
	defer local.Close()
	memory, err := local.Offer(conn, hello, 5*time.Second)
	if errors.Is(err, wire.ErrNotShared) {
		s, err := wire.NewServerConn(conn, opt)
		return s, []string{wire.FeaturePacked, wire.FeatureResume}, err
	}
	if err != nil {
		return nil, nil, err
	}
	f, _, err := wire.Handover(conn)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	_ = conn.Close()
	s, err = wire.NewServerShared(memory, fd, opt)
	return s, []string{wire.FeaturePacked}, err
}

// startShared is startLocal through shared memory.
func startShared() (*wire.Client, func(), error) {
	c, stop, err := startWire("127.0.0.1:0", "", func(opt wire.Options) (*wire.Client, error) {
		opt.NoShare = false
		return wire.Dial(context.Background(), opt)
	})
	if err == nil && c.NotShared() != nil {
		stop()
		return nil, nil, c.NotShared()
	}
	return c, stop, err
}

// sharedMost is what a call may take, in ns.
const sharedMost = 3000

// sharedCopy is what a copy must reach of memcpy's speed.
const sharedCopy = 0.8

// wireShared measures calls through shared memory, beside two bare processes that only look and two that only sleep, and copies of all sizes beside memcpy.
func wireShared(t *table, f *floor, dir string) error {
	bare := filepath.Join(dir, "shared")
	if err := compile(bare, "bench/c/shared.c"); err != nil {
		return err
	}
	c, stop, err := startShared()
	if err != nil {
		return err
	}
	defer stop()
	m := wire.GetMsg()
	m.Req = make([]byte, callBytes)
	times := make([]float64, *calls)
	var spin, futex, here, here99, least []float64
	for range *rounds {
		s, err := (&floor{bare}).measure("spin", *calls, wire.HeaderSize+callBytes, wire.HeaderSize+4+callBytes)
		if err != nil {
			return err
		}
		z, err := (&floor{bare}).measure("futex", *calls, wire.HeaderSize+callBytes, wire.HeaderSize+4+callBytes)
		if err != nil {
			return err
		}
		for i := range times {
			start := time.Now()
			if err := c.Call(opEcho, m); err != nil {
				return err
			}
			times[i] = float64(time.Since(start))
		}
		slices.Sort(times)
		spin, futex = append(spin, s[0]), append(futex, z[0])
		here, here99, least = append(here, times[len(times)/2]), append(here99, times[len(times)*99/100]), append(least, times[len(times)/10])
	}
	t.row("shared: sync call p50, floor two processes that look", spin, here, micros, 0, false)
	t.row("shared: sync call p50, floor two processes that sleep", futex, here, micros, 1, false)
	t.plain("shared: sync call p10 and p99", micros(median(least))+", "+micros(median(here99)), "p50 ≤ 3 µs: "+verdict(median(here) <= sharedMost))
	if err := sharedCopies(t, f, c); err != nil {
		return err
	}
	return nearCopies(t)
}

// sharedCopies walks through as much memory with copies of each size: data that is copied comes from memory, as a rule, and not from a cache.
func sharedCopies(t *table, f *floor, c *wire.Client) error {
	memory := touched(*size)
	for n := 64 << 10; ; n = min(8*n, *size) {
		var bare, to, from []float64
		for range *rounds {
			b, err := f.measure("memcpy", *size, 3)
			if err != nil {
				return err
			}
			bare = append(bare, b[0])
			for _, way := range []struct {
				list *[]float64
				copy func(*wire.Client, []byte, int) error
			}{{&to, copyTo}, {&from, copyFrom}} {
				start := time.Now()
				for at := 0; at < *size; at += n {
					if err := way.copy(c, memory[at:min(at+n, *size)], at); err != nil {
						return err
					}
				}
				*way.list = append(*way.list, float64(*size)/time.Since(start).Seconds())
			}
		}
		name := fmt.Sprintf("shared: copies of %d KiB", n>>10)
		t.row(name+" to the server, floor memcpy", bare, to, rate, 0, true)
		t.row(name+" from the server", bare, from, rate, 0, true)
		if n == *size {
			return nil
		}
	}
}
