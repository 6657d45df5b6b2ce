package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hipv1"
	v1 "github.com/rocwire/rocwire/hipv1/session"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/internal/mono"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
)

// serveV1 is a session of a client of the earlier protocol. fd is its socket, hup another descriptor of it.
func (p *SessionProcess) serveV1(ctl *control, fd, hup int, sess Session, st *start) error {
	log := p.Log.With("session", sess.ID)
	first, err := hipv1.ParseHeader(st.First)
	if err != nil {
		return err
	}
	conn, err := plainConn(fd)
	if err != nil {
		return err
	}
	b := newBroker(ctl)
	sess.Broker = b
	var told atomic.Pointer[string] // why the worker wants it to end
	end := func(reason string, err error) error {
		if why := told.Load(); why != nil { // the connection was closed here, and is nobody's failure
			_ = ctl.send(encodeEnd(*why), -1)
			return nil
		}
		if err != nil {
			log.Warn("session ended", "reason", reason)
		}
		loglimit.Flush(p.Log)
		_ = ctl.send(encodeEnd(reason), -1)
		return conn.Close()
	}
	opened, err := p.Open(sess)
	if err != nil {
		log.Error("the runtime does not open", "error", err)
		code := hip.ErrorNoDevice
		errors.As(err, &code)
		_, _ = conn.Write(hipv1.Refusal(first, int32(code)))
		return end(err.Error(), err)
	}
	s := newSession(opened.Runtime, nil, log)
	s.account(st.HostMemory)
	within := s.limit()
	defer within.Close()
	b.bound(within, st)
	s.untranslated = opened.Untranslated
	if opened.Faults != nil {
		opened.Faults(func(device int32, _ hip.Stream, code hip.Error, detail string) {
			log.Warn("asynchronous failure", "device", device, "error", code.Error(), "detail", detail)
		})
	}
	if opened.Output != nil { // the protocol has no place for it
		opened.Output(func(_ bool, text []byte) { log.Info("a kernel prints", "text", printable(string(text), 512)) })
	}
	cards := &v1Cards{ctl: ctl, answers: make(chan v1Answer, 8)}
	ours := v1.New(s.configV1(conn, cards, log))
	r := newReporter(ctl, func() wire.Stats { return wire.Stats{BytesIn: conn.in.Load(), BytesOut: conn.out.Load()} }, s)
	stop, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		r.run(stop)
	}()
	go func() {
		reason := orders(ctl, within, b, &orderTakers{cards: cards})
		b.stop()
		told.Store(&reason)
		_ = conn.Close()
		time.Sleep(time.Second)
		loglimit.Flush(p.Log)
		_ = ctl.send(encodeEnd(reason), -1)
		os.Exit(0) // a call hangs
	}()
	go endHangingV1(hup, ctl, log)
	err = ours.Serve(&first)
	s.end()
	if opened.Ended != nil {
		opened.Ended()
	}
	close(stop)
	select {
	case <-finished:
	case <-time.After(time.Second):
	}
	if err != nil {
		return end(err.Error(), err)
	}
	return end(byClient, nil)
}

// configV1 is what the client's calls are served with: all that the worker holds any session to.
func (s *session) configV1(conn net.Conn, cards *v1Cards, log *slog.Logger) v1.Config {
	op := func(o hipv1.Op) (uint16, bool) { n, ok := opOf[o.Function()]; return n, ok }
	return v1.Config{
		Conn: conn, Runtime: s.rt, Placer: s.placer, Cards: cards.ask, Log: log,
		Memory: s.mem, Cost: hostmem.Cost, ModuleCost: hostmem.Module, GraphCost: hostmem.GraphOp, PlaceCost: hostmem.Mapping,
		Room: s.roomV1,
		Began: func(o hipv1.Op) {
			n, _ := op(o)
			s.calls.Add(1)
			s.opSince.Store(mono.Now())
			s.op.Store(uint32(n))
		},
		Ended: func(o hipv1.Op, code hip.Error, took time.Duration) {
			s.op.Store(0)
			if n, ok := op(o); ok {
				s.times.total.Record(n, int32(code), took)
				s.times.execution.Record(n, int32(code), took)
			}
		},
	}
}

// roomV1 waits while the streams have as much to do as they may.
func (s *session) roomV1() {
	if s.backlog == nil || s.mostQueued == 0 || s.backlog.Queued() <= s.mostQueued {
		return
	}
	s.backlog.WaitQueued(s.mostQueued/2, s.over)
}

// opOf is package hip's operations by function.
var opOf = func() map[string]uint16 {
	m := map[string]uint16{}
	for op, name := range hip.Ops() {
		m[name] = op
	}
	return m
}()

// v1Conn counts what goes through a connection.
type v1Conn struct {
	net.Conn
	in, out atomic.Uint64
}

func (c *v1Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.in.Add(uint64(n))
	return n, err
}

func (c *v1Conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.out.Add(uint64(n))
	return n, err
}

// plainConn takes a descriptor over. A client that is gone without a word is noticed by the kernel: the protocol has no signs of life.
func plainConn(fd int) (*v1Conn, error) {
	f := os.NewFile(uintptr(fd), "client")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("worker: the client's connection: %w", err)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 6})
		_ = t.SetNoDelay(true)
	}
	return &v1Conn{Conn: c}, nil
}

// endHangingV1 ends the process when the client is gone and something on the line never ends.
func endHangingV1(hup int, ctl *control, log *slog.Logger) {
	for {
		p := []unix.PollFd{{Fd: int32(hup), Events: unix.POLLRDHUP}}
		if n, err := unix.Poll(p, -1); n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Close(hup)
	time.Sleep(2 * hangupGrace)
	const reason = "the client has gone in the middle of work that does not end"
	log.Warn("session ended", "reason", reason)
	loglimit.Flush(log)
	_ = ctl.send(encodeEnd(reason), -1)
	os.Exit(0)
}
