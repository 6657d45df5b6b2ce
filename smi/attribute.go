package smi

import "context"

// WithSessions is src with its processes joined to a worker's sessions: a process
// that serves a session says which, and who its client is. Closing it closes src.
func WithSessions(src Source, sessions Sessions) Source {
	return &attributed{Source: src, sessions: sessions}
}

type attributed struct {
	Source
	sessions Sessions
}

// Unwrap is the source without the sessions.
func (a *attributed) Unwrap() Source { return a.Source }

func (a *attributed) Processes(ctx context.Context, index int) ([]Process, error) {
	ps, err := a.Source.Processes(ctx, index)
	if err != nil || len(ps) == 0 {
		return ps, err
	}
	Attribute(ps, a.sessions.Sessions())
	return ps, nil
}

// Attribute writes into each process the session it serves, by process id. A row
// that names its session already keeps it.
func Attribute(ps []Process, sessions []Session) {
	byPID := make(map[uint32]*Session, len(sessions))
	for i := range sessions {
		if sessions[i].PID != 0 {
			byPID[sessions[i].PID] = &sessions[i]
		}
	}
	for i := range ps {
		s := byPID[ps[i].PID]
		if s == nil || ps[i].Session != "" {
			continue
		}
		ps[i].Session = s.ID
		c := s.Client
		ps[i].Client = &c
	}
}
