// Package remotetest runs the management side of a worker inside a test.
package remotetest

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

// Worker is a listener on loopback whose connections a smiremote.Handler answers.
type Worker struct {
	Addr string // host:port, or unix:PATH

	ln    net.Listener
	mu    sync.Mutex
	conns map[*wire.ServerConn]bool
	wg    sync.WaitGroup
}

// Start starts a worker on a free port, or on addr if that is not empty: host:port, or
// unix:PATH. It is stopped when the test ends at the latest.
func Start(t testing.TB, addr string, opt smiremote.HandlerOptions) *Worker {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	network, at := "tcp", addr
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, at = "unix", path
	}
	ln, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	w := start(ln, opt, nil)
	if network == "unix" {
		w.Addr = addr
	}
	t.Cleanup(w.Stop)
	return w
}

// StartFor is Start on a free port for clients that are all this visitor.
func StartFor(t testing.TB, v smiremote.Visitor, opt smiremote.HandlerOptions) *Worker {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := start(ln, opt, &v)
	t.Cleanup(w.Stop)
	return w
}

// Run is Start for an example, which has no testing.TB. It panics where Start would
// end the test.
func Run(opt smiremote.HandlerOptions) (addr string, stop func()) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	w := start(ln, opt, nil)
	return w.Addr, w.Stop
}

func start(ln net.Listener, opt smiremote.HandlerOptions, visitor *smiremote.Visitor) *Worker {
	w := &Worker{Addr: ln.Addr().String(), ln: ln, conns: map[*wire.ServerConn]bool{}}
	h := smiremote.NewHandler(opt)
	w.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			w.wg.Go(func() { w.serve(conn, h, visitor) })
		}
	})
	return w
}

func (w *Worker) serve(conn net.Conn, h *smiremote.Handler, visitor *smiremote.Visitor) {
	hello, head, err := wire.ReadHello(conn, 5*time.Second)
	if err != nil {
		_ = conn.Close()
		return
	}
	if hello.Purpose != smiremote.Purpose {
		_ = wire.Refuse(conn, 1, "only management is served here")
		return
	}
	s, err := wire.NewServerConn(conn, wire.ServerOptions{Protocol: head.Version, MaxRequest: smiremote.MaxRequest})
	if err != nil {
		return
	}
	w.mu.Lock()
	w.conns[s] = true
	w.mu.Unlock()
	if s.Welcome(wire.Welcome{Version: "test", Session: 1, Backend: "test"}) == nil {
		if visitor == nil {
			visitor = &smiremote.Visitor{From: s.Peer().String(), Set: true, Kill: true, Issue: true, Inject: true}
		}
		_ = h.Serve(s, *visitor) // how a client ended is not the test's concern
	}
	w.mu.Lock()
	delete(w.conns, s)
	w.mu.Unlock()
}

// Drop ends all connections, not the listener.
func (w *Worker) Drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.conns {
		s.Close("dropped")
	}
}

// Stop ends the listener and all connections and waits for them.
func (w *Worker) Stop() {
	_ = w.ln.Close()
	for {
		w.mu.Lock()
		n := len(w.conns)
		for s := range w.conns {
			s.Close("stopped")
		}
		w.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	w.wg.Wait()
}
