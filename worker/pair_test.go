package worker

import (
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/hipremote"
	"github.com/rocwire/rocwire/simgpu"
	"github.com/rocwire/rocwire/wire"
)

// paired is a client whose session is in this process, too.
type paired struct {
	*hipremote.Client
	conn atomic.Pointer[wire.ServerConn]
}

// frames is how many the session has received.
func (p *paired) frames() uint64 { return p.conn.Load().Stats().FramesIn }

// pair is a client and a session on rt in this process, so that what both allocate counts. The session's notices go through what wrap makes of its connection.
func pair(t *testing.T, rt hip.Runtime, wrap ...func(notifier) notifier) *paired {
	t.Helper()
	var p paired
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			sock, err := l.Accept()
			if err != nil {
				return err
			}
			hello, _, err := wire.ReadHello(sock, time.Minute)
			if err != nil {
				return err
			}
			conn, err := wire.NewServerConn(sock, wire.ServerOptions{Protocol: hello.Protocol})
			if err != nil {
				return err
			}
			p.conn.Store(conn)
			var to notifier = conn
			for _, f := range wrap {
				to = f(to)
			}
			s := newSession(rt, to, slog.New(slog.DiscardHandler))
			s.handles.own = true
			offer, err := hiprpc.ParseOffer(hello.Details)
			if err != nil {
				return err
			}
			w := wire.Welcome{Session: 1}
			if err := s.agree(&w, offer, hello.Features); err != nil {
				return err
			}
			if err := conn.Welcome(w); err != nil {
				return err
			}
			defer s.end()
			return conn.Serve(s)
		}()
	}()
	p.Client = hipremote.New(hipremote.Config{Host: "127.0.0.1", Port: fmt.Sprint(l.Addr().(*net.TCPAddr).Port), Logf: t.Logf})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &p
}

// TestGraphLaunchIsOneMessage: whatever the graph's size, and a change is one, too.
func TestGraphLaunchIsOneMessage(t *testing.T) {
	rt, err := simgpu.New(simgpu.Options{MemoryBytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	c := pair(t, rt)
	var th hip.Thread
	p, e := c.Malloc(th, 1<<20)
	if e != hip.Success {
		t.Fatal(e)
	}
	set := func(i int, value uint32) hip.GraphOp {
		return hip.GraphOp{Type: hip.GraphNodeTypeMemset, Set: &hip.GraphSet{Dst: p + hip.Ptr(16*i), Value: value, Element: 4, Width: 4, Height: 1}}
	}
	for _, nodes := range []int{1, 1000} {
		var d hip.GraphDesc
		for i := range nodes {
			d.Ops = append(d.Ops, set(i, 1))
		}
		g, e := c.GraphInstantiate(th, &d)
		if e != hip.Success {
			t.Fatal(e)
		}
		for what, call := range map[string]func() hip.Error{
			"a launch": func() hip.Error { return c.GraphLaunch(th, g, hip.StreamNull) },
			"a change": func() hip.Error {
				return c.GraphExecUpdate(th, g, []hip.GraphChange{{Index: uint32(nodes - 1), Op: set(nodes-1, 2)}})
			},
		} {
			least := uint64(1 << 30)
			for range 20 { // reports and heartbeats come in between
				before := c.frames()
				if e := call(); e != hip.Success {
					t.Fatalf("%s: %v", what, e)
				}
				if _, _, e := c.MemGetInfo(th); e != hip.Success { // answered when all before has arrived
					t.Fatal(e)
				}
				least = min(least, c.frames()-before)
			}
			if least != 2 {
				t.Errorf("%s of %d nodes and a question are %d messages", what, nodes, least)
			}
		}
	}
}

// parting is a connection about to end: notices fail, and replies still get through.
type parting struct{ notifier }

func (parting) Notify(uint16, []byte) error { return net.ErrClosed }

// TestHostFuncsOfTheEnd: no stream goes on as if a function of the client's had run, while the client can still be told that it has.
func TestHostFuncsOfTheEnd(t *testing.T) {
	for name, launch := range map[string]func(c *paired, st hip.Stream, f func()) hip.Error{
		"on a stream": func(c *paired, st hip.Stream, f func()) hip.Error { return c.LaunchHostFunc(hip.Thread{}, st, f) },
		"of a graph": func(c *paired, st hip.Stream, f func()) hip.Error {
			x, e := c.GraphInstantiate(hip.Thread{}, &hip.GraphDesc{Ops: []hip.GraphOp{{Type: hip.GraphNodeTypeHost, Host: f}}})
			if e != hip.Success {
				return e
			}
			return c.GraphLaunch(hip.Thread{}, x, st)
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt, err := simgpu.New(simgpu.Options{MemoryBytes: 64 << 20})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { rt.Close() })
			c := pair(t, rt, func(n notifier) notifier { return parting{n} })
			st, e := c.StreamCreateWithPriority(hip.Thread{}, 1, 0)
			if e != hip.Success {
				t.Fatal(e)
			}
			if e := launch(c, st, func() {}); e != hip.Success {
				t.Fatal(e)
			}
			end := time.AfterFunc(100*time.Millisecond, func() { c.conn.Load().Close("its end") })
			defer end.Stop()
			if e := c.StreamSynchronize(hip.Thread{}, st); e == hip.Success {
				t.Error("a function that has not run was waited for")
			}
		})
	}
}
