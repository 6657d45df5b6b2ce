package worker

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocwire/rocwire/calls/rpcstats"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/internal/loglimit"
	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
	"github.com/rocwire/rocwire/worker/quota/joint"
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
	tls       *keyring    // nil without TLS
	local     *wire.Local // shares memory with clients on this machine; nil: nobody does
	pool      *pool
	totals    totals
	gate      *admission.Gate
	turned    chan struct{} // held for each connection that is being told why it is refused
	nextID    atomic.Uint64
	closing   atomic.Bool
	ctx       context.Context // done when the server begins to stop
	cancel    context.CancelFunc
	done      chan struct{} // closed when it has stopped
	conns     sync.WaitGroup
	smi       *smiremote.Handler
	access    *access.Authority
	quotas    quotas
	places    places
	accounts  joint.Accounts
	dead      dead
	rooms     sync.Mutex // held while sessions give way to an allocation

	mu       sync.Mutex
	sessions map[uint64]*sessionRecord
	byPID    map[int]*sessionRecord // of session processes; nil while one serves nobody
}

// New listens. Its errors are ErrNotLoopback, ErrPortInUse, or the operating system's.
func New(cfg Config) (*Server, error) {
	cfg.defaults()
	who, err := cfg.authority()
	if err != nil {
		return nil, err
	}
	keys, err := cfg.TLS.keyring(who.KnowsTokens(), cfg.Log)
	if err != nil {
		return nil, err
	}
	if err := cfg.Limits.Complete(); err != nil {
		return nil, err
	}
	gate, err := admission.NewGate(cfg.Limits)
	if err != nil {
		return nil, err
	}
	listeners, err := cfg.listen(who.KnowsTokens())
	if err != nil {
		return nil, err
	}
	spawn, err := newSpawner(&cfg)
	if err != nil {
		closeAll(listeners)
		return nil, err
	}
	s := &Server{cfg: cfg, access: who, listeners: listeners, tls: keys, sessions: map[uint64]*sessionRecord{}, byPID: map[int]*sessionRecord{}, done: make(chan struct{}), gate: gate, turned: make(chan struct{}, maxTurned)}
	s.quotas = quotas{all: map[int]smi.Quota{}, own: map[uint64]map[int]smi.Quota{}, cards: map[int]busAddress{}}
	s.totals.latency = rpcstats.NewTotals(rpcstats.Names{Op: hiprpc.OpName, Code: codeName})
	s.smi = smiremote.NewHandler(smiremote.HandlerOptions{
		Source: s.Source(), Sessions: s, Calls: s.Calls(), Version: cfg.Version, Backend: cfg.Backend.sourceName(), AllowSet: cfg.AllowSet,
		Kill: s.KillSession, Tokens: (*tokens)(s), Done: s.auditChange,
	})
	if !cfg.NoShare {
		if s.local, err = wire.NewLocal(); err != nil {
			cfg.Log.Warn("no memory is shared with clients on this machine", "error", err)
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.pool = &pool{
		spawn: spawn, command: append(append([]string(nil), cfg.Command...), cfg.Backend.Args...), seat: cfg.Backend.Seat,
		warm: cfg.Warm, patience: cfg.StartTimeout, shares: shares{most: cfg.Limits.Shares, modules: newModuleCache(cfg.ModuleCache), room: s.makeRoom, spare: s.spare}, log: cfg.Log, onGone: s.gone, onStart: s.started, cards: s.askedV1, joint: s.askedJoint, all: map[*proc]struct{}{},
	}
	return s, nil
}

// Calls tells how long calls took, in sessions and as their clients saw them, and which were the slowest.
func (s *Server) Calls() *rpcstats.Totals { return s.totals.latency }

// started and gone are told of every session process.
func (s *Server) started(p *proc) {
	s.mu.Lock()
	s.byPID[p.pid()] = nil
	s.mu.Unlock()
}

func (s *Server) gone(p *proc) {
	rec, state := p.record(), p.cmd.ProcessState
	ended := rec == nil || rec.wasStopped() || p.ended.Load() && state.Success()
	if rec != nil {
		if how := rec.howItEnded(!ended, state); how != "" {
			s.dead.add(rec, how)
		}
	}
	s.mu.Lock()
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
	rec.leave()
	defer func() { s.audit(audit.End, rec.from(), rec.endReason(), nil) }()
	if ended {
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
	if s.local != nil {
		_ = s.local.Close()
	}
	s.cancel()
	s.conns.Wait()
	s.pool.close(s.cfg.Grace)
	s.pool.shares.modules.close()
	loglimit.Flush(s.cfg.Log)
	close(s.done)
}
