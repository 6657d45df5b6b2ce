package worker

import (
	"cmp"
	"slices"

	"github.com/rocwire/rocwire/smi"
)

// Sessions lists the clients of HIP, oldest first.
func (s *Server) Sessions() []smi.Session {
	s.mu.Lock()
	records := make([]*sessionRecord, 0, len(s.sessions))
	for _, r := range s.sessions {
		records = append(records, r)
	}
	s.mu.Unlock()
	slices.SortFunc(records, func(a, b *sessionRecord) int { return cmp.Compare(a.id, b.id) })
	out := make([]smi.Session, len(records))
	for i, r := range records {
		cards := s.cfg.Backend.reached(&r.who)
		out[i] = r.session(s.cfg.Backend.Usage, cards)
		out[i].Quotas = s.sessionQuotas(r, cards)
	}
	return out
}

// SessionTotals are running totals since the worker started.
func (s *Server) SessionTotals() smi.SessionTotals {
	t := s.totals.snapshot()
	if s.cfg.Spans == nil {
		t.DroppedSpans = smi.None[uint64]()
	}
	if c := s.pool.shares.modules; c.limit > 0 {
		m := c.figures()
		t.ModulesHeld, t.ModuleHits, t.ModulesSaved = smi.Some(smi.Bytes(m.held)), smi.Some(m.hits), smi.Some(smi.Bytes(m.saved))
	}
	return t
}

// Source is the backend's cards with the clients of their processes. Without management data all it answers is why there is none.
func (s *Server) Source() smi.Source {
	b := &s.cfg.Backend
	if b.Source == nil {
		return &noSource{reason: b.NoSource}
	}
	return &source{Source: b.Source, find: s.find, local: b.Local, limiter: s, set: s.cfg.AllowSet}
}

// find says whether pid is a session process, and whose.
func (s *Server) find(pid int) (*sessionRecord, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byPID[pid]
	return r, ok
}

var (
	_ smi.Sessions       = (*Server)(nil)
	_ smi.SessionTotaler = (*Server)(nil)
)
