package exec

import (
	"slices"
	"sync"
	"sync/atomic"
)

// epochs say when nobody uses any more what everybody could reach before. Who
// makes something unreachable advances to a new epoch, and frees it when all
// turns that began before that have ended. A turn costs two stores to memory of
// its own.
type epochs struct {
	now   atomic.Uint64
	mu    sync.Mutex
	turns []*turns
}

// turns are those of one goroutine.
type turns struct {
	in *epochs
	at atomic.Uint64 // 1 + the epoch in which the present one began, 0 between turns
	_  [48]byte      // nobody else's cache line
}

func (e *epochs) join() *turns {
	t := &turns{in: e}
	e.mu.Lock()
	e.turns = append(e.turns, t)
	e.mu.Unlock()
	return t
}

func (t *turns) begin() { t.at.Store(t.in.now.Load() + 1) }

func (t *turns) end() { t.at.Store(0) }

// leave is called between turns.
func (t *turns) leave() {
	e := t.in
	e.mu.Lock()
	e.turns = slices.DeleteFunc(e.turns, func(o *turns) bool { return o == t })
	e.mu.Unlock()
}

// advance begins an epoch and returns its number.
func (e *epochs) advance() uint64 { return e.now.Add(1) }

// begun reports whether all turns there are began in the epoch or after. A turn
// that is not seen here begins after this, and finds what is reachable then.
func (e *epochs) begun(epoch uint64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.turns {
		if at := t.at.Load(); at != 0 && at-1 < epoch {
			return false
		}
	}
	return true
}
