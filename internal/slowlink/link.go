// Package slowlink makes a network between two network namespaces of this machine, with a delay, a rate and a loss of one's choice: two TUN
// devices, and goroutines that carry packets between them. Where a kernel has netem that would do the same; many have not.
//
// It is for measuring and testing, on Linux, and needs root and /dev/net/tun.
package slowlink

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Options are the link's properties, the same in both directions.
type Options struct {
	RoundTrip time.Duration // of a small packet
	Rate      float64       // bits per second; 0: what the machine can do
	Loss      float64       // probability of each packet
}

// A Link joins this namespace, the near one, to a new one, the far one.
type Link struct {
	Near, Far netip.Addr
	tun       [2]*os.File
	far       string        // device in the far namespace
	carried   atomic.Uint64 // bytes
	work      chan func()   // for the thread in the far namespace
	wg        sync.WaitGroup
}

// New makes a link.
func New(opt Options) (*Link, error) {
	l := &Link{work: make(chan func())}
	made := make(chan error)
	go l.live(made)
	if err := <-made; err != nil {
		return nil, fmt.Errorf("slowlink: a network namespace: %w", err)
	}
	if err := l.join(); err != nil {
		l.Close()
		return nil, err
	}
	for i := range l.tun {
		p := newPipe(opt, l.tun[1-i], int64(i), &l.carried)
		l.wg.Go(func() { p.take(l.tun[i]) })
		l.wg.Go(p.give)
	}
	return l, nil
}

// join makes both ends, at addresses that this namespace does not have.
func (l *Link) join() (err error) {
	taken, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	// 198.18.0.0/15 is for measuring networks (RFC 2544).
	prefix := netip.MustParsePrefix("198.18.0.0/15")
	for l.Near = prefix.Addr().Next(); ; l.Near = l.Far.Next() {
		l.Far = l.Near.Next()
		if !prefix.Contains(l.Near) {
			return errors.New("slowlink: no addresses are free")
		}
		if !slices.ContainsFunc(taken, func(a net.Addr) bool { return a.(*net.IPNet).IP.Equal(l.Near.AsSlice()) }) {
			break
		}
	}
	if l.tun[0], _, err = openTUN(l.Near, l.Far); err != nil {
		return fmt.Errorf("slowlink: %w", err)
	}
	return l.Do(func() (err error) {
		l.tun[1], l.far, err = openTUN(l.Far, l.Near)
		return err
	})
}

// live is the thread of the far namespace, which ends with it.
func (l *Link) live(made chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread is of no use to others
	err := unix.Unshare(unix.CLONE_NEWNET)
	made <- err
	if err != nil {
		return
	}
	for f := range l.work {
		f()
	}
}

// Do runs f in the far namespace: sockets that it makes, on its own goroutine, are there.
func (l *Link) Do(f func() error) error {
	done := make(chan error)
	l.work <- func() { done <- f() }
	return <-done
}

// Vanish takes the far namespace's end of the link down, or up again. What is sent meanwhile is lost, and nobody is told.
func (l *Link) Vanish(gone bool) error {
	return l.Do(func() error {
		s, err := control()
		if err != nil {
			return err
		}
		defer unix.Close(s)
		f := uint16(unix.IFF_POINTOPOINT)
		if !gone {
			f |= unix.IFF_UP | unix.IFF_RUNNING
		}
		return flags(s, l.far, f)
	})
}

// Carried is how many bytes have come over the link, in both directions.
func (l *Link) Carried() uint64 { return l.carried.Load() }

// Start starts a command in the far namespace.
func (l *Link) Start(cmd *exec.Cmd) error { return l.Do(cmd.Start) }

// Close takes the link away, under whatever uses it.
func (l *Link) Close() {
	for _, f := range l.tun {
		if f != nil {
			_ = f.Close()
		}
	}
	close(l.work)
	l.wg.Wait()
}
