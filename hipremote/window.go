package hipremote

import "sync"

// window bounds the bytes of copies that are on their way to the device and not known to have been executed: the worker stages them
// while a stream is busy. Whoever wants more waits; nobody else does.
type window struct {
	mu    sync.Mutex
	room  sync.Cond
	limit int
	used  int
	ended bool
}

func (w *window) init(limit int) {
	w.limit = limit
	w.room.L = &w.mu
}

// take waits for room for n bytes; more than the limit fits when nothing else is under way. False: the connection has ended.
func (w *window) take(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.used > 0 && w.used+n > w.limit && !w.ended {
		w.room.Wait()
	}
	w.used += n
	return !w.ended
}

func (w *window) give(n int) {
	w.mu.Lock()
	w.used -= n
	w.room.Broadcast()
	w.mu.Unlock()
}

func (w *window) end() {
	w.mu.Lock()
	w.ended = true
	w.room.Broadcast()
	w.mu.Unlock()
}
