package worker

import (
	"context"
	"net"
	"time"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/admission"
	"github.com/rocwire/rocwire/worker/audit"
)

// manage serves a management client in this process.
func (s *Server) manage(conn net.Conn, from caller, hello *wire.Hello) {
	leave, err := s.gate.Managers.Take(admission.SourceOf(from.peer), from.who)
	if err != nil {
		s.refuse(conn, from, hello, int32(smi.ErrBusy), err)
		return
	}
	defer leave()
	c, err := wire.NewServerConn(conn, wire.ServerOptions{
		Protocol: hello.Protocol, HelloSum: hello.Sum, Heartbeat: hello.Heartbeat(), Silence: managerSilence, Stall: managerStall, MaxRequest: smiremote.MaxRequest,
	})
	if err != nil {
		s.cfg.Log.Warn("management client", "error", err)
		return
	}
	features := wire.GrantFeatures(hello.Features, []string{wire.FeatureIntegrity})
	if err := c.Welcome(wire.Welcome{Version: s.cfg.Version, Backend: s.cfg.Backend.Name, Features: features}); err != nil {
		c.Close("")
	}
	stop := context.AfterFunc(s.ctx, func() { c.Close("the worker stops") })
	defer stop()
	s.audit(audit.Manage, from, hello.Client, nil)
	if err := s.smi.Serve(c, s.visitor(from.peer, from.who)); err != nil {
		s.cfg.Log.Debug("management client", "error", err)
	}
}

// Limits of management connections.
const (
	managerSilence = 5 * time.Minute
	managerStall   = 30 * time.Second // that it does not read its replies
)
