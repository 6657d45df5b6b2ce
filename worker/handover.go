package worker

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/rocwire/rocwire/hip"
	"github.com/rocwire/rocwire/hip/hiprpc"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
)

func refusalCode(err error) hip.Error {
	switch {
	case errors.Is(err, admission.ErrFull), errors.Is(err, errStopping), errors.Is(err, access.ErrRefused), errors.Is(err, access.ErrAway):
		return hip.ErrorNotInitialized
	case errors.Is(err, wire.ErrProtocol):
		return hip.ErrorInvalidValue
	case errors.As(err, new(*purposeError)):
		return hip.ErrorNotSupported
	}
	return hip.ErrorUnknown
}

// begin gives the client a session process. Unless it fails, conn is the process's.
func (s *Server) begin(conn net.Conn, from caller, hello *wire.Hello, head wire.Header) error {
	if _, err := hiprpc.ParseOffer(hello.Details); err != nil {
		return err
	}
	rec := &sessionRecord{id: s.nextID.Add(1), who: *from.who, peer: from.peer, client: clientOf(hello, from.peer, *from.who), start: time.Now(), transport: transportOf(conn), stats: &s.totals, over: make(chan struct{}), spans: s.spanSink(hello)}
	place, err := s.takePlace(from)
	if err != nil {
		return err
	}
	rec.calls = s.totals.latency.Reporter()
	rec.leave = func() { place(); rec.calls.End(); rec.holder.Leave() }
	s.join(rec)
	rec.onPark, rec.onJudged = s.logPark(rec), s.logJudged
	served := false
	defer func() {
		if !served {
			rec.leave()
		}
	}()
	s.mu.Lock()
	if s.closing.Load() {
		s.mu.Unlock()
		return errStopping
	}
	s.sessions[rec.id] = rec
	s.mu.Unlock()
	var p *proc
	if err = s.stillGood(&rec.who); err == nil { // asked when RevokeToken can see the session
		p, err = s.handOver(conn, hello, head, rec)
	}
	if err != nil {
		s.mu.Lock()
		delete(s.sessions, rec.id)
		s.mu.Unlock()
		return err
	}
	served = true
	s.totals.session()
	s.cfg.Log.Info("session begins", "session", rec.id, "pid", p.pid(), "client", rec.client.Address, "host", rec.client.Host,
		"client_pid", rec.client.PID, "executable", rec.client.Executable, "user", rec.client.User, "who", from.who.String(), "transport", rec.transport)
	s.audit(audit.Begin, rec.from(), "", nil)
	return nil
}

// process takes a session process for the client of conn, who may leave while it comes up: its place is then free at once.
func (s *Server) process(conn net.Conn) (*proc, error) {
	patient, enough := context.WithTimeoutCause(s.ctx, s.cfg.StartTimeout, errLate)
	defer enough()
	ctx, stop := whileThere(patient, conn)
	defer stop()
	p, err := s.pool.get(ctx)
	if err != nil && s.ctx.Err() != nil {
		err = errStopping
	}
	return p, err
}

func (s *Server) handOver(conn net.Conn, hello *wire.Hello, head wire.Header, rec *sessionRecord) (_ *proc, err error) {
	packed, err := hello.Append(nil)
	if err != nil {
		return nil, err
	}
	memory, err := s.share(conn, hello, rec)
	if err != nil {
		return nil, err
	}
	if memory.FD >= 0 {
		defer func() {
			if err != nil { // on conn it hears nothing more
				_ = wire.RefuseShared(conn, memory, int32(refusalCode(err)), err.Error())
			}
			memory.Close()
		}()
	}
	first, err := s.process(conn)
	if err != nil {
		return nil, err
	}
	f, security, err := wire.Handover(conn)
	if err != nil {
		s.pool.giveBack(first)
		return nil, err
	}
	defer f.Close()
	for try := 0; ; try++ {
		p := first
		if try > 0 {
			if p, err = s.pool.get(s.ctx); err != nil {
				return nil, err
			}
		}
		rec.setPID(p.pid())
		s.quotas.mu.Lock() // SetQuota must not come between the first limits and the process's having a session
		s.mu.Lock()        // gone must not see a process between having the session and not getting it
		s.byPID[p.pid()] = rec
		if rec.holder != nil { // what was set for it meanwhile
			rec.holder.SetLimits(s.jointLimits(rec))
		}
		if err = s.hold(p, s.bounds(rec)); err != nil {
			s.mu.Unlock()
			s.quotas.mu.Unlock()
			p.kill()
			return nil, err
		}
		err = p.serve(rec, &start{Session: rec.id, Version: head.Version, InitID: head.ID, Hello: packed, Limits: s.limits(rec), Joint: jointly(&rec.who), Cards: rec.who.Cards, Modules: s.pool.shares.modules.limit > 0, Trace: rec.spans.context != nil, HostMemory: s.hostMemory(rec), Security: security, HelloSum: hello.Sum, Park: s.cfg.Park, First: firstOf(head)}, int(f.Fd()), memory)
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
