package smiremote

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/rocwire/rocwire/smi"
	"github.com/rocwire/rocwire/wire"
)

// subscriptions are those of one connection.
type subscriptions struct {
	mu     sync.Mutex
	last   uint32
	all    map[uint32]*subscription
	closed bool
}

type subscription struct {
	queue  *smi.EventQueue
	ctx    context.Context // done when it ends
	cancel context.CancelFunc
	asked  chan struct{} // holds the request that waits for events
}

// begin starts to gather events, until ctx is done at the latest.
func (s *subscriptions) begin(ctx context.Context, src smi.Source) (uint32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, smi.Errorf(smi.ErrUnavailable, "the connection has ended")
	}
	if len(s.all) >= maxSubscriptions {
		return 0, smi.Errorf(smi.ErrBusy, "a connection may have %d subscriptions", maxSubscriptions)
	}
	if s.all == nil {
		s.all = map[uint32]*subscription{}
	}
	for s.last++; s.all[s.last] != nil; s.last++ {
	}
	sub := &subscription{queue: smi.NewEventQueue(maxQueued), asked: make(chan struct{}, 1)}
	sub.ctx, sub.cancel = context.WithCancel(ctx)
	s.all[s.last] = sub
	go func() {
		err := src.Events(sub.ctx, sub.queue.Push)
		if err == nil {
			err = smi.Errorf(smi.ErrUnavailable, "the source tells no more events")
		}
		sub.queue.Fail(err)
	}()
	return s.last, nil
}

func (s *subscriptions) find(id uint32) (*subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sub := s.all[id]; sub != nil {
		return sub, nil
	}
	return nil, smi.Errorf(smi.ErrNotFound, "there is no subscription %d", id)
}

func (s *subscriptions) end(id uint32) error {
	sub, err := s.find(id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	delete(s.all, id)
	s.mu.Unlock()
	sub.cancel()
	return nil
}

func (s *subscriptions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, sub := range s.all {
		sub.cancel()
	}
	s.all = nil
}

// next answers a request for events, when there are any.
func (c *conn) next(r *wire.Request) {
	if err := want(r.Op, r.Fixed, 4); err != nil {
		fail(r, err)
		return
	}
	sub, err := c.subs.find(binary.LittleEndian.Uint32(r.Fixed))
	if err != nil {
		fail(r, err)
		return
	}
	select {
	case sub.asked <- struct{}{}:
	default:
		fail(r, smi.Errorf(smi.ErrBusy, "the subscription's events are being waited for already"))
		return
	}
	kept := r.Retain()
	go func() {
		events, err := sub.queue.Next(sub.ctx, maxBatch)
		<-sub.asked // before the reply, after which the client may ask again
		if sub.ctx.Err() != nil {
			err = smi.Errorf(smi.ErrUnavailable, "the subscription has ended")
		}
		var b []byte
		if err == nil {
			b, err = encode(events)
		}
		if err != nil {
			fail(kept, err)
			return
		}
		_ = kept.Reply(0, b)
	}()
}
