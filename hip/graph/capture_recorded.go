package graph

import (
	"sync"

	"github.com/rocwire/rocwire/hip"
)

// recorded is on which stream each event was recorded last, before captures and
// in them: an event of a stream that captures is not one that can be asked.
type recorded struct {
	mu sync.Mutex
	m  map[hip.Event]hip.Stream
}

// Recorded is told of each recording of an event, whether or not a capture goes on.
func (x *Captures) Recorded(e hip.Event, s hip.Stream) {
	r := &x.recorded
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = map[hip.Event]hip.Stream{}
	}
	r.m[e] = s
}

// ForgetRecorded is the end of events of which nobody says which they are.
func (x *Captures) ForgetRecorded() {
	x.recorded.mu.Lock()
	defer x.recorded.mu.Unlock()
	clear(x.recorded.m)
}

func (r *recorded) on(e hip.Event) (s hip.Stream, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok = r.m[e]
	return s, ok
}

func (r *recorded) forget(e hip.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.m, e)
}
