package main

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

// maxWorkers is how many workers there are addresses for.
const maxWorkers = 100_000

// purposeHIP is that of a session, as hip-worker has it.
const purposeHIP = "hip"

// address is that of a worker, by its number: each has one of its own.
func address(i int, port string) string {
	return net.JoinHostPort(fmt.Sprintf("127.%d.%d.%d", 16+i/62500, i/250%250, i%250+1), port)
}

// workers are all workers of the fleet.
type workers struct {
	port      string // of all
	listeners []net.Listener
	all       []*worker
	wg        sync.WaitGroup

	names *names

	mu      sync.Mutex
	open    map[*wire.ServerConn]bool // true: it asks for management
	in, out uint64                    // bytes of those that have ended
}

// workersStats is what they tell of themselves.
type workersStats struct {
	Port       string
	Workers    int
	In, Out    uint64 // bytes of management, from and to those who ask
	Management int    // connections now
	Sessions   int
	NamesOut   int64 // bytes of answers to who the workers are
	Names      namesAt
	Goroutines int
	Readings   uint64 // of the figures of one card, by whoever asks
}

func newWorkers() (*workers, error) {
	n, err := startNames()
	return &workers{names: n, open: map[*wire.ServerConn]bool{}}, err
}

// grow starts further workers until there are n.
func (w *workers) grow(n int) error {
	for i := len(w.listeners); i < n; i++ {
		ln, err := w.listen(i)
		if err != nil {
			return err
		}
		w.listeners = append(w.listeners, ln)
		one := newWorker(i)
		w.all = append(w.all, one)
		h := smiremote.NewHandler(smiremote.HandlerOptions{Source: one, Sessions: one, Timeout: handshakes, Version: "fleet", Backend: "none"})
		w.wg.Go(func() {
			for {
				conn, err := ln.Accept()
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil { // descriptors, for example: who connects hears of it by waiting
					time.Sleep(10 * time.Millisecond)
					continue
				}
				w.wg.Go(func() { w.serve(conn, one, h) })
			}
		})
	}
	return nil
}

// listen finds a port that all addresses have free with the first of them.
func (w *workers) listen(i int) (net.Listener, error) {
	if w.port != "" {
		return net.Listen("tcp", address(i, w.port))
	}
	ln, err := net.Listen("tcp", address(0, "0"))
	if err == nil {
		_, w.port, err = net.SplitHostPort(ln.Addr().String())
	}
	return ln, err
}

func (w *workers) serve(conn net.Conn, one *worker, h *smiremote.Handler) {
	hello, head, err := wire.ReadHello(conn, handshakes)
	if err != nil {
		_ = conn.Close()
		return
	}
	manages := hello.Purpose == smiremote.Purpose
	if !manages { // a thread and a second descriptor for each is what a session process of its own can afford
		conn = struct{ net.Conn }{conn}
	}
	s, err := wire.NewServerConn(conn, wire.ServerOptions{Protocol: head.Version, MaxRequest: smiremote.MaxRequest})
	if err != nil {
		_ = conn.Close()
		return
	}
	w.opened(s, manages)
	defer w.closed(s, manages)
	if manages {
		if s.Welcome(wire.Welcome{Version: "fleet", Session: 1, Backend: "none"}) == nil {
			_ = h.Serve(s, smiremote.Visitor{From: s.Peer().String()}) // how a client ended is not of interest
		}
		return
	}
	n := one.begin(smi.Client{Address: s.Peer().String(), Host: hello.Host, PID: uint32(hello.PID), User: hello.User, Namespace: hello.Namespace, Pod: hello.Pod})
	defer one.end(n)
	if s.Welcome(wire.Welcome{Version: "fleet", Session: n, Backend: "none"}) == nil {
		_ = s.Serve(wire.HandlerFunc(func(r *wire.Request) { _ = r.Reply(int32(smi.ErrNotSupported), nil) }))
	}
}

func (w *workers) opened(s *wire.ServerConn, manages bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[s] = manages
}

func (w *workers) closed(s *wire.ServerConn, manages bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, s)
	if manages {
		st := s.Stats()
		w.in, w.out = w.in+st.BytesIn, w.out+st.BytesOut
	}
}

// stats counts the bytes of connections that are open, too.
func (w *workers) stats() workersStats {
	s := workersStats{Port: w.port, Workers: len(w.listeners), NamesOut: w.names.out.Load(), Names: w.names.at, Goroutines: runtime.NumGoroutine()}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.In, s.Out = w.in, w.out
	for _, one := range w.all {
		s.Readings += one.readings.Load()
	}
	for c, manages := range w.open {
		if !manages {
			s.Sessions++
			continue
		}
		st := c.Stats()
		s.In, s.Out = s.In+st.BytesIn, s.Out+st.BytesOut
		s.Management++
	}
	return s
}

func (w *workers) close() {
	for _, ln := range w.listeners {
		_ = ln.Close()
	}
	w.mu.Lock()
	for s := range w.open {
		s.Close("the measurement is over")
	}
	w.mu.Unlock()
	w.names.close()
	w.wg.Wait()
}
