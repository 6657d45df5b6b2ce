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
		out[i] = r.session(s.cfg.Backend.Usage, s.cfg.Backend.Devices)
	}
	return out
}

// SessionTotals are running totals since the worker started.
func (s *Server) SessionTotals() smi.SessionTotals { return s.totals.snapshot() }

// Source is the backend's cards with the clients of their processes; nil if the backend has none.
func (s *Server) Source() smi.Source {
	if s.cfg.Backend.Source == nil {
		return nil
	}
	return &source{cards: s.cfg.Backend.Source, find: s.find}
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
