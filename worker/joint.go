package worker

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/rocwire/rocwire/worker/access"
	"github.com/rocwire/rocwire/worker/quota"
	"github.com/rocwire/rocwire/worker/quota/joint"
)

// The quota of an identity is for all its sessions together. The parent keeps the account, and answers the questions of session processes.

// jointly says which of an identity's quotas there are, for start.Joint.
func jointly(who *access.Identity) (shared uint8) {
	l := limitsOf(who.Quota)
	if l.Memory != 0 {
		shared |= jointMemory
	}
	if l.Compute > 0 && l.Compute < 1 {
		shared |= jointCompute
	}
	return shared
}

// join makes a session a holder of its identity's account, if it has one.
func (s *Server) join(rec *sessionRecord) {
	if jointly(&rec.who) != 0 {
		s.quotas.mu.Lock()
		rec.holder = s.accounts.Join(rec.who.QuotaKey(), s.jointLimits(rec))
		s.quotas.mu.Unlock()
	}
}

// jointLimits are what a session lets its account have: what its identity has, or more if it was given more itself. With quotas.mu.
func (s *Server) jointLimits(rec *sessionRecord) func(at uint64) quota.Limits {
	all, own := limitsOf(rec.who.Quota), map[uint64]quota.Limits{}
	for card, q := range s.quotas.own[rec.id] {
		l := all
		if m, ok := q.Memory.Get(); ok && all.Memory != 0 && (m == 0 || uint64(m) > all.Memory) {
			l.Memory = uint64(m)
		}
		if c, ok := q.Compute.Get(); ok && all.Compute != 0 && (c == 0 || float64(c) > all.Compute) {
			l.Compute = float64(c)
		}
		own[uint64(s.quotas.cards[card])] = l
	}
	return func(at uint64) quota.Limits {
		if l, ok := own[at]; ok {
			return l
		}
		return all
	}
}

// askedJoint answers a msgJoint.
func (s *Server) askedJoint(p *proc, rec *sessionRecord, msg []byte) error {
	var q jointRequest
	if err := q.decode(msg[1:]); err != nil {
		return err
	}
	h := rec.holder
	if h == nil {
		return fmt.Errorf("%w: there is no joint account", errControl)
	}
	a := jointReply{ID: q.ID}
	switch q.Kind {
	case jointTake:
		a.A = h.Take(q.Card, q.A, q.B)
	case jointAdd:
		h.Add(q.Card, q.A)
	case jointGive:
		h.Give(q.Card, q.A)
	case jointLeft:
		a.A = s.jointLeft(rec, q.Card)
	case jointDraw:
		granted, later := h.Draw(q.Card)
		a.A, a.B = uint64(granted), uint64(later)
	case jointSpend:
		h.Spend(q.Card, time.Duration(min(q.A, math.MaxInt64)))
		return nil
	case jointTrimmed:
		p.trims.done()
		return nil
	case jointRoom:
		if p.pressedJointly.Swap(true) {
			break // one at a time
		}
		go func() { // which ends sessions; the process goes on being listened to
			if s.jointRoom(rec, q.Card, q.A) {
				a.A = 1
			}
			p.pressedJointly.Store(false)
			_ = p.ctl.order(a.encode()) // a process that is gone needs no room
		}()
		return nil
	}
	return p.ctl.order(a.encode())
}

// jointLeft is what a session can still have of its account, with what the others of it hold whose clients are away.
func (s *Server) jointLeft(rec *sessionRecord, card joint.Card) uint64 {
	left := rec.holder.Left(card)
	for _, r := range s.parked() {
		if r != rec && rec.holder.With(r.holder) {
			left = sum(left, r.holder.Held(card))
		}
	}
	return left
}

// trimTime is how long a session may take to give back what it keeps.
const trimTime = time.Second

// jointRoom has the other sessions of an account give back what they keep of a card and do not use, and then those give way whose clients are away. It
// reports whether it is worth while to try again.
func (s *Server) jointRoom(rec *sessionRecord, card joint.Card, size uint64) bool {
	s.rooms.Lock()
	defer s.rooms.Unlock()
	h, end := rec.holder, time.Now().Add(roomTime)
	enough := func() bool { return h.Left(card) >= size }
	if enough() {
		return true // somebody else has just made room
	}
	var all sync.WaitGroup
	s.pool.each(func(p *proc) {
		if r := p.record(); r != nil && r != rec && h.With(r.holder) && r.holder.Held(card) > 0 {
			all.Go(func() { p.trim(trimTime) })
		}
	})
	if all.Wait(); enough() {
		return true
	}
	why := fmt.Sprintf("it gave way while its client was away: session %s, which has its quota together with it, needed %d MiB", rec.name(), size>>20)
	for _, r := range s.parked() {
		if r == rec || !h.With(r.holder) || r.holder.Held(card) == 0 || time.Now().After(end) {
			continue
		}
		if s.giveWay(r, why, time.Until(end)) && enough() {
			return true
		}
	}
	return enough()
}

// trims are those who wait until a session process has given back what it keeps.
type trims struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

// done lets them go on.
func (t *trims) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.waiting {
		close(c)
	}
	t.waiting = nil
}

// trim has a process give back what it keeps of its joint account and does not use, and waits for that as long as limit.
func (p *proc) trim(limit time.Duration) {
	c := make(chan struct{})
	p.trims.mu.Lock()
	p.trims.waiting = append(p.trims.waiting, c)
	p.trims.mu.Unlock()
	late := time.NewTimer(limit)
	defer late.Stop()
	if p.ctl.order([]byte{msgTrim}) != nil {
		return // it is gone
	}
	select {
	case <-c:
	case <-p.gone:
	case <-late.C:
	}
}
