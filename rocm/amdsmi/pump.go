package amdsmi

import (
	"slices"
	"sync"
	"time"

	"github.com/rocwire/rocwire/smi"
)

// How the library is asked for events.
const (
	eventWait   = 200 * time.Millisecond // it is not left while it waits
	eventRoom   = 64
	eventErrors = 5 // in a row, after which reading ends
)

// subscriber is one reader of events. Its index says which card a handle is.
type subscriber struct {
	queue *smi.EventQueue
	index map[uint64]int
}

// pump reads the library's events, which exist once in a process, for all readers.
type pump struct {
	mu   sync.Mutex
	subs []*subscriber
	idle chan struct{} // closed when the last run is over; nil before the first
	runs bool
}

// subscribe adds a reader of events about the cards with those handles, and returns
// what ends it. That events cannot be read at all is told to the reader's queue.
func (l *library) subscribe(s *subscriber, handles []uint64) (end func()) {
	p := &l.pump
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subs = append(p.subs, s)
	if !p.runs {
		p.runs = true
		before := p.idle
		done := make(chan struct{})
		p.idle = done
		l.use()
		go func() {
			defer l.release()
			defer close(done)
			if before != nil {
				<-before
			}
			l.pumpEvents(handles)
		}()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.subs = slices.DeleteFunc(p.subs, func(o *subscriber) bool { return o == s })
	}
}

// wanted says whether anybody reads events; if not, the run is over.
func (p *pump) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = len(p.subs) > 0
	return p.runs
}

// readers are those that read events now, also those that came while the library was
// waiting.
func (p *pump) readers() []*subscriber {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.subs)
}

// fail ends the run and tells all readers why.
func (p *pump) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.subs {
		s.queue.Fail(err)
	}
	p.subs, p.runs = nil, false
}

// pumpEvents reads events until nobody wants them.
func (l *library) pumpEvents(handles []uint64) {
	var started []uint64
	var why error
	mask := uint64(0)
	for kind := range l.abi.events {
		mask |= 1 << (kind - 1)
	}
	for _, h := range handles {
		err := l.abi.failed(fnEventInit, l.call(fnEventInit, h))
		if err == nil {
			started = append(started, h)
			err = l.abi.failed(fnEventMask, l.call(fnEventMask, h, mask))
		}
		if err != nil && (why == nil || rank(err) > rank(why)) {
			why = err
		}
	}
	defer func() {
		for _, h := range started {
			l.call(fnEventStop, h)
		}
	}()
	if len(started) == 0 {
		if smi.CodeOf(why) == smi.ErrNoPermission {
			why = smi.Errorf(smi.ErrNoPermission, "events cannot be read: %w%s", why, permissionHint(nil))
		}
		l.pump.fail(why)
		return
	}
	size := l.abi.layouts.evtNotificationData.size
	for errors := 0; ; {
		if !l.pump.wanted() {
			return
		}
		m := newMemory()
		count, n := m.alloc(4)
		n.putUint32(eventRoom)
		at, array := m.alloc(size * eventRoom)
		status := l.call(fnEventGet, uint64(eventWait.Milliseconds()), count, at)
		err := l.abi.failed(fnEventGet, status)
		switch {
		case err == nil:
			errors = 0
			for i := range n.length(oneUint32, eventRoom) {
				for _, s := range l.pump.readers() {
					if e, ok := s.event(l.abi, array[i*size:(i+1)*size]); ok {
						s.queue.Push(e)
					}
				}
			}
		case status == noData:
			errors = 0
		default:
			errors++
			time.Sleep(eventWait)
		}
		m.free()
		if errors == eventErrors {
			l.pump.fail(err)
			return
		}
	}
}

// noData is AMDSMI_STATUS_NO_DATA.
const noData = 40
