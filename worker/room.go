package worker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rocwire/rocwire/worker/admission"
)

// A session that is parked keeps what it has for its client only as long as nobody else needs it: memory of a card for an allocation, its place for another
// client. Then it ends at once. Those go first whose client's side has closed the connection, which most likely was killed, and of these the one that
// waits longest.

// roomTime is how long all that give way for one allocation may take to end: the session process waits brokerTime.
const roomTime = 8 * time.Second

// parked are the sessions that may give way, in the order in which they do.
func (s *Server) parked() (list []*sessionRecord) {
	type since struct {
		closed bool
		at     time.Time
	}
	when := map[*sessionRecord]since{}
	s.mu.Lock()
	for _, r := range s.sessions {
		r.mu.Lock()
		if r.parked && r.stopped == "" {
			when[r] = since{r.closed, r.parkedAt}
			list = append(list, r)
		}
		r.mu.Unlock()
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b *sessionRecord) int {
		if x, y := when[a], when[b]; x.closed != y.closed {
			if x.closed {
				return -1
			}
			return 1
		} else {
			return cmp.Or(x.at.Compare(y.at), cmp.Compare(a.id, b.id))
		}
	})
	return list
}

// makeRoom has parked sessions give way to a session's allocation of size bytes on the card at an address, and reports whether it is worth while to try
// again. What a session process says is checked as far as the backend knows better: nobody ends in vain.
func (s *Server) makeRoom(p *proc, at busAddress, size uint64) bool {
	rec := p.record()
	card, ok := s.places.card(&s.cfg.Backend, at, s.cfg.Backend.reached(&rec.who))
	if !ok {
		return false
	}
	s.rooms.Lock()
	defer s.rooms.Unlock()
	free := func() uint64 { return 0 }
	if f := s.cfg.Backend.Free; f != nil {
		if free = func() uint64 { return f(card) }; free() >= size {
			return true // somebody else has just made room
		}
	}
	var held uint64
	var list []*sessionRecord
	for _, r := range s.parked() {
		if r == rec || !slices.Contains(s.cfg.Backend.reached(&r.who), card) {
			continue
		}
		if u := s.cfg.Backend.Usage; u != nil {
			if n, ok := u(r.process(), card); ok {
				if n == 0 {
					continue
				}
				held += n
			}
		}
		list = append(list, r)
	}
	if s.cfg.Backend.Free != nil && free()+held < size {
		return false
	}
	why := fmt.Sprintf("it gave way while its client was away: session %s needed %d MiB of card %d", rec.name(), size>>20, card)
	ended := false
	for end := time.Now().Add(roomTime); len(list) > 0 && time.Now().Before(end); list = list[1:] {
		if !s.giveWay(list[0], why, time.Until(end)) {
			continue
		}
		if ended = true; s.cfg.Backend.Free == nil || free() >= size {
			return true
		}
	}
	return ended
}

// spare is the memory of the card at an address that those hold who would give way to an allocation of a session.
func (s *Server) spare(p *proc, at busAddress) (bytes uint64) {
	rec, usage := p.record(), s.cfg.Backend.Usage
	card, ok := s.places.card(&s.cfg.Backend, at, s.cfg.Backend.reached(&rec.who))
	if usage == nil || !ok {
		return 0
	}
	for _, r := range s.parked() {
		if r != rec {
			n, _ := usage(r.process(), card)
			bytes += n
		}
	}
	return bytes
}

// giveWay ends a session unless its client has come back, and reports whether all that it held is released within limit.
func (s *Server) giveWay(rec *sessionRecord, why string, limit time.Duration) bool {
	rec.mu.Lock()
	away := rec.parked && rec.stopped == ""
	if away {
		rec.stopped = why
	}
	rec.mu.Unlock()
	p := s.serving(rec)
	if !away || p == nil {
		return false
	}
	s.cfg.Log.Warn("parked session gives way", "session", rec.id, "reason", why)
	p.kill()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-rec.over:
		return true
	case <-late.C:
		return false
	}
}

// maxGiveWay is how many sessions give way for one client: one for each limit that it may have come to. A place that somebody else was quicker to take
// is not made again and again: the client would wait, and those end who are away.
const maxGiveWay = 3

// takePlace takes a place among the sessions for a client, if need be that of one who is away. It gives up within killLimit.
func (s *Server) takePlace(from caller) (leave func(), err error) {
	src := admission.SourceOf(from.peer)
	end := time.Now().Add(killLimit)
	for given := 0; ; given++ {
		if leave, err = s.gate.Sessions.Take(src, from.who); err == nil {
			return leave, nil
		}
		of := admission.LimitOf(err)
		helps := func(r *sessionRecord) bool {
			switch of {
			case admission.OfAll:
				return true
			case admission.OfAddress:
				return admission.SourceOf(r.peer).Key == src.Key
			case admission.OfIdentity:
				return r.who.Key() == from.who.Key()
			}
			return false
		}
		list := s.parked()
		i := slices.IndexFunc(list, helps)
		if i < 0 || given == maxGiveWay || !s.giveWay(list[i], "it gave way while its client was away: another client needed its place", time.Until(end)) {
			return nil, err
		}
	}
}
