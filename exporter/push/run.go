package push

import (
	"context"
	"errors"
	"time"
)

// Run sends what is put, in order, until ctx is done; then it goes on for at most
// Options.Drain, until nothing waits or an attempt fails.
func (p *Pusher) Run(ctx context.Context) {
	send, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(p.opt.Drain, cancel) })()
	var pause backoff
	for send.Err() == nil {
		r, ok := p.peek()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
				continue
			}
		}
		err := p.attempt(send, r)
		if err == nil {
			pause.reset()
			continue
		}
		if ctx.Err() != nil {
			return
		}
		select {
		case <-ctx.Done(): // one more attempt
		case <-time.After(pause.next(err)):
		}
	}
}

// attempt sends a record; an error says that it is to be tried again.
func (p *Pusher) attempt(ctx context.Context, r record) error {
	ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
	defer cancel()
	err := p.opt.Send(ctx, r.data)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sending = false
	there := len(p.mem.recs) > 0 && p.mem.recs[0].seq == r.seq
	p.sm.Lock()
	refused := errors.Is(err, ErrPermanent)
	switch {
	case err == nil:
		p.st.Sent++
		p.st.SentBytes += uint64(len(r.data))
		p.st.Up, p.st.LastError = true, ""
	case refused:
		p.st.Refused++
		p.st.Up, p.st.LastError = false, err.Error()
	default:
		p.st.Failures++
		p.st.Up, p.st.LastError = false, err.Error()
		if !there {
			p.st.Crowded++
		}
	}
	p.sm.Unlock()
	if err != nil && !refused {
		return err
	}
	if there {
		p.mem.pop()
	}
	p.publish()
	return nil
}

// peek tells the oldest record, which is from now on being sent.
func (p *Pusher) peek() (record, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.mem.recs) > 0 && time.Since(p.mem.recs[0].time) > p.opt.MaxAge {
		p.drop(func(st *Stats) { st.Expired++ })
		p.publish()
	}
	if len(p.mem.recs) == 0 {
		return record{}, false
	}
	r := p.mem.recs[0]
	p.head, p.sending = r.seq, true
	return r, true
}
