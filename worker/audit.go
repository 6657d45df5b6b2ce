package worker

import (
	"github.com/rocwire/rocwire/smiremote"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/audit"
)

// caller is who an event is about.
type caller struct {
	peer    wire.Peer
	who     *access.Identity
	session string
}

// from is the session's client.
func (r *sessionRecord) from() caller { return caller{peer: r.peer, who: &r.who, session: r.name()} }

// audit records what somebody has done, or wanted to.
func (s *Server) audit(kind audit.Kind, by caller, what string, err error) {
	s.cfg.Audit.Record(audit.Event{
		Kind: kind, Who: by.who.Name, Method: string(by.who.Method), From: by.peer.String(), What: what, Session: by.session, Result: resultOf(err),
	})
}

func resultOf(err error) string {
	if err != nil {
		return err.Error()
	}
	return audit.OK
}

// auditChange records what a management client has changed, or wanted to.
func (s *Server) auditChange(v *smiremote.Visitor, c smiremote.Change, err error) {
	kind := audit.Set
	switch c.Kind {
	case smiremote.ChangeQuota:
		kind = audit.Quota
	case smiremote.ChangeKill:
		kind = audit.Kill
	case smiremote.ChangeToken:
		kind = audit.Token
	}
	s.cfg.Audit.Record(audit.Event{Kind: kind, Who: v.Name, Method: v.Method, From: v.From, What: c.What, Session: c.Session, Result: resultOf(err)})
}
