package push

import (
	"sync"
	"time"
)

// frameHeader is what is stored with each record.
const frameHeader = 32

// Pusher is one sink's queue and what sends from it.
type Pusher struct {
	opt  Options
	wake chan struct{} // there is something to send; capacity 1

	mu      sync.Mutex
	mem     memory
	next    uint64 // number of the next record put
	head    uint64 // number of the oldest record that waits
	sending bool   // the one numbered head is being sent: whoever drops it does not count it
	closed  bool

	sm sync.Mutex // separate, so that nobody who asks for figures waits for a disk
	st Stats
}

// Open opens the queue of a sink, with what waits in it since the last time.
func Open(opt Options) (*Pusher, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	p := &Pusher{opt: opt, wake: make(chan struct{}, 1), next: 1, head: 1}
	p.st.Name = opt.Name
	return p, nil
}

// Put adds a record, of which it keeps a copy. It never waits for the network.
func (p *Pusher) Put(data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	r := record{seq: p.next, time: time.Now(), data: append([]byte(nil), data...)}
	if r.size() > p.opt.MaxBytes {
		return ErrTooLarge
	}
	p.next++
	p.mem.push(r)
	p.crowd()
	p.publish()
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

func (p *Pusher) crowd() {
	for p.mem.bytes > p.opt.MaxBytes {
		p.drop(func(st *Stats) { st.Crowded++ })
	}
}

func (p *Pusher) drop(count func(*Stats)) {
	if p.mem.recs[0].seq == p.head && p.sending {
		count = func(*Stats) {}
	}
	p.mem.pop()
	p.sm.Lock()
	count(&p.st)
	p.sm.Unlock()
}

func (p *Pusher) publish() {
	p.sm.Lock()
	defer p.sm.Unlock()
	p.st.Waiting, p.st.WaitingBytes, p.st.Oldest = int64(len(p.mem.recs)), p.mem.bytes, time.Time{}
	p.st.InMemory = p.st.Waiting
	if len(p.mem.recs) > 0 {
		p.st.Oldest = p.mem.recs[0].time
	}
}

// Stats tells the figures of now, at once.
func (p *Pusher) Stats() Stats {
	p.sm.Lock()
	defer p.sm.Unlock()
	return p.st
}

// Close ends the queue; what waits on disk is there again after the next Open. Run
// must have returned.
func (p *Pusher) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}
