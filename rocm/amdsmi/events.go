package amdsmi

import (
	"context"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// queued is how many events wait for a slow reader.
const queued = 1024

// Events implements smi.Source. The library needs /dev/kfd for them.
func (s *Source) Events(ctx context.Context, each func(smi.Event)) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.lib.release()
	if err := ctx.Err(); err != nil {
		return err
	}
	index := map[uint64]int{}
	var handles []uint64
	for _, c := range s.cards {
		index[c.handle] = c.index
		handles = append(handles, c.handle)
	}
	sub := &subscriber{queue: smi.NewEventQueue(queued), index: index}
	defer s.lib.subscribe(sub, handles)()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.over, func() { cancel(errClosed) })()
	for {
		events, err := sub.queue.Next(ctx, queued)
		for _, e := range events {
			if ctx.Err() == nil {
				each(e)
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil && context.Cause(ctx) == errClosed:
			return errClosed
		default:
			return err
		}
	}
}

// event is one that the library told; none if its kind or card is unknown.
func (s *subscriber) event(a *abi, b buf) (smi.Event, bool) {
	l := &a.layouts.evtNotificationData
	handle, _ := b.raw(l.processorHandle, 0)
	kind, _ := b.raw(l.event, 0)
	index, ok := s.index[handle]
	name := a.events[kind]
	if !ok || name == "" {
		return smi.Event{}, false
	}
	message := b.text(l.message)
	return smi.Event{Time: time.Now(), Device: index, Kind: name, PID: eventPID(name, message), Message: message}, true
}
