package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/exporter/rpcstats"
	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
)

// Purposes of a connection, as its Hello states them.
const (
	PurposeHIP = "hip"
	PurposeSMI = "smi"
)

// Server is the parent process of a worker.
type Server struct {
	cfg       Config
	listeners []net.Listener
	pool      *pool
	totals    totals
	strangers atomic.Int64
	nextID    atomic.Uint64
	closing   atomic.Bool
	ctx       context.Context // done when the server begins to stop
	cancel    context.CancelFunc
	done      chan struct{} // closed when it has stopped
	conns     sync.WaitGroup
	smi       *smiremote.Handler
	managers  atomic.Int64 // management connections
	quotas    quotas

	mu       sync.Mutex
	sessions map[uint64]*sessionRecord
	byPID    map[int]*sessionRecord // of session processes; nil while one serves nobody
}

// New listens. Its errors are ErrNotLoopback, ErrPortInUse, or the operating system's.
func New(cfg Config) (*Server, error) {
	cfg.defaults()
	listeners, err := cfg.listen()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, listeners: listeners, sessions: map[uint64]*sessionRecord{}, byPID: map[int]*sessionRecord{}, done: make(chan struct{})}
	s.quotas = quotas{all: map[int]smi.Quota{}, own: map[uint64]map[int]smi.Quota{}, cards: map[int]busAddress{}}
	s.totals.latency = rpcstats.NewTotals(rpcstats.Names{Op: hiprpc.OpName, Code: codeName})
	s.smi = smiremote.NewHandler(smiremote.HandlerOptions{
		Source: s.Source(), Sessions: s, Calls: s.Calls(), Version: cfg.Version, Backend: cfg.Backend.sourceName(), AllowSet: cfg.AllowSet,
		Kill: s.KillSession, AllowKill: func(peer wire.Peer) bool { return cfg.AllowSet || smiremote.Operator(peer) },
	})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.pool = &pool{
		spawn: newSpawner(), command: append(append([]string(nil), cfg.Command...), cfg.Backend.Args...), files: cfg.Backend.Files,
		warm: cfg.Warm, log: cfg.Log, onGone: s.gone, onStart: s.started, all: map[*proc]struct{}{},
	}
	return s, nil
}

// Calls tells how long calls took, in sessions and as their clients saw them, and which were the slowest.
func (s *Server) Calls() *rpcstats.Totals { return s.totals.latency }

// greet reads a new connection's Hello and brings it to where it belongs. A client that says nothing holds only this goroutine, for a
// limited time.
func (s *Server) greet(conn net.Conn) {
	peer := wire.PeerOf(conn)
	if err := s.cfg.Socket.allowed(peer); err != nil {
		s.strangers.Add(-1)
		s.totals.refuse()
		s.cfg.Log.Warn("client refused", "from", peer.String(), "error", err)
		_ = wire.Refuse(conn, int32(hip.ErrorNotInitialized), err.Error())
		return
	}
	stop := context.AfterFunc(s.ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	hello, head, err := wire.ReadHello(conn, s.cfg.HelloTimeout)
	s.strangers.Add(-1)
	stop()
	if err != nil {
		s.totals.refuse()
		s.cfg.Log.Warn("connection dropped", "from", peer.String(), "error", err)
		if errors.Is(err, wire.ErrProtocol) {
			_ = wire.Refuse(conn, int32(hip.ErrorInvalidValue), err.Error())
			return
		}
		_ = conn.Close()
		return
	}
	switch hello.Purpose {
	case PurposeHIP:
		if err := s.begin(conn, peer, hello, head); err != nil {
			s.totals.refuse()
			s.cfg.Log.Warn("client refused", "from", peer.String(), "error", err)
			_ = wire.Refuse(conn, int32(refusalCode(err)), err.Error())
		}
	case PurposeSMI:
		s.manage(conn, hello)
	default:
		s.totals.refuse()
		s.cfg.Log.Warn("client refused", "from", peer.String(), "purpose", printable(hello.Purpose, 64))
		_ = wire.Refuse(conn, int32(hip.ErrorNotSupported), fmt.Sprintf("purpose %q is not served here", printable(hello.Purpose, 64)))
	}
}

// manage serves a management client in this process.
func (s *Server) manage(conn net.Conn, hello *wire.Hello) {
	if s.managers.Add(1) > maxManagers {
		s.managers.Add(-1)
		s.totals.refuse()
		_ = wire.Refuse(conn, int32(smi.ErrBusy), "too many management clients")
		return
	}
	defer s.managers.Add(-1)
	c, err := wire.NewServerConn(conn, wire.ServerOptions{Protocol: hello.Protocol, Heartbeat: hello.Heartbeat(), Silence: managerSilence})
	if err != nil {
		s.cfg.Log.Warn("management client", "error", err)
		return
	}
	stop := context.AfterFunc(s.ctx, func() { c.Close("the worker stops") })
	defer stop()
	if err := c.Welcome(wire.Welcome{Version: s.cfg.Version, Backend: s.cfg.Backend.Name}); err != nil {
		c.Close("")
	}
	if err := s.smi.Serve(c); err != nil {
		s.cfg.Log.Debug("management client", "error", err)
	}
}

// Limits of management connections.
const (
	maxManagers    = 256
	managerSilence = 5 * time.Minute
)

var errFull = errors.New("all sessions are taken")

func refusalCode(err error) hip.Error {
	switch {
	case errors.Is(err, errFull):
		return hip.ErrorOutOfMemory
	case errors.Is(err, errStopping):
		return hip.ErrorNotInitialized
	case errors.Is(err, wire.ErrProtocol):
		return hip.ErrorInvalidValue
	}
	return hip.ErrorUnknown
}

// begin gives the client a session process. Unless it fails, conn is the process's.
func (s *Server) begin(conn net.Conn, peer wire.Peer, hello *wire.Hello, head wire.Header) error {
	if _, err := hiprpc.ParseOffer(hello.Details); err != nil {
		return err
	}
	rec := &sessionRecord{id: s.nextID.Add(1), client: clientOf(hello, peer), start: time.Now(), stats: &s.totals, over: make(chan struct{}), spans: s.spanSink(hello)}
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return errStopping
	}
	if len(s.sessions) >= s.cfg.MaxSessions {
		s.mu.Unlock()
		return fmt.Errorf("%w: %d", errFull, s.cfg.MaxSessions)
	}
	s.sessions[rec.id] = rec
	s.mu.Unlock()
	p, err := s.handOver(conn, hello, head, rec)
	if err != nil {
		s.mu.Lock()
		delete(s.sessions, rec.id)
		s.mu.Unlock()
		return err
	}
	s.totals.session()
	s.cfg.Log.Info("session begins", "session", rec.id, "pid", p.pid(), "client", rec.client.Address, "host", rec.client.Host,
		"client_pid", rec.client.PID, "executable", rec.client.Executable, "user", rec.client.User)
	return nil
}

