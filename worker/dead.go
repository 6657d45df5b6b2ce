package worker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// dead are the sessions that have ended otherwise than by their clients lately, with what became of them: their clients come back, and learn that
// there is nothing to come back to, and why.
type dead struct {
	mu   sync.Mutex
	list []deadSession // oldest first
}

type deadSession struct {
	id  uint64
	key string // of the client's identity: others learn nothing
	how string
}

const (
	mostDead  = 256
	deathTime = 2 * time.Second // for what is left of a process to be cleared away, while its client waits
)

// errDying is for now: what has become of the session is known in a moment.
var errDying = errors.New("the session is about to end")

func (d *dead) add(rec *sessionRecord, how string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) >= mostDead {
		d.list = slices.Delete(d.list, 0, 1)
	}
	d.list = append(d.list, deadSession{rec.id, rec.who.Key(), how})
}

// why is what a client is told that comes back to a session that is not there.
func (d *dead) why(session uint64, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.list {
		if x.id == session && x.key == key {
			return fmt.Errorf("%w: %s", errNoSession, x.how)
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
		return errDying
	}
	return s.dead.why(rec.id, rec.who.Key())
}

// byClient is the reason of a session's process for the usual end.
const byClient = "the client ended the session"

// howItEnded is what a client is told that comes back to a session whose process is gone, "" if the client itself has ended it. died: the process has not
// ended by itself, nor has this one ended it.
func (r *sessionRecord) howItEnded(died bool, state *os.ProcessState) string {
	reason := printable(r.endReason(), 512)
	switch {
	case died:
		return "its process died (" + state.String() + ")"
	case r.wasStopped():
		return "the worker has ended it: " + reason
	case reason == byClient, reason == "":
		return ""
	}
	return "it has ended: " + reason
}
