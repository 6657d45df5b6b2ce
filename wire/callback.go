package wire

import "sync"

// Bounds of the notices that wait because the user's function is slow: in number and in bytes. Done functions are bounded by the calls
// the user made.
const (
	maxNotices     = 1 << 16
	maxNoticeBytes = 64 << 20
)

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
	bytes   int // of the notices in queue
	running bool
}

// push is false if a notice is one too many.
func (q *callbacks) push(cb callback) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cb.notify != nil && (len(q.queue) >= maxNotices || q.bytes+len(cb.payload) > maxNoticeBytes) {
		return false
	}
	q.bytes += len(cb.payload)
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
		batch, q.queue, q.bytes = q.queue, batch[:0], 0
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
