package worker

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
	"github.com/rocwire/rocwire/worker/hostmem"
	"github.com/rocwire/rocwire/worker/quota"
)

// quotas are what sessions may have of the cards.
type quotas struct {
	mu    sync.Mutex
	all   map[int]smi.Quota            // by card: of every session
	own   map[uint64]map[int]smi.Quota // by session and card: goes before
	cards map[int]busAddress           // of the cards that have one
}

// quotaOf is a session's quota on a card; with quotas.mu. What was set for the session goes before what its client's identity has, and that before
// what all have. None goes beyond what the worker itself is held to.
func (s *Server) quotaOf(rec *sessionRecord, card int) smi.Quota {
	q := &s.quotas
	return q.own[rec.id][card].Over(rec.who.Quota.Over(q.all[card].Over(s.cfg.Quota))).Within(s.cfg.Most)
}

// firstQuota is what a session starts with, on every card that no quota was set for.
func (s *Server) firstQuota(rec *sessionRecord) smi.Quota {
	return rec.who.Quota.Over(s.cfg.Quota).Within(s.cfg.Most)
}

// SetQuota implements smi.Limiter. It has told the sessions when it returns; launches and allocations that they are in the middle of may
// still be under the old one.
func (s *Server) SetQuota(ctx context.Context, card int, session string, q smi.Quota) error {
	if err := q.Check(); err != nil {
		return err
	}
	at, err := s.cardAddress(ctx, card)
	if err != nil {
		return err
	}
	s.quotas.mu.Lock()
	defer s.quotas.mu.Unlock()
	var id uint64
	if session != "" {
		id, err = strconv.ParseUint(session, 10, 64)
		s.mu.Lock()
		_, there := s.sessions[id]
		s.mu.Unlock()
		if err != nil || !there {
			return smi.Errorf(smi.ErrNotFound, "there is no session %q", printable(session, 64))
		}
	}
	s.quotas.set(card, id, q)
	s.quotas.cards[card] = at
	s.pool.each(func(p *proc) {
		if rec := p.record(); rec != nil && (session == "" || rec.id == id) {
			e := wire.Enc{}
			e.U8(msgLimits)
			appendLimits(&e, s.limits(rec))
			if rec.holder != nil {
				rec.holder.SetLimits(s.jointLimits(rec))
			}
			if s.hold(p, s.bounds(rec)) != nil || p.ctl.order(e.B) != nil {
				p.kill() // it is gone, or would go on without its limits
			}
		}
	})
	s.cfg.Log.Info("quota set", "card", card, "session", session, "memory_bytes", uint64(q.Memory.Or(0)), "compute_ratio", float64(q.Compute.Or(0)))
	return nil
}

// set notes a quota; session 0 is all, whose own ones it replaces.
func (q *quotas) set(card int, session uint64, v smi.Quota) {
	if session != 0 {
		if q.own[session] == nil {
			q.own[session] = map[int]smi.Quota{}
		}
		q.own[session][card] = v.Over(q.own[session][card])
		return
	}
	q.all[card] = v.Over(q.all[card])
	for _, own := range q.own {
		o := own[card]
		if v.Memory.Ok() {
			o.Memory = smi.None[smi.Bytes]()
		}
		if v.Compute.Ok() {
			o.Compute = smi.None[smi.Ratio]()
		}
		own[card] = o
	}
}

// limits are a session's, for its process; with quotas.mu. Without any quota there are none: most sessions need not ask which card is which.
func (s *Server) limits(rec *sessionRecord) (list []limit) {
	if all := limitsOf(s.firstQuota(rec)); all != (quota.Limits{}) {
		list = append(list, limit{everyCard, all})
	}
	for card, at := range s.quotas.cards {
		list = append(list, limit{at, limitsOf(s.quotaOf(rec, card))})
	}
	return list[:min(len(list), maxLimits)]
}

// hostMemory is how much memory of this machine a session may take.
func (s *Server) hostMemory(rec *sessionRecord) uint64 {
	if n := s.cfg.HostMemory; n != 0 {
		return n
	}
	return hostmem.Default(uint64(s.firstQuota(rec).Memory.Or(0)))
}

func limitsOf(q smi.Quota) quota.Limits {
	return quota.Limits{Memory: uint64(q.Memory.Or(0)), Compute: float64(q.Compute.Or(0))}
}

// forgetQuota is for a session that has ended.
func (s *Server) forgetQuota(session uint64) {
	s.quotas.mu.Lock()
	delete(s.quotas.own, session)
	s.quotas.mu.Unlock()
}

// sessionQuotas are shown with a session.
func (s *Server) sessionQuotas(rec *sessionRecord, cards []int) (list []smi.SessionQuota) {
	shared, purse := jointly(&rec.who), printable(rec.who.Purse(), smi.MaxTokenText)
	s.quotas.mu.Lock()
	defer s.quotas.mu.Unlock()
	for _, c := range cards {
		q := s.quotaOf(rec, c)
		if q.Memory.Or(0) == 0 {
			q.Memory = smi.None[smi.Bytes]()
		}
		if c := q.Compute.Or(0); c == 0 || c == 1 {
			q.Compute = smi.None[smi.Ratio]()
		}
		alone, together := q, smi.Quota{}
		if shared&jointMemory != 0 {
			alone.Memory, together.Memory = smi.None[smi.Bytes](), q.Memory
		}
		if shared&jointCompute != 0 {
			alone.Compute, together.Compute = smi.None[smi.Ratio](), q.Compute
		}
		if together != (smi.Quota{}) {
			list = append(list, smi.SessionQuota{Device: c, Quota: together, Together: purse})
		}
		if alone != (smi.Quota{}) {
			list = append(list, smi.SessionQuota{Device: c, Quota: alone})
		}
	}
	return list
}

// cardAddress finds a card that sessions use.
func (s *Server) cardAddress(ctx context.Context, card int) (busAddress, error) {
	b := &s.cfg.Backend
	if b.Source == nil {
		return 0, smi.Errorf(smi.ErrNotSupported, "without management data there are quotas for all cards only, from the worker's start")
	}
	devices, err := b.Source.Devices(ctx)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(devices, func(d smi.Device) bool { return d.Index == card })
	if i < 0 || b.Devices != nil && !slices.Contains(b.Devices, card) {
		return 0, smi.Errorf(smi.ErrNotFound, "sessions use no card %d", card)
	}
	bdf, ok := devices[i].BDF.Get()
	if !ok {
		return 0, smi.Errorf(smi.ErrNotSupported, "card %d has no PCI address to know it by", card)
	}
	return addressOfBDF(bdf), nil
}

var _ smi.Limiter = (*Server)(nil)
