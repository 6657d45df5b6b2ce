package worker

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// dead are the sessions whose processes died lately, of a signal or by themselves, with what became of them: their clients come back, and learn that
// there is nothing to come back to, and why.
type dead struct {
	mu   sync.Mutex
	list []deadSession // oldest first
}

type deadSession struct {
	id    uint64
	key   string // of the client's identity: others learn nothing
	state string
}

const (
	mostDead  = 256
	deathTime = 2 * time.Second // for what is left of a process to be cleared away
)

func (d *dead) add(rec *sessionRecord, state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) >= mostDead {
		d.list = slices.Delete(d.list, 0, 1)
	}
	d.list = append(d.list, deadSession{rec.id, rec.who.Key(), state})
}

// why is what a client is told that comes back to a session that is not there.
func (d *dead) why(session uint64, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.list {
		if x.id == session && x.key == key {
			return fmt.Errorf("%w: its process died (%s)", errNoSession, x.state)
		}
	}
	return errNoSession
}

// dying is why of a session whose process does not listen any more.
func (s *Server) dying(rec *sessionRecord) error {
	t := time.NewTimer(deathTime)
	defer t.Stop()
	select {
	case <-rec.over:
	case <-t.C:
	}
	return s.dead.why(rec.id, rec.who.Key())
}