func (s *Server) handOver(conn net.Conn, hello *wire.Hello, head wire.Header, rec *sessionRecord) (*proc, error) {
	packed, err := hello.Append(nil)
	if err != nil {
		return nil, err
	}
	f, err := conn.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for try := 0; ; try++ {
		p, err := s.pool.get()
		if err != nil {
			return nil, err
		}
		rec.setPID(p.pid())
		s.quotas.mu.Lock() // SetQuota must not come between the first limits and the process's having a session
		s.mu.Lock()        // gone must not see a process between having the session and not getting it
		s.byPID[p.pid()] = rec
		err = p.serve(rec, &start{Session: rec.id, Version: head.Version, InitID: head.ID, Hello: packed, Limits: s.limits(rec.id), Trace: rec.spans.context != nil}, int(f.Fd()))
		s.mu.Unlock()
		s.quotas.mu.Unlock()
		if err == nil {
			return p, conn.Close() // the process has its own descriptor
		}
		p.kill() // it died while it was idle
		if try == 2 {
			return nil, err
		}
	}
}

// started and gone are told of every session process.
func (s *Server) started(p *proc) {
	s.mu.Lock()
	s.byPID[p.pid()] = nil
	s.mu.Unlock()
}

func (s *Server) gone(p *proc) {
	if s.cfg.Backend.Reap != nil {
		s.cfg.Backend.Reap(p.pid())
	}
	s.mu.Lock()
	rec := p.record()
	delete(s.byPID, p.pid())
	if rec != nil {
		delete(s.sessions, rec.id)
	}
	s.mu.Unlock()
	if rec == nil {
		return
	}
	defer close(rec.over)
	s.forgetQuota(rec.id)
	state := p.cmd.ProcessState
	if rec.wasStopped() || p.ended.Load() && state.Success() {
		s.cfg.Log.Info("session ended", "session", rec.id, "reason", rec.endReason())
	} else {
		s.cfg.Log.Error("session process died", "session", rec.id, "pid", p.pid(), "state", state.String())
	}
}

// watch kills session processes that have stopped reporting.
func (s *Server) watch() {
	t := time.NewTicker(s.cfg.Stall / 8)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.pool.each(func(p *proc) {
				if p.stalled(s.cfg.Stall) {
					s.cfg.Log.Error("session process does not report and is killed", "pid", p.pid(), "for", s.cfg.Stall)
					p.kill()
				}
			})
		case <-s.ctx.Done():
			return
		}
	}
}

// Close stops accepting, ends every session and waits until all session processes are gone.
func (s *Server) Close() {
	s.mu.Lock()
	if s.closing.Swap(true) {
		s.mu.Unlock()
		<-s.done
		return
	}
	s.mu.Unlock()
	closeAll(s.listeners)
	s.cancel()
	s.conns.Wait()
	s.pool.close(s.cfg.Grace)
	close(s.done)
}
