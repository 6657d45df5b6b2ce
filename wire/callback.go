package wire

import "sync"

// maxCallbacks bounds the notices that wait because the user's function is slow. Done functions are bounded by the calls the user made.
const maxCallbacks = 1 << 16

type callback struct {
	m       *Msg // done function of a call
	err     error
	notify  func(op uint16, payload []byte)
	op      uint16
	payload []byte
	lost    func(error)
}

// callbacks runs the user's functions one at a time and in order, away from the goroutine that reads, which may hold the write role or
// be in somebody's call.
type callbacks struct {
	mu      sync.Mutex
	queue   []callback
	running bool
}

// push is false if a notice is one too many.
func (q *callbacks) push(cb callback) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cb.notify != nil && len(q.queue) >= maxCallbacks {
		return false
	}
	q.queue = append(q.queue, cb)
	if !q.running {
		q.running = true
		go q.run()
	}
	return true
}

func (q *callbacks) run() {
	var batch []callback
	for {
		q.mu.Lock()
		clear(batch)
		batch, q.queue = q.queue, batch[:0]
		if len(batch) == 0 {
			q.running, q.queue = false, nil
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, cb := range batch {
			switch {
			case cb.m != nil:
				cb.m.then(cb.m, cb.err)
			case cb.notify != nil:
				cb.notify(cb.op, cb.payload)
			default:
				cb.lost(cb.err)
			}
		}
	}
}
