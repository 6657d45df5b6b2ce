package push

import (
	"errors"
	"time"
)

// peek returns the oldest record that waits and is not too old, nil if there is none.
// It is from now on being sent, until done.
func (p *Pusher) peek() (*record, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.publish()
	for {
		r, err := p.oldest()
		if r == nil || err != nil {
			return nil, err
		}
		if time.Since(r.time) <= p.opt.MaxAge {
			p.cur, p.sending = r, true
			return r, nil
		}
		p.remove(r)
		p.count(func(st *Stats) { st.Expired++ })
	}
}

// oldest returns the record at the head of the queue.
func (p *Pusher) oldest() (*record, error) {
	if p.disk != nil {
		if r, err := p.disk.peek(); r != nil || err != nil {
			return r, err
		}
	}
	if len(p.mem.recs) > 0 {
		return p.mem.recs[0], nil
	}
	return nil, nil
}

// remove takes a record away, which is the oldest; false: it was dropped before. One
// that waited in memory may be on disk by now.
func (p *Pusher) remove(r *record) bool {
	if r.seq == 0 {
		if len(p.mem.recs) == 0 || p.mem.recs[0] != r {
			return false
		}
		p.mem.pop()
		return true
	}
	if p.disk.head > r.seq {
		return false
	}
	p.disk.setHead(r.seq + 1)
	p.syncSoon()
	return true
}

// done says how sending the record went that peek returned; true: it is off the queue.
func (p *Pusher) done(r *record, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.publish()
	p.sending, p.cur = false, nil
	refused := errors.Is(err, ErrPermanent)
	there := true
	switch {
	case err == nil || refused:
		p.remove(r)
	case r.seq == 0:
		there = len(p.mem.recs) > 0 && p.mem.recs[0] == r
	default:
		there = p.disk.head <= r.seq
	}
	p.count(func(st *Stats) {
		st.Up, st.LastError = err == nil, ""
		if err != nil {
			st.LastError = err.Error()
		}
		switch {
		case err == nil:
			st.Sent++
			st.SentBytes += uint64(len(r.data))
		case refused:
			st.Refused++
		default:
			st.Failures++
			if !there {
				st.Crowded++ // it was not counted because it was being sent
			}
		}
	})
	return err == nil || refused
}

// publish notes what waits, for Stats.
func (p *Pusher) publish() {
	var n, bytes int64
	var corrupt uint64
	var since time.Time
	if r, err := p.oldest(); r != nil && err == nil {
		since = r.time
	}
	if p.disk != nil {
		n, bytes = p.disk.waiting()
		corrupt = p.disk.corrupt
	}
	p.count(func(st *Stats) {
		st.InMemory = int64(len(p.mem.recs))
		st.Waiting, st.WaitingBytes = n+st.InMemory, bytes+p.mem.bytes
		st.Oldest, st.Corrupt = since, corrupt
	})
}

// Stats tells the figures of now, at once.
func (p *Pusher) Stats() Stats {
	p.sm.Lock()
	defer p.sm.Unlock()
	return p.st
}
