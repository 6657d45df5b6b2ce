package worker

import (
	"strconv"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// Times of the end of a session that somebody wants to end.
const (
	killGrace = 2 * time.Second // to end by itself
	killLimit = 8 * time.Second // until it is given up: the kernel takes that long to clear away what a killed process held, or does not let it go
)

// KillSession ends a session and returns when all it held is released: its client is told, and a process that does not end by itself is
// killed. by says who wants it, for the log. An unknown id is smi.ErrNotFound; a process that cannot be killed, smi.ErrTimeout.
func (s *Server) KillSession(id, by string) error {
	n, err := strconv.ParseUint(id, 10, 64)
	s.mu.Lock()
	rec := s.sessions[n]
	s.mu.Unlock()
	if err != nil || rec == nil {
		return smi.Errorf(smi.ErrNotFound, "there is no session %q", printable(id, 64))
	}
	p := s.serving(rec)
	if p == nil { // it is not handed over yet, or has just ended
		return smi.Errorf(smi.ErrBusy, "session %s begins or ends at this moment", rec.name())
	}
	s.cfg.Log.Warn("session is ended on demand", "session", rec.id, "pid", p.pid(), "client", rec.client.Address, "host", rec.client.Host,
		"user", rec.client.User, "by", printable(by, 256))
	rec.stop("ended on demand")
	if err := p.ctl.send(append([]byte{msgStop}, "the session was ended by the worker's operator"...), -1); err != nil {
		p.kill()
	}
	killer := time.AfterFunc(killGrace, p.kill)
	defer killer.Stop()
	limit := time.NewTimer(killLimit)
	defer limit.Stop()
	select {
	case <-rec.over:
		return nil
	case <-limit.C:
		return smi.Errorf(smi.ErrTimeout, "session %s: process %d is killed, but does not end", rec.name(), p.pid())
	}
}
