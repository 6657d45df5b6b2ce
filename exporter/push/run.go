package push

import (
	"context"
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
		r, err := p.peek()
		if r == nil && err == nil {
			select {
			case <-ctx.Done():
				return
			case <-p.wake:
				continue
			}
		}
		if err == nil {
			err = p.attempt(send, r)
		} else {
			p.opt.Log.Warn("the queue cannot be read", "reason", err)
		}
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

// attempt sends a record; an error says that it, or what is next, is to be tried
// later.
func (p *Pusher) attempt(ctx context.Context, r *record) error {
	ctx, cancel := context.WithTimeout(ctx, p.opt.Timeout)
	defer cancel()
	err := p.opt.Send(ctx, r.data)
	if p.done(r, err) {
		return nil
	}
	return err
}
